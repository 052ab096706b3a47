// One compiled program with what it captured: checks nothing, lays out buffers, calls the entry.
#pragma once

#include <span>
#include <vector>

#include "Program/CompilerBackend.h"

namespace weft {

class CompiledCall {
public:
  CompiledCall(Program program, CompiledCode code);
  CompiledCall(const CompiledCall &) = delete;

  /// Runs the code. `inputs` have the program's input types. Throws what asserts and index checks
  /// inside throw.
  std::vector<Tensor> run(std::span<detail::TensorImpl *const> inputs);

private:
  Program program_;
  CompiledCode code_;
  std::vector<TensorType> outputs_;
  bool static_outputs_ = true;
  bool static_inputs_ = true;
};

} // namespace weft
