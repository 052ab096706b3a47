// Layers, losses, optimizers and metrics.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <weft/indexed_slices.h>
#include <weft/random.h>
#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft {

namespace nn {

/// What is applied to a layer's result.
enum class Activation : std::uint8_t { none, relu, tanh, logistic };

/// Options of `Dense`.
struct DenseOptions {
  Activation activation = Activation::none;
  std::uint64_t seed = 0;
  std::string name = "dense";
};

/// y = activation(x @ kernel + bias), kernel (inputs, units) f32 drawn uniformly within
/// sqrt(6 / (inputs + units)) (Glorot & Bengio 2010), bias zero.
class Dense {
public:
  Dense(std::int64_t inputs, std::int64_t units, const DenseOptions &options = {},
        std::source_location where = WEFT_HERE);

  /// `x` is (..., inputs); the result (..., units).
  Tensor operator()(const Operand &x) const;
  /// kernel, bias.
  std::vector<Variable> parameters() const { return {kernel, bias}; }

  Variable kernel, bias;
  Activation activation;
};

/// Layers one after the other.
class Sequential {
public:
  Sequential(std::initializer_list<Dense> layers) : layers_(layers) {}
  Tensor operator()(const Operand &x) const;
  /// The parameters of all layers, in order.
  std::vector<Variable> parameters() const;

private:
  std::vector<Dense> layers_;
};

/// x with each element 0 with the probability `rate`, and the others divided by 1 - rate, so that
/// means stay (Srivastava et al. 2014). Throws ValueError unless rate is in [0, 1), DTypeError
/// unless x is floating.
Tensor dropout(const Operand &x, double rate,
               const random::Generator &generator = random::process_generator());

/// `dropout` as a layer, which does nothing but in training.
class Dropout {
public:
  /// Throws ValueError unless rate is in [0, 1).
  explicit Dropout(double rate, random::Generator generator = random::process_generator(),
                   std::source_location where = WEFT_HERE);

  Tensor operator()(const Operand &x, bool training) const;

private:
  double rate_;
  random::Generator generator_;
};

/// x - log(sum(exp(x))) along the last axis, without overflow.
Tensor log_softmax(const Operand &logits);
/// exp(x) / sum(exp(x)) along the last axis, without overflow.
Tensor softmax(const Operand &logits);
/// 1 where the last axis' position is the label, 0 elsewhere: (...) integers to (..., classes).
Tensor one_hot(const Operand &labels, std::int64_t classes, DType dtype = DType::f32);

} // namespace nn

namespace losses {

/// Mean over the batch of -sum(labels * log_softmax(logits)). `labels` are class numbers (batch,)
/// of an integer dtype, or probabilities (batch, classes); `logits` (batch, classes) floating.
Tensor softmax_cross_entropy(const Operand &labels, const Operand &logits);
/// Mean of the squared differences.
Tensor mean_squared_error(const Operand &targets, const Operand &predictions);

} // namespace losses

namespace metrics {

/// Share of rows of `scores` (batch, classes) whose largest entry is at the label (batch,), as f32.
Tensor accuracy(const Operand &labels, const Operand &scores);

} // namespace metrics

namespace optimizers {

/// Stochastic gradient descent: w -= learning_rate * dw.
class SGD {
public:
  struct Options {
    double learning_rate = 0.01;
  };
  explicit SGD(std::vector<Variable> parameters) : SGD(std::move(parameters), Options()) {}
  SGD(std::vector<Variable> parameters, Options options);
  /// `gradients` in the order of the parameters; an undefined one leaves its parameter as it is.
  /// Throws ValueError if the counts differ.
  void apply_gradients(const std::vector<Tensor> &gradients,
                       std::source_location where = WEFT_HERE) const;
  /// The same with gradients of GradientTape::sliced_gradient: of slices, only their rows change.
  void apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                              std::source_location where = WEFT_HERE) const;

private:
  std::vector<Variable> parameters_;
  Options options_;
};

/// Adam (Kingma & Ba 2015), with bias correction.
class Adam {
public:
  struct Options {
    double learning_rate = 1e-3;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  };
  explicit Adam(std::vector<Variable> parameters) : Adam(std::move(parameters), Options()) {}
  Adam(std::vector<Variable> parameters, Options options);
  /// `gradients` in the order of the parameters; an undefined one leaves its parameter as it is.
  /// Throws ValueError if the counts differ.
  void apply_gradients(const std::vector<Tensor> &gradients,
                       std::source_location where = WEFT_HERE) const;
  /// The same with gradients of GradientTape::sliced_gradient. The moments of all rows decay, so
  /// slices change every row too.
  void apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                              std::source_location where = WEFT_HERE) const;
  /// Number of updates so far, an i64 scalar.
  Tensor step(std::source_location where = WEFT_HERE) const { return step_.value(where); }
  /// All state besides the parameters: the step, then two moments per parameter.
  std::vector<Variable> state() const;

private:
  std::vector<Variable> parameters_, first_, second_;
  Variable step_;
  Options options_;
};

} // namespace optimizers

} // namespace weft
