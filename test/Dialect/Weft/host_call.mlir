// The op host_call: its text, with and without tokens, what may be dropped or merged, and what it demands.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s --check-prefix=FOLD
// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-erase-tokens | FileCheck %s --check-prefix=ERASED --implicit-check-not=token

// Any number of operands and results, of any dtypes; sizes may be unknown. The name is no symbol of the module.
// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<2x?xf32>, %p: tensor<i1>) -> (tensor<?xf64>, tensor<i32>) {
  // CHECK: weft.host_call @nothing() : () -> ()
  weft.host_call @nothing() : () -> ()
  // CHECK: weft.host_call @takes(%{{.*}}, %{{.*}}) : (tensor<2x?xf32>, tensor<i1>) -> ()
  weft.host_call @takes(%x, %p) : (tensor<2x?xf32>, tensor<i1>) -> ()
  // CHECK: %[[R:.*]]:2 = weft.host_call @gives(%{{.*}}) {note = "kept"} : (tensor<i1>) -> (tensor<?xf64>, tensor<i32>)
  %r:2 = weft.host_call @gives(%p) {note = "kept"} : (tensor<i1>) -> (tensor<?xf64>, tensor<i32>)
  // CHECK: weft.host_call @"two words"() : () -> tensor<f32>
  %0 = weft.host_call @"two words"() : () -> tensor<f32>
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1 : tensor<?xf64>, tensor<i32>
}

// -----

// Each call is an effect, equal ones too. Pure ones are merged, and dropped where nobody wants their results.
// CHECK-LABEL: func.func @pure
// FOLD-LABEL: func.func @pure
func.func @pure(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: weft.host_call pure @f(%{{.*}}) : (tensor<f32>) -> tensor<f32>
  // FOLD: %[[Y:.*]] = weft.host_call pure @f(%{{.*}}) : (tensor<f32>) -> tensor<f32>
  %y = weft.host_call pure @f(%x) : (tensor<f32>) -> tensor<f32>
  // FOLD-NOT: @f
  %z = weft.host_call pure @f(%x) : (tensor<f32>) -> tensor<f32>
  // FOLD-NOT: @unwanted
  %w = weft.host_call pure @unwanted(%x) : (tensor<f32>) -> tensor<f32>
  // FOLD: weft.host_call @g
  // FOLD: weft.host_call @g
  %a = weft.host_call @g(%x) : (tensor<f32>) -> tensor<f32>
  %b = weft.host_call @g(%x) : (tensor<f32>) -> tensor<f32>
  // FOLD: return %[[Y]], %[[Y]]
  return %y, %z : tensor<f32>, tensor<f32>
}

// -----

// With a token before it, it gives one after its results.
// CHECK-LABEL: func.func @tokens
// ERASED-LABEL: func.func @tokens
func.func @tokens(%t: !weft.token, %x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]]:2 = weft.host_call @f(%{{.*}}) after %{{.*}} : (tensor<f32>) -> tensor<f32>
  // ERASED: %[[Y:.*]] = weft.host_call @f(%{{.*}}) : (tensor<f32>) -> tensor<f32>
  %y, %t1 = weft.host_call @f(%x) after %t : (tensor<f32>) -> tensor<f32>
  // CHECK: %[[T:.*]] = weft.host_call @g() after %[[Y]]#1 {a} : () -> ()
  // ERASED: weft.host_call @g() {a} : () -> ()
  %t2 = weft.host_call @g() after %t1 {a} : () -> ()
  weft.finish %t2
  // ERASED: return %[[Y]]
  return %y : tensor<f32>
}

// -----

func.func @no_tensor(%x: index) {
  // expected-error @below {{'weft.host_call' op operand #0 must be variadic of ranked tensor of a dtype or token, but got 'index'}}
  weft.host_call @f(%x) : (index) -> ()
  return
}

// -----

func.func @no_dtype() {
  // expected-error @below {{'weft.host_call' op result #0 must be variadic of ranked tensor of a dtype or token, but got 'tensor<f80>'}}
  %0 = weft.host_call @f() : () -> tensor<f80>
  return
}

// -----

func.func @unranked() {
  // expected-error @below {{'weft.host_call' op result #0 must be variadic of ranked tensor of a dtype or token, but got 'tensor<*xf32>'}}
  %0 = weft.host_call @f() : () -> tensor<*xf32>
  return
}

// -----

func.func @too_few_types(%x: tensor<f32>) {
  // expected-error @below {{number of operands and types do not match: got 1 operands and 0 types}}
  weft.host_call @f(%x) : () -> ()
  return
}

// -----

func.func @ordered_pure(%t: !weft.token) {
  // expected-error @below {{'weft.host_call' op is pure, so tokens do not order it}}
  %0 = weft.host_call pure @f() after %t : () -> ()
  return
}

// -----

func.func @only_before(%t: !weft.token) {
  // expected-error @below {{'weft.host_call' op has a token before it and one of its own, or neither}}
  "weft.host_call"(%t) <{callee = "f"}> : (!weft.token) -> ()
  return
}

// -----

func.func @two_tokens(%t: !weft.token) {
  // expected-error @below {{'weft.host_call' op has at most one token before it and one of its own, after all tensors}}
  %0 = "weft.host_call"(%t, %t) <{callee = "f"}> : (!weft.token, !weft.token) -> !weft.token
  return
}

// -----

func.func @no_name() {
  // expected-error @below {{'weft.host_call' op names no callable}}
  "weft.host_call"() <{callee = ""}> : () -> ()
  return
}

// -----

func.func @no_callee(%x: tensor<f32>) {
  // expected-error @below {{expected valid '@'-identifier for symbol name}}
  weft.host_call (%x) : (tensor<f32>) -> ()
  return
}
