// Shape functions of random numbers.
#include "OpDefs/ShapeFunctions.h"

#include <string>

namespace weft::shapes {

namespace {

Result<TensorType> sized(DType dtype, Shape shape) {
  Result<std::int64_t> count = element_count(shape, item_size(dtype));
  if (!count) return count.fault();
  return TensorType{dtype, std::move(shape)};
}

/// Seed and number of a random stream.
Check check_stream(const TensorType &state) {
  if (state.shape.size() == 1 && may_equal(state.shape[0], 2)) return std::nullopt;
  return Fault{ErrorKind::shape, "state must be a seed and the number of a stream, of shape (2,), "
                                 "but has " +
                                     to_string(state.shape)};
}

/// Words of 32 and 64 bits are drawn.
Check check_drawn(DType dtype, const char *admitted, bool is_admitted) {
  if (is_admitted && dtype_info(dtype).compute == dtype) return std::nullopt;
  return Fault{ErrorKind::dtype, std::string("dtype must be ") + admitted + ", but it is " +
                                     std::string(name_of(dtype))};
}

/// Parameters of one dtype, the later ones with `more` sizes behind the first one's, and behind
/// them a state, or those of the batches of their first axes.
Check check_parameters(const InferContext &call, std::size_t more = 0) {
  const std::span<const OperandInfo> infos = op_info(call.op).operands;
  const TensorType &first = call.operands[0], &state = call.operands.back();
  const std::string name(infos[0].name), shape = to_string(first.shape);
  const auto begin_alike = [&](const Shape &other, std::size_t axes) {
    bool alike = true;
    for (std::size_t axis = 0; alike && axis < axes; ++axis)
      alike = may_equal(other[axis], first.shape[axis]);
    return alike;
  };
  for (std::size_t i = 1; i + 1 < call.operands.size(); ++i) {
    const TensorType &other = call.operands[i];
    const std::string another(infos[i].name);
    if (other.dtype != first.dtype)
      return Fault{ErrorKind::dtype, "the dtypes differ: " + name + " is " +
                                         std::string(name_of(first.dtype)) + ", and " + another +
                                         " " + std::string(name_of(other.dtype))};
    if (other.shape.size() != first.shape.size() + more ||
        !begin_alike(other.shape, first.shape.size()))
      return Fault{ErrorKind::shape, another + " must have the shape of " + name +
                                         (more == 0 ? "" : " and one axis more") + ": " + name +
                                         " has " + shape + ", and " + another + " " +
                                         to_string(other.shape)};
  }
  const std::size_t batch = state.shape.size() - 1;
  if (!state.shape.empty() && batch <= first.shape.size() && may_equal(state.shape.back(), 2) &&
      begin_alike(state.shape, batch))
    return std::nullopt;
  return Fault{ErrorKind::shape,
               "state must be a seed and the number of a stream, of shape (2,), or such a pair for "
               "each place in the first axes of " +
                   name + ", which has shape " + shape + ", but has " + to_string(state.shape)};
}

} // namespace

Result<TensorType> draw_uniform(const InferContext &call) {
  if (Check fault = check_stream(call.operands[0])) return *fault;
  const DrawUniformAttrs attrs(call.attrs);
  if (Check fault = check_drawn(attrs.dtype, "one that is drawn (bool, i32, i64, f32, f64)",
                                !is_complex(attrs.dtype)))
    return *fault;
  Result<Shape> shape = given_shape(call, attrs.shape);
  if (!shape) return shape.fault();
  return sized(attrs.dtype, *shape);
}

Result<TensorType> draw_permutation(const InferContext &call) {
  if (Check fault = check_stream(call.operands[0])) return *fault;
  const DrawPermutationAttrs attrs(call.attrs);
  const DType dtype = attrs.dtype;
  if (Check fault = check_drawn(dtype, "an integer (i32, i64)", is_integer(dtype))) return *fault;
  Result<Shape> shape = given_shape(call, attrs.shape);
  if (!shape) return shape.fault();
  if (shape->size() != 1)
    return Fault{ErrorKind::shape, "the shape is " + to_string(*shape) + ": one size is wanted"};
  if (dtype == DType::i32 && (*shape)[0] > std::int64_t{1} << 31)
    return Fault{ErrorKind::value,
                 std::to_string((*shape)[0]) + " numbers do not fit the dtype i32"};
  return sized(dtype, *shape);
}

Result<TensorType> draw_log_gamma(const InferContext &call) {
  if (Check fault = check_parameters(call)) return *fault;
  return call.operands[0];
}

Result<TensorType> draw_count(const InferContext &call) {
  if (Check fault = check_parameters(call)) return *fault;
  return sized(DType::i64, call.operands[0].shape);
}

Result<TensorType> draw_multinomial(const InferContext &call) {
  if (Check fault = check_parameters(call, 1)) return *fault;
  return sized(DType::i64, call.operands[1].shape);
}

} // namespace weft::shapes
