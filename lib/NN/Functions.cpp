// The functions that models are made of besides layers: softmax, one-hot, dropout.
#include <weft/nn/functions.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include "Support/CallSite.h"
#include "Support/NumberText.h"
#include <weft/nn/dropout.h>
#include <weft/ops.h>
#include <weft/random.h>

namespace weft::nn {

namespace {

/// The operand less its largest entry along the axis, through which no gradient flows: it cancels.
Tensor shifted(const char *function, const Operand &logits, std::int64_t axis) {
  const Tensor x = logits.materialize();
  if (x.rank() == 0)
    throw ShapeError(std::string(function) + ": the logits are a scalar, so there is no last axis");
  return x - stop_gradient(reduce_max(x, {.axes = Ints{axis}, .keepdims = true}));
}

void check_rate(double rate) {
  if (!(rate >= 0 && rate < 1))
    throw ValueError("dropout: the rate must be at least 0 and below 1, but it is " +
                     number_text(rate));
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
  const CompositeCall site("log_softmax", logits.where());
  const Tensor x = shifted("log_softmax", logits, axis);
  return x - log(sum(exp(x), {.axes = Ints{axis}, .keepdims = true}));
}

Tensor Softmax::operator()(const Operand &logits, std::int64_t axis) const {
  const CompositeCall site("softmax", logits.where());
  const Tensor e = exp(shifted("softmax", logits, axis));
  return e / sum(e, {.axes = Ints{axis}, .keepdims = true});
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
