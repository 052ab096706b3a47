// Where printed lines go.
#pragma once

#include <functional>
#include <string_view>

namespace weft {

/// Receives printed lines, without their end.
using PrintSink = std::function<void(std::string_view)>;

/// Sends the lines of `print`, eager and compiled, to `sink` from now on; to stdout if it is empty.
/// Returns the sink before. May be called from any thread.
PrintSink set_print_sink(PrintSink sink);

} // namespace weft
