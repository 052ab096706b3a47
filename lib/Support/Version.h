// The version of the library, and where it is.
#pragma once

#include <string>

namespace weft {

/// "0.1.0".
const char *library_version();

/// The folder that it was loaded from, with a slash at its end; empty if that is not known.
std::string library_folder();

} // namespace weft
