// Histories of runs as objects of Python.
#pragma once

#include "Parts.h"

#include <weft/train/history.h>

namespace weft::python {

/// What an object of the class History holds.
struct BoundHistory final : Visitable {
  BoundHistory() = default;
  explicit BoundHistory(train::History of) : history(std::move(of)) {}
  void visit(StructureVisitor &visitor) override { visitor.stateful(history); }

  train::History history;
};

/// "lowest" or "highest".
train::Goal goal_of(const std::string &name);

} // namespace weft::python
