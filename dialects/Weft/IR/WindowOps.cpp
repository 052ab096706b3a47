// Verifies call_into: the routines that the library has.
#include "Weft/IR/Weft.h"

namespace mlir::weft {

namespace {

/// A routine of the library: tensors that it reads, all of one dtype, and numbers that it is told.
struct Routine {
  llvm::StringLiteral name;
  size_t inputs, numbers;
};
constexpr Routine kRoutines[] = {
    {"convolution", 2, 22},
    {"convolution_transpose", 2, 22},
    {"convolution_kernel_gradient", 2, 22},
};

} // namespace

LogicalResult CallIntoOp::verify() {
  const Routine *routine =
      llvm::find_if(kRoutines, [&](const Routine &known) { return known.name == getRoutine(); });
  if (routine == std::end(kRoutines))
    return emitOpError() << "the library has no routine '" << getRoutine() << "'";
  if (getInputs().size() != routine->inputs || getNumbers().size() != routine->numbers)
    return emitOpError() << "'" << getRoutine() << "' takes " << routine->inputs << " tensors and "
                         << routine->numbers << " numbers, but is given " << getInputs().size()
                         << " and " << getNumbers().size();
  const Type element = getInto().getType().getElementType();
  for (Value input : getInputs())
    if (cast<RankedTensorType>(input.getType()).getElementType() != element)
      return emitOpError() << "'" << getRoutine() << "' takes tensors of one dtype, but "
                           << input.getType() << " meets " << getInto().getType();
  if (element.isInteger(1))
    return emitOpError() << "'" << getRoutine() << "' takes numbers, but is given "
                         << getInto().getType();
  return success();
}

} // namespace mlir::weft
