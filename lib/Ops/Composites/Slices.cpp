// Parts of tensors that begin where numbers say which a trace may compute, windows of an axis, and
// elements put around tensors.
#include "Ops/Composites/Parts.h"
#include "Runtime/OnDevice.h"

#include <algorithm>
#include <string>

namespace weft::composites {

namespace {

/// Where a part of these sizes begins along each axis of x, so that it ends within: numbers, or
/// scalars of a trace.
Sizes starts_in(const char *function, const Tensor &x, const Integers &given, const Sizes &sizes) {
  const auto rank = static_cast<std::size_t>(x.rank());
  const auto count = given.are_numbers() ? static_cast<std::int64_t>(given.numbers().size())
                     : shape_of(given.tensor()).empty() ? 1
                                                        : shape_of(given.tensor())[0];
  for (const auto &[name, number] :
       {std::pair("starts", count), std::pair("sizes", static_cast<std::int64_t>(sizes.size()))})
    if (number != static_cast<std::int64_t>(rank))
      raise(ErrorKind::value, std::string(function) + ": " + name + " has " +
                                  (number == unknown ? "a number of entries that is not known yet"
                                                     : std::to_string(number) + " entries") +
                                  ": one for each axis of x is wanted, which has rank " +
                                  std::to_string(rank));
  Sizes starts;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const Size whole = size_along(x, axis), size = sizes[i];
    if (size.is_number() && size.number() < 0)
      raise(ErrorKind::value, std::string(function) + ": a size is " +
                                  std::to_string(size.number()) + ": it is not negative");
    std::vector<Tensor> open;
    const auto larger = [&] {
      const std::string text = written(size, open);
      return std::string(function) + ": the size " + text + " is larger than axis " +
             std::to_string(i) + " of x, which has the shape " + written(x, open);
    };
    if (size.is_number() && whole.is_number() && size.number() > whole.number())
      refuse_shape(larger());
    if (!size.is_number() || !whole.is_number()) {
      const std::string text = larger();
      detail::check_sizes(less_equal(size.tensor(), whole.tensor()), text, open);
    }
    Size start;
    if (given.are_numbers()) {
      const std::int64_t number = given.numbers()[i];
      start = number < 0 ? whole + number : Size(number);
    } else {
      const Tensor at =
          given.tensor().rank() == 0 ? given.tensor() : along(given.tensor(), 0, axis);
      start = Size(select(at < 0, at + whole.tensor(), at));
    }
    starts.push_back(max(min(start, whole - size), 0));
  }
  return starts;
}

/// For each position of an axis with so many elements in front and behind, which of its elements is
/// there.
Tensor sources(PadMode mode, const Size &size, std::int64_t low, std::int64_t high) {
  const AtOnce now(size.is_number());
  const Tensor count = size.tensor();
  const Tensor at = iota(DType::i64, {size + low + high}) - low;
  if (mode == PadMode::edge) return minimum(maximum(at, std::int64_t{0}), count - std::int64_t{1});
  if (mode == PadMode::wrap) return remainder(at, count);
  // There and back, with the elements at the ends twice or once.
  const bool twice = mode == PadMode::symmetric;
  const Tensor last = count - std::int64_t{1};
  const Tensor period =
      twice ? count * std::int64_t{2} : maximum(last * std::int64_t{2}, std::int64_t{1});
  const Tensor there = remainder(at, period);
  return select(there <= last, there, twice ? period - std::int64_t{1} - there : period - there);
}

/// A ramp of so many elements from a number, which is the first, to before the slice at the edge.
/// Computed in f64 and rounded once; of integers it is cut down.
Tensor ramp_to(const Tensor &edge, std::int64_t axis, double from, std::int64_t count, bool back) {
  const DType dtype = edge.dtype();
  const Tensor stop = cast(edge, DType::f64), step = (stop - from) / static_cast<double>(count);
  Tensor at = cast(iota(DType::i64, {count}), DType::f64);
  if (back) at = static_cast<double>(count - 1) - at;
  for (std::int64_t i = axis + 1; i < edge.rank(); ++i) at = with_axis(at, at.rank());
  const Tensor ramp = at * step + from;
  return cast(is_integer(dtype) ? weft::floor(ramp) : ramp, dtype);
}

/// What a mode computes of some slices along an axis: one slice of the same dtype.
Tensor statistic(PadMode mode, const Tensor &x, std::int64_t axis) {
  const Ints axes{axis};
  if (mode == PadMode::maximum) return weft::max(x, {.axes = axes, .keepdims = true});
  if (mode == PadMode::minimum) return weft::min(x, {.axes = axes, .keepdims = true});
  const Tensor numbers = is_integer(x.dtype()) ? cast(x, DType::f64) : x;
  const Tensor middle = mode == PadMode::mean
                            ? weft::mean(numbers, {.axes = axes, .keepdims = true})
                            : weft::median(numbers, {.axes = axes, .keepdims = true});
  return is_integer(x.dtype()) ? cast(weft::round(middle), x.dtype()) : middle;
}

/// An axis with what a mode computes of its slices in front of them and behind.
Tensor computed_around(const Tensor &x, std::int64_t axis, std::int64_t low, std::int64_t high,
                       const PadOptions &options) {
  const auto part = [&](std::int64_t count, bool behind) {
    if (options.mode == PadMode::linear_ramp)
      return ramp_to(with_axis(along(x, axis, behind ? -1 : 0), axis), axis, options.end_values,
                     count, behind);
    const auto near = options.stat_length;
    const Tensor from = !near    ? x
                        : behind ? along(x, axis, weft::slice(-*near, {}))
                                 : along(x, axis, weft::slice({}, near));
    return weft::repeat(statistic(options.mode, from, axis), count, axis);
  };
  std::vector<Tensor> parts;
  if (low > 0) parts.push_back(part(low, false));
  parts.push_back(x);
  if (high > 0) parts.push_back(part(high, true));
  return weft::concatenate(parts, {.axis = axis});
}

/// Whether what a mode puts around x are elements of it.
bool copies_elements(PadMode mode) {
  return mode == PadMode::edge || mode == PadMode::wrap || mode == PadMode::reflect ||
         mode == PadMode::symmetric;
}

} // namespace

Tensor unfold(const Tensor &x, std::int64_t size, std::int64_t step, std::int64_t axis) {
  if (size < 0 || step < 1)
    raise(ErrorKind::value, "unfold: size is " + std::to_string(size) + " and step " +
                                std::to_string(step) +
                                ": the size is not negative, and the step "
                                "at least 1");
  const Size whole = size_along(x, axis);
  std::vector<Tensor> open;
  const std::string longer = "unfold: a window of " + std::to_string(size) +
                             " elements is longer than axis " + std::to_string(axis) +
                             " of x, which has the shape " + written(x, open);
  if (whole.is_number() && size > whole.number()) refuse_shape(longer);
  if (!whole.is_number()) detail::check_sizes(whole.tensor() >= size, longer, open);
  Tensor taken;
  {
    const AtOnce now(whole.is_number());
    const Tensor begins = iota(DType::i64, {(whole - size) / step + 1}) * step;
    taken = with_axis(begins, 1) + iota(DType::i64, {Size(size)});
  }
  return moveaxis(gather(x, taken, {.axis = axis}), IntList{axis + 1}, IntList{-1});
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor dynamic_slice(const Tensor &x, Integers starts, const Sizes &sizes) {
  const Sizes from = starts_in("dynamic_slice", x, starts, sizes);
  Tensor part = x;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Size start = from[i], size = sizes[i];
    part = start.is_number() && size.is_number()
               ? between(part, axis, start, start + size)
               : gather(part, iota(DType::i64, {size}) + start.tensor(), {.axis = axis});
  }
  return part;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor dynamic_update_slice(const Tensor &x, const Tensor &update, Integers starts) {
  if (update.rank() != x.rank())
    raise(ErrorKind::shape, "dynamic_update_slice: update has rank " +
                                std::to_string(update.rank()) + ", and x rank " +
                                std::to_string(x.rank()));
  const Sizes sizes = detail::sizes_of(update);
  const Sizes from = starts_in("dynamic_update_slice", x, starts, sizes);
  // Every element of x takes one of the update where it is in that part.
  Tensor spread = update, inside;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    const Size size = sizes[static_cast<std::size_t>(axis)];
    if (size.is_number() && size.number() == 0) return x;
    const Tensor at = positions_along(x, axis) - from[static_cast<std::size_t>(axis)].tensor();
    const Tensor count = size.tensor();
    Tensor within = (at >= std::int64_t{0}) & (at < count);
    spread = gather(spread, select(within, at, std::int64_t{0}), {.axis = axis});
    for (std::int64_t i = axis + 1; i < x.rank(); ++i) within = with_axis(within, within.rank());
    inside = inside.defined() ? inside & within : within;
  }
  return inside.defined() ? select(inside, spread, x) : detail::placed_beside(x, update);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor pad(const Tensor &x, PadWidths widths, const PadOptions &options) {
  const auto &pairs = widths.pairs();
  const auto rank = static_cast<std::size_t>(x.rank());
  if (pairs.size() != 1 && pairs.size() != rank)
    raise(ErrorKind::value, "pad: pad_width has " + std::to_string(pairs.size()) +
                                " pairs for a tensor of rank " + std::to_string(rank));
  Ints low, high;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto &[front, behind] = pairs[pairs.size() == 1 ? 0 : i];
    if (front < 0 || behind < 0)
      raise(ErrorKind::value, "pad: pad_width has " + std::to_string(std::min(front, behind)) +
                                  ": numbers are not negative");
    low.push_back(front);
    high.push_back(behind);
  }
  if (options.mode == PadMode::constant)
    return weft::pad(x, call::filling("pad", "constant_values", options.constant_values, x.dtype()),
                     low, high, Ints(rank, 0));
  const bool copies = copies_elements(options.mode);
  if (!copies && !is_integer(x.dtype()) && !is_floating(x.dtype()))
    raise(ErrorKind::dtype, "pad: the mode computes with elements: x must be a real number, but "
                            "it is " +
                                to_string(detail::type_of(x)));
  if (options.stat_length && *options.stat_length < 1)
    raise(ErrorKind::value,
          "pad: stat_length is " + std::to_string(*options.stat_length) + ": it is at least 1");
  Tensor y = x;
  for (std::size_t i = 0; i < rank; ++i) {
    if (low[i] == 0 && high[i] == 0) continue;
    const auto axis = static_cast<std::int64_t>(i);
    if (const std::int64_t size = shape_of(x)[i]; size == 0 || size == unknown) {
      std::vector<Tensor> open;
      const std::string text = "pad: axis " + std::to_string(axis) + " of x, which has the shape " +
                               written(x, open) + ", has no element to repeat";
      if (size == 0) refuse_shape(text);
      detail::check_sizes(size_along(x, axis).tensor() > std::int64_t{0}, text, open);
    }
    y = copies
            ? gather(y, sources(options.mode, size_along(x, axis), low[i], high[i]), {.axis = axis})
            : computed_around(y, axis, low[i], high[i], options);
  }
  return y;
}

} // namespace weft::composites
