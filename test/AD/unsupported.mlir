// What has no derivative, said at the user's line, with the derivative as a note.
// RUN: weft-opt %s -weft-differentiate -split-input-file -verify-diagnostics

func.func private @loop(%x: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @below {{'scf.for' op depends on what is differentiated; derivatives through control flow are not implemented yet}}
  %0 = scf.for %i = %zero to %one step %one iter_args(%at = %x) -> (tensor<f32>) {
    %1 = weft.multiply %at, %at : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func @through_a_loop(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @loop(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// The branch takes what is differentiated from around it.
func.func private @branch(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  // expected-error @below {{'scf.if' op depends on what is differentiated; derivatives through control flow are not implemented yet}}
  %0 = scf.if %p -> tensor<f32> {
    %1 = weft.exp %x : tensor<f32>
    scf.yield %1 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func @through_a_branch(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @branch(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func private @foreign(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'arith.mulf' op depends on what is differentiated and has no derivative: only weft ops and func.call have one}}
  %0 = arith.mulf %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func @through_another_dialect(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @foreign(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// A number taken out of a tensor may steer, but not come back.
func.func private @number(%x: tensor<f32>) -> tensor<1xf32> {
  %0 = weft.item %x : tensor<f32>
  // expected-error @below {{'tensor.from_elements' op depends on what is differentiated and has no derivative}}
  %1 = tensor.from_elements %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}
func.func @through_a_number(%x: tensor<f32>, %d: tensor<1xf32>) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.vjp}}
  %0:2 = weft.vjp @number(%x) cotangents(%d) wrt [0]
      : (tensor<f32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func private @outside(%x: tensor<f32>) -> tensor<f32>
func.func private @caller(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op @outside has no body, so it cannot be differentiated}}
  %0 = func.call @outside(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @without_a_body(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @caller(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func private @again(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op @again calls itself, so it cannot be differentiated}}
  %0 = func.call @again(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @recursion(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @again(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func @of_itself(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'weft.gradient' op differentiates @of_itself inside of that function itself, which has no end}}
  %0:2 = weft.gradient @of_itself(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func private @blocks(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  cf.cond_br %p, ^a, ^b
^a:
  return %x : tensor<f32>
^b:
  %0 = weft.exp %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func @between_blocks(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  // expected-error @below {{'weft.gradient' op @blocks branches between blocks; only straight-line code and, in time, scf can be differentiated}}
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @blocks(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func private @flatten(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'weft.reshape' op the derivative of reshape needs an operand with at most one unknown size, but its shape is (?, ?)}}
  %0 = weft.reshape %x {shape = array<i64: -1>} : (tensor<?x?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @needs_a_size(%x: tensor<?x?xf32>, %d: tensor<?xf32>) -> tensor<?x?xf32> {
  // expected-note @below {{differentiated here, by weft.vjp}}
  %0:2 = weft.vjp @flatten(%x) cotangents(%d) wrt [0]
      : (tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>)
  return %0#1 : tensor<?x?xf32>
}
