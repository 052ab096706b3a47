// The types var and token, and the dialect: their text, and what it says of others.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK: func.func private @types(!weft.var<tensor<2x3xf32>>, !weft.var<tensor<i1>>, !weft.token)
func.func private @types(!weft.var<tensor<2x3xf32>>, !weft.var<tensor<i1>>, !weft.token)

// -----

// The value of a variable is a tensor.
// expected-error @below {{failed to parse Weft_VarType parameter 'valueType' which is to be a `::mlir::RankedTensorType`}}
// expected-error @below {{invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
func.func private @number(!weft.var<f32>)

// -----

// There is no such type.
// expected-error @below {{unknown  type `tensor` in dialect `weft`}}
func.func private @unknown(!weft.tensor<2xf32>)

// -----

// Ops are the library's, so what is not one of them is a slip of the pen.
func.func @unknown_op(%x: tensor<f32>) {
  // expected-error @below {{unregistered operation 'weft.adds' found in dialect ('weft') that does not allow unknown operations}}
  %0 = "weft.adds"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}
