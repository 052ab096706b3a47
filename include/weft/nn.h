// Layers, losses, optimizers and metrics.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
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
  /// Of the kernel's numbers; without one they come from `random::process_generator()`, so that no
  /// two layers start alike, and `random::set_seed` makes a model again.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Of the variables, "hidden.kernel" and "hidden.bias"; by default "dense", and then "dense_1",
  /// "dense_2" and so on, in the order in which layers are made.
  std::string name = "";
};

/// y = activation(x @ kernel + bias), kernel (inputs, units) f32 drawn uniformly within
/// sqrt(6 / (inputs + units)) (Glorot & Bengio 2010), bias zero.
class Dense {
public:
  /// Throws ValueError unless there are at least one input and one unit, and for a value that is no
  /// activation.
  Dense(std::int64_t inputs, std::int64_t units, const DenseOptions &options = {},
        std::source_location where = WEFT_HERE);

  /// `x` is (..., inputs); the result (..., units). Throws ShapeError for another number of inputs.
  Tensor operator()(const Operand &x) const;
  /// kernel, bias.
  std::vector<Variable> parameters() const { return {kernel, bias}; }

  Variable kernel, bias;
  Activation activation;

private:
  Dense(const Tensor &start, const std::string &name, Activation activation);
};

/// Layers one after the other. A layer may stand in several places, which share its variables.
class Sequential {
public:
  /// Throws ValueError if two variables have the same name.
  Sequential(std::initializer_list<Dense> layers, std::source_location where = WEFT_HERE);
  Tensor operator()(const Operand &x) const;
  /// The parameters of all layers, in order, each once.
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

/// x - log(sum(exp(x))) along the last axis, without overflow. Throws ShapeError for a scalar.
Tensor log_softmax(const Operand &logits);
/// exp(x) / sum(exp(x)) along the last axis, without overflow. Throws ShapeError for a scalar.
Tensor softmax(const Operand &logits);
/// 1 where the last axis' position is the label, 0 elsewhere: (...) integers to (..., classes). A
/// label that is none of 0 to classes - 1 has zeros only. Throws DTypeError unless labels are
/// integers, ValueError if `classes` is negative.
Tensor one_hot(const Operand &labels, std::int64_t classes, DType dtype = DType::f32);

} // namespace nn

namespace losses {

/// Mean over the batch of -sum(labels * log_softmax(logits)). `labels` are class numbers (batch,)
/// of an integer dtype, or probabilities (batch, classes); `logits` (batch, classes) floating.
/// Throws ShapeError and DTypeError for others, IndexError for a label that is no class: in a
/// traced function when it runs.
Tensor softmax_cross_entropy(const Operand &labels, const Operand &logits);
/// Mean of the squared differences. The shapes must be equal (ShapeError): (batch,) against
/// (batch, 1) would compare each with each. A C++ scalar stands for all elements.
Tensor mean_squared_error(const Operand &targets, const Operand &predictions);

} // namespace losses

namespace metrics {

/// Share of rows of `scores` (..., classes) whose largest entry, the first of equal ones, is at the
/// label (...), as f32. A row whose largest entry is NaN is wrong. Throws DTypeError unless labels
/// are integers, ShapeError for other shapes (one-hot labels, say: hand over their `argmax`), and
/// IndexError for a label that is no class: in a traced function when it runs.
Tensor accuracy(const Operand &labels, const Operand &scores);

} // namespace metrics

namespace optimizers {

// What all optimizers have in common. Their constructors throw ValueError if a variable is given
// twice or an option makes no sense, DTypeError if a variable is not floating. Gradients come in
// the order of the parameters, and each has the dtype and shape of its own. An undefined one leaves
// its parameter as it is; the log has a warning the first time. Throws, before anything is changed,
// ValueError if the counts differ or all gradients are undefined, DTypeError and ShapeError, that
// name the variable, for those that do not fit, IndexError for slices of rows that there are not.

struct SGDOptions {
  double learning_rate = 0.01;
};

/// Stochastic gradient descent: w -= learning_rate * dw.
class SGD {
public:
  using Options = SGDOptions;
  explicit SGD(std::vector<Variable> parameters, Options options = {},
               std::source_location where = WEFT_HERE);
  void apply_gradients(const std::vector<Tensor> &gradients,
                       std::source_location where = WEFT_HERE) const;
  /// The same with gradients of GradientTape::sliced_gradient: of slices, only their rows change.
  void apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                              std::source_location where = WEFT_HERE) const;

private:
  std::vector<Variable> parameters_;
  Options options_;
  std::shared_ptr<std::atomic<bool>> warned_;
};

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
};

/// Adam (Kingma & Ba 2015) as Keras has it, with t counted from 1:
///
///   m += (dw - m) (1 - beta1), v += (dw^2 - v) (1 - beta2)
///   w -= learning_rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon)
class Adam {
public:
  using Options = AdamOptions;
  explicit Adam(std::vector<Variable> parameters, Options options = {},
                std::source_location where = WEFT_HERE);
  void apply_gradients(const std::vector<Tensor> &gradients,
                       std::source_location where = WEFT_HERE) const;
  /// The same with gradients of GradientTape::sliced_gradient. The moments of all rows decay, so
  /// slices change every row too.
  void apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                              std::source_location where = WEFT_HERE) const;
  /// Number of updates so far, an i64 scalar.
  Tensor step(std::source_location where = WEFT_HERE) const { return step_.value(where); }
  /// All state besides the parameters: the step, then two moments per parameter. Named "adam.step",
  /// "w.adam_m" and "w.adam_v", and "adam_1.step" and so on of the next Adam.
  std::vector<Variable> state() const;

private:
  std::vector<Variable> parameters_, first_, second_;
  Variable step_;
  Options options_;
  std::shared_ptr<std::atomic<bool>> warned_;
};

} // namespace optimizers

} // namespace weft
