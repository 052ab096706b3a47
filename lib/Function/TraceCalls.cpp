// What a trace has to do with the world around it: variables of arguments, variables created while
// it is traced, calls of other traced functions, and traces around it.
#include "Function/Tracer.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <unordered_map>

#include "Device/Device.h"
#include "Ops/Eager.h"
#include "Runtime/Variable.h"
#include <weft/detail/staging.h>

namespace weft {

//===----------------------------------------------------------------------===//
// Traces around this one
//===----------------------------------------------------------------------===//

Tracer *Tracer::outer_of(const Ref *ref) const {
  for (Interpreter *outer = previous(); outer != nullptr; outer = outer->previous())
    if (auto *tracer = dynamic_cast<Tracer *>(outer); tracer != nullptr && tracer->ref_ == ref)
      return tracer;
  return nullptr;
}

Tracer *Tracer::outer_of(const VariableRef &parameter) const {
  for (Interpreter *outer = previous(); outer != nullptr; outer = outer->previous())
    if (auto *tracer = dynamic_cast<Tracer *>(outer))
      for (const VariableRef &own : tracer->program_.parameters)
        if (own == parameter) return tracer;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

const std::vector<VariableRef> &
Tracer::parameters(std::span<const detail::VariablePointer> variables) {
  for (const detail::VariablePointer variable : variables) {
    if (const auto cut = (*variable)->cut())
      throw StateError(program_.name + ": " +
                       said_of_cut("the variable '" + (*variable)->name() + "'", cut->ranks) +
                       ", and an argument: let the function use it without being given it, "
                       "or call the optimizer's gather_state() first");
    actual_.push_back(*variable);
    program_.parameters.push_back(std::make_shared<VariableState>(
        (*variable)->type(), (*variable)->name(), (*variable)->trainable()));
  }
  captured_parameters_.resize(variables.size());
  return program_.parameters;
}

VariableRef Tracer::known(const VariableRef &variable) {
  for (std::size_t i = 0; i < actual_.size(); ++i)
    if (actual_[i] == variable) {
      captured_parameters_[i] = true;
      return program_.parameters[i];
    }
  if (!variable->stands_in()) return variable;
  for (const VariableRef &own : program_.parameters)
    if (own == variable) return variable;
  if (outer_of(variable) == nullptr)
    throw StateError(program_.name + ": the variable '" + variable->name() +
                     "' stands for an argument of a traced function and was used outside of its "
                     "trace: keep the variable that you passed instead");
  uses_outer_ = true;
  return variable;
}

std::vector<const ProgramNode *> Tracer::nodes_so_far() const {
  std::vector<const ProgramNode *> all;
  for (const ProgramNode &node : program_.nodes) all.push_back(&node);
  for (const Open &open : open_)
    for (const ProgramNode &node : open.region.nodes) all.push_back(&node);
  return all;
}

Tensor Tracer::initial_value(const Tensor &tensor, const std::string &name) {
  const auto refuse = [&](const std::string &why) {
    return StateError("Variable: the initial value of '" + name + "' depends on " + why +
                      " of the traced function '" + program_.name +
                      "', which has no value while it is traced; make the variable outside of the "
                      "function, or begin with another value and assign this one");
  };
  if (static_cast<const Ref *>(static_cast<detail::TraceRef *>(tensor.impl()->base)) != ref_)
    return tensor;
  const std::vector<const ProgramNode *> nodes = nodes_so_far();
  std::unordered_map<ValueId, Tensor> values;
  for (std::size_t i = 0; i < program_.captured.size(); ++i)
    if (!program_.captures[i].traced()) values[program_.captured[i]] = program_.captures[i];
  std::set<ValueId> wanted{tensor.impl()->trace_value};
  std::vector<const ProgramNode *> slice; // last call first
  std::set<VariableRef> read;
  for (const ProgramNode *node : std::views::reverse(nodes)) {
    const ProgramNode &call = *node;
    if (call.construct) {
      for (const ValueId result : call.construct->results)
        if (wanted.contains(result)) throw refuse("control flow or a call");
      continue;
    }
    const VariableRef *variable = variable_in(call.attrs);
    if (op_info(call.op).effects.writes && read.contains(*variable)) throw refuse("an assignment");
    std::size_t found = 0;
    for (const ValueId result : results_of(call)) found += wanted.erase(result);
    if (found == 0) continue;
    if (variable != nullptr) {
      if ((*variable)->stands_in()) throw refuse("an argument");
      read.insert(*variable);
    }
    slice.push_back(&call);
    for (const ValueId operand : call.operands)
      if (!values.contains(operand)) wanted.insert(operand);
  }
  if (!wanted.empty()) throw refuse("an argument");

  const Scope eager(nullptr);
  const device::ScopesCount on_devices(true); // the variable is where it is made
  for (const ProgramNode *node : std::views::reverse(slice)) {
    std::vector<Tensor> operands;
    for (const ValueId operand : node->operands) operands.push_back(values.at(operand));
    std::vector<Tensor> results = dispatch_all(node->op, operands, node->attrs);
    for (const ValueId result : results_of(*node))
      values[result] = std::move(results[result - node->result]);
  }
  return values.at(tensor.impl()->trace_value);
}

namespace {

/// How often a program refers to a variable.
class ReferenceCount {
public:
  explicit ReferenceCount(const VariableState *variable) : variable_(variable) {}

  long of(const Program &program) {
    if (!seen_.insert(&program).second) return 0;
    return of(program.variables) + of(program.nodes);
  }

private:
  long of(const std::vector<VariableRef> &variables) const {
    long count = 0;
    for (const VariableRef &variable : variables) count += variable.get() == variable_;
    return count;
  }
  long of(const std::vector<ProgramNode> &nodes) {
    long count = 0;
    for (const ProgramNode &node : nodes) {
      for (const Attr &attr : node.attrs)
        if (const auto *variable = std::get_if<VariableRef>(&attr))
          count += variable->get() == variable_;
      if (!node.construct) continue;
      count += of(node.construct->variables);
      if (node.construct->callee) count += of(*node.construct->callee);
      for (const ProgramRegion &region : node.construct->regions) count += of(region.nodes);
    }
    return count;
  }

  const VariableState *variable_;
  std::set<const Program *> seen_;
};

} // namespace

void Tracer::check_made() const {
  for (const std::weak_ptr<VariableState> &created : made_) {
    if (created.expired()) continue;
    const VariableRef variable = created.lock();
    if (variable.use_count() - 1 != ReferenceCount(variable.get()).of(program_)) continue;
    detail::refuse_unkept(program_.name, variable->name());
  }
}

void detail::refuse_unkept(const std::string &function, const std::string &variable) {
  throw StateError(
      function + ": the variable '" + variable +
      "' is created anew by each call and kept nowhere, so that traced it would be one for all "
      "calls; "
      "make it outside of the function, or in its first call alone and keep it where later calls "
      "find it");
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::vector<Tensor> Tracer::call(const std::shared_ptr<const Program> &callee,
                                 std::span<detail::TensorImpl *const> inputs,
                                 std::span<const detail::VariablePointer> variables) {
  std::vector<Tensor> operands;
  for (detail::TensorImpl *input : inputs) {
    detail::retain(input);
    operands.emplace_back(input);
  }
  operands.insert(operands.end(), callee->captures.begin(), callee->captures.end());
  return add_call(ConstructKind::call, callee, operands, variables);
}

std::vector<Tensor> Tracer::add_call(ConstructKind kind,
                                     const std::shared_ptr<const Program> &callee,
                                     std::span<const Tensor> operands,
                                     std::span<const detail::VariablePointer> variables) {
  return add_call(kind, callee, operands, variables, output_types(*callee));
}

std::vector<Tensor> Tracer::add_call(ConstructKind kind,
                                     const std::shared_ptr<const Program> &callee,
                                     std::span<const Tensor> operands,
                                     std::span<const detail::VariablePointer> variables,
                                     std::span<const TracedType> types) {
  ProgramNode node;
  for (const Tensor &operand : operands) node.operands.push_back(value_of(operand));
  node.construct = std::make_unique<ProgramConstruct>();
  node.construct->kind = kind;
  node.construct->callee = callee;
  node.location = here();
  if (callee->orders != kAnyOrder) {
    // A pullback is there for the first derivative, and what is recorded has had its own.
    const std::int64_t more = kind == ConstructKind::custom   ? 1
                              : kind == ConstructKind::record ? -1
                              : kind == ConstructKind::push   ? -2
                                                              : 0;
    const std::int64_t orders = std::max<std::int64_t>(callee->orders + more, 0);
    program_.orders = std::min(program_.orders, static_cast<std::uint32_t>(orders));
  }
  for (std::size_t i = 0; i < callee->variables.size(); ++i) {
    VariableRef variable = callee->variables[i];
    for (std::size_t p = 0; p < callee->parameters.size(); ++p)
      if (callee->parameters[p] == variable) variable = *variables[p];
    node.construct->variables.push_back(known(variable));
    note_variable(node.construct->variables.back(), callee->written[i]);
  }
  program_.folded.insert(program_.folded.end(), callee->folded.begin(), callee->folded.end());
  std::vector<Tensor> results;
  for (const TracedType &type : types) {
    node.construct->results.push_back(add_value(type));
    results.push_back(wrap(node.construct->results.back()));
  }
  nodes().push_back(std::move(node));
  return results;
}

} // namespace weft
