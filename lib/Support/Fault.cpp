// Turns faults into the exception class of their kind.
#include "Support/Fault.h"

namespace weft {

void raise(Fault fault) { raise(fault.kind, std::move(fault.message)); }

void raise(ErrorKind kind, std::string message) {
  switch (kind) {
  case ErrorKind::shape: throw ShapeError(std::move(message));
  case ErrorKind::dtype: throw DTypeError(std::move(message));
  case ErrorKind::index: throw IndexError(std::move(message));
  case ErrorKind::value: throw ValueError(std::move(message));
  case ErrorKind::state: throw StateError(std::move(message));
  case ErrorKind::assertion: throw AssertionError(std::move(message));
  case ErrorKind::out_of_memory: throw OutOfMemory(std::move(message));
  case ErrorKind::compile: throw CompileError(std::move(message));
  case ErrorKind::io: throw IOError(std::move(message));
  case ErrorKind::internal: break;
  }
  throw InternalError(std::move(message));
}

} // namespace weft
