// Control flow in a trace under a tape: what it does with watched values is recorded as one call,
// whose pullback the compiler makes.
#include <algorithm>

#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Autodiff/TensorEmitter.h"
#include "Autodiff/VariableLayers.h"
#include "Runtime/NewTensor.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"

namespace weft::autodiff {

namespace {

/// Looks at all values that take part.
class Survey : public Watcher {
public:
  explicit Survey(const IsWatched &watched) : watched_(watched) {}

  Tensor apply(const OpCall &call) override {
    see_results(call.operands);
    return Watcher::apply(call);
  }
  std::vector<Tensor> construct(const ConstructCall &call) override {
    // What C++ computes from them is refused, and so is seen where it is attached.
    if (call.kind != ConstructKind::host) see_results(call.operands);
    else unseen |= !call.host->pure;
    return Watcher::construct(call);
  }

  std::vector<Tensor> attach_pullback(const PullbackCall &call) override {
    see_results(call.operands);
    return attach_seen(call);
  }

  bool touched = false; ///< a watched value
  bool unseen = false;  ///< C++ is called that may have effects

protected:
  void see_results(std::span<const Tensor> results) override {
    touched |= std::ranges::any_of(results, watched_);
  }

private:
  const IsWatched &watched_;
};

} // namespace

bool Tape::is_watched(const Tensor &tensor) const {
  return tensor.defined() &&
         watched_.contains(tensor.impl()->identity.load(std::memory_order_relaxed));
}

bool Tape::would_watch(const VariableState &variable) const {
  if (!carries_gradient(variable.type().dtype)) return false;
  return (options_.watch_accessed_variables && variable.trainable()) ||
         std::ranges::any_of(reads_,
                             [&](const auto &read) { return read.first.get() == &variable; });
}

Tape::Surveyed Tape::survey(std::string_view name, const detail::Body &body) {
  const IsWatched watched = [this](const Tensor &tensor) { return is_watched(tensor); };
  Surveyed found;
  Interpreter::types_of(
      name,
      [&](std::span<const Tensor> inputs) {
        Pushed<Survey> survey(watched);
        std::vector<Tensor> results = body(inputs);
        found.touched = survey.touched || std::ranges::any_of(results, watched);
        found.floating = std::ranges::any_of(
            results, [](const Tensor &result) { return carries_gradient(result.dtype()); });
        for (const VariableRef &variable : survey.read) {
          const bool written = std::ranges::find(survey.written, variable) != survey.written.end();
          const bool watched = would_watch(*variable);
          if (!watched && (written || survey.unseen)) continue;
          if (written)
            throw StateError("GradientTape: " + std::string(name) +
                             " reads and assigns the variable '" + variable->name() +
                             "', which is watched; carry its value through as state and assign it "
                             "afterwards, or stop recording");
          found.variables.push_back(variable);
          found.touched |= watched;
        }
        return results;
      },
      {});
  return found;
}

std::vector<Tensor> Tape::construct(const ConstructCall &call) {
  if (!recording() || call.kind == ConstructKind::host) return Interpreter::construct(call);
  const detail::Body body = [&](std::span<const Tensor>) {
    return Interpreter::current()->construct(call);
  };
  const Inside inside(*this, call.name);
  const Surveyed surveyed = survey(call.name, body);
  if (!surveyed.floating || !surveyed.touched) return Interpreter::construct(call);
  return record(call.name, body, surveyed, [](const Tensor &) { return false; }, 0).results;
}

/// For the tape and one above it, which watches more.
Recording Tape::record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                       std::uint32_t orders) {
  if (!recording()) return Interpreter::record(name, body, watched, orders);
  const Inside inside(*this, name);
  return record(name, body, survey(name, body), watched, orders);
}

Recording Tape::record(std::string_view name, const detail::Body &body, const Surveyed &surveyed,
                       const IsWatched &watched, std::uint32_t orders) {
  // Nothing in it changes these variables: they are read in front of it. A second derivative, which
  // runs it again, has their values then, whatever they are by that time.
  std::vector<Tensor> values;
  for (const VariableRef &variable : surveyed.variables)
    values.push_back(read_variable({OpCode::read, {}, Attrs{variable}}));
  const detail::Body bound = [&](std::span<const Tensor> inputs) {
    const Pushed<Bound> layer(surveyed.variables, values);
    return body(inputs);
  };
  Recording recording = Interpreter::record(name, bound, either(watched), orders + 1);
  note_recording(name, recording);
  return recording;
}

std::vector<Tensor> Tape::pull(const Recording &recording, std::span<const Tensor> cotangents) {
  const auto watched = [this](const Tensor &tensor) { return is_watched(tensor); };
  if (!this->recording() || (std::ranges::none_of(recording.operands, watched) &&
                             std::ranges::none_of(cotangents, watched)))
    return Interpreter::pull(recording, cotangents);
  return record_pull(recording, cotangents, [](const Tensor &) { return false; }).results;
}

Recording Tape::record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                            const IsWatched &watched) {
  if (!this->recording()) return Interpreter::record_pull(recording, cotangents, watched);
  Recording again = Interpreter::record_pull(recording, cotangents, either(watched));
  note_recording("gradient", again);
  return again;
}

IsWatched Tape::either(const IsWatched &watched) {
  return [this, &watched](const Tensor &tensor) { return is_watched(tensor) || watched(tensor); };
}

/// Notes what the predecessor recorded as one call with a pullback.
void Tape::note_recording(std::string_view name, Recording &recording) {
  std::vector<Tensor> operands;
  for (const std::uint32_t operand : recording.wrt) operands.push_back(recording.operands[operand]);
  const auto pull = [recording](std::span<const Tensor> cotangents) {
    std::vector<Tensor> floating;
    for (const Tensor &cotangent : cotangents)
      if (cotangent.defined()) floating.push_back(cotangent);
    return Interpreter::current()->pull(recording, floating);
  };
  note_pullback(name, operands, recording.results, pull, /*zeros=*/true, /*natural=*/true);
  const auto itself = [](std::span<const Tensor> cotangents) {
    return std::vector(cotangents.begin(), cotangents.end());
  };
  for (const RefusedResult &refused : recording.refused) {
    Tensor &result = recording.results[refused.result];
    operands.assign(1, result);
    for (const std::uint32_t number : refused.operands)
      operands.push_back(recording.operands[number]);
    const Tensor again = detail::new_alias(result);
    note_pullback(name, operands, {&again, 1}, itself, /*zeros=*/false, /*natural=*/true,
                  refused.refusal, 1);
    result = again;
  }
}

} // namespace weft::autodiff
