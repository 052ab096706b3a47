// A size that does not fit is an error the caller can catch.
// RUN: weft-opt %s --weft-checks-to-runtime | FileCheck %s

// CHECK: func.func private @weft_rt_shape_error(!llvm.ptr) attributes {weft.context, weft.runtime}
// CHECK: llvm.mlir.global internal constant @[[TEXT:.*]]("checks-to-runtime.mlir:{{[0-9]+}}: matmul: the inner dimensions differ\00")
// CHECK-LABEL: func @check
// CHECK-SAME: (%[[FITS:.*]]: i1)
// CHECK: %[[BROKEN:.*]] = arith.xori %[[FITS]], %{{.*}}
// CHECK: scf.if %[[BROKEN]]
// CHECK: %[[P:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK: call @weft_rt_shape_error(%[[P]])
func.func @check(%fits: i1) {
  cf.assert %fits, "matmul: the inner dimensions differ"
  return
}
