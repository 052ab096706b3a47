// Shape functions: plain C++ on integers, the only place that decides the type of a call. Sizes are
// checked for overflow, and dimensions may be unknown. Messages lack the op's name; callers add it.
#pragma once

#include "OpDefs/OpInfo.h"

namespace weft::shapes {

/// Operands of one dtype that broadcast; the result has their dtype.
Result<TensorType> elementwise(const InferContext &call);
/// The same with a bool result.
Result<TensorType> comparison(const InferContext &call);
/// The operand's own type.
Result<TensorType> same(const InferContext &call);
/// The first operand's own type, whose shape is that of the second.
Result<TensorType> match_shape(const InferContext &call);
Result<TensorType> select(const InferContext &call);
Result<TensorType> cast(const InferContext &call);
Result<TensorType> constant(const InferContext &call);
Result<TensorType> iota(const InferContext &call);
Result<TensorType> reduce(const InferContext &call);
Result<TensorType> argmax(const InferContext &call);
Result<TensorType> argsort(const InferContext &call);
/// The operand's own type, which has the axis.
Result<TensorType> cumulative(const InferContext &call);
Result<TensorType> linear_recurrence(const InferContext &call);
Result<TensorType> matmul(const InferContext &call);
Result<TensorType> reshape(const InferContext &call);
Result<TensorType> transpose(const InferContext &call);
Result<TensorType> broadcast(const InferContext &call);
Result<TensorType> slice(const InferContext &call);
Result<TensorType> reverse(const InferContext &call);
Result<TensorType> concatenate(const InferContext &call);
Result<TensorType> pad(const InferContext &call);
Result<TensorType> gather(const InferContext &call);
Result<TensorType> scatter_add(const InferContext &call);
Result<TensorType> take_along_axis(const InferContext &call);
Result<TensorType> add_along_axis(const InferContext &call);
Result<TensorType> update_slice(const InferContext &call);
Result<TensorType> replicate(const InferContext &call);
Result<TensorType> resize(const InferContext &call);
Result<TensorType> size(const InferContext &call);
Result<TensorType> draw_uniform(const InferContext &call);
Result<TensorType> draw_permutation(const InferContext &call);
/// As many {} in the format as values.
Result<TensorType> print(const InferContext &call);
Result<TensorType> check(const InferContext &call);

} // namespace weft::shapes

namespace weft {

/// The shape that `a` and `b` broadcast to, as NumPy does: sizes are equal or one of them is 1. An
/// unknown size meets a size above 1 as that size, and an unknown one as unknown.
Result<Shape> broadcast_shapes(const Shape &a, const Shape &b);

/// Number of elements; unknown if a dimension is; a fault if it, or the bytes it takes with
/// `item_bytes` each, exceed 2^63 - 1.
Result<std::int64_t> element_count(const Shape &shape, std::size_t item_bytes = 1);

/// `axis` counted from the front for an `axis` in [-rank, rank); others come back unchanged for the
/// shape function to refuse.
std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank);

} // namespace weft
