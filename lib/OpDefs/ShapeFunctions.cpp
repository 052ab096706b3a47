// Shape functions of elementwise ops, reductions and products, and what all of them share.
#include "OpDefs/ShapeFunctions.h"

#include <algorithm>

namespace weft {

Result<Shape> broadcast_shapes(const Shape &a, const Shape &b) {
  const Shape &longer = a.size() >= b.size() ? a : b;
  const Shape &shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t &dim = result[offset + i];
    const std::int64_t other = shorter[i];
    if (dim == other || other == 1) continue;
    if (dim == 1 || dim == unknown) {
      dim = other;
      continue;
    }
    if (other == unknown) continue;
    return Fault{ErrorKind::shape, to_string(a) + " and " + to_string(b) + " do not broadcast: " +
                                       std::to_string(dim) + " meets " + std::to_string(other)};
  }
  return result;
}

Result<std::int64_t> element_count(const Shape &shape, std::size_t item_bytes) {
  std::int64_t bytes = static_cast<std::int64_t>(item_bytes);
  bool is_unknown = false;
  for (std::int64_t dim : shape) {
    if (dim == unknown) is_unknown = true;
    else if (dim == 0) return std::int64_t{0};
  }
  for (std::int64_t dim : shape)
    if (dim != unknown && __builtin_mul_overflow(bytes, dim, &bytes))
      return Fault{ErrorKind::shape,
                   "a tensor of shape " + to_string(shape) + " has more bytes than 2^63 - 1"};
  return is_unknown ? unknown : bytes / static_cast<std::int64_t>(item_bytes);
}

std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank) {
  return axis < 0 && axis >= -rank ? axis + rank : axis;
}

namespace shapes {

namespace {

/// The result, after the check that its size can be had.
Result<TensorType> sized(DType dtype, Shape shape) {
  Result<std::int64_t> count = element_count(shape, item_size(dtype));
  if (!count) return count.fault();
  return TensorType{dtype, std::move(shape)};
}

std::string operand_name(const InferContext &call, std::size_t i) {
  std::span<const OperandInfo> operands = op_info(call.op).operands;
  const OperandInfo &operand = operands[std::min(i, operands.size() - 1)];
  if (!operand.variadic) return std::string(operand.name);
  return std::string(operand.name) + "[" + std::to_string(i + 1 - operands.size()) + "]";
}

Check same_dtype(const InferContext &call, std::size_t first, std::size_t second) {
  const DType a = call.operands[first].dtype, b = call.operands[second].dtype;
  if (a == b) return std::nullopt;
  return Fault{ErrorKind::dtype, "the dtypes differ: " + operand_name(call, first) + " is " +
                                     std::string(name_of(a)) + " and " +
                                     operand_name(call, second) + " is " + std::string(name_of(b))};
}

Result<Shape> broadcast_operands(const InferContext &call) {
  Shape shape = call.operands[0].shape;
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    Result<Shape> wider = broadcast_shapes(shape, call.operands[i].shape);
    if (!wider) {
      std::string text = "the shapes do not broadcast: ";
      for (std::size_t j = 0; j < call.operands.size(); ++j) {
        if (j != 0) text += j + 1 == call.operands.size() ? " and " : ", ";
        text += operand_name(call, j) + " is " + to_string(call.operands[j].shape);
      }
      return Fault{ErrorKind::shape, std::move(text)};
    }
    shape = *std::move(wider);
  }
  return shape;
}

} // namespace

Check check_axis(std::int64_t axis, const Shape &shape, std::string_view what) {
  if (axis >= 0 && axis < shape.rank()) return std::nullopt;
  return Fault{ErrorKind::index, "axis " + std::to_string(axis) + " is out of range for " +
                                     std::string(what) + " of shape " + to_string(shape) +
                                     " (rank " + std::to_string(shape.rank()) + ")"};
}

Check check_axes(const Ints &axes, const Shape &shape, std::string_view what) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (Check fault = check_axis(axes[i], shape, what)) return fault;
    if (i != 0 && axes[i] == axes[i - 1])
      return Fault{ErrorKind::value, "axis " + std::to_string(axes[i]) + " is given twice"};
    if (i != 0 && axes[i] < axes[i - 1])
      return Fault{ErrorKind::value, "the axes " + to_string(Shape(axes)) + " are not ascending"};
  }
  return std::nullopt;
}

/// Operands of one dtype that broadcast; the result has their dtype.
Result<TensorType> elementwise(const InferContext &call) {
  for (std::size_t i = 1; i < call.operands.size(); ++i)
    if (Check fault = same_dtype(call, 0, i)) return *fault;
  Result<Shape> shape = broadcast_operands(call);
  if (!shape) return shape.fault();
  return sized(call.operands[0].dtype, *std::move(shape));
}

/// The same with a bool result.
Result<TensorType> comparison(const InferContext &call) {
  Result<TensorType> type = elementwise(call);
  if (!type) return type;
  return TensorType{DType::boolean, std::move(type->shape)};
}

/// The operand's type, of complex numbers that of their distances from 0.
Result<TensorType> magnitude(const InferContext &call) {
  return TensorType{component_of(call.operands[0].dtype), call.operands[0].shape};
}

/// That of the parts of complex numbers.
Result<TensorType> component(const InferContext &call) { return magnitude(call); }

/// Real and imaginary parts of one dtype that broadcast.
Result<TensorType> complex(const InferContext &call) {
  Result<TensorType> parts = elementwise(call);
  if (!parts) return parts;
  return sized(complex_of(parts->dtype), std::move(parts->shape));
}

/// The first operand's own type.
Result<TensorType> same(const InferContext &call) { return call.operands[0]; }

Result<TensorType> select(const InferContext &call) {
  if (Check fault = same_dtype(call, 1, 2)) return *fault;
  Result<Shape> shape = broadcast_operands(call);
  if (!shape) return shape.fault();
  return sized(call.operands[1].dtype, *std::move(shape));
}

Result<TensorType> cast(const InferContext &call) {
  const DType from = call.operands[0].dtype, to = CastAttrs(call.attrs).dtype;
  if (is_complex(from) && !is_complex(to) && to != DType::boolean)
    return Fault{ErrorKind::dtype, "x is " + std::string(name_of(from)) + ", and " +
                                       std::string(name_of(to)) +
                                       " has no imaginary part: take real(x) or imag(x)"};
  return sized(to, call.operands[0].shape);
}

Result<TensorType> constant(const InferContext &call) {
  const TensorType &type = ConstantAttrs(call.attrs).value->type;
  Result<std::int64_t> count = element_count(type.shape, item_size(type.dtype));
  if (!count) return count.fault();
  return type;
}

Result<TensorType> iota(const InferContext &call) {
  const DType dtype = IotaAttrs(call.attrs).dtype;
  if (dtype == DType::boolean)
    return Fault{ErrorKind::dtype, "dtype must be a number, but it is bool"};
  if (is_complex(dtype))
    return Fault{ErrorKind::dtype,
                 "dtype must be a real number, but it is " + std::string(name_of(dtype))};
  Result<Shape> shape = given_shape(call, IotaAttrs(call.attrs).shape);
  if (!shape) return shape.fault();
  if (Check fault = check_axis(IotaAttrs(call.attrs).axis, *shape, "a tensor")) return *fault;
  return sized(dtype, *shape);
}

Result<TensorType> reduce(const InferContext &call) {
  const Shape &shape = call.operands[0].shape;
  const Ints &axes = ReductionAttrs(call.attrs).axes;
  const bool keepdims = ReductionAttrs(call.attrs).keepdims;
  if (Check fault = check_axes(axes, shape, "x")) return *fault;
  Shape result;
  for (std::int64_t i = 0; i < shape.rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) result.push_back(shape[i]);
    else if (keepdims) result.push_back(1);
  }
  // It may have more elements than an operand that has none.
  return sized(call.operands[0].dtype, std::move(result));
}

Result<TensorType> argmax(const InferContext &call) {
  const Shape &shape = call.operands[0].shape;
  const std::int64_t axis = ArgmaxAttrs(call.attrs).axis;
  if (Check fault = check_axis(axis, shape, "x")) return *fault;
  if (shape[axis] == 0)
    return Fault{ErrorKind::shape, "x has shape " + to_string(shape) + ": axis " +
                                       std::to_string(axis) +
                                       " is empty, so there is no largest element"};
  Shape result = shape;
  if (ArgmaxAttrs(call.attrs).keepdims) result[axis] = 1;
  else result.erase(axis);
  return sized(DType::i64, std::move(result));
}

Result<TensorType> argsort(const InferContext &call) {
  const Shape &shape = call.operands[0].shape;
  const std::int64_t axis = ArgsortAttrs(call.attrs).axis, count = ArgsortAttrs(call.attrs).count;
  if (Check fault = check_axis(axis, shape, "x")) return *fault;
  if (count == -1) return sized(DType::i64, shape);
  if (count < 0)
    return Fault{ErrorKind::value, "count is " + std::to_string(count) + ", which is negative"};
  if (shape[axis] != unknown && count > shape[axis])
    return Fault{ErrorKind::value, words::too_few(count, axis, to_string(shape))};
  Shape result = shape;
  result[axis] = count;
  return sized(DType::i64, std::move(result));
}

Result<TensorType> sort(const InferContext &call) {
  const TensorType &x = call.operands[0];
  if (Check fault = check_axis(SortAttrs(call.attrs).axis, x.shape, "x")) return *fault;
  return x;
}

/// The operand's own type, which has the axis.
Result<TensorType> cumulative(const InferContext &call) {
  const TensorType &x = call.operands[0];
  if (Check fault = check_axis(CumulativeAttrs(call.attrs).axis, x.shape, "x")) return *fault;
  return x;
}

Result<TensorType> linear_recurrence(const InferContext &call) {
  if (Check fault = same_dtype(call, 0, 1)) return *fault;
  const Shape &a = call.operands[0].shape;
  TensorType result = call.operands[1];
  bool fits = a.size() == result.shape.size();
  for (std::size_t i = 0; fits && i < a.size(); ++i) {
    std::int64_t &size = result.shape[i];
    fits = a[i] == size || a[i] == unknown || size == unknown;
    if (size == unknown) size = a[i];
  }
  if (!fits)
    return Fault{ErrorKind::shape, "a must have the shape of x, " +
                                       to_string(call.operands[1].shape) + ", but has " +
                                       to_string(a)};
  if (Check fault = check_axis(LinearRecurrenceAttrs(call.attrs).axis, result.shape, "x"))
    return *fault;
  if (LinearRecurrenceAttrs(call.attrs).exclusive && LinearRecurrenceAttrs(call.attrs).shifted)
    return Fault{ErrorKind::value, "it is either exclusive or shifted, not both"};
  return result;
}

Result<TensorType> matmul(const InferContext &call) {
  if (Check fault = same_dtype(call, 0, 1)) return *fault;
  const TensorType &lhs = call.operands[0], &rhs = call.operands[1];
  const std::size_t lhs_rank = lhs.shape.size(), rhs_rank = rhs.shape.size();
  if (lhs_rank == 0 || rhs_rank == 0)
    return Fault{ErrorKind::shape, operand_name(call, lhs_rank == 0 ? 0 : 1) +
                                       " is a scalar, but a matrix product needs rank 1 or more"};
  bool transpose_lhs = MatmulAttrs(call.attrs).transpose_lhs,
       transpose_rhs = MatmulAttrs(call.attrs).transpose_rhs;
  if ((transpose_lhs && lhs_rank == 1) || (transpose_rhs && rhs_rank == 1))
    return Fault{ErrorKind::shape, std::string(transpose_lhs && lhs_rank == 1 ? "lhs" : "rhs") +
                                       " has rank 1 and cannot be transposed"};
  const std::int64_t lhs_inner =
      lhs.shape[lhs_rank == 1 || !transpose_lhs ? lhs_rank - 1 : lhs_rank - 2];
  const std::int64_t rhs_inner =
      rhs.shape[rhs_rank == 1 || transpose_rhs ? rhs_rank - 1 : rhs_rank - 2];
  if (lhs_inner != rhs_inner && lhs_inner != unknown && rhs_inner != unknown)
    return Fault{ErrorKind::shape,
                 words::inner_sizes_differ(to_string(lhs.shape), transpose_lhs,
                                           to_string(rhs.shape), transpose_rhs,
                                           std::to_string(lhs_inner), std::to_string(rhs_inner))};
  Shape lhs_batch, rhs_batch;
  for (std::size_t i = 0; i + 2 < lhs_rank; ++i) lhs_batch.push_back(lhs.shape[i]);
  for (std::size_t i = 0; i + 2 < rhs_rank; ++i) rhs_batch.push_back(rhs.shape[i]);
  Result<Shape> batch = broadcast_shapes(lhs_batch, rhs_batch);
  if (!batch)
    return Fault{ErrorKind::shape,
                 words::batches_do_not_broadcast(to_string(lhs.shape), to_string(rhs.shape))};
  Shape result = *std::move(batch);
  if (lhs_rank > 1) result.push_back(lhs.shape[transpose_lhs ? lhs_rank - 1 : lhs_rank - 2]);
  if (rhs_rank > 1) result.push_back(rhs.shape[transpose_rhs ? rhs_rank - 2 : rhs_rank - 1]);
  return sized(lhs.dtype, std::move(result));
}

/// Each of `count` values has a {} in the text.
static Check check_fields(std::string_view text, std::size_t count, const char *what,
                          const char *values) {
  std::size_t fields = 0;
  for (std::size_t at = text.find("{}"); at != text.npos; at = text.find("{}", at + 2)) ++fields;
  if (fields == count) return std::nullopt;
  return Fault{ErrorKind::value, std::string(what) + " has " + std::to_string(fields) + " {} for " +
                                     std::to_string(count) + " " + values};
}

Result<TensorType> print(const InferContext &call) {
  if (Check fault =
          check_fields(PrintAttrs(call.attrs).format, call.operands.size(), "the format", "values"))
    return *fault;
  return TensorType{};
}

Result<TensorType> check(const InferContext &call) {
  const AssertAttrs asked(call.attrs);
  if (asked.of_sizes ? asked.error != "" && asked.error != "value" && asked.error != "index"
                     : asked.error != "")
    return Fault{ErrorKind::value, "the error is \"" + std::string(asked.error) +
                                       "\": that of a check of sizes is \"value\" or \"index\", "
                                       "or not given"};
  if (!asked.of_sizes) return TensorType{};
  if (Check fault =
          check_fields(asked.message, call.operands.size() - 1, "a check of sizes", "sizes"))
    return *fault;
  for (const TensorType &size : call.operands.subspan(1))
    if (size.dtype != DType::i64 || !size.shape.empty())
      return Fault{ErrorKind::dtype, "a check of sizes takes scalars of i64, but not " +
                                         std::string(name_of(size.dtype)) + to_string(size.shape)};
  return TensorType{};
}

} // namespace shapes
Shape with_values(const InferContext &call, const Ints &list) {
  Shape shape(list);
  if (call.operands.size() + 1 > op_info(call.op).operands.size())
    for (std::int64_t &size : shape)
      if (size == detail::kDynamic) size = unknown;
  return shape;
}

Result<Shape> given_shape(const InferContext &call, const Ints &list) {
  Shape shape = with_values(call, list);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] < 0 && !(list[i] == detail::kDynamic && shape[i] == unknown))
      return Fault{ErrorKind::shape,
                   "the shape has a size of " + std::to_string(list[i]) + ", which is negative"};
  return shape;
}

} // namespace weft
