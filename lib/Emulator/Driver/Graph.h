// Graphs: kernels, copies and fills with edges between them, and what is made ready of them.
#pragma once

#include <array>
#include <memory>
#include <variant>
#include <vector>

#include "Cuda/Driver.h"
#include "Emulator/Driver/Order.h"
#include "Emulator/Machine/Launch.h"

namespace weft::emulator {

struct Device;
struct Driver;
struct Function;
struct Graph;
struct Program;

/// A launch with all its arguments.
struct KernelCall {
  std::shared_ptr<Program> program;
  const Kernel *kernel = nullptr;
  Shape shape;
  std::vector<std::byte> parameters;
};

/// Rows of bytes, in layers; of host or device.
struct CopyCall {
  struct Side {
    bool host = false;
    std::uint64_t address = 0;
    std::uint64_t row = 0, layer = 0; ///< bytes from one to the next
  };
  Side from, to;
  std::uint64_t width = 0, height = 1, depth = 1;
};

struct FillCall {
  std::uint64_t address = 0;
  std::uint32_t value = 0, element = 1; ///< its size: 1, 2 or 4
  std::uint64_t width = 0;              ///< elements
  std::uint64_t height = 1, pitch = 0;  ///< bytes from one row to the next
};

struct NoCall {};

struct ChildCall {
  std::shared_ptr<Graph> graph;
};

struct ConditionalCall {
  cuda::CUgraphConditionalHandle handle = 0;
  cuda::CUgraphConditionalNodeType type = cuda::CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<Graph>> bodies;
};

using NodeCall = std::variant<KernelCall, CopyCall, FillCall, NoCall, ChildCall, ConditionalCall>;

struct GraphNode {
  NodeCall call;
  std::vector<std::size_t> before; ///< numbers of nodes that it depends on
};

/// A graph that is being built.
struct Graph {
  Device *device = nullptr;
  std::vector<std::unique_ptr<GraphNode>> nodes; ///< each after those that it depends on
  struct Condition {
    cuda::CUgraphConditionalHandle handle;
    unsigned value;
    bool is_default; ///< it is set to `value` at each launch
  };
  std::vector<Condition> conditions;
  std::vector<std::shared_ptr<std::vector<cuda::CUgraph>>>
      handle_lists; ///< that callers point into

  /// The number of a node; -1 if it is none of this graph.
  std::ptrdiff_t number_of(const GraphNode *node) const;
};

/// A graph that is ready to be launched: a copy.
struct GraphExec {
  Graph graph;
  std::vector<const GraphNode *> originals; ///< of each node, that in the graph it was made of
};

/// A copy of a graph and of all graphs in it.
Graph copy_of(const Graph &graph);

/// Does what a node says.
Footprint run_call(Driver &driver, Device &device, const NodeCall &call);

/// Runs all nodes, in any order that the edges allow. Throws Fault where two nodes without a path
/// between them touch the same memory.
Footprint run_graph(Driver &driver, Device &device, const Graph &graph);

} // namespace weft::emulator
