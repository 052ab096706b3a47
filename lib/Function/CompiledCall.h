// One compiled program with what it captured: checks nothing, lays out buffers, calls the entry.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "Program/CompilerBackend.h"

namespace weft {

class CompiledCall {
public:
  CompiledCall(Program program, CompiledCode code);
  ~CompiledCall();
  CompiledCall(const CompiledCall &) = delete;

  /// Runs the code. `inputs` have the program's input types. Throws what asserts and index checks
  /// inside throw.
  std::vector<Tensor> run(std::span<detail::TensorImpl *const> inputs);

private:
  std::byte *take_arena();
  void give_arena(std::byte *arena);

  Program program_;
  CompiledCode code_;
  std::vector<TensorType> outputs_;
  bool static_outputs_ = true;
  bool static_inputs_ = true;
  /// Free arenas; a call takes one, concurrent calls make more.
  std::mutex arenas_mutex_;
  std::vector<std::byte *> arenas_;
};

} // namespace weft
