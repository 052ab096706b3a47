// Opening an MPI library, and telling its binary interface.
#include "Mpi/Library.h"

#include <dlfcn.h>

#include <string_view>

namespace weft::mpi {

namespace {

Handle address(void *library, const char *symbol) {
  return reinterpret_cast<Handle>(dlsym(library, symbol));
}

/// Open MPI's handles are addresses of its objects.
Constants of_open_mpi(void *library) {
  return {.world = address(library, "ompi_mpi_comm_world"),
          .byte = address(library, "ompi_mpi_byte"),
          .errors_return = address(library, "ompi_mpi_errors_return"),
          .ignored_status = nullptr,
          .tag_bound = 0,
          .serialized = 2,
          .any_source = -1,
          .any_tag = -1};
}

/// MPICH's are ints, and so are those of what is binary compatible with it.
Constants of_mpich() {
  return {.world = 0x44000000,
          .byte = 0x4c00010d,
          .errors_return = 0x54000001,
          .ignored_status = reinterpret_cast<void *>(1), // NOLINT(performance-no-int-to-ptr)
          .tag_bound = 0x64400001,
          .serialized = 2,
          .any_source = -2,
          .any_tag = -1};
}

/// Those of the standard, since MPI 5.0.
Constants of_standard() {
  return {.world = 0x101,
          .byte = 0x247,
          .errors_return = 0x143,
          .ignored_status = nullptr,
          .tag_bound = 501,
          .serialized = 2048,
          .any_source = -1,
          .any_tag = -2};
}

/// The file that a function of a library is in.
std::string file_of(void *function) {
  Dl_info info;
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

} // namespace

std::unique_ptr<Library> open_library(const std::string &name, std::string &why) {
  // Plug-ins of Open MPI look for its symbols among those that everybody sees.
  void *opened = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    const char *text = dlerror(); // NOLINT(concurrency-mt-unsafe): glibc's is of the thread
    why = text != nullptr ? text : name + ": it cannot be opened";
    return nullptr;
  }
  auto library = std::make_unique<Library>();
  library->file = name;
  std::string missing;
  const auto take = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, symbol));
    if (function == nullptr) missing = symbol;
  };
#define WEFT_MPI_FUNCTION(function, parameters) take(library->function, "MPI_" #function);
#include "Mpi/Functions.def"
  if (!missing.empty()) {
    why = name + ": it is no MPI library: it has no function " + missing;
    return nullptr;
  }
  const bool standard =
      file_of(reinterpret_cast<void *>(library->Init_thread)).find("mpi_abi") != std::string::npos;
  if (standard) library->constants = of_standard();
  else if (address(opened, "ompi_mpi_comm_world") != 0) library->constants = of_open_mpi(opened);
  else library->constants = of_mpich();
  return library;
}

} // namespace weft::mpi
