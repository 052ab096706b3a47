// Numbers of bytes for people.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// "512 B", "1.5 KiB".
std::string bytes_text(std::int64_t bytes);

} // namespace weft
