// Finds the lines of a tensor along an axis and brings them to the transform of a line, several
// neighbours at a time, on several threads.

#include "Kernels/Fft.h"

#include "Kernels/FftLine.h"
#include "Kernels/Room.h"
#include "Kernels/Routine.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace weft::kernels {
namespace {

/// Strides of both parts of a number.
struct Step {
  std::int64_t re, im;

  bool spans(const Step &inner, std::int64_t count) const {
    return re == inner.re * count && im == inner.im * count;
  }
};

template <class Void>
Step step_of(const FftParts<Void> &parts, std::int64_t axis) {
  const std::int64_t re = parts.re_strides[axis];
  return {re, parts.im ? parts.im_strides[axis] : re};
}

/// All axes of the tensor but that of the lines: one whose neighbours share vectors or cache lines,
/// and the others.
struct LineAxes {
  struct Axis {
    std::int64_t size;
    Step from, to; ///< in x and in the result
  };
  std::vector<Axis> outer;
  Axis nearest = {1, {0, 0}, {0, 0}};
  std::int64_t outer_count = 1;

  LineAxes(const FftArgs &args, std::int64_t lanes) {
    for (std::int64_t i = 0; i < args.rank; ++i)
      if (i != args.axis && args.sizes[i] != 1)
        outer.push_back({args.sizes[i], step_of(args.x, i), step_of(args.result, i)});
    std::ranges::sort(outer, [](const Axis &a, const Axis &b) { return a.to.re > b.to.re; });
    for (std::size_t i = 1; i < outer.size();) {
      const Axis inner = outer[i];
      Axis &before = outer[i - 1];
      if (before.from.spans(inner.from, inner.size) && before.to.spans(inner.to, inner.size)) {
        before = {before.size * inner.size, inner.from, inner.to};
        outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    if (outer.empty()) return;
    auto chosen = outer.end() - 1;
    if (chosen->size < lanes)
      chosen = std::ranges::max_element(
          outer, [](const Axis &a, const Axis &b) { return a.size < b.size; });
    nearest = *chosen;
    outer.erase(chosen);
    for (const Axis &axis : outer) outer_count *= axis.size;
  }
};

/// Transforms the lines of one tensor whose parts are of T.
template <class T>
class Transform {
public:
  Transform(const FftArgs &args, const FftKernels<T> &kernels)
      : args_(args), kernels_(kernels), axes_(args, kernels.lanes),
        halves_(args.kind != FftKind::complex && args.size % 2 == 0), plan_(plan_of(args)),
        line_(halves_ ? *plan_->first : *plan_, kernels),
        factors_(FftFactors<T>::of(args.inverse, args.scale)), x_step_(step_of(args.x, args.axis)),
        y_step_(step_of(args.result, args.axis)),
        x_adjacent_(are_adjacent(args.x, x_step_, x_parts())),
        y_adjacent_(are_adjacent(args.result, y_step_, y_parts())) {}

  void run() const {
    if (axes_.outer_count == 0 || axes_.nearest.size == 0) return;
    const bool lanes = takes_lanes(), adjacent = x_adjacent_ && y_adjacent_;
    const std::int64_t width =
        lanes || !adjacent ? std::min<std::int64_t>(kernels_.lanes, axes_.nearest.size) : 1;
    const std::int64_t across = (axes_.nearest.size + width - 1) / width;
    const std::int64_t groups = axes_.outer_count * across;
    const auto body = [&](std::int64_t begin, std::int64_t end) {
      const Room<T> room(lanes ? line_.lanes_room() : group_room(width));
      for (std::int64_t group = begin; group < end; ++group) {
        const std::int64_t first = group % across * width;
        const std::int64_t count = std::min(width, axes_.nearest.size - first);
        Data<const T> x = {static_cast<const T *>(args_.x.re), static_cast<const T *>(args_.x.im)};
        Data<T> y = {static_cast<T *>(args_.result.re), static_cast<T *>(args_.result.im)};
        x.move(first, axes_.nearest.from);
        y.move(first, axes_.nearest.to);
        std::int64_t rest = group / across;
        for (std::size_t i = axes_.outer.size(); i-- > 0; rest /= axes_.outer[i].size) {
          x.move(rest % axes_.outer[i].size, axes_.outer[i].from);
          y.move(rest % axes_.outer[i].size, axes_.outer[i].to);
        }
        if (lanes)
          line_.transform_lanes(
              {{x.re, x.im}, count, args_.size, axes_.nearest.from.re, x_step_.re},
              {{y.re, y.im}, count, args_.size, axes_.nearest.to.re, y_step_.re}, factors_,
              room.get());
        else transform_group(x, y, count, room.get());
      }
    };
    // The threads share a long line if there are too few for all of them.
    constexpr std::int64_t kLong = 1 << 16, kWork = 1 << 13;
    if (args_.size >= kLong && groups < threads::max_threads()) return body(0, groups);
    threads::parallel_for(0, groups, std::max<std::int64_t>(kWork / (args_.size * width), 1), body);
  }

private:
  template <class Element>
  struct Data {
    Element *re, *im;

    void move(std::int64_t count, const Step &step) {
      re += count * step.re;
      if (im) im += count * step.im;
    }
  };

  static std::shared_ptr<const FftPlan<T>> plan_of(const FftArgs &args) {
    return args.kind != FftKind::complex && args.size % 2 == 0 ? fft_real_plan<T>(args.size)
                                                               : fft_plan<T>(args.size);
  }

  /// Elements of T to a number of x and of the result.
  std::int64_t x_parts() const { return args_.kind == FftKind::real ? 1 : 2; }
  std::int64_t y_parts() const { return args_.kind == FftKind::hermitian ? 1 : 2; }
  /// Numbers of a line.
  std::int64_t x_size() const {
    return args_.kind == FftKind::hermitian ? args_.size / 2 + 1 : args_.size;
  }
  std::int64_t y_size() const {
    return args_.kind == FftKind::real ? args_.size / 2 + 1 : args_.size;
  }
  /// Elements of T to a line.
  std::int64_t x_line() const { return x_parts() * x_size(); }
  std::int64_t y_line() const { return y_parts() * y_size(); }

  template <class Void>
  static bool are_adjacent(const FftParts<Void> &data, const Step &step, std::int64_t parts) {
    return step.re == parts && step.im == parts &&
           (parts == 1 || static_cast<const T *>(data.im) == static_cast<const T *>(data.re) + 1);
  }

  /// True if lines are transformed side by side rather than one after the other.
  bool takes_lanes() const {
    if (args_.kind != FftKind::complex || plan_->kind != FftPlan<T>::Kind::passes ||
        !have_one_step(axes_.nearest.from, x_step_) || !have_one_step(axes_.nearest.to, y_step_))
      return false;
    if (!line_.fills_vectors()) return true;
    if (axes_.nearest.size < kernels_.lanes) return false;
    constexpr std::int64_t kCache = std::int64_t(1) << 20, kShort = 32;
    const bool adjacent = x_adjacent_ && y_adjacent_;
    if (adjacent && args_.size >= kShort && !line_.scatters()) return false;
    return line_.lanes_room() * std::int64_t(sizeof(T)) <= kCache;
  }
  static bool have_one_step(const Step &a, const Step &b) { return a.re == a.im && b.re == b.im; }

  /// Elements of T to the lines of pairs between x and the result: half of one, or two whole ones.
  std::int64_t pairs_room() const {
    constexpr std::int64_t kVector = 16;
    if (args_.kind == FftKind::complex) return 0;
    return halves_ ? (args_.size + kVector - 1) / kVector * kVector : 4 * args_.size;
  }

  /// What `transform_group` works in: lines that are not adjacent, lines of pairs, and what a line
  /// needs.
  std::int64_t group_room(std::int64_t width) const {
    return (x_adjacent_ ? 0 : width * x_line()) + (y_adjacent_ ? 0 : width * y_line()) +
           pairs_room() + line_.room();
  }

  void transform_group(const Data<const T> &x, const Data<T> &y, std::int64_t count,
                       T *room) const {
    const Step &from_line = axes_.nearest.from, &to_line = axes_.nearest.to;
    const T *from = x.re;
    std::int64_t from_step = from_line.re;
    if (!x_adjacent_) {
      copy(x.re, from_line.re, x_step_.re, room, x_line(), x_parts(), count, x_size());
      if (x.im) copy(x.im, from_line.im, x_step_.im, room + 1, x_line(), 2, count, x_size());
      from = room;
      from_step = x_line();
      room += count * x_line();
    }
    if (y_adjacent_) {
      for (std::int64_t i = 0; i < count; ++i)
        transform_line(from + i * from_step, y.re + i * to_line.re, room);
      return;
    }
    T *to = room;
    room += count * y_line();
    for (std::int64_t i = 0; i < count; ++i)
      transform_line(from + i * from_step, to + i * y_line(), room);
    copy(to, y_line(), y_parts(), y.re, to_line.re, y_step_.re, count, y_size());
    if (y.im) copy(to + 1, y_line(), 2, y.im, to_line.im, y_step_.im, count, y_size());
  }

  /// Copies `count` lines of `size` elements between strides of lines and elements.
  static void copy(const T *from, std::int64_t from_line, std::int64_t from_step, T *to,
                   std::int64_t to_line, std::int64_t to_step, std::int64_t count,
                   std::int64_t size) {
    // Few elements of all lines at a time, so that what is read whole is also written whole.
    constexpr std::int64_t kElements = 16;
    for (std::int64_t begin = 0; begin < size; begin += kElements)
      for (std::int64_t line = 0; line < count; ++line)
        for (std::int64_t i = begin; i < std::min(begin + kElements, size); ++i)
          to[line * to_line + i * to_step] = from[line * from_line + i * from_step];
  }

  /// One line whose numbers are adjacent on both sides.
  void transform_line(const T *x, T *y, T *room) const {
    if (args_.kind == FftKind::complex) return line_.transform(x, y, factors_, room);
    const std::int64_t size = args_.size, half = size / 2;
    T *a = room, *b = a + 2 * size, *rest = room + pairs_room(); // b is of whole lines alone
    if (args_.kind == FftKind::real) {
      if (halves_) {
        line_.transform(x, a, {T(1), T(1), T(1)}, rest);
        kernels_.split_real(half, a, plan_->table.data(), factors_.re, y);
        return;
      }
      for (std::int64_t i = 0; i < size; ++i) {
        a[2 * i] = x[i];
        a[2 * i + 1] = 0;
      }
      line_.transform(a, b, factors_, rest);
      std::copy_n(b, y_line(), y);
      y[1] = 0; // a sum of real numbers, which a convolution rounds like others
      return;
    }
    if (halves_) {
      kernels_.join_real(half, x, plan_->table.data(), a);
      line_.transform(a, y, factors_, rest);
      return;
    }
    a[0] = x[0];
    a[1] = 0;
    for (std::int64_t i = 1; i <= half; ++i) {
      a[2 * i] = a[2 * (size - i)] = x[2 * i];
      a[2 * i + 1] = x[2 * i + 1];
      a[2 * (size - i) + 1] = -x[2 * i + 1];
    }
    line_.transform(a, b, factors_, rest);
    for (std::int64_t i = 0; i < size; ++i) y[i] = b[2 * i];
  }

  const FftArgs &args_;
  const FftKernels<T> &kernels_;
  LineAxes axes_;
  bool halves_; ///< real numbers are transformed as half as many pairs
  std::shared_ptr<const FftPlan<T>> plan_;
  FftLine<T> line_;
  FftFactors<T> factors_;
  Step x_step_, y_step_;
  bool x_adjacent_, y_adjacent_; ///< a line's numbers, pairs where they are complex
};

const FftLevel &level_table(CpuLevel level) {
  return of_level(level, fft_level_v2, fft_level_v3, fft_level_v4);
}

void transform(DType parts, const FftArgs &args, const FftLevel &level) {
  if (args.size < 1)
    raise(ErrorKind::shape, "fft: the length of a transform must be 1 or more, but it is " +
                                std::to_string(args.size));
  if (parts == DType::f32) Transform<float>(args, level.f32).run();
  else Transform<double>(args, level.f64).run();
}

} // namespace

void fft(DType parts, const FftArgs &args) {
  static const FftLevel &level = level_table(CpuLevel::v4);
  transform(parts, args, level);
}

void fft_forced(DType parts, const FftArgs &args, CpuLevel level) {
  transform(parts, args, level_table(level));
}

namespace routines {

namespace {

/// How many parts of 1 / size the sums are multiplied by, as the ops number it.
double scale_of(std::int64_t norm, std::int64_t size) {
  return norm == 0 ? 1 : 1 / (norm == 1 ? double(size) : std::sqrt(double(size)));
}

template <class T>
void run(const RoutineCall &call, FftKind kind, bool inverse, std::int64_t size, std::int64_t axis,
         std::int64_t norm) {
  const RoutineTensor &x = call.operands[0];
  FftArgs args = {.kind = kind,
                  .inverse = inverse,
                  .scale = scale_of(norm, size),
                  .size = size,
                  .rank = x.rank,
                  .sizes = x.sizes,
                  .axis = axis,
                  .x = {x.data, x.strides},
                  .result = {call.results[0].data, call.results[0].strides}};
  if (kind != FftKind::real) {
    args.x.im = call.operands[1].data;
    args.x.im_strides = call.operands[1].strides;
  }
  if (kind != FftKind::hermitian) {
    args.result.im = call.results[1].data;
    args.result.im_strides = call.results[1].strides;
  }
  kernels::fft(dtype_of<T>, args);
}

} // namespace

template <class T>
void fft(const RoutineCall &call) {
  const FftRoutineAttrs given(call);
  run<T>(call, FftKind::complex, given.inverse, call.operands[0].sizes[given.axis], given.axis,
         given.norm);
}
template <class T>
void rfft(const RoutineCall &call) {
  const RfftRoutineAttrs given(call);
  run<T>(call, FftKind::real, false, call.operands[0].sizes[given.axis], given.axis, given.norm);
}
template <class T>
void irfft(const RoutineCall &call) {
  const IrfftRoutineAttrs given(call);
  run<T>(call, FftKind::hermitian, true, call.results[0].sizes[given.axis], given.axis, given.norm);
}

#define WEFT_FFT_OF(T)                                                                             \
  template void fft<T>(const RoutineCall &);                                                       \
  template void rfft<T>(const RoutineCall &);                                                      \
  template void irfft<T>(const RoutineCall &);
WEFT_FFT_OF(float)
WEFT_FFT_OF(double)
#undef WEFT_FFT_OF

} // namespace routines

} // namespace weft::kernels
