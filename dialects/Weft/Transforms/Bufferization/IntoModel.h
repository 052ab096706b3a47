// What bufferization has to know of ops that write their result over their operand `into`.
#pragma once

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace mlir::weft {

/// The model of an op whose results are its operands `into`, of which it reads nothing; other
/// tensors it only reads. `Model` adds how it is bufferized.
template <class Model, class Op>
struct IntoModel : bufferization::BufferizableOpInterface::ExternalModel<Model, Op> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return !isInto(op, operand);
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const bufferization::AnalysisState &) const {
    return isInto(op, operand);
  }
  bufferization::AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                                     const bufferization::AnalysisState &) const {
    if (!isInto(op, operand)) return {};
    const unsigned number = operand.getOperandNumber() - intoOf(op).begin()->getOperandNumber();
    return {{op->getResult(number), bufferization::BufferRelation::Equivalent}};
  }

private:
  static MutableOperandRange intoOf(Operation *op) { return cast<Op>(op).getIntoMutable(); }
  static bool isInto(Operation *op, OpOperand &operand) {
    return llvm::any_of(intoOf(op), [&](OpOperand &into) { return &into == &operand; });
  }
};

} // namespace mlir::weft
