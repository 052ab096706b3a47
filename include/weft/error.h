// The exceptions Weft throws: one type per kind of fault, all under weft::Error.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include <weft/source.h>

namespace weft {

/// Whose fault an error is and of which kind; each kind is thrown as the class of the same name.
enum class ErrorKind : std::int32_t {
  shape,
  dtype,
  index,
  value,
  state,
  assertion,
  linalg,
  out_of_memory,
  compile,
  io,
  device,
  peer,
  internal,
};

/// Base of everything Weft throws. `what()` names the user's line, the op or file, what was wrong
/// and what would be right: "train.cpp:41: error: matmul: the inner dimensions differ: ...".
class Error : public std::exception {
public:
  /// Takes the location of the op call that is being done on this thread, if there is one.
  Error(ErrorKind kind, std::string_view message);
  Error(ErrorKind kind, std::string_view message, SourceLocation location);
  const char *what() const noexcept override { return text_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }
  /// What `what()` says after the location.
  std::string_view message() const noexcept { return std::string_view(text_).substr(start_); }
  /// The user's line; not known for errors outside of op calls.
  const SourceLocation &location() const noexcept { return location_; }

private:
  ErrorKind kind_;
  SourceLocation location_;
  std::string text_;
  std::size_t start_; ///< of the message in the text
};

#define WEFT_ERROR_CLASS(Name, enumerator)                                                         \
  class Name : public Error {                                                                      \
  public:                                                                                          \
    explicit Name(std::string_view message) : Error(ErrorKind::enumerator, message) {}             \
    Name(std::string_view message, SourceLocation location)                                        \
        : Error(ErrorKind::enumerator, message, std::move(location)) {}                            \
  }

/// Shapes that do not fit together, or a wrong rank.
WEFT_ERROR_CLASS(ShapeError, shape);
/// A dtype that an op does not admit.
WEFT_ERROR_CLASS(DTypeError, dtype);
/// An axis or an index out of range.
WEFT_ERROR_CLASS(IndexError, index);
/// An option or argument whose value makes no sense.
WEFT_ERROR_CLASS(ValueError, value);
/// A call at a time when it is not possible (a spent tape, a tensor that left its trace).
WEFT_ERROR_CLASS(StateError, state);
/// A weft::check or `weft.assert` that did not hold.
WEFT_ERROR_CLASS(AssertionError, assertion);
/// A matrix that has not what is asked for: no inverse, not positive definite, no convergence.
WEFT_ERROR_CLASS(LinAlgError, linalg);
/// More bytes than can be had.
WEFT_ERROR_CLASS(OutOfMemory, out_of_memory);
/// A program that cannot be compiled.
WEFT_ERROR_CLASS(CompileError, compile);
/// A file that is missing, malformed or cannot be written.
WEFT_ERROR_CLASS(IOError, io);
/// A device that is not there, that failed, or that other operands of the call are not on.
WEFT_ERROR_CLASS(DeviceError, device);
/// Another process of a distributed program that is gone, failed, or did not come in time.
WEFT_ERROR_CLASS(PeerError, peer);
/// Our own fault: please report it.
WEFT_ERROR_CLASS(InternalError, internal);

#undef WEFT_ERROR_CLASS

} // namespace weft
