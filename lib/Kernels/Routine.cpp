// The table of routines, and the door by which compiled code calls them.
#include "Kernels/Routine.h"

#include <weft/detail/inline_vector.h>

namespace weft::kernels {

void run_routine(OpCode op, DType dtype, const std::int64_t *numbers, std::size_t attrs,
                 std::initializer_list<void *> data) {
  detail::InlineVector<RoutineTensor, 4> tensors;
  for (void *elements : data) {
    const std::int64_t rank = *numbers++;
    tensors.push_back({rank, numbers, numbers + rank, elements});
    numbers += 2 * rank;
  }
  const std::span<const RoutineTensor> all = tensors;
  routine_of(op, dtype)({all.first(all.size() - 1), all.last(1), {numbers, attrs}});
}

} // namespace weft::kernels

#include "Routines.inc"
