// Where printed lines go.
#pragma once

#include <functional>
#include <string_view>

namespace weft {

/// The last character of a printed text that ends no line, as those of Python with an `end`.
inline constexpr char continues_line = '\0';

/// Receives printed lines, without their end.
using PrintSink = std::function<void(std::string_view)>;

/// Sends the lines of `print`, eager and compiled, to `sink` from now on; to stdout if it is empty,
/// where each line is flushed, and one that cannot be written, as the device is full or nobody
/// reads the pipe, is an IOError of the call that prints. Returns the sink before. May be called
/// from any thread.
PrintSink set_print_sink(PrintSink sink);

} // namespace weft
