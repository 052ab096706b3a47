// Finds functions by the dynamic linker.
#include "CodeCache/CodeLoader.h"

#include <dlfcn.h>

namespace weft::cache {

void *resolve_symbol(const char *name) {
  static void *const library = [] {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void *>(&resolve_symbol), &info) == 0) return RTLD_DEFAULT;
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return handle == nullptr ? RTLD_DEFAULT : handle;
  }();
  return dlsym(library, name);
}

} // namespace weft::cache
