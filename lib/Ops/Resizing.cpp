// Images of other sizes, of elements gathered along one spatial axis after the other.
#include "Ops/Call.h"
#include "Ops/DeviceOps.h"
#include "Ops/WindowOptions.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"

#include <algorithm>
#include <weft/ops.h>

namespace weft {

namespace {

using namespace windows;

/// Where the elements of a resized axis come from: between `low` and `high`, that far behind `low`.
/// With `nearest` there is `low` alone.
struct Sources {
  Tensor low, high, share;
};

/// In units of half an element of the result the centre of element i is at 2 i + 1, which is
/// (2 i + 1) in / (2 out) elements of the image: whole numbers, so that nothing is rounded. That
/// centre lies (.. - out) / (2 out) behind the centre of the first element.
Sources sources_of_known(std::int64_t in, std::int64_t out, Resize method, DType dtype) {
  std::vector<std::int64_t> low, high;
  std::vector<double> share;
  for (std::int64_t i = 0; i < out; ++i) {
    const std::int64_t centre = (2 * i + 1) * in;
    const std::int64_t place =
        method == Resize::nearest ? centre : std::max<std::int64_t>(centre - out, 0);
    low.push_back(place / (2 * out));
    high.push_back(std::min(low.back() + 1, in - 1));
    share.push_back(static_cast<double>(place % (2 * out)) / static_cast<double>(2 * out));
  }
  if (method == Resize::nearest) return {tensor(low), {}, {}};
  return {tensor(low), tensor(high), cast(tensor(share), dtype)};
}

/// The same of a size that only the call knows.
Sources sources_of(const Tensor &in, std::int64_t out, Resize method, DType dtype) {
  const Tensor centre = (iota(DType::i64, {out}, {.axis = 0}) * number(2) + number(1)) * in;
  if (method == Resize::nearest) return {quotient(centre, 2 * out), {}, {}};
  const Tensor place = maximum(centre - number(out), number(0));
  const Tensor low = quotient(place, 2 * out);
  const Tensor share =
      cast(remainder(place, number(2 * out)), DType::f64) / static_cast<double>(2 * out);
  return {low, minimum(low + number(1), in - number(1)), cast(share, dtype)};
}

[[noreturn]] void refuse(ErrorKind kind, const std::string &words) {
  raise(kind, "resize_image: " + words);
}

} // namespace

Tensor resize_image(const Operand &x, const Ints &size, Resize method) {
  const CallSite site(call::where_of({&x}));
  call::rank_of(OpCode::gather, x);
  Tensor images = x.materialize();
  DeviceOfOperands device;
  device.follow(images);
  const Shape shape = detail::type_of(images).shape;
  const std::size_t axes = spatial_axes("resize_image", shape);
  if (size.size() != axes)
    refuse(ErrorKind::shape, "size has " + std::to_string(size.size()) +
                                 " entries, but there are " + std::to_string(axes) +
                                 " spatial axes");
  // So that products of sizes can be counted.
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  for (const std::int64_t wanted : size)
    if (wanted < 1 || wanted > kMost)
      refuse(ErrorKind::value,
             "size has " + std::to_string(wanted) + ", but must be from 1 to 2^31 - 1");
  if (method == Resize::bilinear && !is_floating(images.dtype())) images = cast(images, DType::f32);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t in = shape[axis + 1], out = size[axis];
    if (in == 0 || in > kMost)
      refuse(ErrorKind::shape, "spatial axis " + std::to_string(axis) + " of x has " +
                                   std::to_string(in) + " elements, but must have 1 to 2^31 - 1");
    if (in == out) continue;
    const auto along = static_cast<std::int64_t>(axis) + 1;
    const Sources from =
        in == unknown ? sources_of(size_of(images, {.axis = along}), out, method, images.dtype())
                      : sources_of_known(in, out, method, images.dtype());
    const Tensor low = gather(images, from.low, {.axis = along});
    if (method == Resize::nearest) {
      images = low;
      continue;
    }
    Ints row(shape.size(), 1);
    row[axis + 1] = out;
    const Tensor high = gather(images, from.high, {.axis = along});
    images = low + (high - low) * reshape(from.share, row);
  }
  return images;
}

} // namespace weft
