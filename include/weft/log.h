// What the library does by itself: traces that are widened or dropped.
#pragma once

#include <functional>
#include <string_view>

namespace weft {

/// Receives lines of the log, without their end.
using LogSink = std::function<void(std::string_view)>;

/// Sends the log to `sink` from now on. Without a sink it goes to stderr if the environment
/// variable WEFT_LOG is set and not 0, and nowhere otherwise. Returns the sink before. May be
/// called from any thread.
LogSink set_log_sink(LogSink sink);

} // namespace weft
