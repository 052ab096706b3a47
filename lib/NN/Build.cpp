// Variables of layers.
#include "NN/Build.h"

#include <cctype>

#include "NN/Names.h"
#include "Runtime/Variable.h"
#include <weft/ops.h>

namespace weft::nn {

namespace {

/// "MultiHeadAttention" as "multi_head_attention".
std::string snake(const std::string &kind) {
  std::string name;
  for (std::size_t i = 0; i < kind.size(); ++i) {
    const auto c = static_cast<unsigned char>(kind[i]);
    const bool begins =
        std::isupper(c) != 0 && i > 0 &&
        (std::islower(static_cast<unsigned char>(kind[i - 1])) != 0 ||
         (i + 1 < kind.size() && std::islower(static_cast<unsigned char>(kind[i + 1])) != 0));
    if (begins) name += '_';
    name += static_cast<char>(std::tolower(c));
  }
  return name;
}

} // namespace

VariableMaker::VariableMaker(const char *kind, const std::string &given)
    : given_(!given.empty()), name_(given_ ? given : own_name_of(snake(kind))) {}

Variable VariableMaker::operator()(const char *part, DType dtype, VariableInitializer initializer,
                                   bool trainable) const {
  const Variable variable =
      Variable::uninitialized(dtype, std::move(initializer), name_ + "." + part, trainable);
  if (!given_) variable.state()->name_is_made_up();
  return variable;
}

std::optional<Variable> VariableMaker::optional(bool used, const char *part, DType dtype,
                                                VariableInitializer initializer) const {
  if (!used) return std::nullopt;
  return (*this)(part, dtype, std::move(initializer));
}

std::int64_t size_for_building(const std::string &prefix, const Tensor &x, std::int64_t axis) {
  const std::int64_t size = detail::size_for_call(x, axis);
  if (size != unknown) return size;
  const std::int64_t number = axis < 0 ? axis + x.rank() : axis;
  throw ShapeError(
      prefix + "x is " + to_string(detail::type_of(x)) + ", but the size of axis " +
      std::to_string(number) +
      " must be known for the layer's variables: name it in the signature, or call the "
      "layer once before");
}

Tensor count_along(const Tensor &x, std::int64_t axis) { return x.size(axis).tensor(); }

Tensor positions_along(const Tensor &x, std::int64_t axis) {
  return iota(DType::i64, {x.size(axis)});
}

void check_dtype(const std::string &prefix, const Tensor &x, DType dtype) {
  if (x.dtype() == dtype) return;
  const std::string own(name_of(dtype));
  throw DTypeError(prefix + "x is " + to_string(detail::type_of(x)) + ", but the layer is " + own +
                   ": cast x to " + own + ", or make the layer with another dtype");
}

void check_rank(const std::string &prefix, const Tensor &x, std::size_t rank) {
  if (detail::type_of(x).shape.size() < rank)
    throw ShapeError(prefix + "x must have at least " + std::to_string(rank) +
                     (rank == 1 ? " axis" : " axes") + ", but is " + to_string(detail::type_of(x)));
}

void check_images(const std::string &prefix, const Tensor &x, int rank) {
  const TensorType type = detail::type_of(x);
  if (type.shape.size() != static_cast<std::size_t>(rank) + 2)
    throw ShapeError(prefix + "x must be (batch, " +
                     (rank == 1 ? "1 spatial axis" : std::to_string(rank) + " spatial axes") +
                     ", channels), but is " + to_string(type));
}

Ints positive_per_axis(const LayerName &name, const char *what, const PerAxis &values, int rank) {
  const std::string words = std::string(name.title()) + ": " + what;
  Ints all = values.of_rank(static_cast<std::size_t>(rank), words);
  for (const std::int64_t value : all)
    if (value < 1)
      throw ValueError(words + " must be at least 1, but " + std::to_string(value) + " is given");
  return all;
}

void check_last_axis(const std::string &prefix, const Tensor &x, std::size_t rank,
                     std::int64_t size) {
  check_rank(prefix, x, rank);
  const std::int64_t last = detail::type_of(x).shape.back();
  if (last != size && last != unknown)
    throw ShapeError(prefix + "the last axis of x is " + std::to_string(last) +
                     ", but the layer was built for " + std::to_string(size));
}

} // namespace weft::nn
