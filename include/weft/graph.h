// The graph of a traced function: its ops by name, and who takes whose results.
#pragma once

#include <string>
#include <vector>

#include <weft/source.h>
#include <weft/tensor.h>

namespace weft {

/// One node of a graph.
struct GraphNode {
  /// Unique in the graph. Slashes group what belongs to control flow and calls:
  /// "while_loop/body/add".
  std::string name;
  /// An op as the IR spells it ("matmul"), a construct ("cond", "while_loop", "call", ...), or
  /// "argument", "captured", "variable", "state", "result".
  std::string op;
  /// The nodes whose results it takes; "cond/end:1" is the second result of "cond/end".
  std::vector<std::string> inputs;
  /// The types of its results; sizes may be unknown.
  std::vector<TensorType> types;
  SourceLocation location; ///< the user's line; may be unknown
};

/// A program as a graph, in the order of its ops.
struct Graph {
  std::string name; ///< the function's
  std::vector<GraphNode> nodes;
};

} // namespace weft
