// Builds the program of a derivative, and follows derivatives through programs.
#include "Function/DerivativePrograms.h"

#include <algorithm>
#include <unordered_map>

#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Rules/NoDerivative.h"
#include "Runtime/Variable.h"

namespace weft {

using autodiff::carries_gradient;

std::string_view effect_of(const std::vector<ProgramNode> &nodes) {
  for (const ProgramNode &node : nodes) {
    if (!node.construct) {
      const OpInfo &info = op_info(node.op);
      if (info.kind == OpKind::effect && !info.reads_variable()) return info.name;
      continue;
    }
    const ProgramConstruct &construct = *node.construct;
    if (construct.kind == ConstructKind::host && !construct.pure) return "host_call";
    if (construct.callee)
      if (const std::string_view found = effect_of(construct.callee->nodes); !found.empty())
        return found;
    for (const ProgramRegion &region : construct.regions)
      if (const std::string_view found = effect_of(region.nodes); !found.empty()) return found;
  }
  return {};
}

std::shared_ptr<const Program> derivative_of(const std::shared_ptr<const Program> &callee,
                                             const std::vector<std::uint32_t> &wrt,
                                             std::optional<DerivativePart::Half> half,
                                             bool ends_at_hosts) {
  auto program = std::make_shared<Program>();
  program->name =
      half == DerivativePart::Half::forward ? callee->name : "gradient of " + callee->name;
  program->parameters = callee->parameters;
  program->variables = callee->variables;
  program->written = callee->written;
  const auto add_value = [&](const TensorType &type) {
    program->values.push_back(type);
    return static_cast<ValueId>(program->values.size() - 1);
  };
  ProgramNode record, pull;
  record.construct = std::make_unique<ProgramConstruct>();
  record.construct->kind = ConstructKind::record;
  record.construct->callee = callee;
  record.construct->variables = callee->variables;
  record.construct->wrt = wrt;
  record.construct->record = 1;
  record.construct->ends_at_hosts = ends_at_hosts;
  pull.construct = std::make_unique<ProgramConstruct>();
  pull.construct->kind = ConstructKind::pull;
  pull.construct->record = 1;
  std::vector<TensorType> operands;
  for (const std::vector<ValueId> *ids : {&callee->inputs, &callee->captured})
    for (const ValueId id : *ids) {
      operands.push_back(callee->values[id]);
      program->inputs.push_back(add_value(operands.back()));
      record.operands.push_back(program->inputs.back());
    }
  for (const VariableRef &variable : callee->variables) operands.push_back(variable->type());
  for (const ValueId output : callee->outputs) {
    const TensorType &type = callee->values[output];
    record.construct->results.push_back(add_value(type));
    if (half) program->outputs.push_back(record.construct->results.back());
    if (!carries_gradient(type.dtype)) continue;
    program->inputs.push_back(add_value(type));
    pull.operands.push_back(program->inputs.back());
  }
  for (const std::uint32_t operand : wrt) {
    pull.construct->results.push_back(add_value(operands[operand]));
    program->outputs.push_back(pull.construct->results.back());
  }
  if (half)
    program->part = {*half, static_cast<std::uint32_t>(record.operands.size()),
                     static_cast<std::uint32_t>(callee->outputs.size())};
  program->nodes.push_back(std::move(record));
  program->nodes.push_back(std::move(pull));
  program->folded = callee->folded;
  program->checkpoint = callee->checkpoint;
  program->tf32 = callee->tf32;
  if (callee->orders != kAnyOrder) program->orders = std::max(callee->orders, 1u) - 1;
  program->collect_hosts();
  return program;
}

namespace {

/// Follows derivatives through one program.
class Reach {
public:
  explicit Reach(const Program &program)
      : program_(program), tensors_(program.inputs.size() + program.captured.size()),
        size_(tensors_ + program.variables.size()),
        known_(program.values.size(), Known{Set(size_), Set(size_), nullptr}) {}

  ReachedOperands run() {
    std::size_t number = 0;
    for (const std::vector<ValueId> *ids : {&program_.inputs, &program_.captured})
      for (const ValueId id : *ids) reach(id, number++);
    visit(program_.nodes);
    ReachedOperands found;
    for (const ValueId output : program_.outputs) {
      const Known &known = known_[output];
      const auto result = static_cast<std::uint32_t>(found.outputs.size());
      found.outputs.push_back(known.reached);
      if (!known.refusal) continue;
      RefusedResult refused{result, {}, known.refusal};
      for (std::size_t i = 0; i < size_; ++i)
        if (known.refused[i]) refused.operands.push_back(static_cast<std::uint32_t>(i));
      found.refused.push_back(std::move(refused));
    }
    found.all_refused = all_refused_;
    return found;
  }

private:
  using Set = std::vector<bool>; ///< a bit per operand
  /// What leads to a value.
  struct Known {
    Set reached, refused; ///< the same by way of a host call
    RefusalRef refusal;   ///< of the first such call
  };

  void mark(ValueId to, Set Known::*set, std::size_t operand) {
    if (!carries_gradient(program_.values[to].dtype) || (known_[to].*set)[operand]) return;
    (known_[to].*set)[operand] = true;
    changed_ = true;
  }
  void reach(ValueId to, std::size_t operand) { mark(to, &Known::reached, operand); }
  void refuse(ValueId to, std::size_t operand, const RefusalRef &refusal) {
    mark(to, &Known::refused, operand);
    if (!known_[to].refusal) known_[to].refusal = refusal;
  }
  void add(ValueId to, ValueId from) {
    for (std::size_t i = 0; i < size_; ++i)
      if (known_[from].reached[i]) reach(to, i);
    add_refused(to, from);
  }
  void add_refused(ValueId to, ValueId from) {
    if (!known_[from].refusal) return;
    for (std::size_t i = 0; i < size_; ++i)
      if (known_[from].refused[i]) refuse(to, i, known_[from].refusal);
  }
  template <class To, class From>
  void add_each(const To &to, const From &from) {
    for (std::size_t i = 0; i < to.size(); ++i) add(to[i], from[i]);
  }

  void visit(const std::vector<ProgramNode> &nodes) {
    for (const ProgramNode &node : nodes) {
      if (node.construct) visit(node, *node.construct);
      else if (op_info(node.op).reads_variable())
        reach(node.result, tensors_ + program_.variable_index(*variable_in(node.attrs)));
      else if (op_info(node.op).differentiable)
        for (const ValueId result : results_of(node))
          for (const ValueId operand : node.operands) add(result, operand);
    }
  }

  void visit(const ProgramNode &node, const ProgramConstruct &construct) {
    switch (construct.kind) {
    case ConstructKind::branch:
    case ConstructKind::choice:
      for (const ProgramRegion &region : construct.regions) {
        visit(region.nodes);
        add_each(construct.results, region.results);
      }
      return;
    case ConstructKind::loop: return visit_loop(node, construct, 0, 0);
    case ConstructKind::counted: return visit_loop(node, construct, 2, 1);
    case ConstructKind::call:
    case ConstructKind::record: return visit_call(node, construct);
    case ConstructKind::push:
      all_refused_ = false;
      for (const ValueId result : construct.results)
        for (const ValueId operand : node.operands) add(result, operand);
      return;
    case ConstructKind::host: return visit_host(node, construct);
    case ConstructKind::custom: {
      const std::size_t values = construct.results.size();
      for (const ValueId result : construct.results)
        for (std::size_t i = 0; i < construct.callee->outputs.size(); ++i)
          add(result, node.operands[values + i]);
      return;
    }
    case ConstructKind::pull:
      all_refused_ = false;
      for (const ValueId result : construct.results) {
        for (const ValueId operand : node.operands) add(result, operand);
        for (const ValueId operand : recorded_[construct.record]) add(result, operand);
      }
      return;
    }
  }

  /// A loop whose state begins with operand `first` and argument `skipped` of the regions.
  void visit_loop(const ProgramNode &node, const ProgramConstruct &construct, std::size_t first,
                  std::size_t skipped) {
    const bool before = changed_;
    bool any = false;
    for (std::size_t i = 0; i < construct.results.size(); ++i)
      add(construct.results[i], node.operands[first + i]);
    // What is reached only ever grows, so this ends.
    do {
      any |= changed_;
      changed_ = false;
      for (const ProgramRegion &region : construct.regions) {
        for (std::size_t i = 0; i < construct.results.size(); ++i)
          add(region.arguments[skipped + i], construct.results[i]);
        visit(region.nodes);
      }
      add_each(construct.results, construct.regions.back().results);
    } while (changed_);
    changed_ = before || any; // for a loop around this one
  }

  void visit_host(const ProgramNode &node, const ProgramConstruct &construct) {
    const SourceLocation location = node.location.line == 0
                                        ? SourceLocation()
                                        : SourceLocation{program_.files[node.location.file],
                                                         node.location.line, node.location.column};
    const auto refusal = std::make_shared<const Refusal>(
        autodiff::no_derivative_of(prefix_of(*construct.host)), location);
    for (const ValueId result : construct.results)
      for (const ValueId operand : node.operands) {
        add_refused(result, operand);
        for (std::size_t i = 0; i < size_; ++i)
          if (known_[operand].reached[i]) refuse(result, i, refusal);
      }
  }

  void visit_call(const ProgramNode &node, const ProgramConstruct &construct) {
    const Program &callee = *construct.callee;
    auto [found, fresh] = called_.try_emplace(&callee);
    if (fresh) found->second = Reach(callee).run();
    const ReachedOperands &known = found->second;
    const std::size_t tensors = callee.inputs.size() + callee.captured.size();
    const auto variable = [&](std::size_t i) {
      return tensors_ + program_.variable_index(construct.variables[i - tensors]);
    };
    all_refused_ = all_refused_ && known.all_refused;
    for (std::size_t r = 0; r < construct.results.size(); ++r)
      for (std::size_t i = 0; i < known.outputs[r].size(); ++i) {
        if (!known.outputs[r][i]) continue;
        if (i < tensors) add(construct.results[r], node.operands[i]);
        else reach(construct.results[r], variable(i));
      }
    for (const RefusedResult &refused : known.refused)
      for (const std::uint32_t i : refused.operands) {
        const ValueId result = construct.results[refused.result];
        if (i >= tensors) {
          refuse(result, variable(i), refused.refusal);
          continue;
        }
        add_refused(result, node.operands[i]);
        for (std::size_t own = 0; own < size_; ++own)
          if (known_[node.operands[i]].reached[own]) refuse(result, own, refused.refusal);
      }
    if (construct.kind == ConstructKind::record)
      recorded_[construct.record].assign(node.operands.begin(), node.operands.end());
  }

  const Program &program_;
  const std::size_t tensors_, size_;
  std::vector<Known> known_; ///< of each value
  bool all_refused_ = true;
  std::unordered_map<const Program *, ReachedOperands> called_;
  std::unordered_map<std::uint32_t, std::vector<ValueId>> recorded_; ///< operands of records
  bool changed_ = false;
};

} // namespace

ReachedOperands reached_operands(const Program &program) { return Reach(program).run(); }

} // namespace weft
