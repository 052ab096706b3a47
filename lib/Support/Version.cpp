// Tells the version that CMake builds.
#include "Support/Version.h"

namespace weft {

const char *library_version() { return WEFT_VERSION; }

} // namespace weft
