// The table of routines, and the door by which compiled code calls them.
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

/// Throws unless the op takes operands of these sizes and gives results of these.
static void check_sizes(const OpInfo &info, DType dtype, const RoutineCall &call) {
  std::vector<TensorType> operands, results(call.results.size());
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const DTypeSet &admits = info.operands[i].admits;
    DType own = dtype;
    for (int other = 0; other < kNumDTypes && !admits.contains(own); ++other)
      own = static_cast<DType>(other);
    operands.push_back({own, shape_of(call.operands[i])});
  }
  Attrs attrs;
  for (std::size_t i = 0; i < call.attrs.size(); ++i)
    if (info.attrs[i].kind == AttrKind::flag) attrs.emplace_back(call.attrs[i] != 0);
    else attrs.emplace_back(call.attrs[i]);
  const Result<TensorType> first = infer({info.op, operands, attrs, std::span(results).subspan(1)});
  if (!first) raise(first.fault().kind, std::string(info.name) + ": " + first.fault().message);
  results[0] = *first;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const Shape shape = shape_of(call.results[i]); shape != results[i].shape)
      raise(ErrorKind::shape, std::string(info.name) + ": the destination has the shape " +
                                  to_string(shape) + ", where the result has " +
                                  to_string(results[i].shape));
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
  for (void *elements : data) {
    const std::int64_t rank = *numbers++;
    tensors.push_back({rank, numbers, numbers + rank, elements});
    numbers += 2 * rank;
  }
  const std::span<const RoutineTensor> all = tensors;
  const std::size_t operands = info.operands.size();
  const RoutineCall call{all.first(operands), all.subspan(operands), {numbers, info.attrs.size()}};
  check_sizes(info, dtype, call);
  run_routine(op, dtype, call);
}

} // namespace weft::kernels

#include "Routines.inc"
