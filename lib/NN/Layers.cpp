// Layers, and the functions along the last axis that models end in.
#include <algorithm>
#include <cmath>

#include "NN/Names.h"
#include "Ops/Interpreter.h"
#include "Support/CallSite.h"
#include <weft/nn.h>
#include <weft/ops.h>
#include <weft/random.h>

namespace weft::nn {

namespace {

const char *const kDense = "Dense";

void check_count(const char *what, std::int64_t count) {
  if (count < 1)
    throw ValueError(std::string("Dense: there must be at least one ") + what + ", but " + what +
                     "s is " + std::to_string(count));
}

void check_activation(Activation activation) {
  switch (activation) {
  case Activation::none:
  case Activation::relu:
  case Activation::tanh:
  case Activation::logistic: return;
  }
  throw ValueError("Dense: the value " + std::to_string(static_cast<int>(activation)) +
                   " is none of the activations none, relu, tanh and logistic");
}

/// The first value of a kernel, after the check of what a layer is made with.
Tensor glorot_uniform(std::int64_t inputs, std::int64_t units, const DenseOptions &options,
                      const std::source_location &where) {
  const CompositeCall site(kDense, where);
  check_count("input", inputs);
  check_count("unit", units);
  check_activation(options.activation);
  const double limit = std::sqrt(6.0 / (static_cast<double>(inputs) + static_cast<double>(units)));
  // Drawn now, also while a function is traced: a variable starts with a value.
  const Interpreter::Scope eager(nullptr);
  return random::uniform({inputs, units}, {.seed = options.seed, .low = -limit, .high = limit});
}

Tensor activate(Activation activation, const Tensor &x) {
  check_activation(activation); // it may have been changed since
  switch (activation) {
  case Activation::none: break;
  case Activation::relu: return relu(x);
  case Activation::tanh: return tanh(x);
  case Activation::logistic: return logistic(x);
  }
  return x;
}

/// The operand, after the check that it has a last axis.
Tensor with_last_axis(const char *function, const Operand &logits) {
  Tensor x = logits.materialize();
  if (x.rank() == 0)
    throw ShapeError(std::string(function) + ": the logits are a scalar, so there is no last axis");
  return x;
}

/// x less its largest entry along the last axis, through which no gradient flows: it cancels.
Tensor shifted(const Tensor &x) {
  return x - stop_gradient(max(x, {.axes = Ints{-1}, .keepdims = true}));
}

} // namespace

Dense::Dense(std::int64_t inputs, std::int64_t units, const DenseOptions &options,
             std::source_location where)
    : Dense(glorot_uniform(inputs, units, options, where),
            options.name.empty() ? own_name_of("dense") : options.name, options.activation) {}

Dense::Dense(const Tensor &start, const std::string &name, Activation activation)
    : kernel(start, name + ".kernel"), bias(zeros({start.size(1)}), name + ".bias"),
      activation(activation) {}

Tensor Dense::operator()(const Operand &x) const {
  const CompositeCall site(kDense, x.where());
  const Tensor value = x.materialize();
  const Shape shape = detail::type_of(value).shape;
  const std::int64_t inputs = kernel.shape()[0];
  if (shape.empty() || (shape.back() != inputs && shape.back() != unknown))
    throw ShapeError("Dense: x must have " + std::to_string(inputs) +
                     " entries along its last axis, as '" + kernel.name() + "' has rows, but is " +
                     to_string(detail::type_of(value)));
  return activate(activation, matmul(value, kernel) + bias);
}

Sequential::Sequential(std::initializer_list<Dense> layers, std::source_location where)
    : layers_(layers) {
  const CompositeCall site("Sequential", where);
  const std::vector<Variable> all = parameters();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (all[i].name() == all[j].name())
        throw ValueError("Sequential: two variables are named '" + all[i].name() +
                         "': give each layer a name of its own, or none");
}

Tensor Sequential::operator()(const Operand &x) const {
  const CallSite site(x.where());
  Tensor value = x.materialize();
  for (const Dense &layer : layers_) value = layer(value);
  return value;
}

std::vector<Variable> Sequential::parameters() const {
  std::vector<Variable> all;
  for (const Dense &layer : layers_)
    for (const Variable &parameter : layer.parameters())
      if (std::find(all.begin(), all.end(), parameter) == all.end()) all.push_back(parameter);
  return all;
}

namespace {

void check_rate(double rate) {
  if (!(rate >= 0 && rate < 1))
    throw ValueError("dropout: the rate must be at least 0 and below 1, but it is " +
                     std::to_string(rate));
}

} // namespace

Tensor dropout(const Operand &x, double rate, const random::Generator &generator) {
  const CompositeCall site("dropout", x.where());
  check_rate(rate);
  Tensor value = x.materialize();
  if (!is_floating(value.dtype()))
    throw DTypeError("dropout: x must be floating, but it is " +
                     std::string(name_of(value.dtype())));
  if (rate == 0) return value;
  return select(generator.bernoulli(random::like(value), 1 - rate), value * (1 / (1 - rate)), 0);
}

Dropout::Dropout(double rate, random::Generator generator, std::source_location where)
    : rate_(rate), generator_(std::move(generator)) {
  const CompositeCall site("dropout", where);
  check_rate(rate);
}

Tensor Dropout::operator()(const Operand &x, bool training) const {
  return training ? dropout(x, rate_, generator_) : x.materialize();
}

Tensor log_softmax(const Operand &logits) {
  const CompositeCall site("log_softmax", logits.where());
  const Tensor x = shifted(with_last_axis("log_softmax", logits));
  return x - log(sum(exp(x), {.axes = Ints{-1}, .keepdims = true}));
}

Tensor softmax(const Operand &logits) {
  const CompositeCall site("softmax", logits.where());
  const Tensor e = exp(shifted(with_last_axis("softmax", logits)));
  return e / sum(e, {.axes = Ints{-1}, .keepdims = true});
}

Tensor one_hot(const Operand &labels, std::int64_t classes, DType dtype) {
  const CompositeCall site("one_hot", labels.where());
  const Tensor indices = labels.materialize();
  if (!is_integer(indices.dtype()))
    throw DTypeError("one_hot: the labels must be integers, but they are " +
                     std::string(name_of(indices.dtype())));
  if (classes < 0) throw ValueError("one_hot: classes is " + std::to_string(classes));
  Shape column = detail::type_of(indices).shape;
  column.push_back(1);
  return cast(equal(reshape(indices, column), iota(indices.dtype(), {classes})), dtype);
}

} // namespace weft::nn
