// Layers, and the functions along the last axis that models end in.
#include <cmath>

#include "Support/CallSite.h"
#include <weft/nn.h>
#include <weft/ops.h>
#include <weft/random.h>

namespace weft::nn {

namespace {

Tensor glorot_uniform(std::int64_t inputs, std::int64_t units, std::uint64_t seed,
                      const std::source_location &where) {
  const CallSite site(where);
  const double limit = std::sqrt(6.0 / static_cast<double>(inputs + units));
  return random::uniform({inputs, units}, {.seed = seed, .low = -limit, .high = limit});
}

Tensor activate(Activation activation, const Tensor &x) {
  switch (activation) {
  case Activation::none: return x;
  case Activation::relu: return relu(x);
  case Activation::tanh: return tanh(x);
  case Activation::logistic: return logistic(x);
  }
  return x;
}

/// x less its largest entry along the last axis, through which no gradient flows: it cancels.
Tensor shifted(const Tensor &x) {
  return x - stop_gradient(max(x, {.axes = Ints{-1}, .keepdims = true}));
}

} // namespace

Dense::Dense(std::int64_t inputs, std::int64_t units, const DenseOptions &options,
             std::source_location where)
    : kernel(glorot_uniform(inputs, units, options.seed, where), options.name + ".kernel"),
      bias(zeros({units}, DType::f32, where), options.name + ".bias"),
      activation(options.activation) {}

Tensor Dense::operator()(const Operand &x) const {
  const CallSite site(x.where());
  return activate(activation, matmul(x, kernel) + bias);
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
    for (Variable &parameter : layer.parameters()) all.push_back(std::move(parameter));
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
  const CallSite site(x.where());
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
  const CallSite site(where);
  check_rate(rate);
}

Tensor Dropout::operator()(const Operand &x, bool training) const {
  return training ? dropout(x, rate_, generator_) : x.materialize();
}

Tensor log_softmax(const Operand &logits) {
  const CallSite site(logits.where());
  const Tensor x = shifted(logits.materialize());
  return x - log(sum(exp(x), {.axes = Ints{-1}, .keepdims = true}));
}

Tensor softmax(const Operand &logits) {
  const CallSite site(logits.where());
  const Tensor e = exp(shifted(logits.materialize()));
  return e / sum(e, {.axes = Ints{-1}, .keepdims = true});
}

Tensor one_hot(const Operand &labels, std::int64_t classes, DType dtype) {
  const CallSite site(labels.where());
  const Tensor indices = labels.materialize();
  Shape column = detail::type_of(indices).shape;
  column.push_back(1);
  return cast(equal(reshape(indices, column), iota(indices.dtype(), {classes})), dtype);
}

} // namespace weft::nn
