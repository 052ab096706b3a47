// Names the values of a program, and follows them into its constructs.
#include "Program/Program.h"

#include <map>
#include <unordered_map>

#include "Program/Sites.h"
#include "Runtime/Variable.h"
#include <weft/graph.h>

namespace weft {

namespace {

class Builder {
public:
  explicit Builder(Graph &graph) : graph_(graph) {}

  void add(const Program &program) {
    Scope scope{program, "", {}, {}};
    bind(scope, program.inputs, "argument", {});
    bind(scope, program.captured, "captured", {});
    add_variables(scope, {});
    add_nodes(scope, program.nodes);
    for (std::size_t i = 0; i < program.outputs.size(); ++i)
      add_node({fresh("result"),
                "result",
                {name_of(scope, program.outputs[i])},
                {program.values[program.outputs[i]]},
                {}});
  }

private:
  /// The values of a program that have names, those of the regions around included.
  struct Scope {
    const Program &program;
    std::string prefix;
    std::unordered_map<ValueId, std::string> names;
    std::map<const VariableState *, std::string> variables;
  };

  /// "add", "add_1", ...
  std::string fresh(const std::string &wanted) {
    const int count = counts_[wanted]++;
    return count == 0 ? wanted : wanted + "_" + std::to_string(count);
  }
  static const std::string &name_of(const Scope &scope, ValueId value) {
    return scope.names.at(value);
  }
  void add_node(GraphNode node) { graph_.nodes.push_back(std::move(node)); }

  /// Nodes for values that come from outside; `from` are the nodes that give them, if known.
  void bind(Scope &scope, const std::vector<ValueId> &values, const char *op,
            const std::vector<std::string> &from) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      GraphNode node{fresh(scope.prefix + op), op, {}, {scope.program.values[values[i]]}, {}};
      if (i < from.size()) node.inputs.push_back(from[i]);
      scope.names[values[i]] = node.name;
      add_node(std::move(node));
    }
  }

  /// Nodes for the variables of a program; `outside` are their names around it, if it is called.
  void add_variables(Scope &scope, const std::vector<std::string> &outside) {
    for (std::size_t i = 0; i < scope.program.variables.size(); ++i) {
      const VariableState *state = scope.program.variables[i].get();
      if (i < outside.size() && !outside[i].empty()) {
        scope.variables[state] = outside[i];
        continue;
      }
      GraphNode node{fresh(scope.prefix + (state->name().empty() ? "variable" : state->name())),
                     "variable",
                     {},
                     {state->type()},
                     {}};
      scope.variables[state] = node.name;
      add_node(std::move(node));
    }
  }

  void add_nodes(Scope &scope, const std::vector<ProgramNode> &nodes) {
    for (const ProgramNode &node : nodes) {
      if (node.construct) add_construct(scope, node);
      else add_op(scope, node);
    }
  }

  void add_op(Scope &scope, const ProgramNode &node) {
    const Site site{&scope.program, &node};
    GraphNode created{fresh(scope.prefix + std::string(site.name())),
                      std::string(site.name()),
                      {},
                      {},
                      site.location()};
    for (const Attr &attr : node.attrs)
      if (const auto *variable = std::get_if<VariableRef>(&attr))
        if (const auto found = scope.variables.find(variable->get());
            found != scope.variables.end())
          created.inputs.push_back(found->second);
    for (const ValueId operand : node.operands) created.inputs.push_back(name_of(scope, operand));
    for (const ValueId result : results_of(node)) {
      created.types.push_back(scope.program.values[result]);
      scope.names[result] = result == node.result
                                ? created.name
                                : created.name + ":" + std::to_string(result - node.result);
    }
    add_node(std::move(created));
  }

  void add_construct(Scope &scope, const ProgramNode &node) {
    const ProgramConstruct &construct = *node.construct;
    const Site site{&scope.program, &node};
    const std::string kind(site.name()), group = fresh(scope.prefix + kind);
    std::vector<std::string> operands, results;
    for (const ValueId operand : node.operands) operands.push_back(name_of(scope, operand));
    for (std::size_t i = 0; i < construct.regions.size(); ++i) {
      Scope inner{scope.program, group + "/" + region_name(construct.kind, i) + "/", scope.names,
                  scope.variables};
      const ProgramRegion &region = construct.regions[i];
      // Loops hand their state to the last arguments of their regions.
      const std::size_t known = std::min(region.arguments.size(), operands.size());
      std::vector<std::string> from(region.arguments.size());
      for (std::size_t j = 0; j < known; ++j)
        from[region.arguments.size() - 1 - j] = operands[operands.size() - 1 - j];
      bind_state(inner, region.arguments, from);
      add_nodes(inner, region.nodes);
      for (const ValueId result : region.results) results.push_back(name_of(inner, result));
    }
    if (construct.callee && construct.kind == ConstructKind::call)
      results = add_callee(scope, construct, group, operands);
    GraphNode created{group + (results.empty() ? "" : "/end"), kind, {}, {}, site.location()};
    if (construct.callee && construct.kind != ConstructKind::call)
      created.op += " of " + construct.callee->name;
    if (construct.host) created.op = "host_call";
    created.inputs = operands;
    created.inputs.insert(created.inputs.end(), results.begin(), results.end());
    for (std::size_t i = 0; i < construct.results.size(); ++i) {
      created.types.push_back(scope.program.values[construct.results[i]]);
      scope.names[construct.results[i]] =
          i == 0 ? created.name : created.name + ":" + std::to_string(i);
    }
    add_node(std::move(created));
  }

  void bind_state(Scope &scope, const std::vector<ValueId> &arguments,
                  const std::vector<std::string> &from) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      GraphNode node{
          fresh(scope.prefix + "state"), "state", {}, {scope.program.values[arguments[i]]}, {}};
      if (!from[i].empty()) node.inputs.push_back(from[i]);
      scope.names[arguments[i]] = node.name;
      add_node(std::move(node));
    }
  }

  /// What a call runs, as a group with the function's name. Gives its results.
  std::vector<std::string> add_callee(const Scope &scope, const ProgramConstruct &construct,
                                      const std::string &group,
                                      const std::vector<std::string> &operands) {
    const Program &callee = *construct.callee;
    Scope inner{callee, group + "/" + callee.name + "/", {}, {}};
    const auto middle = operands.begin() + static_cast<std::ptrdiff_t>(
                                               std::min(operands.size(), callee.inputs.size()));
    bind(inner, callee.inputs, "argument", {operands.begin(), middle});
    bind(inner, callee.captured, "captured", {middle, operands.end()});
    std::vector<std::string> variables;
    for (const VariableRef &variable : construct.variables) {
      const auto found = scope.variables.find(variable.get());
      variables.push_back(found == scope.variables.end() ? "" : found->second);
    }
    add_variables(inner, variables);
    add_nodes(inner, callee.nodes);
    std::vector<std::string> results;
    for (const ValueId output : callee.outputs) results.push_back(name_of(inner, output));
    return results;
  }

  static std::string region_name(ConstructKind kind, std::size_t number) {
    switch (kind) {
    case ConstructKind::branch: return number == 0 ? "then" : "else";
    case ConstructKind::loop: return number == 0 ? "condition" : "body";
    case ConstructKind::counted: return "body";
    default: return "case_" + std::to_string(number);
    }
  }

  Graph &graph_;
  std::map<std::string, int> counts_;
};

} // namespace

Graph graph_of(const Program &program) {
  Graph graph{program.name, {}};
  Builder(graph).add(program);
  return graph;
}

} // namespace weft
