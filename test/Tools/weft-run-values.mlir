// weft-run: arguments that are broken files or are too large, and programs that are none, end with the reason and status 1.
// RUN: echo garbage > %t.garbage.npy
// RUN: not weft-run %s --arg=%t.garbage.npy 2>&1 | FileCheck %s --check-prefix=GARBAGE
// GARBAGE: error: {{.*}}garbage.npy: is not a .npy file: it does not start with \x93NUMPY
// RUN: printf '\223NUMPY\001\000' > %t.short.npy
// RUN: not weft-run %s --arg=%t.short.npy 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: {{.*}}short.npy: is truncated: it ends after 8 bytes, within its header

// A file cut off among its elements, to compare with.
// RUN: weft-run %s --arg='iota : tensor<4xf32>' --save=%t.npy
// RUN: weft-run %s --arg=%t.npy --check=%t.npy
// RUN: head -c 140 %t.npy > %t.cut.npy
// RUN: not weft-run %s --arg='iota : tensor<4xf32>' --check=%t.cut.npy 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: {{.*}}cut.npy: its header asks for 16 bytes of elements, but 12 follow

// Neither a product of sizes that no integer holds nor memory that no machine has is waited for.
// RUN: not weft-run %s --arg='iota : tensor<4611686018427387904x4xf32>' 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// RUN: not weft-run %s --arg='random<1> : tensor<4611686018427387904x4xf32>' 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// RUN: not weft-run %s --arg='dense<1.0> : tensor<4611686018427387904x4xf32>' 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// RUN: not weft-run %s --arg='dense<1.0> : tensor<4611686018427387904xf32>' 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// OVERFLOW: error: {{.*}}a tensor of shape (4611686018427387904,{{.*}}) has more {{bytes|elements}} than 2^63 - 1
// RUN: not weft-run %s --arg='iota : tensor<1125899906842624xf32>' 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not weft-run %s --arg='random<1> : tensor<1125899906842624xf32>' 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not weft-run %s --arg='dense<1.0> : tensor<1125899906842624xf32>' 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: {{.*}}out of memory: asked for {{[0-9]+}} bytes

// Bytes that are no text are refused, and ops that do not fit quoted, by every tool that compiles.
// RUN: printf '\000\001\377' > %t.binary.mlir
// RUN: not weft-run %t.binary.mlir 2>&1 | FileCheck %s --check-prefix=BINARY
// RUN: not weft-compile %t.binary.mlir 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: error: {{.*}}binary.mlir: is binary, but no bytecode of MLIR
// RUN: echo 'func.func @f(%%x: tensor<2x3xf32>, %%y: tensor<3x2xf32>) { %%0 = weft.add %%x, %%y : tensor<2x3xf32>, tensor<3x2xf32> return }' > %t.shapes.mlir
// RUN: not weft-run %t.shapes.mlir 2>&1 | FileCheck %s --check-prefix=SHAPES
// RUN: not weft-compile %t.shapes.mlir 2>&1 | FileCheck %s --check-prefix=SHAPES
// SHAPES: shapes.mlir:1:{{[0-9]+}}: error: 'weft.add' op the shapes do not broadcast: lhs is (2, 3) and rhs is (3, 2)
// SHAPES-NEXT: func.func @f(
// SHAPES-NEXT: {{^ *\^}}
// RUN: echo 'func.func @f() {' | not weft-run - 2>&1 | FileCheck %s --check-prefix=STDIN
// RUN: echo 'func.func @f() {' | not weft-compile - 2>&1 | FileCheck %s --check-prefix=STDIN
// STDIN: {{^}}<stdin>:{{[0-9]+}}:{{[0-9]+}}: error: expected operation name in quotes

// What a phase refuses is quoted as well: compiled functions cannot call themselves.
// RUN: echo 'func.func @f(%%x: tensor<f32>) -> tensor<f32> { %%0 = func.call @f(%%x) : (tensor<f32>) -> tensor<f32> return %%0 : tensor<f32> }' > %t.recursive.mlir
// RUN: not weft-run %t.recursive.mlir --arg='dense<1.0> : tensor<f32>' 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: not weft-compile %t.recursive.mlir 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RECURSIVE: recursive.mlir:1:{{[0-9]+}}: error: 'func.call' op calls a function that could not be inlined: is it recursive?
// RECURSIVE-NEXT: func.func @f(
// RECURSIVE-NEXT: {{^ *\^}}

// A variable that no machine can hold, and one whose size no integer does.
// RUN: echo 'weft.variable @v : tensor<1125899906842624xf32> func.func @f() { return }' > %t.memory.mlir
// RUN: not weft-run %t.memory.mlir 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: echo 'weft.variable @v : tensor<4611686018427387904x4xf32> func.func @f() { return }' > %t.overflow.mlir
// RUN: not weft-run %t.overflow.mlir 2>&1 | FileCheck %s --check-prefix=OVERFLOW

// A constant that is one element many times is created when it is wanted, and fails then.
// RUN: echo 'func.func @f() -> tensor<1125899906842624xf32> { %%0 = weft.constant dense<1.0> : tensor<1125899906842624xf32> return %%0 : tensor<1125899906842624xf32> }' > %t.constant.mlir
// RUN: not weft-run %t.constant.mlir --entry=f 2>&1 | FileCheck %s --check-prefix=CONSTANT
// CONSTANT: error: out of memory: asked for 4503599627374592 bytes (4.0 PiB)

func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
