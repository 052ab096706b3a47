// Shape functions: plain C++ on integers, the only place that decides the type of a call. Sizes are
// checked for overflow, and dimensions may be unknown. Messages lack the op's name; callers add it.
#pragma once

#include "OpDefs/OpInfo.h"
#include "OpDefs/SizeWords.h"

namespace weft::shapes {

#include "ShapeFunctions.inc"

/// Whether two sizes are equal, or may be where one is unknown.
inline bool may_equal(std::int64_t a, std::int64_t b) {
  return a == b || a == unknown || b == unknown;
}

/// A fault unless `axis` is one of a tensor of that shape, which the message calls `what`; the same
/// of axes, which must be ascending.
Check check_axis(std::int64_t axis, const Shape &shape, std::string_view what);
Check check_axes(const Ints &axes, const Shape &shape, std::string_view what);

} // namespace weft::shapes

namespace weft {

/// The shape that `a` and `b` broadcast to, as NumPy does: sizes are equal or one of them is 1. An
/// unknown size meets a size above 1 as that size, and an unknown one as unknown.
Result<Shape> broadcast_shapes(const Shape &a, const Shape &b);

/// Number of elements; unknown if a dimension is; a fault if it, or the bytes it takes with
/// `item_bytes` each, exceed 2^63 - 1.
Result<std::int64_t> element_count(const Shape &shape, std::size_t item_bytes = 1);

/// The sizes of a list in the result: those that are values are unknown. A list of a call without
/// such operands has none, whatever its numbers are.
Shape with_values(const InferContext &call, const Ints &list);
/// The same of the shape that a call gives its result: a fault if a size is negative.
Result<Shape> given_shape(const InferContext &call, const Ints &list);

/// `axis` counted from the front for an `axis` in [-rank, rank); others come back unchanged for the
/// shape function to refuse.
std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank);

} // namespace weft
