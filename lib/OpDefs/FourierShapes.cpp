// Shape functions of Fourier transforms.
#include "OpDefs/ShapeFunctions.h"

#include <limits>
#include <string>

namespace weft::shapes {

namespace {

/// A fault unless there are lines along the axis, of both parts where there are two.
Check check_lines(const InferContext &call, std::int64_t axis, std::int64_t norm, bool parts) {
  const TensorType &x = call.operands[0];
  const std::string name(op_info(call.op).operands[0].name);
  if (Check fault = check_axis(axis, x.shape, name)) return fault;
  if (norm < 0 || norm > 2)
    return Fault{ErrorKind::value, "norm is " + std::to_string(norm) + ": it is 0, 1 or 2"};
  if (!parts) return std::nullopt;
  const TensorType &im = call.operands[1];
  if (im.dtype != x.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: re is " + std::string(name_of(x.dtype)) +
                                       " and im is " + std::string(name_of(im.dtype))};
  bool same = im.shape.size() == x.shape.size();
  for (std::size_t i = 0; same && i < x.shape.size(); ++i)
    same = im.shape[i] == x.shape[i] || im.shape[i] == unknown || x.shape[i] == unknown;
  if (same) return std::nullopt;
  return Fault{ErrorKind::shape, "the shapes differ: re has " + to_string(x.shape) + ", and im " +
                                     to_string(im.shape)};
}

/// The first operand's type with another size of the axis; a fault if a transform has no element.
Result<TensorType> with_size(const InferContext &call, std::int64_t axis, std::int64_t length,
                             std::int64_t size) {
  TensorType type = call.operands[0];
  if (length != unknown && length < 1)
    return Fault{ErrorKind::shape, words::nothing_to_transform(op_info(call.op).operands[0].name,
                                                               to_string(type.shape), axis)};
  type.shape[static_cast<std::size_t>(axis)] = size;
  Result<std::int64_t> count = element_count(type.shape, item_size(type.dtype));
  if (!count) return count.fault();
  return type;
}

} // namespace

Result<TensorType> fft(const InferContext &call) {
  const FftAttrs attrs(call.attrs);
  if (Check fault = check_lines(call, attrs.axis, attrs.norm, true)) return *fault;
  const std::int64_t size = call.operands[0].shape[attrs.axis];
  Result<TensorType> type = with_size(call, attrs.axis, size, size);
  if (type) call.more[0] = *type;
  return type;
}

Result<TensorType> rfft(const InferContext &call) {
  const RfftAttrs attrs(call.attrs);
  if (Check fault = check_lines(call, attrs.axis, attrs.norm, false)) return *fault;
  const std::int64_t size = call.operands[0].shape[attrs.axis];
  Result<TensorType> type =
      with_size(call, attrs.axis, size, size == unknown ? unknown : size / 2 + 1);
  if (type) call.more[0] = *type;
  return type;
}

Result<TensorType> irfft(const InferContext &call) {
  const IrfftAttrs attrs(call.attrs);
  if (Check fault = check_lines(call, attrs.axis, attrs.norm, true)) return *fault;
  const std::int64_t half = call.operands[0].shape[attrs.axis];
  if (half == unknown) return with_size(call, attrs.axis, unknown, unknown);
  if (half > std::numeric_limits<std::int64_t>::max() / 2)
    return Fault{ErrorKind::shape, "re has the shape " + to_string(call.operands[0].shape) +
                                       ": the result would have more elements than can be counted"};
  const std::int64_t size = half == 0 ? 0 : 2 * half - 2 + (attrs.odd ? 1 : 0);
  return with_size(call, attrs.axis, size, size);
}

} // namespace weft::shapes
