// Turns faults into the exception class of their kind, with the location of the call they happen
// in.
#include "Support/Fault.h"

#include "Support/CallSite.h"
#include "Support/Messages.h"

namespace weft {

void raise(Fault fault) { raise(fault.kind, std::move(fault.message)); }

/// What an assertion says is the words of whoever wrote it.
static std::string of_function(ErrorKind kind, std::string_view message) {
  return kind == ErrorKind::assertion ? std::string(message) : CallSite::of_function(message);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): callers hand their texts over
void raise(ErrorKind kind, std::string message) {
  raise(kind, of_function(kind, message), CallSite::location());
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): callers hand their texts over
void raise(ErrorKind kind, std::string message, SourceLocation location) {
  switch (kind) {
  case ErrorKind::shape: throw ShapeError(message, std::move(location));
  case ErrorKind::dtype: throw DTypeError(message, std::move(location));
  case ErrorKind::index: throw IndexError(message, std::move(location));
  case ErrorKind::value: throw ValueError(message, std::move(location));
  case ErrorKind::state: throw StateError(message, std::move(location));
  case ErrorKind::assertion: throw AssertionError(message, std::move(location));
  case ErrorKind::linalg: throw LinAlgError(message, std::move(location));
  case ErrorKind::out_of_memory: throw OutOfMemory(message, std::move(location));
  case ErrorKind::compile: throw CompileError(message, std::move(location));
  case ErrorKind::io: throw IOError(message, std::move(location));
  case ErrorKind::device: throw DeviceError(message, std::move(location));
  case ErrorKind::peer: throw PeerError(message, std::move(location));
  case ErrorKind::internal: break;
  }
  throw InternalError(message, std::move(location));
}

Error::Error(ErrorKind kind, std::string_view message)
    : Error(kind, of_function(kind, message), CallSite::location()) {}

Error::Error(ErrorKind kind, std::string_view message, SourceLocation location)
    : kind_(kind), location_(std::move(location)) {
  if (location_.known()) {
    text_ = to_string(location_) + ": ";
    // An assertion says itself that it failed.
    if (kind != ErrorKind::assertion) text_ += "error: ";
  }
  start_ = text_.size();
  // Names of files and texts of theirs are in messages, and may move a terminal's cursor.
  if (kind == ErrorKind::assertion) text_ += message;
  else text_ += shown_message(message);
}

} // namespace weft
