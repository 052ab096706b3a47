// Control flow in a trace under a tape: the trace takes it whole, and the tape notes what it
// touched.
#include "Autodiff/Layer.h"
#include "Autodiff/Tape.h"

#include <algorithm>
#include <limits>

#include "OpDefs/Derivatives/Calls.h"
#include "Support/CallSite.h"

namespace weft::autodiff {

/// Stands in the tape's place while bodies are traced: hands every call on, and collects the
/// watched values that take part.
class Tape::Probe final : public Layer {
public:
  explicit Probe(Tape &tape) : tape_(tape) { previous_ = tape.previous_; }

  Tensor apply(const OpCall &call) override {
    for (const Tensor &operand : call.operands) note(operand);
    Tensor result = Layer::apply(call);
    if (call.op == OpCode::read && tape_.note_read(call, result)) note(result);
    return result;
  }

  std::vector<Tensor> construct(const ConstructCall &call) override {
    if (call.kind == ConstructKind::host) return tape_.record_nothing(call);
    for (const Tensor &operand : call.operands) note(operand);
    return Layer::construct(call);
  }

  /// The watched values that took part.
  const std::vector<Tensor> &touched() const { return touched_; }

protected:
  void see_results(std::span<const Tensor> results) override {
    for (const Tensor &result : results) note(result);
  }

private:
  void note(const Tensor &tensor) {
    if (!tensor.defined()) return;
    const std::uint64_t identity = tensor.impl()->identity.load(std::memory_order_relaxed);
    if (identity != 0 && tape_.watched_.contains(identity)) touched_.push_back(tensor);
  }

  Tape &tape_;
  std::vector<Tensor> touched_;
};

std::vector<Tensor> Tape::record_nothing(const ConstructCall &call) {
  const Scope under(previous_);
  return previous_->construct(call);
}

std::vector<Tensor> Tape::construct(const ConstructCall &call) {
  // What C++ computes has no derivative, as if under stop_gradient.
  if (!recording() || call.kind == ConstructKind::host) return record_nothing(call);
  Probe probe(*this);
  std::vector<Tensor> results = probe.construct(call);
  if (probe.touched().empty()) return results;
  // Of each result, that it depends on what was touched; there is no rule to go further yet.
  for (Tensor &result : results) {
    if (!carries_gradient(result.dtype())) continue;
    const auto count = static_cast<std::uint16_t>(
        std::min<std::size_t>(probe.touched().size(), std::numeric_limits<std::uint16_t>::max()));
    records_.push_back({kConstruct, count, static_cast<std::uint32_t>(values_.size()),
                        Attrs{std::string(call.name)}, CallSite::current()});
    for (std::size_t i = 0; i < count; ++i)
      add_value(probe.touched()[i], identity_of(probe.touched()[i]), false);
    const std::uint64_t identity = identity_of(result);
    add_value(result, identity, false);
    watched_.insert(identity, 0);
  }
  return results;
}

} // namespace weft::autodiff
