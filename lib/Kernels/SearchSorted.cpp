// Positions of values among sorted ones, by searches that halve what is left in as many steps for
// every value.
#include "Kernels/Routine.h"

#include "Kernels/Lines.h"
#include "Support/Threads.h"

namespace weft::kernels::routines {

namespace {

/// Whether x stands before y: NaN is the largest of all.
template <class T>
bool precedes(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x < y || (y != y && x == x);
  else return x < y;
}

/// How many of the sorted elements stand before the value, or before and beside it.
template <bool right, class T>
std::int64_t position(const T *sorted, std::int64_t step, std::int64_t count, T value) {
  const auto is_before = [&](std::int64_t i) {
    const T element = sorted[i * step];
    return right ? !precedes(value, element) : precedes(element, value);
  };
  std::int64_t first = 0;
  while (count > 1) {
    const std::int64_t half = count / 2;
    first += is_before(first + half - 1) ? half : 0;
    count -= half;
  }
  return first + (count == 1 && is_before(first));
}

/// How far the element at a position of a tensor in row-major order is from its first.
std::int64_t offset_of(const RoutineTensor &tensor, std::int64_t axes, std::int64_t position) {
  std::int64_t offset = 0;
  for (std::int64_t i = axes; i-- > 0;) {
    offset += position % tensor.sizes[i] * tensor.strides[i];
    position /= tensor.sizes[i];
  }
  return offset;
}

template <bool right, class T>
void search(const RoutineTensor &a, const RoutineTensor &v, const RoutineTensor &result) {
  std::int64_t total = 1, each = 1;
  for (std::int64_t i = 0; i < v.rank; ++i) {
    total *= v.sizes[i];
    if (i >= a.rank - 1) each *= v.sizes[i];
  }
  if (total == 0) return;
  const std::int64_t count = a.sizes[a.rank - 1], step = a.strides[a.rank - 1];
  constexpr std::int64_t kGrain = 1 << 10; // values that are worth a thread
  threads::parallel_for(0, total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T *const sorted = a.elements<T>() + offset_of(a, a.rank - 1, i / each);
      const T value = v.elements<T>()[offset_of(v, v.rank, i)];
      result.elements<std::int64_t>()[offset_of(result, result.rank, i)] =
          position<right>(sorted, step, count, value);
    }
  });
}

} // namespace

template <class T>
void search_sorted(const RoutineCall &call) {
  const RoutineTensor &a = call.operands[0], &v = call.operands[1], &result = call.results[0];
  if (SearchSortedRoutineAttrs(call).right) search<true, T>(a, v, result);
  else search<false, T>(a, v, result);
}

// Of all kinds but complex, whose numbers have no order, and storage.
#define WEFT_OF_boolean(cpp) template void search_sorted<cpp>(const RoutineCall &);
#define WEFT_OF_integer WEFT_OF_boolean
#define WEFT_OF_unsigned_integer WEFT_OF_boolean
#define WEFT_OF_floating WEFT_OF_boolean
#define WEFT_OF_complex(cpp)
#define WEFT_OF_storage(cpp)
#define WEFT_DTYPE(enumerator, cpp, name, numpy, kind, ...) WEFT_OF_##kind(cpp)
#include <weft/dtypes.def>

} // namespace weft::kernels::routines
