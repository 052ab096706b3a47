// The version of the library.
#pragma once

namespace weft {

/// "0.1.0".
const char *library_version();

} // namespace weft
