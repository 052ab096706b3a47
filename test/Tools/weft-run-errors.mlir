// weft-run: what it says of arguments that do not fit, and that it exits with 1.
// RUN: not weft-run %s 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not weft-run %s --arg='dense<1> : tensor<2xi32>' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not weft-run %s --arg=%t.missing.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-run %s --arg=%S 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not weft-run %s --arg='iota : tensor<2xf32>' --check=%t.missing.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-run %s --repeats=0 2>&1 | FileCheck %s --check-prefix=REPEATS
// RUN: not weft-run %s --tolerance=-1 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: not weft-run %s --tolerance=nan 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: not weft-run %s --from=llvm 2>&1 | FileCheck %s --check-prefix=FROM
// RUN: not weft-run %s --arg='nonsense' 2>&1 | FileCheck %s --check-prefix=NONSENSE
// RUN: not weft-run %s --arg='dense<[1., 2.]> : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=LITERAL --implicit-check-not=error
// RUN: not weft-run %s --arg='iota : tensor<4xoops>' 2>&1 | FileCheck %s --check-prefix=NOTYPE --implicit-check-not=error
// RUN: not weft-run %s --entry=other 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not weft-run %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: echo 'func.func @f() { %%0 = weft.tanh %%x : tensor<f32> }' > %t.bad.mlir
// RUN: echo 'func.func @f(%%x: tensor<f32>, %%n: index) { return }' > %t.takes.mlir
// RUN: not weft-run %t.takes.mlir 2>&1 | FileCheck %s --check-prefix=TAKES
// RUN: echo 'func.func @f(%%x: tensor<f80>) -> tensor<f80> { return %%x : tensor<f80> }' > %t.dtype.mlir
// RUN: not weft-run %t.dtype.mlir 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: echo 'func.func @f() -> index { %%c = arith.constant 1 : index return %%c : index }' > %t.gives.mlir
// RUN: not weft-run %t.gives.mlir 2>&1 | FileCheck %s --check-prefix=GIVES
// RUN: echo 'func.func @f() -> tensor<f32> { %%0 = arith.constant dense_resource<x> : tensor<f32> return %%0 : tensor<f32> }' > %t.resource.mlir
// RUN: not weft-run %t.resource.mlir 2>&1 | FileCheck %s --check-prefix=RESOURCE
// RUN: not weft-run %t.bad.mlir 2>&1 | FileCheck %s --check-prefix=PARSE

// COUNT: error: @only takes 1 arguments, but 0 are given with --arg
// TYPE: error: argument 0 of @only must be f32(2,), but --arg gives i32(2,)
// MISSING: {{^}}error: {{.*}}missing.npy: cannot be opened: No such file or directory
// FOLDER: {{^}}error: {{.*}}Tools: is a folder
// REPEATS: {{^}}error: --repeats=0: at least one run is needed
// TOLERANCE: {{^}}error: --tolerance={{.*}}: it is a finite number that is not negative
// FROM: {{^}}error: --from=llvm: weft-run takes trace, differentiate, {{.*}}, bufferize{{$}}
// NONSENSE: error: argument 'nonsense': there is no such file, and it is no 'literal : type'
// LITERAL: error: argument 'dense<[1., 2.]> : tensor<3xf32>': inferred shape of elements literal ([2]) does not match type ([3])
// NOTYPE: error: argument 'iota : tensor<4xoops>': after ':' stands a tensor type of known sizes, such as tensor<4x8xf32>
// ENTRY: error: there is no function @other with a body in
// FILE: error: cannot open input file
// TAKES: takes.mlir:1:{{[0-9]+}}: error: @f takes 'index', but weft-run hands over ranked tensors of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN or f8E5M2 alone
// DTYPE: dtype.mlir:1:{{[0-9]+}}: error: @f takes 'tensor<f80>', but
// GIVES: gives.mlir:1:{{[0-9]+}}: error: @f gives 'index', but
// RESOURCE: resource.mlir:1:{{[0-9]+}}: error: 'arith.constant' op 'value' must be dense<..>, whose elements stand in the text
// PARSE: bad.mlir:1:{{[0-9]+}}: error: use of undeclared SSA value name
func.func @only(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
