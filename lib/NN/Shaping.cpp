// Layers that change shapes.
#include <weft/nn/shaping.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include <weft/ops.h>

namespace weft::nn {

namespace {

/// The first size, which a trace may not know, in front of the others.
Ints behind_batch(const Ints &sizes, const Tensor &x, const std::string &prefix) {
  Ints shape = {detail::type_of(x).shape[0]};
  bool open = shape[0] == unknown;
  for (const std::int64_t size : sizes) {
    if (size == -1 && open)
      throw ShapeError(prefix + "a size of the shape is left open, and the batch is unknown");
    open |= size == -1;
    shape.push_back(size);
  }
  if (shape[0] == unknown) shape[0] = -1;
  return shape;
}

} // namespace

Tensor Flatten::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_rank(site.prefix(), value, 1);
  std::int64_t size = 1;
  for (std::int64_t axis = 1; axis < value.rank(); ++axis) {
    const std::int64_t one = size_for_building(value, axis);
    if (one == unknown)
      throw ShapeError(site.prefix() + "the sizes behind the batch must be known, but x is " +
                       to_string(detail::type_of(value)));
    size *= one;
  }
  return site.result(reshape(value, behind_batch({size}, value, site.prefix())));
}

Tensor Reshape::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_rank(site.prefix(), value, 1);
  return site.result(reshape(value, behind_batch(shape_, value, site.prefix())));
}

} // namespace weft::nn
