// Replays, and the end of the chain: generators that move on.
#include "Ops/Draws.h"

#include "Runtime/Variable.h"
#include <weft/error.h>
#include <weft/ops.h>

namespace weft::random::detail {

thread_local constinit Taker *Taker::innermost_ __attribute__((tls_model("initial-exec"))) =
    nullptr;

Tensor take(const Variable &generator, std::int64_t streams) {
  if (Taker *taker = Taker::current()) return taker->take(generator, streams);
  const Interpreter *interpreter = Interpreter::current();
  if (interpreter != nullptr && interpreter->traces()) {
    Tensor state = generator.value();
    generator.assign_add(iota(DType::i64, {2}) * streams);
    return state;
  }
  // As one step, so that no two threads draw the same numbers.
  Tensor taken;
  const Interpreter::Scope eager(nullptr);
  const Tensor step = tensor({std::int64_t{0}, streams});
  generator.state()->modify([&](const Tensor &state) {
    taken = state;
    return state + step;
  });
  return taken;
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
