// Shape functions of the ops that move elements: reshape, slice, pad, gather and their kin.
#include "OpDefs/ShapeFunctions.h"

#include <algorithm>

namespace weft::shapes {

namespace {

std::string text(std::int64_t value) { return std::to_string(value); }
/// As a shape is written, but -1 as such.
std::string text(const Ints &values) {
  std::string result = "(";
  for (std::size_t i = 0; i < values.size(); ++i)
    result += (i == 0 ? "" : i == 1 ? " " : ", ") + text(values[i]) + (i == 0 ? "," : "");
  return result + ")";
}

Result<TensorType> sized(DType dtype, Shape shape) {
  Result<std::int64_t> count = element_count(shape, item_size(dtype));
  if (!count) return count.fault();
  return TensorType{dtype, std::move(shape)};
}

Check one_per_axis(const Ints &values, std::string_view name, const Shape &shape) {
  if (values.size() == shape.size()) return std::nullopt;
  return Fault{ErrorKind::shape, std::string(name) + " " + text(values) + " has " +
                                     text(static_cast<std::int64_t>(values.size())) +
                                     (values.size() == 1 ? " entry" : " entries") +
                                     ", but x has shape " + to_string(shape)};
}

/// The shape of a gather: x's with the axis replaced by the shape of the indices.
Shape gathered(const Shape &x, const Shape &indices, std::int64_t axis) {
  Shape result;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (i != axis) result.push_back(x[i]);
    else
      for (std::int64_t dim : indices) result.push_back(dim);
  }
  return result;
}

} // namespace

/// To sizes some of which are values: one may be -1 and follows.
static Result<TensorType> reshape_to_values(const InferContext &call) {
  const TensorType &x = call.operands[0];
  const Ints &given = ReshapeAttrs(call.attrs).shape;
  Shape shape, known;
  for (const std::int64_t size : given) {
    if (size < unknown && size != detail::kDynamic)
      return Fault{ErrorKind::shape, "size " + text(size) + " is negative"};
    shape.push_back(size == detail::kDynamic ? unknown : size);
    if (size >= 0) known.push_back(size);
  }
  if (std::count(given.begin(), given.end(), unknown) > 1)
    return Fault{ErrorKind::shape, "only one size may be -1 beside sizes that are values"};
  const Result<std::int64_t> product = element_count(known);
  if (!product) return product.fault();
  const Result<std::int64_t> count = element_count(x.shape);
  if (!count) return count.fault();
  if (*count != unknown && (*product == 0 ? *count != 0 : *count % *product != 0))
    return Fault{ErrorKind::shape,
                 words::does_not_fill(to_string(x.shape), text(*count), to_string(shape))};
  return TensorType{x.dtype, std::move(shape)};
}

Result<TensorType> reshape(const InferContext &call) {
  if (call.operands.size() > 1) return reshape_to_values(call);
  const TensorType &x = call.operands[0];
  const Ints &given = ReshapeAttrs(call.attrs).shape;
  Shape shape(given);
  const auto known_of = [](const Shape &sizes, bool beside_zeros = false) {
    Shape known;
    for (const std::int64_t size : sizes)
      if (size != unknown && !(beside_zeros && size == 0)) known.push_back(size);
    return element_count(known);
  };
  for (const std::int64_t size : shape)
    if (size < unknown)
      return Fault{ErrorKind::shape, "size " + text(size) +
                                         " is negative; one size may be -1, which stands for what "
                                         "the others leave"};
  const auto open = std::count(shape.begin(), shape.end(), unknown),
             of_x = std::count(x.shape.begin(), x.shape.end(), unknown);
  if (open > 1 && open > of_x + 1)
    return Fault{ErrorKind::shape,
                 of_x == 0 ? "only one size may be -1, but the shape is " + text(given)
                           : "the shape " + text(given) + " leaves " + text(open) +
                                 " sizes open, but all of them except the last stand for unknown "
                                 "sizes of x, which has shape " +
                                 to_string(x.shape)};
  const Result<std::int64_t> product = known_of(shape);
  if (!product)
    return Fault{ErrorKind::shape,
                 "a tensor of shape " + to_string(shape) + " has more elements than 2^63 - 1"};
  const Result<std::int64_t> count = known_of(x.shape);
  if (!count) return count.fault();
  bool fits = open == 0 ? *product == *count : *product != 0 && *count % *product == 0;
  // Unless all unknown sizes of x stand in the shape, what follows is known when it runs. Beside a
  // 0 nothing follows from the number of elements, but from the other sizes.
  const bool later = of_x != 0 && of_x != open - 1;
  if (later && open != 0 && *product == 0) {
    const Result<std::int64_t> others = known_of(shape, true), of_others = known_of(x.shape, true);
    if (!of_others) return of_others.fault();
    fits = *count == 0 && others && *of_others % *others == 0;
  }
  if (later && (fits || *product != 0 || open == 0)) return TensorType{x.dtype, std::move(shape)};
  if (!fits)
    return Fault{ErrorKind::shape,
                 of_x == 0 ? words::does_not_fill(to_string(x.shape), text(*count), text(given))
                           : "x of shape " + to_string(x.shape) + " has " + text(*count) +
                                 " elements for each of its unknown sizes, which do not fill the "
                                 "shape " +
                                 text(given)};
  if (open != 0) {
    std::size_t last = shape.size() - 1;
    while (shape[last] != unknown) --last;
    shape[last] = *count / *product;
  }
  return TensorType{x.dtype, std::move(shape)};
}

Result<TensorType> transpose(const InferContext &call) {
  const TensorType &x = call.operands[0];
  const Ints &permutation = TransposeAttrs(call.attrs).permutation;
  if (Check fault = one_per_axis(permutation, "permutation", x.shape)) return *fault;
  Shape result;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    const auto end = permutation.begin() + i;
    if (permutation[i] < 0 || permutation[i] >= x.shape.rank() ||
        std::find(permutation.begin(), end, permutation[i]) != end)
      return Fault{ErrorKind::value, text(permutation) +
                                         " is not a permutation of the axes of x, " +
                                         "which has shape " + to_string(x.shape)};
    result.push_back(x.shape[permutation[i]]);
  }
  return TensorType{x.dtype, std::move(result)};
}

Result<TensorType> broadcast(const InferContext &call) {
  const TensorType &x = call.operands[0];
  const Ints &given = BroadcastAttrs(call.attrs).shape;
  Shape shape = with_values(call, given);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] < 0 && shape[i] == given[i])
      return Fault{ErrorKind::shape, "a size is " + text(given[i]) + ", which is negative"};
  bool fits = shape.size() >= x.shape.size();
  for (std::size_t i = 0; fits && i < x.shape.size(); ++i) {
    const std::int64_t from = x.shape[i], to = shape[shape.size() - x.shape.size() + i];
    fits = from == 1 || may_equal(from, to);
  }
  if (!fits)
    return Fault{ErrorKind::shape, "x of shape " + to_string(x.shape) +
                                       " does not broadcast to the shape " + to_string(shape)};
  return sized(x.dtype, std::move(shape));
}

Result<TensorType> slice(const InferContext &call) {
  const TensorType &x = call.operands[0];
  const Ints &starts = SliceAttrs(call.attrs).starts, &limits = SliceAttrs(call.attrs).limits,
             &strides = SliceAttrs(call.attrs).strides;
  if (Check fault = one_per_axis(starts, "starts", x.shape)) return *fault;
  if (Check fault = one_per_axis(limits, "limits", x.shape)) return *fault;
  if (Check fault = one_per_axis(strides, "strides", x.shape)) return *fault;
  Shape result;
  const Shape first = with_values(call, starts), last = with_values(call, limits);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t size = x.shape[i];
    if (strides[i] < 1)
      return Fault{ErrorKind::value, "stride " + text(strides[i]) + " of axis " +
                                         text(static_cast<std::int64_t>(i)) + " is not positive"};
    if (first[i] != starts[i] || last[i] != limits[i]) {
      // The other may be a number that no size makes right.
      const bool below =
          (first[i] == starts[i] && starts[i] < 0) || (last[i] == limits[i] && limits[i] < -1);
      const bool beyond = size != unknown && last[i] == limits[i] && limits[i] > size;
      if (below || beyond)
        return Fault{ErrorKind::index,
                     words::slice_outside(first[i] == starts[i] ? text(starts[i]) : "?",
                                          last[i] == limits[i] ? text(limits[i]) : "?",
                                          static_cast<std::int64_t>(i), to_string(x.shape))};
      result.push_back(unknown);
      continue;
    }
    // To the end, of which nothing is left behind it.
    const bool to_end = limits[i] == -1;
    const std::int64_t limit = to_end ? std::max(starts[i], size) : limits[i];
    if (starts[i] < 0 || limit < starts[i] || (!to_end && size != unknown && limit > size))
      return Fault{ErrorKind::index,
                   words::slice_outside(starts[i], limits[i], static_cast<std::int64_t>(i),
                                        to_string(x.shape))};
    // Rounded up, without a sum that a large stride could make overflow.
    const bool none = limit == starts[i], open = to_end && size == unknown;
    result.push_back(open ? unknown : none ? 0 : (limit - starts[i] - 1) / strides[i] + 1);
  }
  return TensorType{x.dtype, std::move(result)};
}

Result<TensorType> reverse(const InferContext &call) {
  const TensorType &x = call.operands[0];
  if (Check fault = check_axes(ReverseAttrs(call.attrs).axes, x.shape, "x")) return *fault;
  return x;
}

Result<TensorType> concatenate(const InferContext &call) {
  if (call.operands.empty())
    return Fault{ErrorKind::value, "there is nothing to concatenate: xs is empty"};
  const TensorType &first = call.operands[0];
  const std::int64_t axis = ConcatenateAttrs(call.attrs).axis;
  if (Check fault = check_axis(axis, first.shape, "xs[0]")) return *fault;
  Shape result = first.shape;
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    const TensorType &x = call.operands[i];
    if (x.dtype != first.dtype)
      return Fault{ErrorKind::dtype, "the dtypes differ: xs[0] is " +
                                         std::string(name_of(first.dtype)) + " and xs[" +
                                         text(static_cast<std::int64_t>(i)) + "] is " +
                                         std::string(name_of(x.dtype))};
    bool fits = x.shape.size() == result.size();
    for (std::int64_t d = 0; fits && d < result.rank(); ++d) {
      if (d == axis) {
        if (result[d] == unknown || x.shape[d] == unknown) result[d] = unknown;
        else if (__builtin_add_overflow(result[d], x.shape[d], &result[d]))
          return Fault{ErrorKind::shape,
                       "the sizes of axis " + text(axis) + " add up to more than 2^63 - 1"};
        continue;
      }
      fits = may_equal(result[d], x.shape[d]);
      if (result[d] == unknown) result[d] = x.shape[d];
    }
    if (!fits)
      return Fault{ErrorKind::shape,
                   words::shapes_differ(axis, to_string(first.shape), i, to_string(x.shape))};
  }
  return sized(first.dtype, std::move(result));
}

Result<TensorType> pad(const InferContext &call) {
  const TensorType &x = call.operands[0], &value = call.operands[1];
  const Ints &low = PadAttrs(call.attrs).low, &high = PadAttrs(call.attrs).high,
             &interior = PadAttrs(call.attrs).interior;
  if (value.dtype != x.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: x is " + std::string(name_of(x.dtype)) +
                                       " and value is " + std::string(name_of(value.dtype))};
  if (!value.shape.empty())
    return Fault{ErrorKind::shape,
                 "value must be a scalar, but has shape " + to_string(value.shape)};
  if (Check fault = one_per_axis(low, "low", x.shape)) return *fault;
  if (Check fault = one_per_axis(high, "high", x.shape)) return *fault;
  if (Check fault = one_per_axis(interior, "interior", x.shape)) return *fault;
  Shape result;
  const Shape before = with_values(call, low), behind = with_values(call, high);
  for (std::size_t i = 0; i < low.size(); ++i) {
    const bool open_low = before[i] != low[i], open_high = behind[i] != high[i];
    if ((low[i] < 0 && !open_low) || (high[i] < 0 && !open_high) || interior[i] < 0)
      return Fault{ErrorKind::value, "padding must not be negative, but low is " + text(low) +
                                         ", high is " + text(high) + " and interior is " +
                                         text(interior)};
    const std::int64_t size = x.shape[i] == unknown ? 0 : x.shape[i];
    std::int64_t gaps = 0, total = size;
    if (__builtin_mul_overflow(interior[i], std::max<std::int64_t>(size - 1, 0), &gaps) ||
        __builtin_add_overflow(total, gaps, &total) ||
        __builtin_add_overflow(total, open_low ? 0 : low[i], &total) ||
        __builtin_add_overflow(total, open_high ? 0 : high[i], &total))
      return Fault{ErrorKind::shape, "the padded size of axis " +
                                         text(static_cast<std::int64_t>(i)) + " exceeds 2^63 - 1"};
    result.push_back(x.shape[i] == unknown || open_low || open_high ? unknown : total);
  }
  return sized(x.dtype, std::move(result));
}

Result<TensorType> gather(const InferContext &call) {
  const TensorType &x = call.operands[0], &indices = call.operands[1];
  const std::int64_t axis = GatherAttrs(call.attrs).axis;
  if (Check fault = check_axis(axis, x.shape, "x")) return *fault;
  return sized(x.dtype, gathered(x.shape, indices.shape, axis));
}

Result<TensorType> search_sorted(const InferContext &call) {
  const TensorType &a = call.operands[0], &v = call.operands[1];
  if (v.dtype != a.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: a is " + std::string(name_of(a.dtype)) +
                                       " and v is " + std::string(name_of(v.dtype))};
  if (a.shape.empty()) return Fault{ErrorKind::shape, "a is a scalar: a sorted vector is wanted"};
  bool fits = v.shape.size() + 1 >= a.shape.size();
  for (std::size_t i = 0; fits && i + 1 < a.shape.size(); ++i)
    fits = may_equal(a.shape[i], v.shape[i]);
  if (!fits)
    return Fault{ErrorKind::shape, "v must begin with the batch of a, which has shape " +
                                       to_string(a.shape) + ", but has shape " +
                                       to_string(v.shape)};
  return sized(DType::i64, v.shape);
}

Result<TensorType> scatter_add(const InferContext &call) {
  const TensorType &x = call.operands[0], &indices = call.operands[1], &updates = call.operands[2];
  const std::int64_t axis = ScatterAddAttrs(call.attrs).axis;
  if (updates.dtype != x.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: x is " + std::string(name_of(x.dtype)) +
                                       " and updates is " + std::string(name_of(updates.dtype))};
  if (Check fault = check_axis(axis, x.shape, "x")) return *fault;
  const Shape expected = gathered(x.shape, indices.shape, axis);
  bool fits = expected.size() == updates.shape.size();
  for (std::size_t i = 0; fits && i < expected.size(); ++i)
    fits = may_equal(expected[i], updates.shape[i]);
  if (!fits)
    return Fault{ErrorKind::shape, "updates must have shape " + to_string(expected) +
                                       " for x of shape " + to_string(x.shape) +
                                       " and indices of shape " + to_string(indices.shape) +
                                       ", but has " + to_string(updates.shape)};
  return x;
}

/// x's shape with the size of `indices` along the axis, if all their other sizes agree.
static Result<Shape> along_axis(const TensorType &x, const TensorType &indices, std::int64_t axis) {
  if (Check fault = check_axis(axis, x.shape, "x")) return *fault;
  Shape result = indices.shape;
  bool fits = result.size() == x.shape.size();
  for (std::int64_t i = 0; fits && i < result.rank(); ++i) {
    if (i == axis) continue;
    fits = may_equal(result[i], x.shape[i]);
    if (result[i] == unknown) result[i] = x.shape[i];
  }
  if (fits) return result;
  return Fault{ErrorKind::shape, "indices must have x's sizes but for axis " + text(axis) +
                                     ": x is " + to_string(x.shape) + " and indices is " +
                                     to_string(indices.shape)};
}

Result<TensorType> take_along_axis(const InferContext &call) {
  const TensorType &x = call.operands[0];
  Result<Shape> shape = along_axis(x, call.operands[1], TakeAlongAxisAttrs(call.attrs).axis);
  if (!shape) return shape.fault();
  return sized(x.dtype, *std::move(shape));
}

Result<TensorType> add_along_axis(const InferContext &call) {
  const TensorType &x = call.operands[0], &updates = call.operands[2];
  if (updates.dtype != x.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: x is " + std::string(name_of(x.dtype)) +
                                       " and updates is " + std::string(name_of(updates.dtype))};
  Result<Shape> expected = along_axis(x, call.operands[1], AddAlongAxisAttrs(call.attrs).axis);
  if (!expected) return expected.fault();
  bool fits = expected->size() == updates.shape.size();
  for (std::size_t i = 0; fits && i < expected->size(); ++i)
    fits = may_equal((*expected)[i], updates.shape[i]);
  if (!fits)
    return Fault{ErrorKind::shape, "updates must have the shape of indices, " +
                                       to_string(*expected) + ", but has " +
                                       to_string(updates.shape)};
  return x;
}

Result<TensorType> update_slice(const InferContext &call) {
  const TensorType &x = call.operands[0], &index = call.operands[1], &value = call.operands[2];
  const std::int64_t axis = UpdateSliceAttrs(call.attrs).axis;
  if (value.dtype != x.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: x is " + std::string(name_of(x.dtype)) +
                                       " and value is " + std::string(name_of(value.dtype))};
  if (Check fault = check_axis(axis, x.shape, "x")) return *fault;
  if (!index.shape.empty())
    return Fault{ErrorKind::shape,
                 "index must be a scalar, but has shape " + to_string(index.shape)};
  const Shape expected = gathered(x.shape, {}, axis);
  bool fits = expected.size() == value.shape.size();
  for (std::size_t i = 0; fits && i < expected.size(); ++i)
    fits = may_equal(expected[i], value.shape[i]);
  if (!fits)
    return Fault{ErrorKind::shape, "value must have shape " + to_string(expected) +
                                       ", x's without axis " + text(axis) + ", but has " +
                                       to_string(value.shape)};
  return x;
}

/// The first operand's own type, whose shape is that of the second.
Result<TensorType> match_shape(const InferContext &call) {
  const Shape &shape = call.operands[0].shape, &like = call.operands[1].shape;
  if (!std::ranges::equal(shape, like, may_equal))
    return Fault{ErrorKind::shape, "x has shape " + to_string(shape) +
                                       ", but must have that of like, " + to_string(like)};
  return call.operands[0];
}

Result<TensorType> size(const InferContext &call) {
  const std::int64_t axis = SizeAttrs(call.attrs).axis;
  if (Check fault = check_axis(axis, call.operands[0].shape, "x")) return *fault;
  return TensorType{DType::i64, {}};
}

} // namespace weft::shapes
