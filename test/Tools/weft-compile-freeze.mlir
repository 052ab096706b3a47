// weft-compile --freeze: what it says of names and files that make no sense. The line of the tool's own source is none of it.
// RUN: not weft-compile %s --freeze=scale,scale -o %t.o 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: weft-run %s --arg='iota : tensor<4xf32>' --save=%t.npy
// RUN: not weft-compile %s --freeze=input0=%t.npy,f.input0=%t.npy -o %t.o 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not weft-compile %s --freeze=shift -o %t.o 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-compile %s --freeze=scala -o %t.o 2>&1 | FileCheck %s --check-prefix=HINT
// RUN: echo 'weft.variable @_0_kernel : tensor<f32>' > %t.names.mlir && not weft-compile %t.names.mlir --freeze=0.kernel -o %t.o 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: not weft-compile %s --freeze== -o %t.o 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not weft-compile %s --freeze=scale= -o %t.o 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not weft-compile %s --freeze=, -o %t.o 2>&1 | FileCheck %s --check-prefix=COMMA
// RUN: not weft-compile %s --freeze=scale, -o %t.o 2>&1 | FileCheck %s --check-prefix=COMMA
// RUN: not weft-compile %s --freeze=input0=%t.missing.npy -o %t.o 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-compile %s --compile-from=object -o %t.o 2>&1 | FileCheck %s --check-prefix=FROM

// All are those that are not named.
// RUN: weft-compile %s --freeze --freeze=input0=%t.npy --compile-to=lift-state | FileCheck %s
// CHECK: func.func @f() -> tensor<4xf32>

// TWICE: error: --freeze: @scale is given twice
// INPUT: error: --freeze: f.input0 is given twice
// NONE: error: --freeze: there is no variable @shift{{$}}
// HINT: error: --freeze: there is no variable @scala; did you mean --freeze=scale?
// SYMBOL: error: --freeze: there is no variable @0.kernel; did you mean --freeze=_0_kernel?
// EMPTY: error: --freeze: '=' should be NAME=FILE.npy
// NOFILE: error: --freeze: 'scale=' should be NAME=FILE.npy
// COMMA: error: --freeze: a name is missing beside a comma
// MISSING: {{^}}error: {{.*}}missing.npy: cannot be opened: No such file or directory
// FROM: error: --compile-from=object: no text has such a phase; there are trace, {{.*}}, llvm{{$}}

// The example of weft-opt --help.
// RUN: weft-opt %s --weft-phase-lift-state --weft-phase-linalg | FileCheck %s --check-prefix=LINALG
// LINALG: linalg.generic
weft.variable @scale = dense<2.0> : tensor<f32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %handle = weft.handle @scale : !weft.var<tensor<f32>>
  %scale = weft.read %handle : tensor<f32>
  %0 = weft.multiply %x, %scale : tensor<4xf32>, tensor<f32>
  return %0 : tensor<4xf32>
}
