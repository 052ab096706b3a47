// Maps of compiled code for perf: which op call of which traced function each range serves.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::jit {

/// A range of machine code.
struct CodeRange {
  std::uint64_t start = 0, size = 0;
  std::string name = {};     ///< "train_step:matmul"
  std::string location = {}; ///< "@train.cpp:41", or empty
};

/// The ranges of an object with line tables; `addressOf` gives the address that a function of it
/// was loaded at, 0 if it was not.
std::vector<CodeRange> codeRanges(llvm::MemoryBufferRef object,
                                  const std::function<std::uint64_t(llvm::StringRef)> &addressOf);

/// Appends them to /tmp/perf-PID.map, where perf looks. Says so in the log if that fails.
void writePerfMap(const std::vector<CodeRange> &ranges);

} // namespace weft::jit
