// weft-reduce: a program shrinks to the op that the script looks for; input that is wrong is an error.
// RUN: printf '#!/bin/sh\nif grep -q weft.tanh "$1" && %weft_bin/weft-opt "$1" >%t.log 2>&1; then exit 1; fi\n' > %t.sh
// RUN: chmod +x %t.sh
// RUN: weft-reduce %s --reduction-tree='traversal-mode=0 test=%t.sh' -o %t.small.mlir 2>&1 | count 0
// RUN: FileCheck %s --input-file=%t.small.mlir

// CHECK: module {
// CHECK-NEXT: func.func @one(%[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = weft.tanh %[[X]] : tensor<4xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK-NEXT: }
// CHECK-NEXT: }

func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  %1 = weft.sum %0 {axes = array<i64: 0>, keepdims = true} : (tensor<4xf32>) -> tensor<1xf32>
  %2 = weft.add %0, %1 : tensor<4xf32>, tensor<1xf32>
  %3 = weft.tanh %2 : tensor<4xf32>
  %4 = weft.divide %3, %0 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A program that the script does not find interesting cannot be reduced.
// RUN: printf '#!/bin/sh\nexit 0\n' > %t.never.sh
// RUN: chmod +x %t.never.sh
// RUN: not weft-reduce %s --reduction-tree='traversal-mode=0 test=%t.never.sh' 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: weft-reduce.mlir:0:0: warning: uninterested module will not be reduced

// What is no program is quoted; what is no file is named.
// RUN: echo 'func.func @f(' > %t.bad.mlir
// RUN: not weft-reduce %t.bad.mlir --reduction-tree='traversal-mode=0 test=%t.sh' 2>&1 | FileCheck %s --check-prefix=PARSE
// RUN: not weft-reduce %t.none.mlir --reduction-tree='traversal-mode=0 test=%t.sh' 2>&1 | FileCheck %s --check-prefix=FILE
// PARSE: bad.mlir:1:{{[0-9]+}}: error:
// PARSE-NEXT: func.func @f(
// PARSE-NEXT: {{^ *\^}}
// FILE: cannot open input file '{{.*}}none.mlir': No such file or directory
