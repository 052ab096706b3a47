// Custom gradients: pullbacks attached to what a function gives, and recomputation.
#include <weft/custom_gradient.h>

#include <algorithm>
#include <optional>

#include "Autodiff/Batching.h"
#include "Autodiff/NoRecord.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Autodiff/VariableLayers.h"
#include "Ops/Draws.h"
#include "Runtime/Variable.h"
#include "Support/Limits.h"
#include <weft/detail/derivative_mark.h>
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft {

namespace {

using autodiff::carries_gradient;
using autodiff::kEndlessPullback;
using autodiff::Watcher;

bool is_among(const Tensor &tensor, std::span<const Tensor> list) {
  return std::ranges::any_of(list, [&](const Tensor &t) { return t.impl() == tensor.impl(); });
}

/// Notes the tensors that someone followed before: while all is paused, no new ones come. Notes as
/// well what is drawn.
class Followed : public Watcher {
public:
  Followed() : recorder_(*this) {}

  Tensor apply(const OpCall &call) override {
    note(call.operands);
    return Watcher::apply(call);
  }
  std::vector<Tensor> construct(const ConstructCall &call) override {
    note(call.operands);
    const InBodies here(*this);
    return Watcher::construct(call);
  }
  std::vector<TracedType> types_of(std::string_view name, const detail::Body &body,
                                   std::span<const TracedType> inputs) override {
    const InBodies here(*this);
    return Watcher::types_of(name, body, inputs);
  }
  Recording record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                   std::uint32_t orders) override {
    const InBodies here(*this);
    return Watcher::record(name, body, watched, orders);
  }
  std::vector<Tensor> attach_pullback(const PullbackCall &call) override {
    note(call.operands);
    return Watcher::attach_pullback(call);
  }

  std::vector<Tensor> tensors;
  random::detail::Draws draws;

private:
  /// While bodies of control flow are traced, whose values nobody has outside of them.
  class InBodies {
  public:
    explicit InBodies(Followed &followed) : followed_(followed) { ++followed_.bodies_; }
    ~InBodies() { --followed_.bodies_; }
    InBodies(const InBodies &) = delete;
    InBodies &operator=(const InBodies &) = delete;

  private:
    Followed &followed_;
  };

  class Recorder final : public random::detail::Taker {
  public:
    explicit Recorder(Followed &followed) : Taker(followed), followed_(followed) {}
    Tensor take(const Variable &generator, std::int64_t streams) override {
      return followed_.drawn(generator, streams);
    }

  private:
    Followed &followed_;
  };

  /// Who watches writes does not see this one, which will not happen again.
  Tensor drawn(const Variable &generator, std::int64_t streams) {
    if (bodies_ != 0)
      throw StateError("recompute: the function draws random numbers in control flow of a traced "
                       "function, and they would be others when it runs again for its gradient: "
                       "draw them in front of it, or recompute what its body does");
    const Scope under(previous_);
    Tensor state = random::detail::take(generator, streams);
    draws.states.push_back(state);
    draws.streams.push_back(streams);
    return state;
  }

  void note(std::span<const Tensor> operands) {
    for (const Tensor &operand : operands)
      if (operand.defined() && carries_gradient(operand.dtype()) &&
          operand.impl()->identity.load(std::memory_order_relaxed) != 0 &&
          !is_among(operand, tensors))
        tensors.push_back(operand);
  }

  Recorder recorder_;
  int bodies_ = 0;
};

void check_defined(const std::string &name, std::span<const Tensor> operands,
                   std::span<const Tensor> results) {
  if (!std::ranges::all_of(operands, &Tensor::defined))
    throw StateError(name + ": an argument is undefined");
  if (!std::ranges::all_of(results, &Tensor::defined))
    throw StateError(name + ": a result is undefined");
}

/// A function as it runs again for its gradient.
struct Again {
  std::string name;
  detail::Body body;
  std::vector<VariableRef> variables;
  std::vector<std::int64_t> streams; ///< of each draw
  /// The arguments, then the values of the variables, tensors that the body reaches by itself, and
  /// the states of its draws.
  std::vector<Tensor> operands;
  std::size_t arguments = 0;
  bool marked = false; ///< whether it is for a derivative of a function

  std::vector<Tensor> gradients(std::span<const Tensor> cotangents) const;

private:
  std::vector<Tensor> run(std::span<const Tensor> values) const;
};

std::vector<Tensor> Again::run(std::span<const Tensor> values) const {
  const autodiff::Pushed<autodiff::Bound> reads(variables,
                                                values.subspan(arguments, variables.size()));
  random::detail::Replay replay(reads, name, values.last(streams.size()), streams);
  std::vector<Tensor> results = body(values.first(arguments));
  replay.check_done();
  return results;
}

/// Under a tape of its own.
std::vector<Tensor> Again::gradients(std::span<const Tensor> cotangents) const {
  // Tensors of their own, in case the body reaches the operands by itself as well; and the compiler
  // must not find that it has all this already.
  std::vector<Tensor> own = operands;
  const auto after = std::ranges::find_if(cotangents, &Tensor::defined);
  const std::size_t bound = arguments + variables.size(), draws = own.size() - streams.size();
  for (std::size_t i = 0; i < own.size(); ++i)
    if (i < bound || i >= draws) own[i] = barrier(own[i], *after);
  GradientTape tape({.watch_accessed_variables = false});
  std::optional<detail::DerivativeMark> mark;
  if (marked) mark.emplace("recompute");
  for (const Tensor &operand : own)
    if (carries_gradient(operand.dtype())) tape.watch(operand);
  const std::vector<Tensor> results = run(own);
  if (results.size() != cotangents.size())
    throw StateError(name + ": the function gave " + std::to_string(cotangents.size()) +
                     " tensors and, when it ran again for its gradient, " +
                     std::to_string(results.size()));
  check_defined(name, {}, results);
  std::vector<Tensor> targets;
  GradientOptions options;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (carries_gradient(results[i].dtype()) && cotangents[i].defined()) {
      targets.push_back(results[i]);
      options.output_gradients.push_back(cotangents[i]);
    }
  return tape.gradient(targets, own, options);
}

} // namespace

std::vector<Tensor> detail::attach(const std::string &name, std::span<const Tensor> operands,
                                   std::span<const Tensor> results, const Body &pullback,
                                   bool natural) {
  check_defined(name, operands, results);
  return attach_pullback({name, operands, results, pullback, natural});
}

void detail::read_variables(std::span<const Variable> variables, std::vector<Tensor> &values) {
  for (const Variable &variable : variables) values.push_back(variable.value());
}

void detail::run_reading(const std::string &name, std::span<const Variable> variables,
                         const std::function<void()> &body) {
  const RecursionGuard guard(name, kEndlessPullback);
  autodiff::Pushed<Watcher> watcher;
  body();
  for (const VariableRef &variable : watcher.read)
    if (variable->trainable() && carries_gradient(variable->type().dtype) &&
        std::ranges::find(variables, Variable(variable)) == variables.end())
      throw StateError(name + ": the function reads the variable '" + variable->name() +
                       "', whose gradient its pullback must give: list it in .variables, or make "
                       "it untrainable");
}

/// Whether tensors stand for many in the innermost level, or anywhere below a trace, where no part
/// of a program is done on many.
static bool stand_for_many() {
  bool batches = false, traces = false;
  for (Interpreter *i = Interpreter::current(); i != nullptr; i = i->previous()) {
    if (dynamic_cast<autodiff::Batcher *>(i) != nullptr) {
      if (i == Interpreter::current()) return true;
      batches = true;
    }
    traces = traces || i->traces();
  }
  return batches && traces;
}

std::vector<Tensor> detail::run_recomputed(const std::string &name, const Body &body,
                                           std::vector<Tensor> operands) {
  check_defined(name, operands, {});
  const RecursionGuard guard(name, kEndlessPullback);
  // A pullback is of whole tensors, and those here stand for many: what the body does is recorded.
  if (stand_for_many()) {
    std::vector<Tensor> results = body(operands);
    check_defined(name, {}, results);
    return results;
  }
  Again again{.name = name,
              .body = body,
              .variables = {},
              .streams = {},
              .operands = std::move(operands),
              .arguments = 0};
  again.arguments = again.operands.size();
  again.marked = DerivativeMark::stands();
  std::vector<Tensor> results, captured, states;
  {
    const autodiff::NoRecord nothing_recorded;
    autodiff::Pushed<Followed> watcher;
    results = body(again.operands);
    check_defined(name, {}, results);
    if (!watcher.written.empty())
      throw StateError(name + ": the function changes the variable '" + watcher.written[0]->name() +
                       "', which would happen again when its gradient is asked");
    for (const VariableRef &variable : watcher.read)
      if (carries_gradient(variable->type().dtype)) again.variables.push_back(variable);
    captured = std::move(watcher.tensors);
    states = std::move(watcher.draws.states);
    again.streams = std::move(watcher.draws.streams);
  }
  for (const VariableRef &variable : again.variables)
    again.operands.push_back(Variable(variable).value());
  for (const Tensor &tensor : captured)
    if (is_watched(tensor) && !is_among(tensor, again.operands)) again.operands.push_back(tensor);
  again.operands.insert(again.operands.end(), states.begin(), states.end());
  const std::vector<Tensor> all = again.operands;
  const Body pullback = [again = std::move(again)](std::span<const Tensor> cotangents) {
    return again.gradients(cotangents);
  };
  return attach_pullback({.name = name,
                          .operands = all,
                          .results = results,
                          .pullback = pullback,
                          .natural = true,
                          .again = true});
}

} // namespace weft
