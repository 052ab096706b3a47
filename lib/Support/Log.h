// One line of what the library does by itself, for those who ask: WEFT_LOG=1, or a sink.
#pragma once

#include <string_view>

namespace weft {

/// Whether somebody reads the log; lines need not be composed otherwise.
bool logging();
/// Adds a line, which begins with who speaks: "step: argument 0, ...".
void log_line(std::string_view line);
/// Adds a line that tells the user of a mistake: to the sink, or to stderr also where nobody reads
/// the log.
void warn_line(std::string_view line);

} // namespace weft
