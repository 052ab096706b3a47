// The table of routines, and calls of them as compiled code makes them.
#include "Kernels/Routine.h"

#include <algorithm>
#include <string>
#include <vector>

#include "OpDefs/OpInfo.h"
#include <weft/detail/inline_vector.h>

namespace weft::kernels {

static Shape shape_of(const RoutineTensor &tensor) {
  return Shape(std::span(tensor.sizes, static_cast<std::size_t>(tensor.rank)));
}

/// The dtype of an operand where the first one's elements are of `dtype`.
static DType dtype_of(const OperandInfo &operand, DType dtype) {
  if (operand.admits.contains(dtype)) return dtype;
  int first = 0;
  while (!operand.admits.contains(static_cast<DType>(first))) ++first;
  return static_cast<DType>(first);
}

/// What the op gives for operands of these sizes; throws where it takes none such.
static std::vector<TensorType> results_of(const OpInfo &info, DType dtype,
                                          const RoutineCall &call) {
  std::vector<TensorType> operands, results(call.results.size());
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    operands.push_back({dtype_of(info.operands[i], dtype), shape_of(call.operands[i])});
  Attrs attrs;
  for (std::size_t i = 0; i < call.attrs.size(); ++i)
    if (info.attrs[i].kind == AttrKind::flag) attrs.emplace_back(call.attrs[i] != 0);
    else attrs.emplace_back(call.attrs[i]);
  const Result<TensorType> first = infer({info.op, operands, attrs, std::span(results).subspan(1)});
  if (!first) raise(first.fault().kind, std::string(info.name) + ": " + first.fault().message);
  results[0] = *first;
  return results;
}

/// Throws unless the destination has the sizes of the result.
static void check_destination(const OpInfo &info, const RoutineTensor &into,
                              const TensorType &result) {
  if (const Shape shape = shape_of(into); shape != result.shape)
    raise(ErrorKind::shape, std::string(info.name) + ": the destination has the shape " +
                                to_string(shape) + ", where the result has " +
                                to_string(result.shape));
}

/// Complex numbers as compiled code has them, of which a last axis are the parts, as one tensor of
/// them; their strides are kept in `strides`.
static RoutineTensor joined(const OpInfo &info, RoutineTensor parts, std::int64_t *&strides) {
  const std::int64_t rank = parts.rank - 1;
  bool fits = rank >= 0 && parts.sizes[rank] == 2 && parts.strides[rank] == 1;
  for (std::int64_t axis = 0; fits && axis < rank; ++axis) {
    fits = parts.strides[axis] % 2 == 0 || parts.sizes[axis] <= 1;
    strides[axis] = parts.strides[axis] / 2;
  }
  if (!fits)
    raise(ErrorKind::internal, std::string(info.name) + ": parts of complex numbers are apart");
  const std::int64_t *const own = strides;
  strides += rank;
  return {rank, parts.sizes, own, parts.data};
}

void run_routine(OpCode op, DType dtype, const RoutineCall &call) {
  const auto is_empty = [](const RoutineTensor &result) {
    return std::find(result.sizes, result.sizes + result.rank, 0) != result.sizes + result.rank;
  };
  if (!std::ranges::all_of(call.results, is_empty)) routine_of(op, dtype)(call);
}

void run_routine(OpCode op, DType dtype, const std::int64_t *numbers,
                 std::initializer_list<void *> data) {
  const OpInfo &info = op_info(op);
  detail::InlineVector<RoutineTensor, 8> tensors;
  std::int64_t axes = 0;
  for (void *elements : data) {
    const std::int64_t rank = *numbers++;
    tensors.push_back({rank, numbers, numbers + rank, elements});
    numbers += 2 * rank;
    axes += rank;
  }
  std::vector<std::int64_t> strides(static_cast<std::size_t>(axes));
  std::int64_t *free = strides.data();
  const std::span<RoutineTensor> all(tensors.begin(), tensors.size());
  const std::span<RoutineTensor> operands = all.first(info.operands.size()),
                                 results = all.subspan(info.operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (is_complex(dtype_of(info.operands[i], dtype)))
      operands[i] = joined(info, operands[i], free);
  const RoutineCall call{operands, results, {numbers, info.attrs.size()}};
  const std::vector<TensorType> types = results_of(info, dtype, call);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (is_complex(types[i].dtype)) results[i] = joined(info, results[i], free);
    check_destination(info, results[i], types[i]);
  }
  run_routine(op, dtype, call);
}

} // namespace weft::kernels

#define WEFT_ROUTINE_TABLE
#include "Routines.inc"
