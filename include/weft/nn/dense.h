// Dense layers: a product and a bias.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/nn/initializers.h>
#include <weft/nn/layer.h>
#include <weft/options.h>
#include <weft/variable.h>

namespace weft::nn {

class VariableMaker;

/// Options of `Dense`.
struct DenseOptions {
  Activation activation = {};
  bool use_bias = true;
  /// glorot_uniform, zeros.
  VariableInitializer kernel_initializer = initializers::glorot_uniform();
  VariableInitializer bias_initializer = initializers::zeros();
  DType dtype = DType::f32;
  /// Of the kernel's numbers; without one they follow from `nn::seed`, or come from
  /// `random::process_generator()`, so that no two layers start alike, and `random::set_seed` makes
  /// a model again.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Of the variables, "hidden.kernel" and "hidden.bias"; without one they are called by their path
  /// in the model.
  std::string name = "";
};
WEFT_OPTIONS(DenseOptions, activation, use_bias, kernel_initializer, bias_initializer, dtype, seed,
             name)

/// y = activation(x @ kernel + bias), kernel (inputs, units), bias (units).
class Dense {
public:
  /// The number of inputs follows from the first call.
  explicit Dense(std::int64_t units, const DenseOptions &options = {},
                 std::source_location where = WEFT_HERE);
  /// Throws ValueError unless there are at least one input and one unit.
  Dense(std::int64_t inputs, std::int64_t units, const DenseOptions &options = {},
        std::source_location where = WEFT_HERE);

  /// `x` is (..., inputs); the result (..., units). Throws ShapeError for another number of inputs,
  /// DTypeError unless x is of the layer's dtype.
  Tensor operator()(const Operand &x) const;
  /// kernel, bias.
  std::vector<Variable> parameters() const;

  Variable kernel;
  std::optional<Variable> bias;
  Activation activation;

  WEFT_FIELDS(Dense, kernel, bias, activation, name_)

private:
  Dense(const VariableMaker &make, std::optional<std::int64_t> inputs, std::int64_t units,
        const DenseOptions &options, const std::source_location &where);

  std::int64_t units_;
  LayerName name_;
};

} // namespace weft::nn
