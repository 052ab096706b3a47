// What no file name may be.
#pragma once

#include <string_view>

namespace weft {

/// Throws ValueError if the path is empty or has a NUL, where the system would take it to end.
void check_path(std::string_view function, std::string_view path);

} // namespace weft
