// Functions that shape, repeat and move elements.
#include "Ops/Composites/Parts.h"

#include <algorithm>
#include <map>
#include <string>

#include "OpDefs/ShapeFunctions.h"

namespace weft::composites {

namespace {

constexpr Slice kWhole;

/// Throws ShapeError where so many copies of an axis are more than numbers of 64 bits say; what a
/// trace computes saturates.
void check_copies(const char *function, const Size &size, const Size &count) {
  std::int64_t product = 0;
  if (size.is_number() && count.is_number() &&
      __builtin_mul_overflow(size.number(), count.number(), &product))
    raise(ErrorKind::shape, std::string(function) + ": " + std::to_string(size.number()) +
                                " elements " + std::to_string(count.number()) +
                                " times are more than a tensor may have");
}

bool contains(const Ints &list, std::int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

/// How many slices stand in front of the one that comes first when so many move on.
Size cut_of(const Size &by, const Size &count) {
  const Size size = max(count, 1);
  return (size - by % size) % size;
}

/// The entries of a list that a trace computes.
Sizes entries_of(const char *function, const Integers &list) {
  if (list.are_numbers()) return list.numbers();
  const Shape shape = shape_of(list.tensor());
  if (shape.empty()) return {Size(list.tensor())};
  if (shape[0] == unknown)
    raise(ErrorKind::shape,
          std::string(function) + ": how many numbers there are is not known yet");
  Sizes entries;
  for (std::int64_t i = 0; i < shape[0]; ++i) entries.push_back(along(list.tensor(), 0, i));
  return entries;
}

/// How often each slice is repeated, as a vector.
Tensor counts_of(const Integers &repeats) {
  if (!repeats.are_numbers()) return repeats.tensor();
  constexpr std::int64_t most = std::int64_t{1} << 31;
  std::int64_t total = 0;
  for (const std::int64_t count : repeats.numbers()) {
    if (count > most - total)
      raise(ErrorKind::out_of_memory,
            "repeat: repeats has " + std::to_string(count) + ", which gives more than 2^31 slices");
    total += count;
  }
  return tensor(std::vector<std::int64_t>(repeats.numbers().begin(), repeats.numbers().end()));
}

/// The number of the slice that stands at each position where each comes so often.
Tensor repeated_positions(const Integers &repeats, const Tensor &counts) {
  const AtOnce now(repeats.are_numbers());
  const Size total(sum(counts));
  const Tensor starts = cumsum(counts, {.axis = 0, .exclusive = true});
  // A slice that comes 0 times begins where the next one does.
  const Tensor begun = scatter_add(zeros({total + 1}, DType::i64), starts,
                                   ones({size_along(counts, 0)}, DType::i64));
  return between(cumsum(begun, {.axis = 0}), 0, 0, total) - std::int64_t{1};
}

/// Moves slices on by so many, those at the end to the front. By a number that a trace computes
/// they are gathered: members of a batch may have their own.
Tensor rolled(const Tensor &x, const Size &by, std::int64_t axis) {
  const Size count = size_along(x, axis);
  const Size cut = cut_of(by, count);
  if (!by.is_number()) {
    const Tensor size = max(count, 1).tensor();
    return gather(x, remainder(positions_along(x, axis) + cut.tensor(), size), {.axis = axis});
  }
  if (cut.is_number() && cut.number() == 0) return x;
  return concatenate({between(x, axis, cut, count), between(x, axis, 0, cut)}, {.axis = axis});
}

/// Tensors in the shape that all of them broadcast to.
std::vector<Tensor> stretched(std::span<const Tensor> xs) {
  Shape shape;
  for (const Tensor &x : xs) {
    Result<Shape> wider = broadcast_shapes(shape, shape_of(x));
    if (!wider)
      raise(ErrorKind::shape, "broadcast_arrays: the shapes do not broadcast: " + to_string(shape) +
                                  " and " + to_string(shape_of(x)));
    shape = *std::move(wider);
  }
  // Sizes that are not known are those of a tensor that has them, whom the others have to match.
  Sizes sizes(shape);
  for (const Tensor &x : xs)
    for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
      const auto at = shape.size() - static_cast<std::size_t>(x.rank() - axis);
      if (shape[at] != unknown || shape_of(x)[static_cast<std::size_t>(axis)] != unknown) continue;
      sizes.set(at, x.size(axis));
      shape[at] = 0; // taken
    }
  std::vector<Tensor> found;
  for (const Tensor &x : xs) found.push_back(broadcast(x, sizes));
  return found;
}

} // namespace

Tensor expand_dims(const Tensor &x, IntList axes) {
  const auto count = static_cast<std::int64_t>(axes.size());
  const Ints at = call::checked_axes("expand_dims", "axis", Axes(axes), x.rank() + count);
  std::vector<Index> indices;
  for (std::int64_t i = 0; i < x.rank() + count; ++i)
    indices.push_back(contains(at, i) ? Index(newaxis) : Index(kWhole));
  return detail::index_tensor(x, indices);
}

Tensor squeeze(const Tensor &x, Axes axes) {
  const Ints dropped = call::checked_axes("squeeze", "axis", axes, x.rank());
  Shape shape = shape_of(x);
  if (std::ranges::any_of(dropped, [&](std::int64_t axis) {
        return shape[static_cast<std::size_t>(axis)] == unknown;
      }))
    shape = x.shape();
  Ints kept;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(i)];
    if (!contains(dropped, i) || (!axes && size != 1)) kept.push_back(size);
    else if (size != 1)
      raise(ErrorKind::shape,
            "squeeze: axis " + std::to_string(i) + " of a tensor of shape " + to_string(shape) +
                (size == unknown ? " is of a size that is not known yet" : " has not size 1"));
  }
  return reshape(x, kept);
}

Tensor ravel(const Tensor &x) { return reshape(x, {-1}); }

Tensor atleast_1d(const Tensor &x) { return x.rank() == 0 ? with_axis(x, 0) : x; }

Tensor atleast_2d(const Tensor &x) {
  if (x.rank() >= 2) return x;
  const Tensor row = with_axis(x, 0);
  return x.rank() == 1 ? row : with_axis(row, 0);
}

Tensor swapaxes(const Tensor &x, std::int64_t axis1, std::int64_t axis2) {
  Ints order = axes_of(x);
  std::swap(order[static_cast<std::size_t>(axis1)], order[static_cast<std::size_t>(axis2)]);
  return transpose(x, order);
}

Tensor moveaxis(const Tensor &x, IntList source, IntList destination) {
  const std::int64_t rank = x.rank();
  // Sorted they would no longer belong together.
  call::checked_axes("moveaxis", "source", Axes(source), rank);
  call::checked_axes("moveaxis", "destination", Axes(destination), rank);
  if (source.size() != destination.size())
    raise(ErrorKind::value, "moveaxis: source has " + std::to_string(source.size()) +
                                " axes and destination " + std::to_string(destination.size()));
  std::map<std::int64_t, std::int64_t> moved; // by destination
  Ints sources;
  for (std::size_t i = 0; i < source.size(); ++i) {
    sources.push_back(call::checked_axis("moveaxis", "source", source[i], rank));
    moved[call::checked_axis("moveaxis", "destination", destination[i], rank)] = sources.back();
  }
  Ints order;
  for (std::int64_t i = 0; i < rank; ++i)
    if (!contains(sources, i)) order.push_back(i);
  for (const auto &[to, from] : moved) order.insert(static_cast<std::size_t>(to), from);
  return transpose(x, order);
}

Tensor matrix_transpose(const Tensor &x) {
  if (x.rank() < 2)
    raise(ErrorKind::shape,
          "matrix_transpose: x has the shape " + to_string(shape_of(x)) + ": a matrix is wanted");
  return x.mT();
}

Tensor flipud(const Tensor &x) {
  return reverse(x, {.axes = Ints{call::checked_axis("flipud", "axis", 0, x.rank())}});
}

Tensor fliplr(const Tensor &x) {
  return reverse(x, {.axes = Ints{call::checked_axis("fliplr", "axis", 1, x.rank())}});
}

Tensor repeat(const Tensor &given, Integers repeats, std::optional<std::int64_t> axis) {
  const Tensor x = axis ? given : reshape(given, {-1});
  const std::int64_t at = axis.value_or(0);
  const Size size = size_along(x, at);
  for (const std::int64_t count : repeats.numbers())
    if (count < 0)
      raise(ErrorKind::value,
            "repeat: repeats has " + std::to_string(count) + ": numbers are not negative");
  const Shape of = repeats.are_numbers()
                       ? Shape{static_cast<std::int64_t>(repeats.numbers().size())}
                       : shape_of(repeats.tensor());
  if (of.empty() || of[0] == 1) {
    const Size count = entries_of("repeat", repeats)[0];
    check_copies("repeat", size, count);
    Sizes copies, joined;
    for (std::int64_t i = 0; i < x.rank(); ++i) {
      const Size same = size_along(x, i);
      copies.push_back(same);
      if (i == at) copies.push_back(count);
      joined.push_back(i == at ? same * count : same);
    }
    return reshape(broadcast(with_axis(x, at + 1), copies), joined);
  }
  if (size.is_number() && of[0] != unknown && of[0] != size.number())
    raise(ErrorKind::shape, "repeat: there are " + std::to_string(of[0]) +
                                " repeats for an axis of size " + std::to_string(size.number()));
  const Tensor counts = counts_of(repeats);
  if (!size.is_number() || of[0] == unknown) {
    const Tensor named[] = {size_along(counts, 0).tensor(), size.tensor()};
    detail::check_sizes(equal(named[0], named[1]),
                        "repeat: there are {} repeats for an axis of size {}", named);
  }
  if (!repeats.are_numbers())
    check_values(greater_equal(counts, 0), "repeat: repeats has a negative number", {counts});
  return gather(x, repeated_positions(repeats, counts), {.axis = at});
}

Tensor tile(const Tensor &given, const Sizes &reps) {
  for (std::size_t i = 0; i < reps.size(); ++i)
    if (const Size count = reps[i]; count.is_number() && count.number() < 0)
      raise(ErrorKind::value,
            "tile: reps has " + std::to_string(count.number()) + ": numbers are not negative");
  Tensor x = given;
  while (x.rank() < static_cast<std::int64_t>(reps.size())) x = with_axis(x, 0);
  const Sizes sizes = detail::sizes_of(x);
  const std::size_t front = sizes.size() - reps.size();
  const auto is_one = [](const Size &n) { return n.is_number() && n.number() == 1; };
  bool stretches = true;     // axes of size 1 alone
  Sizes apart, wide, joined; // an axis of copies in front of each
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Size count = i < front ? Size(1) : reps[i - front], size = sizes[i];
    check_copies("tile", size, count);
    apart.push_back(1);
    apart.push_back(size);
    wide.push_back(count);
    wide.push_back(size);
    joined.push_back(count * size);
    stretches = stretches && (is_one(count) || is_one(size));
  }
  if (stretches) return broadcast(x, joined);
  return reshape(broadcast(reshape(x, apart), wide), joined);
}

std::vector<Tensor> meshgrid(std::span<const Tensor> xs, GridIndexing indexing) {
  // Which vector each axis of the result is of.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < xs.size(); ++i) order.push_back(i);
  if (indexing == GridIndexing::xy && xs.size() > 1) std::swap(order[0], order[1]);
  std::vector<Tensor> columns(xs.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    Ints column(xs.size(), 1);
    column[axis] = -1;
    columns[order[axis]] = reshape(xs[order[axis]], column);
  }
  return stretched(columns);
}

std::vector<Tensor> broadcast_arrays(std::span<const Tensor> xs) { return stretched(xs); }

Tensor roll(const Tensor &x, Integers shifts, Axes axes) {
  const Sizes by = entries_of("roll", shifts);
  if (!axes) {
    Tensor row = reshape(x, {-1});
    for (std::size_t i = 0; i < by.size(); ++i) row = rolled(row, by[i], 0);
    return reshape(row, detail::sizes_of(x));
  }
  if (by.size() != 1 && by.size() != axes->size())
    raise(ErrorKind::value, "roll: there are " + std::to_string(by.size()) + " shifts for " +
                                std::to_string(axes->size()) + " axes");
  Tensor y = x;
  for (std::size_t i = 0; i < axes->size(); ++i)
    y = rolled(y, by[by.size() == 1 ? 0 : i],
               call::checked_axis("roll", "axis", (*axes)[i], x.rank()));
  return y;
}

Tensor diff(const Tensor &x, const Tensor &prepend, const Tensor &append,
            const DiffOptions &options) {
  const std::int64_t n = options.n, axis = options.axis;
  if (n < 0) raise(ErrorKind::value, "diff: n is " + std::to_string(n) + ": it is not negative");
  if (n == 0) return x;
  std::vector<Tensor> parts;
  for (const Tensor *part : {&prepend, &x, &append}) {
    if (!part->defined()) continue;
    if (part->rank() != 0 || part == &x) {
      parts.push_back(*part);
      continue;
    }
    Sizes one = detail::sizes_of(x); // a number stands for a slice of it
    one.set(static_cast<std::size_t>(axis), 1);
    parts.push_back(broadcast(*part, one));
  }
  Tensor y = parts.size() == 1 ? x : concatenate(std::span<const Tensor>(parts), {.axis = axis});
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t size = shape_of(y)[static_cast<std::size_t>(axis)];
    if (size == 0) break;
    if (size == unknown && i > max_parts)
      raise(ErrorKind::value,
            "diff: n is " + std::to_string(n) + ", and the size of the axis is not known yet");
    const Tensor later = along(y, axis, Slice{1, {}});
    // Without the last one, whose position is not known where the size is not.
    const Tensor back = reverse(y, {.axes = Ints{axis}});
    const Tensor before = reverse(along(back, axis, Slice{1, {}}), {.axes = Ints{axis}});
    y = y.dtype() == DType::boolean ? later != before : later - before;
  }
  return y;
}

Tensor rot90(const Tensor &x, std::int64_t k, Axes axes) {
  const Ints given = axes ? *axes : Ints{0, 1};
  call::checked_axes("rot90", "axes", Axes(given), x.rank()); // that they differ
  if (given.size() != 2)
    raise(ErrorKind::value,
          "rot90: axes has " + std::to_string(given.size()) + " entries: two are wanted");
  const std::int64_t from = call::checked_axis("rot90", "axes", given[0], x.rank());
  const std::int64_t to = call::checked_axis("rot90", "axes", given[1], x.rank());
  const std::int64_t times = (k % 4 + 4) % 4;
  if (times == 0) return x;
  if (times == 2) return reverse(x, {.axes = Ints{std::min(from, to), std::max(from, to)}});
  if (times == 1) return swapaxes(reverse(x, {.axes = Ints{to}}), from, to);
  return reverse(swapaxes(x, from, to), {.axes = Ints{to}});
}

Tensor positive(const Tensor &x) { return x; }

namespace {

/// A cumulative sum or product along an axis, which may begin with what nothing gives.
template <class Options, class Cumulate>
Tensor cumulative(const char *function, const Tensor &x, const Options &options, int first,
                  const Cumulate &cumulate) {
  if (x.rank() == 0 || (!options.axis && x.rank() > 1))
    raise(ErrorKind::value,
          std::string(function) + ": x has rank " + std::to_string(x.rank()) +
              (x.rank() == 0 ? ": a vector is wanted" : ": axis says along which axis it goes"));
  const std::int64_t axis = options.axis.value_or(0);
  const Tensor y = cumulate(axis);
  if (!options.include_initial) return y;
  Ints low(static_cast<std::size_t>(x.rank()), 0);
  const Ints none = low;
  low[static_cast<std::size_t>(axis)] = 1;
  return weft::pad(y, cast(tensor(first), y.dtype()), low, none, none);
}

} // namespace

Tensor cumulative_sum(const Tensor &x, const CumulativeSumOptions &options) {
  return cumulative("cumulative_sum", x, options, 0, [&](std::int64_t axis) {
    return cumsum(x, {.axis = axis, .dtype = options.dtype});
  });
}

Tensor cumulative_prod(const Tensor &x, const CumulativeProdOptions &options) {
  return cumulative("cumulative_prod", x, options, 1, [&](std::int64_t axis) {
    return cumprod(x, {.axis = axis, .dtype = options.dtype});
  });
}

} // namespace weft::composites
