// Random numbers of distributions that are drawn by rejection, of parameters and results that may
// be views, a part at a time.
#include "Kernels/RejectionParts.h"

#include <cstddef>
#include <cstring>

#include "Kernels/Routine.h"
#include "Support/Threads.h"

namespace weft::kernels {

const RejectionLevel &rejection::level_table(CpuLevel level) {
  return of_level(level, rejection_level_v2, rejection_level_v3, rejection_level_v4);
}

namespace {

using namespace rejection;

/// Where `count` elements of a tensor stand, from number `first` on in row-major order: calls
/// `row(offset, stride, size)` for those that are as far from each other.
template <class Row>
void for_rows(const RoutineTensor &tensor, std::int64_t first, int count, const Row &row) {
  // Trailing axes that are one.
  std::int64_t axes = tensor.rank, length = 1, stride = 0;
  for (; axes > 0; --axes) {
    const std::int64_t size = tensor.sizes[axes - 1], step = tensor.strides[axes - 1];
    if (size == 1) continue;
    if (length == 1) stride = step;
    else if (step != length * stride) break;
    length *= size;
  }
  while (count > 0) {
    std::int64_t number = first / length, offset = first % length * stride;
    for (std::int64_t axis = axes; axis-- > 0;) {
      offset += number % tensor.sizes[axis] * tensor.strides[axis];
      number /= tensor.sizes[axis];
    }
    const int size = static_cast<int>(std::min<std::int64_t>(count, length - first % length));
    row(offset, stride, size);
    first += size;
    count -= size;
  }
}

template <class T>
void read(const RoutineTensor &x, std::int64_t first, int count, double *to) {
  for_rows(x, first, count, [&](std::int64_t offset, std::int64_t stride, int size) {
    const T *from = x.elements<const T>() + offset;
    if (stride == 1)
      for (int i = 0; i < size; ++i) to[i] = static_cast<double>(from[i]);
    else
      for (int i = 0; i < size; ++i) to[i] = static_cast<double>(from[i * stride]);
    to += size;
  });
}

template <class T>
void write(const double *from, const RoutineTensor &y, std::int64_t first, int count) {
  for_rows(y, first, count, [&](std::int64_t offset, std::int64_t stride, int size) {
    T *const to = y.elements<T>() + offset;
    if (stride == 1)
      for (int i = 0; i < size; ++i) to[i] = static_cast<T>(from[i]);
    else
      for (int i = 0; i < size; ++i) to[i * stride] = static_cast<T>(from[i]);
    from += size;
  });
}

/// The product of sizes of axes.
std::int64_t product_of(const std::int64_t *begin, const std::int64_t *end) {
  std::int64_t product = 1;
  for (; begin != end; ++begin) product *= *begin;
  return product;
}

/// The stream of a batch.
RandomStream stream_of(const RoutineTensor &state, std::int64_t batch) {
  std::uint64_t words[2];
  int at = 0;
  for_rows(state, 2 * batch, 2, [&](std::int64_t offset, std::int64_t stride, int size) {
    for (int i = 0; i < size; ++i)
      words[at++] =
          static_cast<std::uint64_t>(state.elements<const std::int64_t>()[offset + i * stride]);
  });
  return {words[0], words[1]};
}

/// How the elements of a call are parted: those of a batch have one stream.
struct Parts {
  std::int64_t each, in_batch, count;

  /// Of tensors of these sizes, of which the first `batch_axes` are batches'.
  Parts(const std::int64_t *sizes, std::int64_t batch_axes, std::int64_t rank)
      : each(product_of(sizes + batch_axes, sizes + rank)), in_batch((each + kPart - 1) / kPart),
        count(product_of(sizes, sizes + batch_axes) * in_batch) {}

  struct Part {
    std::int64_t batch, within, first; ///< its first element's number in its batch, and in all
    int count;
  };
  Part operator[](std::int64_t i) const {
    const std::int64_t batch = i / in_batch, within = i % in_batch * kPart;
    return {batch, within, batch * each + within,
            static_cast<int>(std::min<std::int64_t>(kPart, each - within))};
  }

  /// Calls `run` with ranges of parts; as many elements as a part may have are worth a thread.
  template <class Run>
  void share(const Run &run) const {
    threads::parallel_for_noexcept(0, count, std::max<std::int64_t>(1, kPart / each), run);
  }
};

/// Draws what the call asks for: parameters of type T, and the state behind them.
template <class Distribution, class T, class To>
void draw(const RoutineCall &call) {
  const RoutineTensor &state = call.operands.back(), &result = call.results[0];
  const auto parameters = call.operands.first(call.operands.size() - 1);
  const Parts parts(result.sizes, state.rank - 1, result.rank);
  parts.share([&](std::int64_t begin, std::int64_t end) {
    Distribution distribution;
    decltype(distribution.parameters) given;
    int prepared = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const Parts::Part part = parts[i];
      // Often they are one number for all elements.
      bool are_known = part.count <= prepared;
      for (std::size_t k = 0; k < parameters.size(); ++k) {
        read<T>(parameters[k], part.first, part.count, given[k].data());
        are_known = are_known && std::memcmp(given[k].data(), distribution.parameters[k].data(),
                                             sizeof(double) * at(part.count)) == 0;
      }
      if (!are_known) {
        for (std::size_t k = 0; k < parameters.size(); ++k)
          std::copy_n(given[k].begin(), part.count, distribution.parameters[k].begin());
        distribution.prepare(part.count);
        prepared = part.count;
      }
      Numbers numbers;
      distribution.draw(Attempts(stream_of(state, part.batch), part.within), part.count, numbers);
      write<To>(numbers.data(), result, part.first, part.count);
    }
  });
}

/// Counts of all things: of each by what the ones before it leave of n and of 1, which are of T.
template <class T>
void draw_things(const RoutineCall &call) {
  const RoutineTensor &n = call.operands[0], &pvals = call.operands[1], &state = call.operands[2];
  const RoutineTensor &result = call.results[0];
  const std::int64_t last = result.rank - 1, things = result.sizes[last];
  const auto thing_of = [&](const RoutineTensor &all, std::int64_t thing, std::size_t bytes) {
    RoutineTensor one = all;
    one.rank = last;
    one.data = static_cast<std::byte *>(all.data) +
               thing * all.strides[last] * static_cast<std::int64_t>(bytes);
    return one;
  };
  const Parts parts(result.sizes, state.rank - 1, last);
  parts.share([&](std::int64_t begin, std::int64_t end) {
    Binomials binomials;
    auto &[left, share_of_left] = binomials.parameters;
    for (std::int64_t i = begin; i < end; ++i) {
      const Parts::Part part = parts[i];
      RandomStream stream = stream_of(state, part.batch);
      Numbers share, p, counts;
      read<T>(n, part.first, part.count, left.data());
      share.fill(1);
      for (std::int64_t thing = 0; thing < things; ++thing, ++stream.number) {
        read<T>(thing_of(pvals, thing, sizeof(T)), part.first, part.count, p.data());
        for (int k = 0; k < part.count; ++k) {
          const T of_this = static_cast<T>(p[at(k)]), of_all = static_cast<T>(share[at(k)]);
          const bool certain = of_all <= of_this || thing == things - 1;
          share_of_left[at(k)] = certain ? T(1) : of_this / (of_all > 0 ? of_all : T(1));
          share[at(k)] = of_all - of_this;
        }
        binomials.prepare(part.count);
        binomials.draw(Attempts(stream, part.within), part.count, counts);
        write<std::int64_t>(counts.data(), thing_of(result, thing, sizeof(std::int64_t)),
                            part.first, part.count);
        for (int k = 0; k < part.count; ++k)
          left[at(k)] = static_cast<T>(left[at(k)]) - static_cast<T>(counts[at(k)]);
      }
    }
  });
}

} // namespace

namespace routines {

template <class T>
void draw_log_gamma(const RoutineCall &call) {
  draw<LogGammas, T, T>(call);
}
template <class T>
void draw_poisson(const RoutineCall &call) {
  draw<Poissons, T, std::int64_t>(call);
}
template <class T>
void draw_binomial(const RoutineCall &call) {
  draw<Binomials, T, std::int64_t>(call);
}

template <class T>
void draw_multinomial(const RoutineCall &call) {
  draw_things<T>(call);
}

#define WEFT_REJECTION_OF(T)                                                                       \
  template void draw_log_gamma<T>(const RoutineCall &);                                            \
  template void draw_poisson<T>(const RoutineCall &);                                              \
  template void draw_binomial<T>(const RoutineCall &);                                             \
  template void draw_multinomial<T>(const RoutineCall &);
WEFT_REJECTION_OF(float)
WEFT_REJECTION_OF(double)
#undef WEFT_REJECTION_OF

} // namespace routines

} // namespace weft::kernels
