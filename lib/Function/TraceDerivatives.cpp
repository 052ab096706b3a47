// Control flow that a tape wants the derivative of: traced as a program of its own, which a record
// calls, and a pull goes back through.
#include <algorithm>

#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Function/DerivativePrograms.h"
#include "Function/Tracer.h"
#include "Support/CallSite.h"

namespace weft {

std::shared_ptr<const Program> Tracer::trace_apart(const std::string &name,
                                                   std::span<const TracedType> inputs,
                                                   const detail::Body &body,
                                                   const IsWatched &watched, std::uint32_t orders,
                                                   std::optional<Author> pullback) {
  Tracer inner(
      {.name = name, .for_call = for_call(), .checkpoint = program_.checkpoint, .orders = orders});
  inner.pullbacks_ = pullbacks_;
  if (pullback) inner.pullbacks_.push_back(*std::move(pullback));
  inner.never_a_constant_ = watched;
  std::vector<Tensor> given;
  for (const TracedType &type : inputs) given.push_back(inner.input(type));
  const Scope here(this);
  push_interpreter(&inner);
  struct Pop {
    Tracer &inner;
    ~Pop() { pop_interpreter(&inner); }
  } pop{inner};
  auto program = std::make_shared<const Program>(inner.finish(body(given)));
  if (inner.pinned()) pin();
  if (std::ranges::any_of(program->captures,
                          [&](const Tensor &t) { return t.traced() && !owns(t); }))
    uses_outer_ = true;
  return program;
}

/// What comes from around is captured as it is: a tape knows it by its identity, which another
/// tensor with its value does not have.
std::vector<Tensor> Tracer::attach_pullback(const PullbackCall &call) {
  if (!call.natural || call.again)
    if (std::optional<std::vector<Tensor>> results = add_custom(call)) return *std::move(results);
  PullbackCall plain = call;
  plain.again = false; // for traces around this one
  std::vector<Tensor> results = Interpreter::attach_pullback(plain);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Tensor &given = call.results[i];
    const bool around = given.traced()
                            ? outer_of(static_cast<const Ref *>(
                                  static_cast<detail::TraceRef *>(given.impl()->base))) != nullptr
                            : never_a_constant_ && never_a_constant_(given);
    if (around) results[i] = wrap(value_of(given));
  }
  return results;
}

/// It is traced at once, since it may use whatever was computed on the way to the results, which is
/// not known later any more.
std::optional<std::vector<Tensor>> Tracer::add_custom(const PullbackCall &call) {
  std::vector<TracedType> results, cotangents;
  for (const Tensor &result : call.results) {
    results.emplace_back(result);
    if (autodiff::carries_gradient(result.dtype())) cotangents.push_back(results.back());
  }
  if (cotangents.empty()) return std::nullopt; // nobody will ever pull
  std::vector<Tensor> taking(call.results.begin(), call.results.end());
  const Author author(&call.pullback.target_type(), call.name);
  // What is the ops' own derivative anyway ends where they do.
  const bool uses_itself =
      !call.natural && std::ranges::find(pullbacks_, author) != pullbacks_.end();
  const auto unrecorded = [&](std::span<const Tensor>) {
    auto &inner = static_cast<Tracer &>(*Interpreter::current());
    inner.program_.unrecorded = true;
    program_.orders = 0;
    std::vector<Tensor> some;
    for (const Tensor &operand : call.operands)
      if (autodiff::carries_gradient(operand.dtype())) some.push_back(operand);
    taking.insert(taking.end(), some.begin(), some.end());
    return some;
  };
  const auto body = [&](std::span<const Tensor> given) {
    std::vector<Tensor> all;
    for (std::size_t i = 0, next = 0; i < results.size(); ++i)
      all.push_back(autodiff::carries_gradient(results[i].type.dtype) ? given[next++] : Tensor());
    std::vector<Tensor> gradients = [&] {
      const UserCode lines_of_its_own;
      return call.traced != nullptr ? (*call.traced)(all) : call.pullback(all);
    }();
    autodiff::check_gradients(call.name, gradients, call.operands, call.natural);
    std::vector<Tensor> some;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined() || !autodiff::carries_gradient(call.operands[i].dtype()))
        continue;
      taking.push_back(call.operands[i]);
      some.push_back(gradients[i]);
    }
    return some;
  };
  const auto none = [](const Tensor &) { return false; };
  const std::shared_ptr<const Program> pullback =
      trace_apart("pullback of " + std::string(call.name), cotangents,
                  uses_itself && orders_ == 0 ? detail::Body(unrecorded) : detail::Body(body),
                  never_a_constant_ ? never_a_constant_ : IsWatched(none),
                  orders_ == 0 ? 0 : orders_ - 1, author);
  const auto is_operand = [&](const Tensor &tensor) {
    return std::ranges::any_of(call.operands,
                               [&](const Tensor &t) { return t.impl() == tensor.impl(); });
  };
  if (call.again)
    for (const Tensor &tensor : pullback->captures)
      if (autodiff::carries_gradient(tensor.dtype()) && !is_operand(tensor) &&
          (tensor.traced() || (never_a_constant_ && never_a_constant_(tensor))))
        return std::nullopt;
  taking.insert(taking.end(), pullback->captures.begin(), pullback->captures.end());
  return add_call(ConstructKind::custom, pullback, taking, {}, results);
}

void Tracer::call_recorded(Recording &recording) {
  recording.number = ++records_;
  recording.results = add_call(ConstructKind::record, recording.program, recording.operands, {});
  ProgramConstruct &construct = *nodes().back().construct;
  construct.record = recording.number;
  construct.wrt = recording.wrt;
  construct.ends_at_hosts = recording.ends_at_hosts;
}

Recording Tracer::add_record(std::shared_ptr<const Program> program, std::vector<Tensor> inputs,
                             const IsWatched &watched) {
  Recording recording;
  recording.operands = std::move(inputs);
  recording.program = std::move(program);
  const std::vector<Tensor> &captures = recording.program->captures;
  recording.operands.insert(recording.operands.end(), captures.begin(), captures.end());
  for (std::size_t i = 0; i < recording.operands.size(); ++i)
    if (autodiff::carries_gradient(recording.operands[i].dtype()) && watched(recording.operands[i]))
      recording.wrt.push_back(static_cast<std::uint32_t>(i));
  if (!recording.program->hosts.empty()) {
    ReachedOperands reached = reached_operands(*recording.program);
    recording.ends_at_hosts = reached.all_refused;
    for (RefusedResult &refused : reached.refused) {
      // Variables that someone follows are read in front of it.
      std::erase_if(refused.operands,
                    [&](std::uint32_t operand) { return operand >= recording.operands.size(); });
      if (reached.all_refused && !refused.operands.empty())
        recording.refused.push_back(std::move(refused));
    }
  }
  call_recorded(recording);
  return recording;
}

Recording Tracer::record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                         std::uint32_t orders) {
  return add_record(trace_apart(std::string(name), {}, body, watched, orders_ + orders), {},
                    watched);
}

std::vector<Tensor> Tracer::pull(const Recording &recording, std::span<const Tensor> cotangents) {
  ProgramNode node;
  for (const Tensor &cotangent : cotangents) node.operands.push_back(value_of(cotangent));
  node.construct = std::make_unique<ProgramConstruct>();
  node.construct->kind = ConstructKind::pull;
  node.construct->record = recording.number;
  node.location = here();
  std::vector<Tensor> results;
  for (const std::uint32_t operand : recording.wrt) {
    node.construct->results.push_back(add_value(TracedType(recording.operands[operand])));
    results.push_back(wrap(node.construct->results.back()));
  }
  nodes().push_back(std::move(node));
  return results;
}

namespace {

/// The program as it may run again. Throws StateError if that would be seen.
std::shared_ptr<const Program> repeatable(const std::shared_ptr<const Program> &program,
                                          std::string_view why) {
  std::shared_ptr<const Program> again = without_effects(program);
  if (const std::string_view effect = effect_of(again->nodes); !effect.empty())
    throw StateError(std::string(why) + " in a traced function runs " + program->name +
                     " again, and so its " + std::string(effect) +
                     "; move that out of it, or differentiate on values");
  return again;
}

} // namespace

std::vector<Tensor> Tracer::trace_push(const ConstructCall &call) {
  const auto program = repeatable(call.push->program, "jvp: a tangent of a gradient");
  std::vector<TracedType> types = output_types(*program), tangents;
  for (const TracedType &type : types)
    if (autodiff::carries_gradient(type.type.dtype)) tangents.push_back(type);
  types.insert(types.end(), tangents.begin(), tangents.end());
  std::vector<Tensor> results = add_call(ConstructKind::push, program, call.operands, {}, types);
  nodes().back().construct->wrt = call.push->wrt;
  nodes().back().construct->ends_at_hosts = call.push->ends_at_hosts;
  return results;
}

Recording Tracer::record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                              const IsWatched &watched) {
  const auto program = repeatable(recording.program, "GradientTape: a second derivative");
  std::vector<Tensor> inputs = recording.operands;
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  const std::vector<TracedType> types(inputs.begin(), inputs.end());
  const std::size_t count = recording.operands.size();
  const auto body = [&](std::span<const Tensor> given) {
    auto &inner = static_cast<Tracer &>(*Interpreter::current());
    Recording again = recording;
    again.program = program;
    again.operands.assign(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(count));
    inner.call_recorded(again);
    return inner.pull(again, given.subspan(count));
  };
  return add_record(
      trace_apart("gradient of " + recording.program->name, types, body, watched, orders_),
      std::move(inputs), watched);
}

} // namespace weft
