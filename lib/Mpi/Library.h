// An MPI library that was opened, of any of three binary interfaces: its functions, and the values
// that its header would give.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace weft::mpi {

/// A communicator, datatype, error handler or request: a pointer, or an int in its low half.
using Handle = std::intptr_t;

struct Functions {
#define WEFT_MPI_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "Mpi/Functions.def"
};

/// The constants of an interface.
struct Constants {
  Handle world, byte, errors_return;
  void *ignored_status;
  int tag_bound;  ///< the attribute MPI_TAG_UB
  int serialized; ///< MPI_THREAD_SERIALIZED
  int any_source, any_tag;
};

struct Library : Functions {
  Constants constants{};
  std::string file; ///< "libmpi.so.40", or the path it was asked for by
};

/// Opens the library of that name or path; null, with the reason in `why`, if there is none or it
/// lacks a function.
std::unique_ptr<Library> open_library(const std::string &name, std::string &why);

} // namespace weft::mpi
