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
  }
  return "?";
}

std::size_t Program::variable_index(const VariableRef &variable) const {
  return static_cast<std::size_t>(std::find(variables.begin(), variables.end(), variable) -
                                  variables.begin());
}

} // namespace weft
