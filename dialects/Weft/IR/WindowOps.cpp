// Verifies call_into: the routines that the library has.
#include "OpDefs/OpInfo.h"
#include "Weft/IR/Bridge.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace mlir::weft {

namespace {

/// A routine of the library: tensors that it reads, and numbers that it is told. All tensors and
/// the result have the dtype of the first one, but for one at most that has places: an input by its
/// number, or what follows them, the result.
struct Routine {
  llvm::StringRef name;
  size_t inputs, numbers;
  size_t places = std::numeric_limits<size_t>::max();
  unsigned widthOfPlaces = 32;
};
constexpr Routine kRoutines[] = {
    {"argmax", 1, 3, 1, 64},
    {"convolution", 2, 22},
    {"convolution_transpose", 2, 22},
    {"convolution_kernel_gradient", 2, 22},
    {"window_max", 1, 20},
    {"window_min", 1, 20},
    {"window_sum", 1, 20},
    {"window_sum_transpose", 1, 20},
    {"window_argmax", 1, 20, 1},
    {"window_argmin", 1, 20, 1},
    {"window_take", 2, 20, 1},
    {"window_scatter", 2, 20, 1},
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

/// A call of an op of kind routine: its destinations are what the op would give.
static LogicalResult verifyRoutine(CallIntoOp call, const ::weft::OpInfo &info) {
  const ArrayRef<int64_t> given = call.getAttrs().value_or(ArrayRef<int64_t>());
  if (call.getInputs().size() != info.operands.size() || !call.getNumbers().empty() ||
      given.size() != info.attrs.size())
    return call.emitOpError() << "'" << call.getRoutine() << "' takes " << info.operands.size()
                              << " tensors and " << info.attrs.size()
                              << " attributes, but is given " << call.getInputs().size() << " and "
                              << given.size();
  SmallVector<::weft::TensorType> types;
  for (auto [operand, input] : llvm::zip_equal(info.operands, call.getInputs())) {
    ::weft::TensorType type = tensorTypeOf(input.getType());
    if (call.getIsComplex() && operand.admits.contains(::weft::complex_of(type.dtype))) {
      if (type.shape.empty() || type.shape[type.shape.size() - 1] != 2)
        return call.emitOpError() << "'" << call.getRoutine()
                                  << "' takes complex numbers, whose parts are "
                                  << "a last axis of size 2, but is given " << input.getType();
      type.shape.erase(type.shape.size() - 1);
      type.dtype = ::weft::complex_of(type.dtype);
    }
    types.push_back(type);
  }
  ::weft::Attrs attrs;
  for (auto [attr, integer] : llvm::zip_equal(info.attrs, given))
    if (attr.kind == ::weft::AttrKind::flag) attrs.emplace_back(integer != 0);
    else attrs.emplace_back(integer);
  std::vector<::weft::TensorType> results(info.results);
  const ::weft::Result<::weft::TensorType> first =
      ::weft::infer({info.op, std::span<const ::weft::TensorType>(types.data(), types.size()),
                     attrs, std::span(results).subspan(1)});
  if (!first)
    return call.emitOpError() << "'" << call.getRoutine() << "': " << first.fault().message;
  results.front() = *first;
  SmallVector<Type> wanted;
  for (::weft::TensorType result : results) {
    if (::weft::is_complex(result.dtype)) result.shape.push_back(2);
    result.dtype = ::weft::component_of(result.dtype);
    wanted.push_back(mlirTypeOf(result, call.getContext()));
  }
  if (call.getIntoPairs()) {
    if (wanted.size() != 2 || wanted[0] != wanted[1])
      return call.emitOpError() << "'" << call.getRoutine() << "' gives " << wanted
                                << ", of which no pairs can be made";
    results.front().shape.push_back(2);
    wanted = {mlirTypeOf(results.front(), call.getContext())};
  }
  if (!areCompatible(wanted, call.getInto().getTypes()))
    return call.emitOpError() << "'" << call.getRoutine() << "' gives " << wanted
                              << ", but is to write over " << call.getInto().getTypes();
  return success();
}

/// The op of that name, if a routine computes it; else null.
static const ::weft::OpInfo *routineOp(StringRef name) {
  const ::weft::OpInfo *op = ::weft::find_op({name.data(), name.size()});
  return op && op->kind == ::weft::OpKind::routine ? op : nullptr;
}

bool CallIntoOp::mayThrow() {
  if (!routineOp(getRoutine())) return false;
  const std::optional<RegisteredOperationName> op =
      RegisteredOperationName::lookup(("weft." + getRoutine()).str(), getContext());
  if (op && op->hasTrait<StopsCall>()) return true;
  const auto isOpen = [](Type type) { return !cast<ShapedType>(type).hasStaticShape(); };
  return llvm::any_of(getInputs().getTypes(), isOpen) || llvm::any_of(getInto().getTypes(), isOpen);
}

Speculation::Speculatability CallIntoOp::getSpeculatability() {
  return mayThrow() ? Speculation::NotSpeculatable : Speculation::Speculatable;
}

LogicalResult CallIntoOp::verify() {
  if ((getVariables() ? getVariables()->size() : 0) != getState().size())
    return emitOpError("wants one value for each variable");
  if (const ::weft::OpInfo *op = routineOp(getRoutine())) return verifyRoutine(*this, *op);
  if (getVariables())
    return emitOpError() << "'" << getRoutine()
                         << "' does not throw, so nobody asks what variables hold then";
  const std::optional<Routine> routine = findRoutine(getRoutine());
  if (!routine) return emitOpError() << "the library has no routine '" << getRoutine() << "'";
  if (getInputs().size() != routine->inputs || getNumbers().size() != routine->numbers)
    return emitOpError() << "'" << getRoutine() << "' takes " << routine->inputs << " tensors and "
                         << routine->numbers << " numbers, but is given " << getInputs().size()
                         << " and " << getNumbers().size();
  if (getInto().size() != 1)
    return emitOpError() << "'" << getRoutine() << "' writes over one tensor, but is given "
                         << getInto().size();
  SmallVector<Value> tensors(getInputs());
  tensors.push_back(getInto().front());
  const auto elementOf = [](Value tensor) { return getElementTypeOrSelf(tensor.getType()); };
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    if (i != routine->places && elementOf(tensor) != elementOf(tensors.front()))
      return emitOpError() << "'" << getRoutine() << "' takes tensors of one dtype, but "
                           << tensors.front().getType() << " meets " << tensor.getType();
    if (i == routine->places && !elementOf(tensor).isInteger(routine->widthOfPlaces))
      return emitOpError() << "'" << getRoutine() << "' has places of i" << routine->widthOfPlaces
                           << ", but is given " << tensor.getType();
  }
  if (elementOf(tensors.front()).isInteger(1))
    return emitOpError() << "'" << getRoutine() << "' takes numbers, but is given "
                         << tensors.front().getType();
  return success();
}

LogicalResult verifyRoutine(LeaveOp leave) {
  const auto [name, dtype] = leave.getText().rsplit('_');
  const ::weft::OpInfo *op = routineOp(name);
  if (!op || !::weft::parse_dtype({dtype.data(), dtype.size()}))
    return leave.emitOpError()
           << "of kind routine names an op with a dtype, but the library has no "
           << "routine '" << leave.getText() << "'";
  const TypeRange types = leave.getValues().getTypes();
  const auto numbers = types.empty() ? MemRefType() : dyn_cast<MemRefType>(types.front());
  if (!numbers || numbers.getRank() != 1 || !numbers.getElementType().isInteger(64) ||
      types.size() != 1 + op->operands.size() + static_cast<size_t>(op->results) ||
      !llvm::all_of(types, llvm::IsaPred<MemRefType>))
    return leave.emitOpError() << "of kind routine takes an array of numbers and "
                               << op->operands.size() << " buffers that '" << name
                               << "' reads, then " << op->results << " that it writes";
  return success();
}

} // namespace mlir::weft
