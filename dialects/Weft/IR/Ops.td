// Every op of the dialect, by subject.

#ifndef WEFT_IR_OPS
#define WEFT_IR_OPS

include "Weft/IR/ElementwiseOps.td"
include "Weft/IR/SpecialOps.td"
include "Weft/IR/StructuralOps.td"
include "Weft/IR/MovementOps.td"
include "Weft/IR/RandomOps.td"
include "Weft/IR/CumulativeOps.td"
include "Weft/IR/WindowOps.td"
include "Weft/IR/LinalgOps.td"
include "Weft/IR/FourierOps.td"
include "Weft/IR/StateOps.td"
include "Weft/IR/CollectiveOps.td"
include "Weft/IR/AutodiffOps.td"
include "Weft/IR/StackOps.td"
include "Weft/IR/AttentionOps.td"
include "Weft/IR/Composites.td"
include "Weft/IR/ArrayComposites.td"
include "Weft/IR/ReductionComposites.td"
include "Weft/IR/MatrixComposites.td"
include "Weft/IR/PositionComposites.td"
include "Weft/IR/ProductComposites.td"
include "Weft/IR/LinalgComposites.td"
include "Weft/IR/FourierComposites.td"
include "Weft/IR/RandomComposites.td"
include "Weft/IR/NumericComposites.td"
include "Weft/IR/ScatterComposites.td"

#endif // WEFT_IR_OPS
