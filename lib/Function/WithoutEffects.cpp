// Programs without the effects that need not, and must not, happen a second time.
#include <algorithm>

#include "Function/DerivativePrograms.h"

namespace weft {

namespace {

/// What the variables of a program are to the one that is asked about.
using Names = std::vector<VariableRef>;

bool contains(const std::vector<VariableRef> &list, const VariableRef &variable) {
  return std::ranges::find(list, variable) != list.end();
}

/// Copies programs, without effects that nothing in them can see.
class EffectRemover {
public:
  /// Finds what is read in the nodes of `program`, whose variables have these names.
  void find_reads(const Program &program, const std::vector<ProgramNode> &nodes,
                  const Names &names) {
    for (const ProgramNode &node : nodes) {
      if (node.construct) {
        if (const Program *callee = node.construct->callee.get())
          find_reads(*callee, callee->nodes, names_in(program, *node.construct, names));
        for (const ProgramRegion &region : node.construct->regions)
          find_reads(program, region.nodes, names);
      } else if (op_info(node.op).reads_variable()) {
        const VariableRef &name = names[program.variable_index(*variable_in(node.attrs))];
        if (!contains(read_, name)) read_.push_back(name);
      }
    }
  }

  /// The program without such effects; itself if it has none.
  std::shared_ptr<const Program> copy_of(const std::shared_ptr<const Program> &program,
                                         const Names &names) {
    auto copy = std::make_shared<Program>();
    const std::size_t before = dropped_;
    copy->nodes = copy_of(*program, program->nodes, names);
    if (dropped_ == before) return program;
    static_cast<ProgramHead &>(*copy) = *program;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!contains(read_, names[i])) copy->written[i] = false;
    copy->hosts.clear();
    copy->collect_hosts();
    return copy;
  }

private:
  static Names names_in(const Program &program, const ProgramConstruct &call, const Names &names) {
    Names inner;
    for (const VariableRef &variable : call.variables)
      inner.push_back(names[program.variable_index(variable)]);
    return inner;
  }

  bool is_seen(const Program &program, const ProgramNode &node, const Names &names) const {
    // All ranks do a collective again together, and what it gives is wanted.
    if (op_info(node.op).kind == OpKind::collective) return true;
    const OpEffects &effects = op_info(node.op).effects;
    if (effects.writes)
      return contains(read_, names[program.variable_index(*variable_in(node.attrs))]);
    return !effects.io;
  }

  std::vector<ProgramNode> copy_of(const Program &program, const std::vector<ProgramNode> &nodes,
                                   const Names &names) {
    std::vector<ProgramNode> copies;
    for (const ProgramNode &node : nodes) {
      if (!node.construct && !is_seen(program, node, names)) {
        ++dropped_;
        continue;
      }
      ProgramNode copy{node.op, node.operands, node.attrs, node.result, nullptr, node.location};
      if (node.construct) {
        const ProgramConstruct &construct = *node.construct;
        copy.construct = std::make_unique<ProgramConstruct>();
        static_cast<ProgramConstructHead &>(*copy.construct) = construct;
        for (const ProgramRegion &region : construct.regions)
          copy.construct->regions.push_back(
              {region.arguments, copy_of(program, region.nodes, names), region.results});
        // A pullback of the user's runs in reverse, which is not a second time.
        if (construct.callee && construct.kind != ConstructKind::custom)
          copy.construct->callee = copy_of(construct.callee, names_in(program, construct, names));
      }
      copies.push_back(std::move(copy));
    }
    return copies;
  }

  std::vector<VariableRef> read_;
  std::size_t dropped_ = 0;
};

} // namespace

std::shared_ptr<const Program> without_effects(const std::shared_ptr<const Program> &program) {
  EffectRemover remover;
  remover.find_reads(*program, program->nodes, program->variables);
  return remover.copy_of(program, program->variables);
}

} // namespace weft
