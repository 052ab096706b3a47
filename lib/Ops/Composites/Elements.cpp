// Functions that shape, repeat and move elements.
#include "Ops/Composites/Parts.h"

#include <algorithm>
#include <map>
#include <string>

namespace weft::composites {

namespace {

constexpr Slice kWhole;

bool contains(const Ints &list, std::int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

/// Throws ValueError for more copies than one call joins.
void check_copies(const char *argument, std::int64_t count) {
  if (count > max_parts)
    raise(ErrorKind::value, std::string(argument) + " has " + std::to_string(count) +
                                ": there are at most " + std::to_string(max_parts) +
                                " where sizes are not known yet");
}

/// How many elements stand in front of the one that comes first when `count` of them, 1 or more,
/// move on by so many.
Tensor cut_of(std::int64_t by, const Tensor &count) {
  return count - remainder(remainder(tensor(by), count) + count, count);
}

/// Moves slices on by so many, those at the end to the front.
Tensor rolled(const Tensor &x, std::int64_t by, std::int64_t axis) {
  const std::int64_t size = shape_of(x)[static_cast<std::size_t>(axis)];
  if (size == unknown) {
    const Tensor count = maximum(size_of(x, {.axis = axis}), std::int64_t{1});
    return gather(x, remainder(positions_along(x, axis) + cut_of(by, count), count),
                  {.axis = axis});
  }
  std::int64_t cut = size == 0 ? 0 : -(by % size); // which does not overflow
  if (cut < 0) cut += size;
  if (cut == 0) return x;
  return concatenate({along(x, axis, Slice{cut, {}}), along(x, axis, Slice{0, cut})},
                     {.axis = axis});
}

/// The elements in a row, moved on by all of these, in x's shape.
Tensor rolled_in_a_row(const Tensor &x, const Ints &shifts) {
  const Shape shape = shape_of(x);
  Tensor row = reshape(x, {-1});
  const auto open = std::count(shape.begin(), shape.end(), unknown);
  if (open == 0 || (open == 1 && !contains(shape, 0))) {
    for (const std::int64_t shift : shifts) row = rolled(row, shift, 0);
    return reshape(row, shape);
  }
  // No reshape can name the shape: positions have it.
  Tensor positions = tensor(std::int64_t{0}), stride = tensor(std::int64_t{1});
  for (std::int64_t axis = x.rank(); axis-- > 0;) {
    Ints column(static_cast<std::size_t>(x.rank() - axis), 1);
    column[0] = shape[static_cast<std::size_t>(axis)];
    positions = reshape(positions_along(x, axis) * stride, column) + positions;
    stride = stride * size_of(x, {.axis = axis});
  }
  const Tensor count = maximum(size_of(row, {.axis = 0}), std::int64_t{1});
  for (const std::int64_t shift : shifts) positions = positions + cut_of(shift, count);
  return gather(row, remainder(positions, count), {.axis = 0});
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

Tensor repeat(const Tensor &given, IntList repeats, std::optional<std::int64_t> axis) {
  const Tensor x = axis ? given : reshape(given, {-1});
  const std::int64_t at = axis.value_or(0);
  const auto place = static_cast<std::size_t>(at);
  for (const std::int64_t count : repeats)
    if (count < 0)
      raise(ErrorKind::value,
            "repeat: repeats has " + std::to_string(count) + ": numbers are not negative");
  if (repeats.size() == 1 && repeats[0] == 0) return along(x, at, Slice{0, 0});
  if (repeats.size() == 1) {
    const std::int64_t count = repeats[0], size = shape_of(x)[place];
    const auto copies = [&](const Tensor &one, std::int64_t of) {
      Ints sizes = sizes_of(one);
      if (Shape(sizes).is_static()) {
        sizes[static_cast<std::size_t>(of)] = count;
        return broadcast(one, sizes);
      }
      check_copies("repeat: repeats", count);
      const std::vector<Tensor> parts(static_cast<std::size_t>(count), one);
      return concatenate(std::span<const Tensor>(parts), {.axis = of});
    };
    if (size == unknown) {
      // At the end what is repeated follows from the sizes in front.
      const Tensor last = moveaxis(x, at, -1);
      Ints sizes = sizes_of(last);
      sizes.back() = -1;
      return moveaxis(reshape(copies(with_axis(last, last.rank()), last.rank()), sizes), -1, at);
    }
    Ints sizes = sizes_of(x);
    if (__builtin_mul_overflow(size, count, &sizes[place]))
      raise(ErrorKind::shape, "repeat: " + std::to_string(size) + " elements " +
                                  std::to_string(count) + " times are more than a tensor may have");
    return reshape(copies(with_axis(x, at + 1), at + 1), sizes);
  }
  const std::int64_t size = detail::size_for_call(x, at);
  if (static_cast<std::int64_t>(repeats.size()) != size)
    raise(ErrorKind::shape, "repeat: there are " + std::to_string(repeats.size()) +
                                " repeats for an axis of size " +
                                (size == unknown ? "that is not known" : std::to_string(size)));
  std::vector<std::int32_t> positions;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (repeats[i] > most - static_cast<std::int64_t>(positions.size()))
      raise(ErrorKind::out_of_memory, "repeat: repeats has " + std::to_string(repeats[i]) +
                                          ", which gives more than 2^31 slices");
    positions.insert(positions.end(), static_cast<std::size_t>(repeats[i]),
                     static_cast<std::int32_t>(i));
  }
  return gather(x, tensor(positions), {.axis = at});
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
    std::int64_t product = 0;
    if (count.is_number() && size.is_number() &&
        __builtin_mul_overflow(size.number(), count.number(), &product))
      raise(ErrorKind::shape, "tile: " + std::to_string(size.number()) + " elements " +
                                  std::to_string(count.number()) +
                                  " times are more than a tensor may have");
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
  Ints sizes;
  std::vector<Tensor> columns(xs.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    Ints column(xs.size(), 1);
    column[axis] = -1;
    columns[order[axis]] = reshape(xs[order[axis]], column);
    sizes.push_back(shape_of(columns[order[axis]])[axis]);
  }
  std::vector<Tensor> found;
  for (const Tensor &column : columns) {
    if (Shape(sizes).is_static()) {
      found.push_back(broadcast(column, sizes));
      continue;
    }
    Tensor wide = column;
    for (const Tensor &other : columns) wide = select(other == other, wide, wide);
    found.push_back(wide);
  }
  return found;
}

Tensor roll(const Tensor &x, IntList shifts, Axes axes) {
  if (!axes) return rolled_in_a_row(x, shifts);
  if (shifts.size() != 1 && shifts.size() != axes->size())
    raise(ErrorKind::value, "roll: there are " + std::to_string(shifts.size()) + " shifts for " +
                                std::to_string(axes->size()) + " axes");
  Tensor y = x;
  for (std::size_t i = 0; i < axes->size(); ++i)
    y = rolled(y, shifts[shifts.size() == 1 ? 0 : i],
               call::checked_axis("roll", "axis", (*axes)[i], x.rank()));
  return y;
}

Tensor diff(const Tensor &x, std::int64_t n, std::int64_t axis) {
  if (n < 0) raise(ErrorKind::value, "diff: n is " + std::to_string(n) + ": it is not negative");
  Tensor y = x;
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

} // namespace weft::composites
