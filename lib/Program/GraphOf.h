// Programs as graphs, for those who draw them.
#pragma once

#include "Program/Program.h"
#include <weft/graph.h>

namespace weft {

/// The graph of a program, with what its constructs and calls contain.
Graph graph_of(const Program &program);

} // namespace weft
