// What the kernels of a program for a GPU need: threads, blocks, memory, and registers where
// NVIDIA's assembler is there to count them.
#pragma once

#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::weft {

/// What `ptxas -v` says of a kernel.
struct AssembledKernel {
  int64_t registers = 0;  ///< of a thread
  int64_t spillBytes = 0; ///< that a thread stores to memory for want of registers
  int64_t stackBytes = 0; ///< of a thread
};

struct KernelNote {
  std::string name;     ///< in the PTX
  std::string location; ///< the user's "train.cpp:41", or ""
  /// Along three axes; nothing where a launch computes them.
  std::optional<std::array<int64_t, 3>> blocks, threads;
  int64_t sharedBytes = 0; ///< of a block
  std::optional<AssembledKernel> assembled;
};

/// Of a module after phase `llvm` for a GPU, in the order of its PTX. All but `assembled`.
std::vector<KernelNote> kernelNotesOf(ModuleOp module);

/// Adds what `ptxas`, a program, says of the PTX for a chip. A fault with its words if it refuses
/// it.
::weft::Check addAssembled(std::vector<KernelNote> &notes, const std::string &ptx,
                           const std::string &chip, const std::string &ptxas);

/// A summary, then a line for each.
std::string textOf(const std::vector<KernelNote> &notes, const std::string &chip);

} // namespace mlir::weft
