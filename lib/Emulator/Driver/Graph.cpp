// What nodes of graphs do, and the order in which they do it.
#include "Emulator/Driver/Graph.h"

#include <cstring>

#include "Emulator/Driver/Driver.h"
#include "Emulator/Driver/Transfers.h"

namespace weft::emulator {

using namespace cuda;

std::ptrdiff_t Graph::number_of(const GraphNode *node) const {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].get() == node) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

Graph copy_of(const Graph &graph) {
  Graph copy;
  copy.device = graph.device;
  copy.conditions = graph.conditions;
  const auto deep = [](const std::shared_ptr<Graph> &inner) {
    return std::make_shared<Graph>(copy_of(*inner));
  };
  for (const auto &node : graph.nodes) {
    copy.nodes.push_back(std::make_unique<GraphNode>(*node));
    NodeCall &call = copy.nodes.back()->call;
    if (auto *child = std::get_if<ChildCall>(&call)) child->graph = deep(child->graph);
    if (auto *conditional = std::get_if<ConditionalCall>(&call))
      for (auto &body : conditional->bodies) body = deep(body);
  }
  return copy;
}

namespace {

Footprint run_conditional(Driver &driver, Device &device, const ConditionalCall &call) {
  Footprint all;
  const auto value = [&] { return driver.conditions[call.handle]; };
  const auto run = [&](std::size_t body) {
    if (body < call.bodies.size()) all.append(run_graph(driver, device, *call.bodies[body]));
  };
  switch (call.type) {
  case CU_GRAPH_COND_TYPE_IF: run(value() != 0 ? 0 : 1); break;
  case CU_GRAPH_COND_TYPE_SWITCH: run(value()); break;
  case CU_GRAPH_COND_TYPE_WHILE: {
    const auto deadline = std::chrono::steady_clock::now() + driver.options.schedule.timeout;
    while (value() != 0) {
      run(0);
      if (std::chrono::steady_clock::now() > deadline)
        throw Fault{FaultKind::timeout, "a loop of a graph does not end"};
    }
    break;
  }
  }
  return all;
}

/// Of each node, the nodes that come before it.
std::vector<std::vector<bool>> all_before(const Graph &graph) {
  std::vector<std::vector<bool>> before(graph.nodes.size(), std::vector<bool>(graph.nodes.size()));
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::size_t j : graph.nodes[i]->before) {
      before[i][j] = true;
      for (std::size_t k = 0; k < j; ++k) before[i][k] = before[i][k] || before[j][k];
    }
  return before;
}

const char *kind_of(const NodeCall &call) {
  static constexpr const char *kKinds[] = {"kernel",     "copy",  "fill",
                                           "empty node", "graph", "conditional node"};
  return kKinds[call.index()];
}

} // namespace

Footprint run_call(Driver &driver, Device &device, const NodeCall &call) {
  if (const auto *kernel = std::get_if<KernelCall>(&call)) return driver.run(device, *kernel);
  if (const auto *copy = std::get_if<CopyCall>(&call)) return run_copy(driver, *copy);
  if (const auto *fill = std::get_if<FillCall>(&call)) return run_fill(driver, *fill);
  if (const auto *child = std::get_if<ChildCall>(&call))
    return run_graph(driver, device, *child->graph);
  if (const auto *conditional = std::get_if<ConditionalCall>(&call))
    return run_conditional(driver, device, *conditional);
  return {};
}

Footprint run_graph(Driver &driver, Device &device, const Graph &graph) {
  for (const Graph::Condition &condition : graph.conditions)
    if (condition.is_default) driver.conditions[condition.handle] = condition.value;
  const std::vector<std::vector<bool>> before = all_before(graph);
  const std::size_t count = graph.nodes.size();
  std::vector<bool> done(count);
  std::vector<Footprint> footprints(count);
  std::mt19937_64 random(driver.options.schedule.seed + count);
  Footprint all;
  for (std::size_t left = count; left > 0; --left) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::size_t> &needs = graph.nodes[i]->before;
      if (!done[i] &&
          std::all_of(needs.begin(), needs.end(), [&](std::size_t j) { return done[j]; }))
        ready.push_back(i);
    }
    const std::size_t node = ready[random() % ready.size()];
    footprints[node] = run_call(driver, device, graph.nodes[node]->call);
    footprints[node].finish();
    for (std::size_t other = 0; other < count; ++other) {
      if (!done[other] || before[node][other]) continue;
      if (footprints[node].conflict(footprints[other]) == 0) continue;
      const auto name = [&](std::size_t i) {
        const auto *kernel = std::get_if<KernelCall>(&graph.nodes[i]->call);
        return std::string(kind_of(graph.nodes[i]->call)) + " " +
               (kernel != nullptr ? kernel->kernel->name + " " : "") + "(node " +
               std::to_string(i) + ")";
      };
      throw Fault{FaultKind::race,
                  "race: in a graph, the " + name(node) + " and the " + name(other) +
                      " touch the same memory, one of them writes it, and there is "
                      "no path between them"};
    }
    done[node] = true;
    all.append(footprints[node]);
  }
  return all;
}

} // namespace weft::emulator
