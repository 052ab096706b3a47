// Layers that change shapes.
#include <weft/nn/shaping.h>

#include <algorithm>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include <weft/ops.h>

namespace weft::nn {

namespace {

/// How many elements the sizes of x behind the batch make: unknown if a trace does not know one.
std::int64_t elements_behind_batch(const Shape &shape) {
  std::int64_t count = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    if (shape[axis] == unknown) return unknown;
    count *= shape[axis];
  }
  return count;
}

} // namespace

Tensor Flatten::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_rank(site.prefix(), value, 1);
  const Shape shape = detail::type_of(value).shape;
  return site.result(reshape(value, {shape[0], elements_behind_batch(shape)}));
}

Tensor Reshape::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_rank(site.prefix(), value, 1);
  const Shape type = detail::type_of(value).shape;
  const std::int64_t behind = elements_behind_batch(type);
  Ints shape = {type[0]};
  std::int64_t given = 1, open = 0;
  for (const std::int64_t size : shape_) {
    shape.push_back(size);
    if (size == -1) ++open;
    else if (size < 0 || __builtin_mul_overflow(given, size, &given)) open = 2; // reshape says it
  }
  // What is left open follows from the sizes behind the batch, of which there may be none.
  if (open == 1 && behind != unknown && given > 0 && behind % given == 0)
    *std::find(shape.begin() + 1, shape.end(), -1) = behind / given;
  return site.result(reshape(value, shape));
}

} // namespace weft::nn
