// Records control flow: branches whose types meet, loops whose state types are a fixed point.
#include "Function/Tracer.h"

#include <algorithm>

#include "Function/DerivativePrograms.h"
#include "Ops/ConstructChecks.h"
#include "Support/CallSite.h"
#include "Support/Limits.h"

namespace weft {

bool Tracer::is_open(std::uint32_t region) const {
  return region == 0 ||
         std::any_of(open_.begin(), open_.end(), [&](const Open &o) { return o.number == region; });
}

std::string_view Tracer::effect() { return effect_of(nodes()); }

ProgramRegion Tracer::trace_region(std::string_view name, const detail::Body &body,
                                   std::span<const TracedType> arguments) {
  if (open_.size() >= kMaxNesting)
    throw StateError(std::string(name) + ": branches and loops are nested more than " +
                     std::to_string(kMaxNesting) + " deep in the trace of " + ref_->function +
                     "; a trace has all of them in it, whichever a call takes");
  open_.push_back({.region = {}, .number = ++regions_});
  struct Close {
    std::vector<Open> &open;
    ~Close() { open.pop_back(); }
  } close{open_};
  std::vector<Tensor> inputs;
  for (const TracedType &type : arguments) {
    const ValueId value = add_value(type);
    open_.back().region.arguments.push_back(value);
    inputs.push_back(wrap(value));
  }
  const auto given = [&] {
    const UserCode user;
    return body(inputs);
  }();
  std::vector<ValueId> results;
  for (const Tensor &result : given) {
    if (!result.defined())
      throw ValueError(std::string(name) + ": a tensor that a body returns is undefined");
    results.push_back(value_of(result));
  }
  ProgramRegion region = std::move(open_.back().region);
  region.results = std::move(results);
  return region;
}

std::vector<TracedType> Tracer::types_of(std::string_view name, const detail::Body &body,
                                         std::span<const TracedType> inputs) {
  return types_of(trace_region(name, body, inputs).results);
}

std::vector<TracedType> Tracer::types_of(const std::vector<ValueId> &values) const {
  std::vector<TracedType> types;
  for (const ValueId value : values) types.push_back(type_of(value));
  return types;
}

std::vector<Tensor> Tracer::add_construct(const ConstructCall &call,
                                          std::vector<ProgramRegion> regions,
                                          std::span<const TracedType> types) {
  ProgramNode node;
  for (const Tensor &operand : call.operands) node.operands.push_back(value_of(operand));
  node.construct = std::make_unique<ProgramConstruct>();
  node.construct->kind = call.kind;
  node.construct->step = call.step;
  node.construct->regions = std::move(regions);
  node.location = here();
  // A while_loop takes no line itself: its condition's first will do.
  for (const ProgramRegion &region : node.construct->regions)
    for (const ProgramNode &inner : region.nodes)
      if (node.location.line == 0) node.location = inner.location;
  std::vector<Tensor> results;
  for (const TracedType &type : types) {
    const ValueId value = add_value(type);
    node.construct->results.push_back(value);
    results.push_back(wrap(value));
  }
  nodes().push_back(std::move(node));
  return results;
}

std::vector<Tensor> Tracer::construct(const ConstructCall &call) {
  switch (call.kind) {
  case ConstructKind::branch:
  case ConstructKind::choice: return trace_choice(call);
  case ConstructKind::loop: return trace_loop(call);
  case ConstructKind::counted: return trace_counted(call);
  case ConstructKind::host: return trace_host(call);
  case ConstructKind::push: return trace_push(call);
  case ConstructKind::call: // recorded by functions of their own
  case ConstructKind::record:
  case ConstructKind::pull:
  case ConstructKind::custom: break;
  }
  return {};
}

std::vector<Tensor> Tracer::trace_host(const ConstructCall &call) {
  const std::vector<TracedType> types(call.host->results.begin(), call.host->results.end());
  std::vector<Tensor> results = add_construct(call, {}, types);
  nodes().back().construct->host = call.host->function;
  nodes().back().construct->pure = call.host->pure;
  return results;
}

std::vector<Tensor> Tracer::trace_choice(const ConstructCall &call) {
  std::vector<ProgramRegion> regions;
  std::vector<TracedType> types;
  for (std::size_t i = 0; i < call.bodies.size(); ++i) {
    regions.push_back(trace_region(call.name, call.bodies[i], {}));
    const std::vector<TracedType> results = types_of(regions.back().results);
    if (i == 0) types = results;
    check_branch_results(call.name, i, types.size(), results.size());
    for (std::size_t r = 0; r < results.size(); ++r)
      meet_branches(call.name, r, i, types[r], results[r]);
  }
  return add_construct(call, std::move(regions), types);
}

std::vector<Tensor> Tracer::trace_loop(const ConstructCall &call) {
  const std::vector<TracedType> before(call.operands.begin(), call.operands.end());
  std::vector<TracedType> state = before;
  // Sizes only ever become unknown, so this ends.
  for (;;) {
    std::vector<ProgramRegion> regions;
    regions.push_back(trace_region(call.name, call.bodies[0], state));
    check_condition(call.name, program_.values[regions[0].results.at(0)]);
    regions.push_back(trace_region(call.name, call.bodies[1], state));
    if (widen_loop_variables(call.name, before, state, types_of(regions[1].results))) continue;
    return add_construct(call, std::move(regions), state);
  }
}

std::vector<Tensor> Tracer::trace_counted(const ConstructCall &call) {
  const std::span<const Tensor> operands = call.operands.subspan(2);
  const std::vector<TracedType> before(operands.begin(), operands.end());
  std::vector<TracedType> state = before;
  for (;;) {
    std::vector<TracedType> arguments{TensorType{DType::i64, {}}};
    arguments.insert(arguments.end(), state.begin(), state.end());
    std::vector<ProgramRegion> regions;
    regions.push_back(trace_region(call.name, call.bodies[0], arguments));
    if (widen_loop_variables(call.name, before, state, types_of(regions[0].results))) continue;
    return add_construct(call, std::move(regions), state);
  }
}

} // namespace weft
