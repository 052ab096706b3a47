// Tells the version that CMake builds, and where the library is.
#include "Support/Version.h"

#include <dlfcn.h>

namespace weft {

const char *library_version() { return WEFT_VERSION; }

std::string library_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&library_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

} // namespace weft
