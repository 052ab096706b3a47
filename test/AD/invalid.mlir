// What the three ops refuse when they are parsed or built.
// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @no_such_function(%x: tensor<f32>) {
  // expected-error @below {{'weft.gradient' op no function @f in the module}}
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

weft.variable @f : tensor<f32>
func.func @not_a_function(%x: tensor<f32>) {
  // expected-error @below {{'weft.gradient' op no function @f in the module}}
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @argument_count(%x: tensor<f32>) {
  // expected-error @below {{'weft.gradient' op needs 1 arguments, but has 2}}
  %0:2 = weft.gradient @f(%x, %x) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @argument_type(%x: tensor<3xf32>) {
  // expected-error @below {{'weft.gradient' op argument 0 must be 'tensor<f32>', but is 'tensor<3xf32>'}}
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @no_such_argument(%x: tensor<f32>) {
  // expected-error @below {{'weft.gradient' op wrt names argument 1, but @f has 1}}
  %0:2 = weft.gradient @f(%x) wrt [1] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @argument_twice(%x: tensor<f32>) {
  // expected-error @below {{'weft.gradient' op wrt names argument 0 twice}}
  %0:3 = weft.gradient @f(%x) wrt [0, 0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(%n: tensor<i32>) -> tensor<f32>
func.func @integers(%n: tensor<i32>) {
  // expected-error @below {{'weft.gradient' op wrt names argument 0 of type 'tensor<i32>', but only floating tensors have derivatives, and variables}}
  %0:2 = weft.gradient @f(%n) wrt [0] : (tensor<i32>) -> (tensor<f32>, tensor<i32>)
  return
}

// -----

func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32>
func.func @not_a_scalar(%x: tensor<3xf32>) {
  // expected-error @below {{'weft.gradient' op the first result of @f must be a floating scalar tensor, but is 'tensor<3xf32>'; weft.vjp takes other results}}
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func private @f(%x: tensor<3xf32>)
func.func @no_result(%x: tensor<3xf32>) {
  // expected-error @below {{'weft.gradient' op @f has no result to differentiate}}
  %0 = weft.gradient @f(%x) wrt [0] : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @result_count(%x: tensor<f32>) {
  // expected-error @below {{'weft.gradient' op needs 2 results, but has 1}}
  %0 = weft.gradient @f(%x) wrt [0] : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> (tensor<f32>, tensor<2xi32>)
func.func @cotangent_count(%x: tensor<f32>, %n: tensor<2xi32>) {
  // expected-error @below {{'weft.vjp' op needs 1 cotangents, but has 2}}
  %0:3 = weft.vjp @f(%x) cotangents(%x, %n) wrt [0]
      : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, tensor<f32>)
  return
}

// -----

func.func private @f(%x: tensor<2xf32>) -> tensor<f32>
func.func @tangent_type(%x: tensor<2xf32>, %d: tensor<f32>) {
  // expected-error @below {{'weft.jvp' op tangent 0 must be 'tensor<2xf32>', but is 'tensor<f32>'}}
  %0:2 = weft.jvp @f(%x) tangents(%d) wrt [0]
      : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @no_function_to_pull_back(%x: tensor<f32>) {
  // expected-error @below {{'weft.vjp' op no function @f in the module}}
  %0:2 = weft.vjp @f(%x) cotangents(%x) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// A cotangent is of its result's type.
func.func private @f(%x: tensor<f32>) -> tensor<2xf32>
func.func @cotangent_type(%x: tensor<f32>) {
  // expected-error @below {{'weft.vjp' op cotangent 0 must be 'tensor<2xf32>', but is 'tensor<f32>'}}
  %0:2 = weft.vjp @f(%x) cotangents(%x) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
  return
}

// -----

// What reaches an argument is of that argument's type.
func.func private @f(%x: tensor<2xf32>) -> tensor<f32>
func.func @pulled_type(%x: tensor<2xf32>, %dy: tensor<f32>) {
  // expected-error @below {{'weft.vjp' op result 1 must be 'tensor<2xf32>', but is 'tensor<f32>'}}
  %0:2 = weft.vjp @f(%x) cotangents(%dy) wrt [0] : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @no_function_to_push_forward(%x: tensor<f32>) {
  // expected-error @below {{'weft.jvp' op no function @f in the module}}
  %0:2 = weft.jvp @f(%x) tangents(%x) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// There is one tangent for each argument in wrt.
func.func private @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32>
func.func @tangent_count(%x: tensor<f32>) {
  // expected-error @below {{'weft.jvp' op needs 2 tangents, but has 1}}
  %0:2 = weft.jvp @f(%x, %x) tangents(%x) wrt [0, 1] : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// An integer result has no tangent.
func.func private @f(%x: tensor<f32>) -> tensor<i32>
func.func @pushed_count(%x: tensor<f32>) {
  // expected-error @below {{'weft.jvp' op needs 1 results, but has 2}}
  %0:2 = weft.jvp @f(%x) tangents(%x) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<i32>, tensor<i32>)
  return
}

// -----

// Arguments do not count from the end.
func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @negative(%x: tensor<f32>) {
  // expected-error @below {{'weft.jvp' op wrt names argument -1, but @f has 1}}
  %0:2 = weft.jvp @f(%x) tangents(%x) wrt [-1] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// A record is of the call that it comes from, so nothing may stand between.
func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @chosen_record(%x: tensor<f32>, %p: i1) {
  // expected-error @below {{'weft.record' op its record is for weft.pull alone, but goes to arith.select}}
  %y, %r = weft.record @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, !weft.record)
  %s = arith.select %p, %r, %r : !weft.record
  return
}

// -----

func.func @given_record(%r: !weft.record, %d: tensor<f32>) {
  // expected-error @below {{'weft.pull' op takes the record of a weft.record itself}}
  %0 = weft.pull %r(%d) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>)
func.func @pull_count(%x: tensor<f32>) {
  %y:2, %r = weft.record @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<i32>, !weft.record)
  // expected-error @below {{'weft.pull' op needs 1 cotangents, but has 0}}
  %0 = weft.pull %r() : () -> tensor<f32>
  return
}

// -----

// By a variable the derivative is of the variable's type.
func.func private @f(%v: !weft.var<tensor<2xf32>>) -> tensor<f32>
func.func @pull_type(%v: !weft.var<tensor<2xf32>>, %d: tensor<f32>) {
  %y, %r = weft.record @f(%v) wrt [0] : (!weft.var<tensor<2xf32>>) -> (tensor<f32>, !weft.record)
  // expected-error @below {{'weft.pull' op result 0 must be 'tensor<2xf32>', but is 'tensor<f32>'}}
  %0 = weft.pull %r(%d) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @record_type(%x: tensor<f32>) {
  // expected-error @below {{'weft.record' op result 0 must be 'tensor<f32>', but is 'tensor<2xf32>'}}
  %y, %r = weft.record @f(%x) wrt [0] : (tensor<f32>) -> (tensor<2xf32>, !weft.record)
  return
}

// -----

weft.variable @n : tensor<i32>
func.func private @f(%v: !weft.var<tensor<i32>>) -> tensor<f32>
func.func @integer_variable(%v: !weft.var<tensor<i32>>) {
  // expected-error @below {{'weft.record' op wrt names argument 0 of type '!weft.var<tensor<i32>>', but only floating tensors have derivatives, and variables}}
  %y, %r = weft.record @f(%v) wrt [0] : (!weft.var<tensor<i32>>) -> (tensor<f32>, !weft.record)
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32>
func.func @budget(%x: tensor<f32>) {
  // expected-error @below {{'weft.gradient' op the checkpoint budget "binomial<0>" must be at least 1}}
  %0:2 = weft.gradient @f(%x) wrt [0] {checkpoint = "binomial<0>"} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @no_pullback(%x: tensor<f32>) {
  // expected-error @below {{'weft.custom_gradient' op no function @f in the module}}
  %0 = weft.custom_gradient(%x) of(%x) by @f() : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(%d: tensor<f32>) -> tensor<f32>
func.func @other_results(%x: tensor<f32>, %y: tensor<2xf32>) {
  // expected-error @below {{'weft.custom_gradient' op result 0 must be 'tensor<f32>', but is 'tensor<2xf32>'}}
  %0 = weft.custom_gradient(%x) of(%x) by @f() : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func private @f(%d: tensor<f32>) -> tensor<i32>
func.func @of_integers(%x: tensor<f32>, %n: tensor<i32>) {
  // expected-error @below {{'weft.custom_gradient' op source 0 is of type 'tensor<i32>', but only floating tensors have derivatives}}
  %0 = weft.custom_gradient(%x) of(%n) by @f() : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func private @f(%d: tensor<f32>) -> tensor<f32>
func.func @captures(%x: tensor<f32>) {
  // expected-error @below {{'weft.custom_gradient' op needs 1 arguments, but has 2}}
  %0 = weft.custom_gradient(%x) of(%x) by @f(%x) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(%d: tensor<f32>) -> tensor<f32>
func.func @sources(%x: tensor<f32>) {
  // expected-error @below {{'weft.custom_gradient' op has 2 sources, but @f gives 1 cotangents}}
  %0 = weft.custom_gradient(%x) of(%x, %x) by @f() : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(%d: tensor<f32>) -> tensor<3xf32>
func.func @source_type(%x: tensor<f32>, %y: tensor<2xf32>) {
  // expected-error @below {{'weft.custom_gradient' op source 0 is of type 'tensor<2xf32>', but its cotangent is 'tensor<3xf32>'}}
  %0 = weft.custom_gradient(%x) of(%y) by @f() : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return
}
