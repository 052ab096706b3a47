// Generators: states that move on from draw to draw, and the functions without one.
#include <weft/random.h>

#include "Ops/Draws.h"
#include "Random/Source.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include <weft/detail/binding.h>
#include <weft/ops.h>

namespace weft::random {

namespace {

Tensor state_of(std::uint64_t seed, std::int64_t stream = 0) {
  const DeviceScope host{Device()}; // who draws reads it
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

/// A state that does not move on: the beginning of a seed's stream, or of a key's.
class FromValue final : public detail::Source {
public:
  explicit FromValue(Tensor state) : state_(std::move(state)) {}
  Tensor take(std::int64_t) override { return state_; }

private:
  Tensor state_;
};

bool is_traced(const Operand &x) {
  return x.impl() != nullptr && x.impl()->storage == weft::detail::Storage::traced;
}

/// Calls `draw` on the source that the options say. Numbers of a seed are computed at once,
/// whatever this thread records, where that is possible: where nothing is `traced`.
template <class Options, class Draw>
Tensor from(const char *function, const Options &options, bool traced, const Draw &draw) {
  if (options.key.defined()) {
    if (options.seed)
      throw ValueError(std::string(function) +
                       ": a seed and a key are given: one of them is wanted");
    const DType dtype = options.key.dtype();
    if (dtype != DType::u64)
      throw DTypeError(std::string(function) + ": a key is of dtype u64, but it is " +
                       std::string(name_of(dtype)));
    FromValue source(detail::state_of_key(function, options.key));
    return draw(source);
  }
  if (!options.seed) {
    FromVariable source(process_generator().state());
    return draw(source);
  }
  FromValue source(state_of(*options.seed));
  const Interpreter::Scope now(traced ? Interpreter::current() : nullptr);
  return draw(source);
}

} // namespace

Generator::Generator(std::uint64_t seed, std::string name)
    : state_(state_of(seed), std::move(name), /*trainable=*/false) {
  state_.state()->is_of_generator();
}

Generator::Generator(const Variable &state, std::source_location where) : state_(state) {
  const CompositeCall site("random::Generator", where);
  const std::string needed = "random::Generator: the state must be i64(2,), but the variable '" +
                             state_.name() + "' is " +
                             to_string(TensorType{state_.dtype(), state_.shape()});
  if (state_.dtype() != DType::i64) throw DTypeError(needed);
  if (state_.shape() != Shape{2}) throw ShapeError(needed);
  state_.state()->is_of_generator();
}

Tensor Generator::key(std::source_location where) const {
  const CompositeCall site("random::Generator", where);
  return detail::keys_of(detail::take(state_, 1), {2});
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

Tensor Generator::categorical(const Operand &logits, std::int64_t axis,
                              const std::optional<Sizes> &shape) const {
  const CompositeCall site("random::categorical", logits.where());
  FromVariable source(state_);
  return detail::categorical(source, logits, axis, shape);
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
  static const auto *const generator = new Generator(detail::process_state());
  return *generator;
}

Tensor key(std::uint64_t seed, std::source_location where) {
  const CompositeCall site("random::key", where);
  return weft::detail::uncommitted(tensor({seed, std::uint64_t{0}}));
}

void set_seed(std::uint64_t seed, std::source_location where) {
  const CompositeCall site("random::set_seed", where);
  process_generator().state().assign(state_of(seed, 1));
}

Tensor uniform(const Extent &shape, const UniformOptions &options) {
  const CompositeCall site("random::uniform", shape.where());
  return from("random::uniform", options, !shape.sizes().are_numbers(),
              [&](detail::Source &source) {
                return detail::uniform(source, shape, {options.low, options.high, options.dtype});
              });
}

Tensor normal(const Extent &shape, const NormalOptions &options) {
  const CompositeCall site("random::normal", shape.where());
  return from("random::normal", options, !shape.sizes().are_numbers(), [&](detail::Source &source) {
    return detail::normal(source, shape, {options.mean, options.stddev, options.dtype});
  });
}

Tensor truncated_normal(const Extent &shape, const NormalOptions &options) {
  const CompositeCall site("random::truncated_normal", shape.where());
  return from("random::truncated_normal", options, !shape.sizes().are_numbers(),
              [&](detail::Source &source) {
                return detail::truncated_normal(source, shape,
                                                {options.mean, options.stddev, options.dtype});
              });
}

Tensor bernoulli(const Extent &shape, const Operand &probability, const BernoulliOptions &options) {
  const CompositeCall site("random::bernoulli", shape.where());
  const bool traced = !shape.sizes().are_numbers() || is_traced(probability);
  return from("random::bernoulli", options, traced, [&](detail::Source &source) {
    return detail::bernoulli(source, shape, probability);
  });
}

Tensor categorical(const Operand &logits, const CategoricalOptions &options) {
  const CompositeCall site("random::categorical", logits.where());
  return from("random::categorical", options, is_traced(logits), [&](detail::Source &source) {
    return detail::categorical(source, logits, options.axis, options.shape);
  });
}

Tensor randint(const Extent &shape, std::int64_t low, std::int64_t high,
               const RandintOptions &options) {
  const CompositeCall site("random::randint", shape.where());
  return from("random::randint", options, !shape.sizes().are_numbers(),
              [&](detail::Source &source) {
                return detail::randint(source, shape, low, high, options.dtype);
              });
}

Tensor permutation(const Size &n, const PermutationOptions &options, std::source_location where) {
  const CompositeCall site("random::permutation", where);
  return from("random::permutation", options, !n.is_number(), [&](detail::Source &source) {
    return detail::permutation(source, n, options.dtype);
  });
}

} // namespace weft::random
