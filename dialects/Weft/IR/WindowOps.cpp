// Verifies call_into: the routines that the library has.
#include "OpDefs/OpInfo.h"
#include "Weft/IR/Weft.h"

namespace mlir::weft {

namespace {

/// A routine of the library: tensors that it reads, all of one dtype, numbers that it is told, and
/// whether it gives places rather than elements of that dtype.
struct Routine {
  llvm::StringRef name;
  size_t inputs, numbers;
  bool givesPlaces = false;
};
constexpr Routine kRoutines[] = {
    {"argmax", 1, 3, /*givesPlaces=*/true},
    {"convolution", 2, 22},
    {"convolution_transpose", 2, 22},
    {"convolution_kernel_gradient", 2, 22},
};

/// Every cumulative op is one too.
std::optional<Routine> findRoutine(llvm::StringRef name) {
  const Routine *known =
      llvm::find_if(kRoutines, [&](const Routine &routine) { return routine.name == name; });
  if (known != std::end(kRoutines)) return *known;
  const ::weft::OpInfo *op = ::weft::find_op(name);
  if (!op || op->kind != ::weft::OpKind::cumulative) return std::nullopt;
  return Routine{name, op->operands.size(), 4};
}

} // namespace

LogicalResult CallIntoOp::verify() {
  const std::optional<Routine> routine = findRoutine(getRoutine());
  if (!routine) return emitOpError() << "the library has no routine '" << getRoutine() << "'";
  if (getInputs().size() != routine->inputs || getNumbers().size() != routine->numbers)
    return emitOpError() << "'" << getRoutine() << "' takes " << routine->inputs << " tensors and "
                         << routine->numbers << " numbers, but is given " << getInputs().size()
                         << " and " << getNumbers().size();
  const auto elementOf = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getElementType();
  };
  const Type element = elementOf(getInputs().front());
  const Type given = routine->givesPlaces ? IntegerType::get(getContext(), 64) : element;
  for (Value input : getInputs())
    if (elementOf(input) != element)
      return emitOpError() << "'" << getRoutine() << "' takes tensors of one dtype, but "
                           << input.getType() << " meets " << getInputs().front().getType();
  if (elementOf(getInto()) != given)
    return emitOpError() << "'" << getRoutine() << "' gives elements of " << given
                         << ", but is given " << getInto().getType() << " to write over";
  if (element.isInteger(1))
    return emitOpError() << "'" << getRoutine() << "' takes numbers, but is given "
                         << getInputs().front().getType();
  return success();
}

} // namespace mlir::weft
