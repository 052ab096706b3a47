// What the environment asks of every compile: dumps of phases, debug information, maps for perf.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/phase.h>

namespace weft {

/// The phase of that name, or nothing.
std::optional<Phase> phase_of(std::string_view name);
/// "trace, differentiate, ...", up to and including `last`: for messages.
std::string phase_names(Phase last = Phase::ptx);

/// WEFT_DUMP: phases by name, separated by commas, or "all"; and WEFT_DUMP_DIR.
struct DumpRequest {
  std::vector<Phase> phases;
  /// The folder for NAME.N.PHASE.mlir; the text goes to stderr if it is empty.
  std::string folder;

  bool wants(Phase phase) const;
  /// From the environment. A name that is no phase is left out, after a warning.
  static DumpRequest from_environment();
};

/// WEFT_DEBUG_INFO=1: compiled code has line tables that gdb is told of.
bool debug_info_requested();
/// WEFT_PERF=1: /tmp/perf-PID.map names the op calls of compiled code.
bool perf_map_requested();

/// A function's name as a part of a file's: what is no letter, digit, - or _ becomes _, and it is
/// no longer than file systems take.
std::string file_name_of(std::string_view name);
/// Throws ValueError, naming the function, for a value that is no phase.
void check_phase(std::string_view function, Phase phase);

/// Whether one of these needs code that is compiled now: code from the cache has no lines.
bool fresh_code_requested();

} // namespace weft
