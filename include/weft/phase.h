// The named phases between a traced function and its machine code, and the account of a compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The named phases of a traced function, each with a textual form.
enum class Phase : std::int32_t {
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
  ptx, ///< of programs for GPUs: their kernels, beside the host's `object`
};
/// "control-deps"; what --compile-to and WEFT_DUMP call it.
std::string_view name_of(Phase phase);

/// One thing that a call of compiled code does with memory besides computing in place.
struct MemoryNote {
  enum class Kind : std::int32_t {
    output,     ///< a result, which every call makes anew
    update,     ///< a variable gets its new value: in its own buffer, unless there is a reason
    allocation, ///< memory from the allocator, since the compiler could not plan for it
    copy,       ///< elements are copied and nothing else
  };
  Kind kind{};
  std::string what;        ///< "result 0", "@w", or the op that wants the memory
  std::int64_t bytes = -1; ///< -1: known only when it runs
  std::string formula;     ///< of these bytes: "4 * argument 0.size(1)"
  std::string reason;      ///< empty for an output, and for an update in place
  std::string location;    ///< the user's "train.cpp:41", or ""
  /// "1.5 KiB", or the formula.
  std::string size_text() const;
  friend bool operator==(const MemoryNote &, const MemoryNote &) = default;
};

/// A value of the forward part that a derivative stores for its reverse part.
struct SavedNote {
  enum class Form : std::int32_t {
    value,    ///< straight-line code keeps it until the reverse part has read it
    branch,   ///< a branch gives it as a further result
    stack,    ///< a loop keeps that of every iteration
    snapshot, ///< a loop keeps that of some iterations, from which the others are run again
  };
  Form form{};
  std::string function;    ///< the differentiated function, "loss"
  std::string what;        ///< the op that computes it, or "state 1 of scf.while"
  std::string type;        ///< "tensor<8x4xf32>"
  std::int64_t bytes = -1; ///< of one of them; -1: known only when it runs
  std::int64_t times = 1;  ///< how many are kept at most; -1: known only when it runs
  std::string reason;      ///< why it is not computed again
  std::string location;    ///< the user's "train.cpp:41", or ""
  friend bool operator==(const SavedNote &, const SavedNote &) = default;
};

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
  /// Outputs, updates, allocations and copies, in this order. Temporaries of known size are not
  /// among them: they share `arena_bytes`.
  std::vector<MemoryNote> memory;
  /// How many of these are copies.
  std::size_t copies() const;
  /// `memory` as text: a summary, then a line for each, as `weft-compile --report=copies` prints
  /// it.
  std::string memory_text() const;
  /// What derivatives through control flow and of it store for their reverse parts, in the order in
  /// which they are expanded. Arguments and constants, which are there anyway, are not among them.
  std::vector<SavedNote> saved;
  /// `saved` as text: a summary, then a line for each, then the total, as `weft-compile
  /// --report=saved` prints it.
  std::string saved_text() const;
  /// Files that FunctionOptions::dump asked for, in the order of the phases.
  std::vector<std::string> files;
};

} // namespace weft
