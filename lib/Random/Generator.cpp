// Generators: states that move on from draw to draw, and the functions without one.
#include <weft/random.h>

#include "Ops/Draws.h"
#include "Random/Source.h"
#include "Support/CallSite.h"
#include <weft/ops.h>

namespace weft::random {

namespace {

Tensor state_of(std::uint64_t seed, std::int64_t stream = 0) {
  return tensor({static_cast<std::int64_t>(seed), stream});
}

/// The state of a generator, which is advanced.
class FromVariable final : public detail::Source {
public:
  explicit FromVariable(const Variable &state) : state_(state) {}

  Tensor take(std::int64_t draws) override { return detail::take(state_, draws); }

private:
  const Variable &state_;
};

/// The state at the beginning of a seed's stream.
class FromSeed final : public detail::Source {
public:
  explicit FromSeed(std::uint64_t seed) : seed_(seed) {}
  Tensor take(std::int64_t) override { return state_of(seed_); }

private:
  std::uint64_t seed_;
};

bool is_traced(const Operand &x) {
  return x.impl() != nullptr && x.impl()->storage == weft::detail::Storage::traced;
}

/// Calls `draw` on the source that `seed` says. Numbers of a seed are computed at once, whatever
/// this thread records, where that is possible: where nothing is `traced`.
template <class Draw>
Tensor from(const std::optional<std::uint64_t> &seed, bool traced, const Draw &draw) {
  if (!seed) {
    FromVariable source(process_generator().state());
    return draw(source);
  }
  FromSeed source(*seed);
  const Interpreter::Scope now(traced ? Interpreter::current() : nullptr);
  return draw(source);
}

} // namespace

Generator::Generator(std::uint64_t seed, std::string name)
    : state_(state_of(seed), std::move(name), /*trainable=*/false) {}

Generator::Generator(const Variable &state, std::source_location where) : state_(state) {
  const CompositeCall site("random::Generator", where);
  const std::string needed = "random::Generator: the state must be i64(2,), but the variable '" +
                             state_.name() + "' is " +
                             to_string(TensorType{state_.dtype(), state_.shape()});
  if (state_.dtype() != DType::i64) throw DTypeError(needed);
  if (state_.shape() != Shape{2}) throw ShapeError(needed);
}

void Generator::reset(std::uint64_t seed, std::source_location where) const {
  const CompositeCall site("random::Generator", where);
  state_.assign(state_of(seed));
}

Tensor Generator::uniform(const Extent &shape, const Uniform &range) const {
  const CompositeCall site("random::uniform", shape.where());
  FromVariable source(state_);
  return detail::uniform(source, shape, range);
}

Tensor Generator::normal(const Extent &shape, const Normal &parameters) const {
  const CompositeCall site("random::normal", shape.where());
  FromVariable source(state_);
  return detail::normal(source, shape, parameters);
}

Tensor Generator::truncated_normal(const Extent &shape, const Normal &parameters) const {
  const CompositeCall site("random::truncated_normal", shape.where());
  FromVariable source(state_);
  return detail::truncated_normal(source, shape, parameters);
}

Tensor Generator::bernoulli(const Extent &shape, const Operand &probability) const {
  const CompositeCall site("random::bernoulli", shape.where());
  FromVariable source(state_);
  return detail::bernoulli(source, shape, probability);
}

Tensor Generator::bernoulli(const Operand &probability) const {
  const CompositeCall site("random::bernoulli", probability.where());
  return bernoulli(like(probability), probability);
}

Tensor Generator::categorical(const Operand &logits, std::int64_t axis) const {
  const CompositeCall site("random::categorical", logits.where());
  FromVariable source(state_);
  return detail::categorical(source, logits, axis);
}

Tensor Generator::randint(const Extent &shape, std::int64_t low, std::int64_t high,
                          DType dtype) const {
  const CompositeCall site("random::randint", shape.where());
  FromVariable source(state_);
  return detail::randint(source, shape, low, high, dtype);
}

Tensor Generator::permutation(const Size &n, DType dtype, std::source_location where) const {
  const CompositeCall site("random::permutation", where);
  FromVariable source(state_);
  return detail::permutation(source, n, dtype);
}

Tensor Generator::shuffle(const Operand &x) const {
  const CompositeCall site("random::shuffle", x.where());
  FromVariable source(state_);
  return detail::shuffle(source, x);
}

const Generator &process_generator() {
  // Never destroyed: static objects of others may draw numbers until the end.
  static const auto *const generator = new Generator(Variable(state_of(0, 1), "random", false));
  return *generator;
}

void set_seed(std::uint64_t seed, std::source_location where) {
  const CompositeCall site("random::set_seed", where);
  process_generator().state().assign(state_of(seed, 1));
}

Tensor uniform(const Extent &shape, const UniformOptions &options) {
  const CompositeCall site("random::uniform", shape.where());
  return from(options.seed, !shape.sizes().are_numbers(), [&](detail::Source &source) {
    return detail::uniform(source, shape, {options.low, options.high, options.dtype});
  });
}

Tensor normal(const Extent &shape, const NormalOptions &options) {
  const CompositeCall site("random::normal", shape.where());
  return from(options.seed, !shape.sizes().are_numbers(), [&](detail::Source &source) {
    return detail::normal(source, shape, {options.mean, options.stddev, options.dtype});
  });
}

Tensor truncated_normal(const Extent &shape, const NormalOptions &options) {
  const CompositeCall site("random::truncated_normal", shape.where());
  return from(options.seed, !shape.sizes().are_numbers(), [&](detail::Source &source) {
    return detail::truncated_normal(source, shape, {options.mean, options.stddev, options.dtype});
  });
}

Tensor bernoulli(const Extent &shape, const Operand &probability, const BernoulliOptions &options) {
  const CompositeCall site("random::bernoulli", shape.where());
  const bool traced = !shape.sizes().are_numbers() || is_traced(probability);
  return from(options.seed, traced, [&](detail::Source &source) {
    return detail::bernoulli(source, shape, probability);
  });
}

Tensor categorical(const Operand &logits, const CategoricalOptions &options) {
  const CompositeCall site("random::categorical", logits.where());
  return from(options.seed, is_traced(logits), [&](detail::Source &source) {
    return detail::categorical(source, logits, options.axis);
  });
}

Tensor randint(const Extent &shape, std::int64_t low, std::int64_t high,
               const RandintOptions &options) {
  const CompositeCall site("random::randint", shape.where());
  return from(options.seed, !shape.sizes().are_numbers(), [&](detail::Source &source) {
    return detail::randint(source, shape, low, high, options.dtype);
  });
}

Tensor permutation(const Size &n, const PermutationOptions &options, std::source_location where) {
  const CompositeCall site("random::permutation", where);
  return from(options.seed, !n.is_number(), [&](detail::Source &source) {
    return detail::permutation(source, n, options.dtype);
  });
}

} // namespace weft::random
