// Replays, keys, and the end of the chain: generators that move on.
#include "Ops/Draws.h"

#include <limits>

#include "Ops/FirstValues.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include <weft/detail/binding.h>
#include <weft/device.h>
#include <weft/error.h>
#include <weft/ops.h>

namespace weft::random::detail {

/// States and keys go to the parameters that are drawn with.
using weft::detail::uncommitted;

thread_local constinit Taker *Taker::innermost_ __attribute__((tls_model("initial-exec"))) =
    nullptr;

Tensor take(const Variable &generator, std::int64_t streams) {
  if (Taker *taker = Taker::current()) return taker->take(generator, streams);
  const Interpreter *interpreter = Interpreter::current();
  if (interpreter != nullptr && interpreter->traces()) {
    Tensor state = generator.value();
    generator.assign_add(iota(DType::i64, {2}) * streams);
    return ReplicaStreams::own(generator, state);
  }
  // As one step, so that no two threads draw the same numbers.
  Tensor taken;
  const Interpreter::Scope eager(nullptr);
  generator.state()->modify([&](const Tensor &state) {
    taken = state;
    const DeviceScope beside(state.impl()->device);
    return state + tensor({std::int64_t{0}, streams});
  });
  return ReplicaStreams::own(generator, uncommitted(taken));
}

thread_local constinit ReplicaStreams *ReplicaStreams::innermost_
    __attribute__((tls_model("initial-exec"))) = nullptr;

Tensor ReplicaStreams::own(const Variable &generator, const Tensor &state) {
  const ReplicaStreams *const of = innermost_;
  if (of == nullptr) return state;
  const bool skips = of->first_values_ != 0 && generator.state() == process_state().state();
  const Tensor own = skips ? advanced(state, -of->first_values_) : state;
  Tensor number = of->number_.value();
  if (!number.traced() && !own.traced()) number = weft::detail::moved(number, own.impl()->device);
  return uncommitted(cast(key_with(own, number), DType::i64));
}

namespace {

/// How many streams the process's generator has given.
std::int64_t streams_so_far() {
  const Interpreter::Scope eager(nullptr);
  return process_state().value()[1].item<std::int64_t>();
}

} // namespace

ReplicaStreams::FirstValues::FirstValues() : outer_(std::exchange(innermost_, nullptr)) {
  if (outer_ != nullptr) before_ = streams_so_far();
}
ReplicaStreams::FirstValues::~FirstValues() {
  innermost_ = outer_;
  if (outer_ != nullptr) outer_->first_values_ += streams_so_far() - before_;
}

const Variable &process_state() {
  // Never destroyed: static objects of others may draw numbers until the end.
  static const auto *const state = [] {
    const DeviceScope host{Device()};                    // who draws reads it
    const weft::detail::FirstValues::Scope own(nullptr); // ranks come here at any time
    return new Variable(tensor({std::int64_t{0}, std::int64_t{1}}), "random", /*trainable=*/false);
  }();
  return *state;
}

Tensor state_of_key(const std::string &function, const Tensor &key) {
  const Shape shape = weft::detail::type_of(key).shape;
  if (shape.size() != 1 || (shape[0] != 2 && shape[0] != unknown))
    raise(ErrorKind::shape,
          function + ": key has the shape " + to_string(shape) + ": a key is of shape (2,)");
  return cast(key, DType::i64);
}

Tensor take(const std::string &function, const Tensor &key, std::int64_t streams) {
  return key.defined() ? state_of_key(function, key) : take(process_state(), streams);
}

Tensor advanced(const Tensor &state, std::int64_t number) {
  const DeviceScope beside(state.impl()->device);
  return uncommitted(state + iota(DType::i64, {2}) * number);
}

namespace {

/// What streams are for besides draws, which have small numbers beyond a key's: so far from these
/// are those that are split off and those that numbers are folded in by.
constexpr std::int64_t kSplit = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kFold = std::int64_t{1} << 62;

Tensor words_of(const Tensor &state, const Sizes &sizes) {
  return draw_uniform(state, sizes, DType::i64);
}

} // namespace

Tensor keys_of(const Tensor &state, const Sizes &sizes) {
  return uncommitted(cast(words_of(advanced(state, kSplit), sizes), DType::u64));
}

Tensor key_with(const Tensor &state, const Tensor &number) {
  const Tensor numbered = [&] {
    const DeviceScope beside(state.impl()->device);
    const Tensor words = words_of(advanced(state, kFold), {2});
    return words + cast(number, DType::i64) * iota(DType::i64, {2});
  }();
  return uncommitted(cast(words_of(numbered, {2}), DType::u64));
}

Tensor open_interval(const Tensor &state, const Sizes &sizes, DType dtype) {
  const double steps = dtype == DType::f32 ? 0x1p23 : 0x1p52;
  return (floor(draw_uniform(state, sizes, dtype) * steps) + 0.5) * (1 / steps);
}

namespace {

StateError other_draws(const std::string &name, std::size_t count, const std::string &again) {
  return StateError(name + ": the function drew random numbers " + std::to_string(count) +
                    (count == 1 ? " time" : " times") +
                    " and, when it ran again for its gradient, " + again +
                    ": it must draw the same way each time, and layers that draw their first "
                    "weights must be built before");
}

} // namespace

Tensor Replay::take(const Variable &, std::int64_t streams) {
  if (next_ == states_.size()) throw other_draws(name_, states_.size(), "more often");
  if (streams_[next_] != streams)
    throw other_draws(name_, states_.size(), "others at draw " + std::to_string(next_ + 1));
  return states_[next_++];
}

void Replay::check_done() const {
  if (next_ != states_.size()) throw other_draws(name_, states_.size(), std::to_string(next_));
}

} // namespace weft::random::detail
