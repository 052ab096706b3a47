// The op variable: its text, and what it says of types and initial values that no variable has.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The type is that of the initial value; without one the variable starts as zero.
// CHECK: weft.variable @w = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
weft.variable @w = dense<[1.0, 2.0]> : tensor<2xf32>
// CHECK: weft.variable @zero : tensor<3x0xi64>
weft.variable @zero : tensor<3x0xi64>
// CHECK: weft.variable @flag = dense<true> : tensor<i1> {note = "kept"}
weft.variable @flag = dense<true> : tensor<i1> {note = "kept"}

// -----

// A variable holds a tensor, not a number.
// expected-error @below {{'weft.variable' op the type must be a ranked tensor of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN or f8E5M2, but is 'f32'}}
weft.variable @number : f32

// -----

// There is no tensor of the library with these elements.
// expected-error @below {{'weft.variable' op the type must be a ranked tensor of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN or f8E5M2, but is 'tensor<2xf80>'}}
weft.variable @half = dense<1.0> : tensor<2xf80>

// -----

// The value lives in one block of memory, so its sizes must be known.
// expected-error @below {{'weft.variable' op the shape must be known, but the type is 'tensor<?xf32>'}}
weft.variable @some : tensor<?xf32>

// -----

// Only the generic form can give both types.
// expected-error @below {{'weft.variable' op the initial value is of type 'tensor<3xf32>', but the variable of 'tensor<2xf32>'}}
"weft.variable"() {sym_name = "w", type = tensor<2xf32>, initial = dense<1.0> : tensor<3xf32>} : () -> ()

// -----

// The elements stand in the text: tools that took others for zeros would compute with those.
// expected-error @below {{'weft.variable' op the value must be dense<..>, whose elements stand in the text}}
weft.variable @resource = dense_resource<x> : tensor<2xf32>

// -----

// expected-error @below {{'weft.variable' op the value must be dense<..>, whose elements stand in the text}}
weft.variable @sparse = sparse<[[1]], 2.0> : tensor<4xf32>

// -----

// A name stands for one variable.
// expected-note @below {{see existing symbol definition here}}
weft.variable @w : tensor<f32>
// expected-error @below {{redefinition of symbol named 'w'}}
weft.variable @w : tensor<f32>

// -----

// Something has to say the type.
// expected-error @below {{expected ':'}}
weft.variable @w

// -----

// Ranks that have parts of it are of a group, which has a number, and are at least one.
// expected-error @below {{'weft.variable' op weft.cut_over_ranks must be {group = <i64, at least 0>, ranks = <i64, at least 1>}, but is {group = 0 : i64, ranks = 0 : i64}}}
weft.variable @v : tensor<3xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 0 : i64}}

// -----

// expected-error @below {{but is {group = 0 : i64, ranks = 2 : i32}}}
weft.variable @v : tensor<3xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i32}}

// -----

// expected-error @below {{but is 2 : i64}}
weft.variable @v : tensor<3xf32> {weft.cut_over_ranks = 2 : i64}

// -----

// The text would have the whole of it.
// expected-error @below {{'weft.variable' op a variable of which ranks have parts cannot have an initial value}}
weft.variable @v = dense<0.0> : tensor<3xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
