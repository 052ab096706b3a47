// What bufferization has to know of ops that write their result over their operand `into`.
#pragma once

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace mlir::weft {

/// The model of an op whose result is its operand `into`, of which it reads nothing; other tensors
/// it only reads. `Model` adds how it is bufferized.
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
    return {{op->getResult(0), bufferization::BufferRelation::Equivalent}};
  }

private:
  static bool isInto(Operation *op, OpOperand &operand) {
    return &cast<Op>(op).getIntoMutable() == &operand;
  }
};

} // namespace mlir::weft
