// How often numbers come, in which intervals they are, and sums over segments, made of ops.
#include "Ops/Composites/Parts.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace weft::composites {

namespace {

void check_weights(const char *function, const Tensor &x, const Tensor &weights) {
  if (!weights.defined()) return;
  const Shape shape = shape_of(x), other = shape_of(weights);
  std::vector<Tensor> open;
  const std::string has = written(weights, open), wanted = written(x, open);
  const std::string text =
      std::string(function) + ": weights has the shape " + has + ", and x " + wanted;
  if (shape.size() != other.size()) refuse_shape(text);
  Tensor same;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == other[i] && shape[i] != unknown) continue;
    if (shape[i] != unknown && other[i] != unknown) refuse_shape(text);
    const auto axis = static_cast<std::int64_t>(i);
    const Tensor here = equal(size_along(x, axis).tensor(), size_along(weights, axis).tensor());
    same = same.defined() ? same & here : here;
  }
  if (same.defined()) detail::check_sizes(same, text, open);
}

/// The sums of weights, or how many there are, of the numbers 0, 1, .. below `count`; others, which
/// are not negative, are left out.
Tensor counted(const Tensor &numbers, const Tensor &weights, const Size &count) {
  const Tensor at = cast(reshape(numbers, {-1}), DType::i64);
  Tensor of = weights.defined() ? reshape(weights, {-1}) : Tensor();
  if (!of.defined()) of = ones({size_along(at, 0)}, DType::i64);
  of = cast(of, dtype_info(of.dtype()).sum);
  const Tensor all = scatter_add(zeros({count + 1}, of.dtype()), minimum(at, count.tensor()), of);
  return between(all, 0, 0, count);
}

/// The edges of intervals of one length, in x's dtype.
Tensor even_edges(const Tensor &x, std::int64_t count, const std::optional<RealList> &range) {
  Tensor low, high;
  if (range) {
    const std::vector<double> &ends = range->values();
    if (ends.size() != 2 || !(ends[0] <= ends[1]) || !std::isfinite(ends[0]) ||
        !std::isfinite(ends[1]))
      raise(ErrorKind::value,
            "histogram: range is two finite numbers, of which the first is not larger");
    low = cast(tensor(ends[0]), x.dtype());
    high = cast(tensor(ends[1]), x.dtype());
  } else {
    // Of no elements the ends are infinite, and those of NumPy 0 and 1.
    low = reduce_min(x);
    high = reduce_max(x);
    const Tensor none = low > high;
    if (is_floating(x.dtype()))
      weft::check(reduce_all(none | (isfinite(low) & isfinite(high))),
                  "histogram: the elements reach from {} to {}, which is no range: give one", low,
                  high);
    low = select(none, 0, low);
    high = select(none, 1, high);
  }
  const Tensor same = low == high;
  const Tensor first = select(same, low - 0.5, low), last = select(same, high + 0.5, high);
  const Tensor share = iota(x.dtype(), {Size(count + 1)}) / static_cast<double>(count);
  // The last edge is the end itself.
  return select(share == 1, last, first + (last - first) * share);
}

} // namespace

Tensor bincount(const Tensor &x, const Tensor &weights, const BincountOptions &options) {
  const auto check = [](const char *name, std::int64_t number) {
    if (number < 0)
      raise(ErrorKind::value, std::string("bincount: ") + name + " is " + std::to_string(number) +
                                  ": it is not negative");
  };
  check("minlength", options.minlength);
  check_weights("bincount", x, weights);
  if (options.size) {
    if (options.size->is_number()) check("size", options.size->number());
    return counted(x, weights, *options.size);
  }
  Size count;
  {
    const AtOnce now(!x.traced());
    const Tensor most = reduce_max(cast(reshape(x, {-1}), DType::i64));
    count = Size(maximum(most + std::int64_t{1}, options.minlength));
  }
  return counted(x, weights, count);
}

Histogram histogram(const Tensor &x, const Tensor &weights, const HistogramOptions &options) {
  check_weights("histogram", x, weights);
  const std::vector<double> &given = options.bins.edges();
  if (!options.bins.count() && given.empty())
    raise(ErrorKind::value, "histogram: bins has no edge: there are at least 2");
  const std::int64_t count =
      options.bins.count().value_or(static_cast<std::int64_t>(given.size()) - 1);
  if (count < 1)
    raise(ErrorKind::value,
          "histogram: bins is " + std::to_string(count) + " intervals: there is at least 1");
  if (count > max_parts * max_parts)
    raise(ErrorKind::value, "histogram: bins is " + std::to_string(count) +
                                " intervals: there are at most " +
                                std::to_string(max_parts * max_parts));
  if (!std::ranges::is_sorted(given) ||
      std::ranges::any_of(given, [](double edge) { return std::isnan(edge); }))
    raise(ErrorKind::value, "histogram: bins has edges that are not in order");
  const Tensor edges =
      options.bins.count() ? even_edges(x, count, options.range) : cast(tensor(given), x.dtype());
  const Tensor flat = reshape(x, {-1});
  const Tensor last = along(edges, 0, count);
  // How many edges are not above an element; those at the last edge are in front of it.
  const Tensor before = search_sorted(edges, flat, {.right = true});
  const Tensor number = select(flat == last, count, before) - std::int64_t{1};
  const Tensor outside = (number < 0) | (number >= count);
  Tensor found = counted(select(outside, count, number), weights, Size(count));
  if (options.density) {
    const Tensor lengths = along(edges, 0, Slice{1, {}}) - along(edges, 0, Slice{0, count});
    // A rounded edge may leave an interval without a length, and then there is nothing in it.
    found = cast(found, x.dtype());
    found = select(found == 0, 0, found / lengths / sum(found));
  }
  return {found, edges};
}

Tensor digitize(const Tensor &x, const Tensor &bins, const DigitizeOptions &options) {
  if (bins.rank() != 1)
    raise(ErrorKind::shape,
          "digitize: bins has the shape " + to_string(shape_of(bins)) + ": a vector is wanted");
  const Tensor before = along(bins, 0, Slice{0, -1}), behind = along(bins, 0, Slice{1, {}});
  weft::check(logical_not(weft::any(before < behind) & weft::any(before > behind)),
              "digitize: bins has edges that neither rise nor fall");
  // Edges that fall are those that rise, from the other end.
  const Tensor rises = reduce_all(along(bins, 0, Slice{0, 1}) <= along(bins, 0, Slice{-1, {}}));
  const Tensor back = reverse(bins, {.axes = Ints{0}});
  const Tensor up = search_sorted(bins, x, {.right = !options.right});
  const Tensor down =
      size_along(bins, 0).tensor() - search_sorted(back, x, {.right = !options.right});
  return select(rises, up, down);
}

void check_segments(const char *function, const Tensor &x, const Tensor &ids, const Size &count) {
  if (x.rank() == 0 || ids.rank() != 1)
    raise(ErrorKind::shape, std::string(function) + ": x has the shape " + to_string(shape_of(x)) +
                                " and segment_ids " + to_string(shape_of(ids)) +
                                ": a number for each slice along x's first axis is wanted");
  if (count.is_number() && count.number() < 0)
    raise(ErrorKind::value, std::string(function) + ": num_segments is " +
                                std::to_string(count.number()) + ": it is not negative");
  const std::int64_t slices = shape_of(x)[0], numbers = shape_of(ids)[0];
  if (slices != numbers && slices != unknown && numbers != unknown)
    raise(ErrorKind::shape, std::string(function) + ": x has " + std::to_string(slices) +
                                " slices and segment_ids " + std::to_string(numbers) + " numbers");
}

namespace {

/// Sums of the slices of each segment.
Tensor segment_sums(const char *function, const Tensor &x, const Tensor &ids, const Size &count) {
  check_segments(function, x, ids, count);
  Sizes sizes = detail::sizes_of(x);
  sizes.set(0, count);
  return scatter_add(zeros(sizes, x.dtype()), ids, x);
}

} // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor segment_sum(const Tensor &x, const Tensor &segment_ids, Size num_segments) {
  return segment_sums("segment_sum", x, segment_ids, num_segments);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor segment_mean(const Tensor &x, const Tensor &segment_ids, Size num_segments) {
  const Tensor total = segment_sums("segment_mean", x, segment_ids, num_segments);
  Tensor each = ones({size_along(segment_ids, 0)}, x.dtype());
  Tensor count = scatter_add(zeros({num_segments}, x.dtype()), segment_ids, each);
  for (std::int64_t i = 1; i < x.rank(); ++i) count = with_axis(count, count.rank());
  return total / maximum(count, 1);
}

} // namespace weft::composites
