// What has no derivative, said at the user's line, with the derivative as a note.
// RUN: weft-opt %s -weft-differentiate -split-input-file -verify-diagnostics

// The arith dialect computes with numbers, which have no derivatives, also where a loop carries them.
func.func private @loop(%x: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = weft.item %x : tensor<f32>
  %0 = scf.for %i = %zero to %one step %one iter_args(%at = %start) -> (f32) {
    // expected-error @below {{'arith.mulf' op depends on what is differentiated and has no derivative: only weft ops on tensors, scf and func.call have one; a number can stay a tensor of rank 0}}
    %1 = arith.mulf %at, %at : f32
    scf.yield %1 : f32
  }
  %1 = tensor.from_elements %0 : tensor<f32>
  return %1 : tensor<f32>
}
func.func @through_a_number_in_a_loop(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @loop(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func private @foreign(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'arith.mulf' op depends on what is differentiated and has no derivative: only weft ops on tensors, scf and func.call have one}}
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
  // expected-error @below {{'weft.gradient' op @blocks branches between blocks; only straight-line code and scf can be differentiated}}
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @blocks(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// A region that is none of scf's four.
func.func private @region(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.execute_region' op depends on what is differentiated and has no derivative}}
  %0 = scf.execute_region -> tensor<f32> {
    %1 = weft.exp %x : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func @through_a_region(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @region(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// A call in a branch that comes back to the function.
func.func private @recursive(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  %0 = scf.if %p -> tensor<f32> {
    // expected-error @below {{'func.call' op @recursive calls itself, so it cannot be differentiated}}
    %1 = func.call @recursive(%x, %p) : (tensor<f32>, i1) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func @comes_back(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @recursive(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// Where a loop begins to count is needed in reverse, and a stack cannot hold integers of 12 bits.
func.func private @small(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i12
  %nine = arith.constant 9 : i12
  // expected-error @below {{'scf.for' op has values that its derivative needs and that cannot be kept: only tensors of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN and f8E5M2 and their elements can, and indices}}
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %k = %one) -> (tensor<f32>, i12) {
    %1 = arith.addi %k, %k : i12
    %2 = scf.for %j = %k to %nine step %one iter_args(%b = %a) -> (tensor<f32>) : i12 {
      %3 = arith.extsi %j : i12 to i64
      %4 = tensor.from_elements %3 : tensor<i64>
      %5 = weft.cast %4 to f32 : tensor<i64>
      %6 = weft.multiply %b, %5 : tensor<f32>
      scf.yield %6 : tensor<f32>
    }
    scf.yield %2, %1 : tensor<f32>, i12
  }
  return %0#0 : tensor<f32>
}
func.func @numbers_of_twelve_bits(%x: tensor<f32>, %n: index) -> tensor<f32> {
  // expected-note @below {{differentiated here, by weft.gradient}}
  %0:2 = weft.gradient @small(%x, %n) wrt [0] : (tensor<f32>, index) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// What C++ computes, in reverse and in forward mode.
func.func private @host(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{host_call f: a derivative is asked for through it, and none is known of what it computes: wrap it in a custom_gradient that gives one, or hand over stop_gradient of its operand if the derivative is to be zero; a gradient function that uses the result, as that of a solve, calls the custom_gradient again for derivatives of itself}}
  %0 = weft.host_call pure @f(%x) : (tensor<f32>) -> tensor<f32>
  %1 = weft.multiply %x, %0 : tensor<f32>
  return %1 : tensor<f32>
}
func.func @through_a_host_call(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @host(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

func.func private @host(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-error @below {{host_call f: a derivative is asked for through it}}
  %0 = weft.host_call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %x, %0 : tensor<f32>, tensor<f32>
}
func.func @forward_through_a_host_call(%x: tensor<f32>) -> tensor<f32> {
  %0:4 = weft.jvp @host(%x) tangents(%x) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return %0#3 : tensor<f32>
}

// -----

// A pullback that was not recorded.
func.func private @unrecorded(%dy: tensor<f32>, %x: tensor<f32>) -> tensor<f32> attributes {weft.unrecorded} {
  return %x : tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{custom_gradient: a gradient that uses itself was recorded as often as derivatives were asked for when it was traced, and here is one more: take it of the function instead of what was compiled of it}}
  %0 = weft.custom_gradient(%x) of(%x) by @unrecorded(%x) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @one_more(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @custom(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
