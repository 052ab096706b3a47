// Finds and loads libweft-compiler.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "Program/CompilerBackend.h"
#include "Support/Fork.h"
#include "Support/Version.h"

namespace weft {

namespace {

/// Of the same build as this library, which is why its version is part of the name.
constexpr char file_name[] = "libweft-compiler.so." WEFT_ABI_VERSION;

CompilerBackend *load() {
  using Factory = CompilerBackend *();
  // A program that links the compiler has it already.
  if (void *symbol = dlsym(RTLD_DEFAULT, "weft_compiler_backend"))
    return reinterpret_cast<Factory *>(symbol)();
  std::string tried;
  for (const std::string &path : {compiler_path(), std::string(file_name)}) {
    // Of the shared MLIR's many symbols few are ever called.
    void *library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      tried += std::string("\n  ") + dlerror();
      continue;
    }
    if (void *symbol = dlsym(library, "weft_compiler_backend"))
      return reinterpret_cast<Factory *>(symbol)();
    tried += "\n  " + path + ": it does not export weft_compiler_backend";
  }
  throw CompileError("traced functions need " + std::string(file_name) +
                     " beside libweft.so or on the loader's path (Debian's package "
                     "libweft-compiler" WEFT_ABI_VERSION "); tried:" +
                     tried);
}

} // namespace

std::string compiler_path() { return library_folder() + file_name; }

CompilerBackend &compiler_backend() {
  const forks::Delay whole;
  static CompilerBackend *backend = load();
  return *backend;
}

} // namespace weft
