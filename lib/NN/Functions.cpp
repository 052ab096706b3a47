// The functions that models are made of besides layers: softmax, one-hot, dropout.
#include <weft/nn/functions.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include "NN/Rows.h"
#include "Support/CallSite.h"
#include "Support/Messages.h"
#include <weft/nn/dropout.h>
#include <weft/ops.h>
#include <weft/random.h>

namespace weft::nn {

namespace {

/// The operand, which must have an axis.
Tensor with_axis(const char *function, const Operand &operand,
                 const char *what = "the logits are") {
  const Tensor x = operand.materialize();
  if (x.rank() == 0)
    throw ShapeError(std::string(function) + ": " + what + " a scalar, so there is no last axis");
  return x;
}

Tensor normalized_operand(const char *function, const Operand &x) {
  Tensor value = with_axis(function, x, "x is");
  if (is_floating(value.dtype())) return value;
  throw DTypeError(std::string(function) + ": x must be floating, but it is " +
                   std::string(name_of(value.dtype())));
}

void check_rate(double rate) {
  if (!(rate >= 0 && rate < 1))
    throw ValueError("dropout: the rate must be at least 0 and below 1, but it is " +
                     number_text(rate));
}

} // namespace

namespace {

/// `draw` gives what is kept, of the shape and with the probability given.
template <class Draw>
Tensor dropped(const Operand &x, double rate, const Draw &draw) {
  const CallBeside site("dropout", x);
  check_rate(rate);
  Tensor value = x.materialize();
  if (!is_floating(value.dtype()))
    throw DTypeError("dropout: x must be floating, but it is " +
                     std::string(name_of(value.dtype())));
  if (rate == 0) return value;
  return select(draw(random::like(value), 1 - rate), value * (1 / (1 - rate)), 0);
}

} // namespace

Tensor dropout(const Operand &x, double rate, const random::Generator &generator) {
  return dropped(x, rate, [&](const random::Extent &shape, double kept) {
    return generator.bernoulli(shape, kept);
  });
}

Tensor dropout(const Operand &x, double rate, const Tensor &key) {
  return dropped(x, rate, [&](const random::Extent &shape, double kept) {
    return random::bernoulli(shape, kept, {.key = key});
  });
}

namespace {

/// The state of a generator of an unpredictable seed.
Tensor seeded_state(const Shape &, DType, const std::optional<std::uint64_t> &seed) {
  const Tensor drawn = random::randint({1}, 0, std::int64_t{1} << 53, {.seed = seed});
  return concatenate({drawn, zeros({1}, DType::i64)});
}

} // namespace

Dropout::Dropout(double rate, std::source_location where)
    : rate_(rate), generator_(VariableMaker("Dropout", "")("generator", DType::i64, seeded_state,
                                                           /*trainable=*/false)),
      name_("Dropout") {
  const CompositeCall site("dropout", where);
  check_rate(rate);
  generator_.initialize({2});
  static_cast<void>(generator()); // notes what the variable is
}

Dropout::Dropout(double rate, const random::Generator &generator, std::source_location where)
    : rate_(rate), generator_(generator.state()), name_("Dropout") {
  const CompositeCall site("dropout", where);
  check_rate(rate);
}

Tensor Dropout::operator()(const Operand &x, const CallOptions &options) const {
  const LayerCall site(name_, x.where());
  return site.result(options.training ? dropout(x, rate_, random::Generator(generator_))
                                      : x.materialize());
}

Tensor LogSoftmax::operator()(const Operand &logits, std::int64_t axis) const {
  const CallBeside site("log_softmax", logits);
  return log_softmax_along(with_axis("log_softmax", logits), axis);
}

Tensor Softmax::operator()(const Operand &logits, std::int64_t axis) const {
  const CallBeside site("softmax", logits);
  return softmax_along(with_axis("softmax", logits), axis);
}

Tensor layer_norm(const Operand &x, const Operand &gamma, const Operand &beta, double epsilon) {
  const CallBeside site("layer_norm", x);
  const Tensor value = normalized_operand("layer_norm", x);
  return normalized_rows(value, epsilon, gamma.materialize(value.dtype()),
                         beta.materialize(value.dtype()));
}

Tensor rms_norm(const Operand &x, const Operand &scale, double epsilon) {
  const CallBeside site("rms_norm", x);
  const Tensor value = normalized_operand("rms_norm", x);
  return rms_norm_of_rows(value, scale.materialize(value.dtype()), epsilon);
}

Tensor batch_norm(const Operand &x, const Operand &gamma, const Operand &beta, double epsilon) {
  const CallBeside site("batch_norm", x);
  const Tensor value = normalized_operand("batch_norm", x);
  return normalized(value, moments_of_channels(value), epsilon, gamma.materialize(value.dtype()),
                    beta.materialize(value.dtype()));
}

Tensor one_hot(const Operand &labels, const Size &classes, DType dtype) {
  const CallBeside site("one_hot", labels);
  const Tensor indices = labels.materialize();
  if (!is_integer(indices.dtype()))
    throw DTypeError("one_hot: the labels must be integers, but they are " +
                     std::string(name_of(indices.dtype())));
  if (classes.is_number() && classes.number() < 0)
    throw ValueError("one_hot: classes is " + std::to_string(classes.number()));
  Sizes column = detail::sizes_of(indices);
  column.push_back(1);
  return cast(equal(reshape(indices, column), iota(indices.dtype(), {classes})), dtype);
}

} // namespace weft::nn
