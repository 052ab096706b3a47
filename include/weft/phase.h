// The named phases between a traced function and its machine code, and the account of a compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The named phases of a traced function, each with a textual form.
enum class Phase : std::uint8_t {
  trace,
  differentiate,
  control_deps,
  simplify,
  lift_state,
  linalg,
  schedule,
  bufferize,
  llvm,
  object,
};
/// "control-deps"; what --compile-to and WEFT_DUMP call it.
std::string_view name_of(Phase phase);

/// What compiling one trace took, in milliseconds, and what came of it.
struct CompileReport {
  struct PhaseTime {
    std::string phase;
    double milliseconds;
  };
  double trace_ms = 0;
  std::vector<PhaseTime> phases; ///< of code that was cached, one: "cache"
  double total_ms = 0;           ///< trace and all phases
  std::size_t arena_bytes = 0;
  std::size_t code_bytes = 0;
  int traced_ops = 0;
  /// Where the code came from: "miss" compiled and kept on disk, "off" compiled where nothing is
  /// kept, "hit" read from disk, "shared" that of an equal trace of this process.
  std::string cache;
  /// Files that FunctionOptions::dump asked for, in the order of the phases.
  std::vector<std::string> files;
};

} // namespace weft
