// Elements put where indices say, and reductions of segments that are no sums, made of ops: equal
// indices are sorted beside each other, so that each group has a last one.
#include "Ops/Composites/Parts.h"

#include <string>

namespace weft::composites {

namespace {

Tensor as_numbers(const Tensor &x) { return x.dtype() == DType::boolean ? cast(x, DType::i32) : x; }

/// Vectors along the first axis in groups of equal numbers below a count, which are sorted; behind
/// the first axis each column has an order of its own.
struct Groups {
  Tensor order;   ///< where what is sorted comes from
  Tensor numbers; ///< of the group, sorted; the same in every column
  Tensor last;    ///< whether it is the last of its group, a vector
};

/// Of the elements of a group those that are larger are behind, or smaller if `smallest`; without
/// `by` those that stand behind. NaN is the very last.
Groups grouped(const Tensor &numbers, const Tensor &by, bool smallest) {
  Groups groups;
  const Tensor wide = cast(numbers, DType::i64);
  if (!by.defined()) {
    groups.order = argsort(wide, {.axis = 0});
    groups.numbers = gather(wide, groups.order);
  } else {
    // -1 - x reverses the order of integers and holds the least one, which -x does not.
    const Tensor value = stop_gradient(as_numbers(by));
    const Tensor rising = !smallest                   ? value
                          : is_integer(value.dtype()) ? bitwise_invert(value)
                                                      : -value;
    const Tensor first = argsort(rising, {.axis = 0});
    const Tensor then = argsort(gather(wide, first), {.axis = 0});
    groups.order = gather_along_axis(first, then, {.axis = 0});
    groups.numbers = sort(wide, {.axis = 0});
  }
  // The one behind is of another group; behind the very last there is none. There may be no element
  // at all, so that both are of as many as there are.
  const Size count = size_along(groups.numbers, 0);
  const Tensor at = positions_along(groups.numbers, 0), end = (count - 1).tensor();
  const Tensor next = gather(groups.numbers, minimum(at + std::int64_t{1}, end));
  groups.last = (next != groups.numbers) | (at == end);
  return groups;
}

/// For each group below the count the position of the last of each column, and 0 where there is
/// none; `found` is one more then, so that 0 is of none.
Tensor lasts(const Groups &groups, const Size &count) {
  Tensor last = groups.last;
  for (std::int64_t i = 1; i < groups.order.rank(); ++i) last = with_axis(last, last.rank());
  const Tensor marked = select(last, groups.order + std::int64_t{1}, std::int64_t{0});
  Sizes sizes = detail::sizes_of(groups.order);
  sizes.set(0, count);
  return scatter_add(zeros(sizes, DType::i64), groups.numbers, marked);
}

/// With axes of size 1 behind, as many as `x` has.
Tensor as_column(Tensor column, const Tensor &x) {
  while (column.rank() < x.rank()) column = with_axis(column, column.rank());
  return column;
}

/// With one slice more, so that there is one to take.
Tensor with_another(const Tensor &x) {
  Ints high(static_cast<std::size_t>(x.rank()), 0);
  const Ints none = high;
  high[0] = 1;
  return weft::pad(x, cast(0, x.dtype()), none, high, none);
}

/// Of each group one slice of x, or `otherwise` of none; without `by` its last, else the one of
/// each column that is the largest, or smallest.
Tensor chosen(const Tensor &x, const Tensor &numbers, const Size &count, const Tensor &by,
              bool smallest, const Tensor &otherwise) {
  const Tensor found = lasts(grouped(numbers, by, smallest), count);
  const Tensor at = maximum(found - std::int64_t{1}, std::int64_t{0}), some = with_another(x);
  const Tensor values = by.defined() ? gather_along_axis(some, at, {.axis = 0}) : gather(some, at);
  return select(as_column(found > std::int64_t{0}, x), values, otherwise);
}

/// The products of the slices of each group, 1 of none, in as many steps as halve their number.
Tensor products(const char *function, const Tensor &x, const Tensor &numbers, const Size &count) {
  const std::int64_t size = detail::size_for_call(x, 0);
  if (size == unknown)
    raise(ErrorKind::shape, std::string(function) + ": how many slices there are is not known yet");
  Groups groups = grouped(numbers, Tensor(), false);
  Tensor product = gather(x, groups.order);
  const Tensor at = iota(DType::i64, {Size(size)});
  for (std::int64_t step = 1; step < size; step *= 2) {
    // What is so many in front belongs to the group if its number is the same.
    const Tensor from = at - step, there = maximum(from, std::int64_t{0});
    const Tensor same =
        (from >= std::int64_t{0}) & (gather(groups.numbers, there) == groups.numbers);
    product = product * select(as_column(same, x), gather(product, there), 1);
  }
  groups.order = at; // where they are now
  const Tensor found = lasts(groups, count);
  const Tensor values =
      gather(with_another(product), maximum(found - std::int64_t{1}, std::int64_t{0}));
  return select(as_column(found > std::int64_t{0}, x), values, 1);
}

/// The lowest number of the dtype, or the highest: what the largest, or smallest, of nothing is.
Tensor extreme_of_none(DType dtype, bool smallest) {
  const AtOnce now(true);
  const Tensor none = zeros({0}, dtype);
  return smallest ? reduce_min(none) : reduce_max(none);
}

Tensor segment_extremes(const char *function, const Tensor &x, const Tensor &ids, const Size &count,
                        bool smallest) {
  check_segments(function, x, ids, count);
  return chosen(x, ids, count, x, smallest, extreme_of_none(x.dtype(), smallest));
}

} // namespace

Tensor segment_prod(const Tensor &x, const Tensor &segment_ids, Size num_segments) {
  check_segments("segment_prod", x, segment_ids, num_segments);
  return products("segment_prod", x, segment_ids, num_segments);
}

Tensor segment_max(const Tensor &x, const Tensor &segment_ids, Size num_segments) {
  return segment_extremes("segment_max", x, segment_ids, num_segments, false);
}

Tensor segment_min(const Tensor &x, const Tensor &segment_ids, Size num_segments) {
  return segment_extremes("segment_min", x, segment_ids, num_segments, true);
}

Tensor scatter_elements(const Tensor &x, const Tensor &indices, const Tensor &updates,
                        ScatterReduction reduction) {
  if (updates.dtype() != x.dtype())
    raise(ErrorKind::dtype, "scatter_elements: the dtypes differ: x is " +
                                std::string(name_of(x.dtype())) + " and updates is " +
                                std::string(name_of(updates.dtype())));
  if (reduction != ScatterReduction::set && x.dtype() == DType::boolean)
    raise(ErrorKind::dtype, "scatter_elements: x is bool, and bools are set, not combined");
  const Shape of = shape_of(indices), other = shape_of(updates);
  bool fits = of.size() == other.size();
  for (std::size_t i = 0; fits && i < of.size(); ++i)
    fits = of[i] == other[i] || of[i] == unknown || other[i] == unknown;
  if (!fits)
    raise(ErrorKind::shape, "scatter_elements: indices has the shape " + to_string(of) +
                                " and updates " + to_string(other));
  const Tensor flat = reshape(x, {-1}), values = reshape(updates, {-1}),
               at = reshape(indices, {-1});
  // One position more is of those that are left out.
  const Size size = size_along(flat, 0), count = size + 1;
  const auto kept = [&](const Tensor &all) { return between(all, 0, 0, size); };
  Tensor y;
  switch (reduction) {
  case ScatterReduction::set:
    y = kept(chosen(values, at, count, Tensor(), false, with_another(flat)));
    break;
  case ScatterReduction::add: y = kept(scatter_add(with_another(flat), at, values)); break;
  case ScatterReduction::multiply:
    y = flat * kept(products("scatter_elements", values, at, count));
    break;
  case ScatterReduction::min:
    y = minimum(flat,
                kept(chosen(values, at, count, values, true, extreme_of_none(x.dtype(), true))));
    break;
  case ScatterReduction::max:
    y = maximum(flat,
                kept(chosen(values, at, count, values, false, extreme_of_none(x.dtype(), false))));
    break;
  }
  return reshape(y, detail::sizes_of(x));
}

} // namespace weft::composites
