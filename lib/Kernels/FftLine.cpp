// Runs the passes of a plan over a line, or over lines side by side.

#include "Kernels/FftLine.h"

#include "Kernels/Room.h"
#include "Support/Threads.h"

#include <algorithm>

namespace weft::kernels {
namespace {

/// Real and imaginary parts, in lanes, of as many elements as a plan has, which begin on different
/// lines of the cache's sets.
template <class T>
constexpr std::int64_t kGap = 128 / sizeof(T);

template <class T>
std::int64_t part_room(std::int64_t size) {
  return (size + kGap<T> - 1) / kGap<T> * kGap<T> + kGap<T>;
}

template <class T>
FftData<T> parts_at(T *room, std::int64_t size) {
  return {room, room + part_room<T>(size)};
}

template <class T>
FftData<const T> constant(const FftData<T> &data) {
  return {data.re, data.im};
}

template <class T>
FftLines<T> pairs_at(T *pairs, std::int64_t lines, std::int64_t size, std::int64_t line_step,
                     std::int64_t step) {
  return {{pairs, pairs + 1}, lines, size, line_step, step};
}

} // namespace

template <class T>
FftPass<T> FftLine<T>::pass_of(std::size_t index, const FftFactors<T> &factors) const {
  const typename FftPlan<T>::Pass &planned = plan_.passes[index];
  FftPass<T> pass = {};
  pass.radix = planned.radix;
  pass.blocks = planned.blocks;
  pass.twiddles = plan_.table.data() + planned.twiddles;
  pass.adjacent_twiddles = planned.adjacent < 0 ? nullptr : plan_.table.data() + planned.adjacent;
  pass.roots = plan_.table.data() + planned.roots;
  pass.sign = factors.sign;
  pass.scale_re = factors.re;
  pass.scale_im = factors.im;
  return pass;
}

/// From one buffer to the other; returns which has the result if `to` is not pairs.
template <class T>
FftData<T> FftLine<T>::run_lanes(const End &from, const End &to, const FftFactors<T> &factors,
                                 FftData<T> even, FftData<T> odd) const {
  FftData<T> at = from.data;
  std::int64_t row = from.row;
  for (std::size_t i = 0; i < plan_.passes.size(); ++i) {
    FftPass<T> pass = pass_of(i, factors);
    const bool last = i + 1 == plan_.passes.size(), to_pairs = last && to.pairs;
    const std::int64_t before = plan_.passes[i].before;
    const std::int64_t to_row = to_pairs ? to.row : kernels_.lanes;
    pass.in = constant(at);
    pass.in_block = before * row;
    pass.in_step = row;
    pass.in_last = (before - 1) * row;
    at = to_pairs ? to.data : at.re == even.re ? odd : even;
    pass.out = at;
    pass.out_block = before * to_row;
    pass.out_step = to_row;
    pass.out_last = (before - 1) * to_row;
    pass.count = before;
    row = to_row;
    (i == 0 && from.pairs ? kernels_.first
     : to_pairs           ? kernels_.out
     : last               ? kernels_.last
                          : kernels_.middle)(pass);
  }
  return at;
}

template <class T>
std::int64_t FftLine<T>::lanes_room() const {
  return 4 * part_room<T>(plan_.size * kernels_.lanes);
}

template <class T>
void FftLine<T>::transform_lanes(const FftLines<const T> &x, const FftLines<T> &y,
                                 const FftFactors<T> &factors, T *room) const {
  const std::int64_t size = plan_.size * kernels_.lanes;
  const FftData<T> even = parts_at(room, size), odd = parts_at(room + lanes_room() / 2, size);
  // Pairs that fill a vector go through the first and the last pass as they are.
  const auto are_vectors = [&](const auto &lines) {
    return lines.lines == kernels_.lanes && lines.data.im == lines.data.re + 1 &&
           lines.line_step == 2 && lines.step % 2 == 0 && lines.step > 0;
  };
  End from = {even, kernels_.lanes, false};
  if (are_vectors(x) && plan_.passes.size() > 1)
    from = {{const_cast<T *>(x.data.re), nullptr}, x.step / 2, true};
  else kernels_.gather(x, factors.sign, even);
  if (are_vectors(y) && !plan_.passes.empty()) {
    run_lanes(from, {{y.data.re, nullptr}, y.step / 2, true}, factors, even, odd);
    return;
  }
  const FftData<T> result = run_lanes(from, {{}, 0, false}, factors, even, odd);
  kernels_.scatter(constant(result), factors.re, factors.im, y);
}

template <class T>
bool FftLine<T>::fills_vectors() const {
  if (plan_.passes.size() < 2) return false;
  for (const auto &pass : plan_.passes)
    if (pass.blocks == 1 ? pass.before < kernels_.half_lanes
                         : (pass.before == 1 || pass.before < kernels_.half_lanes) &&
                               pass.blocks * pass.before < kernels_.lanes)
      return false;
  return true;
}

template <class T>
bool FftLine<T>::scatters() const {
  return std::ranges::any_of(plan_.passes, [&](const auto &pass) {
    const bool zips = pass.before == 1 && (pass.radix & (pass.radix - 1)) == 0;
    return pass.before < kernels_.half_lanes && !zips;
  });
}

template <class T>
void FftLine<T>::run_alone(const T *x, T *y, const FftFactors<T> &factors, T *room) const {
  FftData<T> even = parts_at(room, plan_.size);
  FftData<T> odd = parts_at(room + 2 * part_room<T>(plan_.size), plan_.size);
  FftData<const T> at = {x, nullptr};
  for (std::size_t i = 0; i < plan_.passes.size(); ++i, std::swap(even, odd)) {
    FftPass<T> pass = pass_of(i, factors);
    const bool last = i + 1 == plan_.passes.size();
    const std::int64_t before = plan_.passes[i].before;
    const bool whole = before >= kernels_.lanes;
    const std::int64_t lanes = whole ? kernels_.lanes : kernels_.half_lanes;
    pass.in = at;
    pass.out = last ? FftData<T>{y, nullptr} : even;
    pass.in_block = pass.out_block = before;
    pass.in_step = pass.out_step = lanes;
    pass.in_last = pass.out_last = before - lanes;
    pass.count = (before + lanes - 1) / lanes;
    at = constant(even);
    if (last) (whole ? kernels_.out : kernels_.half_out)(pass);
    else if (i == 0) kernels_.adjacent_first(pass);
    else if (before < kernels_.half_lanes) kernels_.adjacent_middle(pass);
    else (whole ? kernels_.middle : kernels_.half_middle)(pass);
  }
}

template <class T>
void FftLine<T>::run_split(const T *x, T *y, const FftFactors<T> &factors) const {
  const FftLine columns(*plan_.first, kernels_), rows(*plan_.second, kernels_);
  const std::int64_t lanes = kernels_.lanes, row_count = plan_.first->size;
  const std::int64_t column_count = plan_.second->size;
  const std::int64_t row_blocks = (row_count + lanes - 1) / lanes;
  // Each block has the real parts of its rows, in lanes, then the imaginary ones.
  const std::int64_t part = part_room<T>(column_count * lanes);
  const Room<T> between(2 * part * row_blocks);

  threads::parallel_for(
      0, (column_count + lanes - 1) / lanes, 1, [&](std::int64_t begin, std::int64_t end) {
        const Room<T> room(columns.lanes_room());
        const FftData<T> even = parts_at(room.get(), row_count * lanes);
        const FftData<T> odd = parts_at(room.get() + columns.lanes_room() / 2, row_count * lanes);
        for (std::int64_t panel = begin; panel < end; ++panel) {
          const std::int64_t column = panel * lanes, count = std::min(lanes, column_count - column);
          End from = {{const_cast<T *>(x + 2 * column), nullptr}, column_count, true};
          if (count < lanes || columns.plan_.passes.size() < 2) {
            kernels_.gather(pairs_at(x + 2 * column, count, row_count, 2, 2 * column_count),
                            factors.sign, even);
            from = {even, lanes, false};
          }
          const FftData<T> result = columns.run_lanes(from, {{}, 0, false}, factors, even, odd);
          kernels_.exchange(row_count, column, count, constant(result), plan_.fine.data(),
                            plan_.coarse.data() + column / kFftFine<T> * 2 * row_count,
                            {between.get(), between.get() + part}, 2 * part);
        }
      });

  threads::parallel_for(0, row_blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    const Room<T> room(rows.lanes_room());
    const FftData<T> even = parts_at(room.get(), column_count * lanes);
    const FftData<T> odd = parts_at(room.get() + rows.lanes_room() / 2, column_count * lanes);
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t row = block * lanes, count = std::min(lanes, row_count - row);
      T *in = between.get() + 2 * part * block;
      const End from = {{in, in + part}, lanes, false};
      if (count == lanes) {
        rows.run_lanes(from, {{y + 2 * row, nullptr}, row_count, true}, factors, even, odd);
        continue;
      }
      const FftData<T> result = rows.run_lanes(from, {{}, 0, false}, factors, even, odd);
      kernels_.scatter(constant(result), factors.re, factors.im,
                       pairs_at(y + 2 * row, count, column_count, 2, 2 * row_count));
    }
  });
}

template <class T>
void FftLine<T>::run_chirp(const T *x, T *y, const FftFactors<T> &factors, T *room) const {
  const FftLine convolution(*plan_.first, kernels_);
  const std::int64_t size = plan_.size, length = plan_.first->size;
  T *a = room, *b = a + 2 * length, *rest = b + 2 * length;
  kernels_.multiply(size, x, factors.sign, plan_.fine.data(), T(1), T(1), a);
  std::fill(a + 2 * size, b, T(0));
  convolution.transform(a, b, {T(1), T(1), T(1)}, rest);
  kernels_.multiply(length, b, T(1), plan_.coarse.data(), T(1), T(1), b);
  convolution.transform(b, a, {T(-1), T(1), T(-1)}, rest);
  kernels_.multiply(size, a, T(1), plan_.fine.data(), factors.re, factors.im, y);
}

template <class T>
std::int64_t FftLine<T>::room() const {
  switch (plan_.kind) {
  case FftPlan<T>::Kind::passes:
    return fills_vectors() ? 4 * part_room<T>(plan_.size) : lanes_room();
  case FftPlan<T>::Kind::chirp:
    return 4 * plan_.first->size + FftLine(*plan_.first, kernels_).room();
  default: return 0;
  }
}

template <class T>
void FftLine<T>::transform(const T *x, T *y, const FftFactors<T> &factors, T *room) const {
  switch (plan_.kind) {
  case FftPlan<T>::Kind::passes:
    if (fills_vectors()) return run_alone(x, y, factors, room);
    return transform_lanes(pairs_at(x, 1, plan_.size, 0, 2), pairs_at(y, 1, plan_.size, 0, 2),
                           factors, room);
  case FftPlan<T>::Kind::split: return run_split(x, y, factors);
  case FftPlan<T>::Kind::chirp: return run_chirp(x, y, factors, room);
  case FftPlan<T>::Kind::real: break; // plans of real lines are not of pairs
  }
}

template class FftLine<float>;
template class FftLine<double>;

} // namespace weft::kernels
