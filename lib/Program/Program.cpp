// Look-ups in programs, and the names of the phases they go through.
#include "Program/Program.h"

#include <algorithm>

#include <weft/phase.h>

namespace weft {

std::string_view name_of(Phase phase) {
  switch (phase) {
  case Phase::trace: return "trace";
  case Phase::differentiate: return "differentiate";
  case Phase::control_deps: return "control-deps";
  case Phase::simplify: return "simplify";
  case Phase::lift_state: return "lift-state";
  case Phase::linalg: return "linalg";
  case Phase::schedule: return "schedule";
  case Phase::bufferize: return "bufferize";
  case Phase::llvm: return "llvm";
  case Phase::object: return "object";
  case Phase::ptx: return "ptx";
  }
  return "?";
}

std::vector<std::string> Program::host_symbols() const {
  std::vector<std::string> symbols;
  for (const HostFunctionRef &host : hosts) {
    const std::string name = host->name.empty() ? "host" : host->name;
    std::string symbol = name;
    for (int n = 1; std::find(symbols.begin(), symbols.end(), symbol) != symbols.end(); ++n)
      symbol = name + "_" + std::to_string(n);
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

void Program::collect_hosts() {
  const auto add = [this](const HostFunctionRef &host) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  };
  const auto walk = [&](const auto &self, const std::vector<ProgramNode> &list) -> void {
    for (const ProgramNode &node : list) {
      if (!node.construct) continue;
      if (node.construct->host) add(node.construct->host);
      if (node.construct->callee)
        for (const HostFunctionRef &host : node.construct->callee->hosts) add(host);
      for (const ProgramRegion &region : node.construct->regions) self(self, region.nodes);
    }
  };
  walk(walk, nodes);
}

std::size_t Program::variable_index(const VariableRef &variable) const {
  return static_cast<std::size_t>(std::find(variables.begin(), variables.end(), variable) -
                                  variables.begin());
}

} // namespace weft
