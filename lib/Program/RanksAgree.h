// What decides how often ranks come to the collectives of a program, and whether it is the same on
// all of them.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "Program/Program.h"

namespace weft {

/// How the control flow of a program decides, in one walk through it.
struct RanksDecisions {
  /// " of 3 turns", " on true", or " by constants 0, 3 [5f0c91d2]": what the construct's condition
  /// is computed of, with a digest of how, and of the constants that are not shown. Ranks that have
  /// equal words and get the same of collectives decide alike. Nothing of what varies.
  std::unordered_map<const ProgramNode *, std::string> words;
  /// Those of the programs that it calls.
  std::unordered_map<const ProgramNode *, const RanksDecisions *> calls;
};

/// Those of a program that is called from none.
std::shared_ptr<const RanksDecisions> decisions_of(const Program &program);

} // namespace weft
