// Layers without variables: shapes, activations, what is added to its own input.
#pragma once

#include <utility>

#include <weft/nn/layer.h>
#include <weft/tensor.h>

namespace weft::nn {

/// (batch, a, b, ..) as (batch, a * b * ..).
class Flatten {
public:
  Flatten() : name_("Flatten") {}
  /// Throws ShapeError for a scalar.
  Tensor operator()(const Operand &x) const;

  WEFT_FIELDS(Flatten, name_)

private:
  LayerName name_;
};

/// (batch, ..) as (batch, shape..). One entry of the shape may be -1.
class Reshape {
public:
  explicit Reshape(Ints shape) : shape_(std::move(shape)), name_("Reshape") {}
  /// Throws ShapeError if the numbers of elements differ.
  Tensor operator()(const Operand &x) const;

  WEFT_FIELDS(Reshape, shape_, name_)

private:
  Ints shape_;
  LayerName name_;
};

/// x + layer(x), of a layer that keeps shapes (He et al. 2016).
template <class Layer>
class Residual {
public:
  explicit Residual(Layer inner) : layer(std::move(inner)) {}

  Tensor operator()(const Tensor &x, const CallOptions &options = {}) const {
    if constexpr (std::is_invocable_v<const Layer &, const Tensor &, const CallOptions &>)
      return x + layer(x, options);
    else return x + layer(x);
  }

  Layer layer;

  WEFT_FIELDS(Residual, layer)
};

} // namespace weft::nn
