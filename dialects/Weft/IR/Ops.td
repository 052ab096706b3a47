// Every op record of the library, by subject.

#ifndef WEFT_IR_OPS
#define WEFT_IR_OPS

include "Weft/IR/ElementwiseOps.td"
include "Weft/IR/StructuralOps.td"
include "Weft/IR/StateOps.td"

#endif // WEFT_IR_OPS
