// Turns faults into the exception class of their kind, with the place of the call they happen in.
#include "Support/Fault.h"

#include "Support/CallSite.h"
#include "Support/Messages.h"

namespace weft {

void raise(Fault fault) { raise(fault.kind, std::move(fault.message)); }

/// What an assertion says is the words of whoever made it.
static std::string of_function(ErrorKind kind, std::string_view message) {
  return kind == ErrorKind::assertion ? std::string(message) : CallSite::of_function(message);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): callers hand their texts over
void raise(ErrorKind kind, std::string message) {
  raise(kind, of_function(kind, message), CallSite::place());
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): callers hand their texts over
void raise(ErrorKind kind, std::string message, SourcePlace place) {
  switch (kind) {
  case ErrorKind::shape: throw ShapeError(message, std::move(place));
  case ErrorKind::dtype: throw DTypeError(message, std::move(place));
  case ErrorKind::index: throw IndexError(message, std::move(place));
  case ErrorKind::value: throw ValueError(message, std::move(place));
  case ErrorKind::state: throw StateError(message, std::move(place));
  case ErrorKind::assertion: throw AssertionError(message, std::move(place));
  case ErrorKind::out_of_memory: throw OutOfMemory(message, std::move(place));
  case ErrorKind::compile: throw CompileError(message, std::move(place));
  case ErrorKind::io: throw IOError(message, std::move(place));
  case ErrorKind::internal: break;
  }
  throw InternalError(message, std::move(place));
}

Error::Error(ErrorKind kind, std::string_view message)
    : Error(kind, of_function(kind, message), CallSite::place()) {}

Error::Error(ErrorKind kind, std::string_view message, SourcePlace place)
    : kind_(kind), place_(std::move(place)) {
  if (place_.known()) {
    text_ = to_string(place_) + ": ";
    // An assertion says itself that it failed.
    if (kind != ErrorKind::assertion) text_ += "error: ";
  }
  start_ = text_.size();
  // Names of files and texts of theirs are in messages, and may move a terminal's cursor.
  if (kind == ErrorKind::assertion) text_ += message;
  else text_ += shown_message(message);
}

} // namespace weft
