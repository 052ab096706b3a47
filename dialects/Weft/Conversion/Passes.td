// The conversions out of the weft dialect, with what they want and what they leave.

#ifndef WEFT_CONVERSION_PASSES
#define WEFT_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def WeftToLinalgPass : Pass<"weft-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Converts weft ops on tensors to linalg, tensor and arith.";
  let description = [{
    Before: weft ops on ranked tensors, in functions and in regions of scf. Variables are lifted
    (no weft.handle, read or assign).

    After: every elementwise op is one linalg.generic with broadcasting in its maps; reductions are
    linalg.generic on the neutral element; matrix products are linalg.contract on zeros; movements
    are maps or slices. Of the weft dialect only effects are left: print, assert and check_indices.
    Unknown sizes that have to fit are tested by cf.assert. Locations are those of the weft ops.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // WEFT_CONVERSION_PASSES
