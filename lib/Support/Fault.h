// Errors as values: what the lower layers return where an exception must not pass (shape functions
// are also called from inside MLIR's verifier).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <weft/error.h>

namespace weft {

/// What went wrong, of which kind; becomes an exception at the API and a diagnostic in the
/// compiler.
struct Fault {
  ErrorKind kind;
  std::string message;
};

/// Throws the exception class that belongs to the fault's kind.
[[noreturn]] void raise(Fault fault);
[[noreturn]] void raise(ErrorKind kind, std::string message);
/// The same for a location of the user's source.
[[noreturn]] void raise(ErrorKind kind, std::string message, SourceLocation location);

/// A value or the fault there is instead.
template <class T>
class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Fault fault) : state_(std::in_place_index<1>, std::move(fault)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T &operator*() { return std::get<0>(state_); }
  const T &operator*() const { return std::get<0>(state_); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  const Fault &fault() const { return std::get<1>(state_); }
  /// The value; throws the fault if there is none.
  T value() && {
    if (!ok()) raise(std::move(std::get<1>(state_)));
    return std::move(std::get<0>(state_));
  }

private:
  std::variant<T, Fault> state_;
};

/// Nothing, or a fault: the result of a check.
using Check = std::optional<Fault>;

} // namespace weft

/// Our own invariants; they stay on in release builds because they cost next to nothing.
#define WEFT_INVARIANT(condition, message)                                                         \
  do {                                                                                             \
    if (__builtin_expect(!(condition), 0))                                                         \
      ::weft::raise(::weft::ErrorKind::internal, std::string(__FILE__) + ": " + (message));        \
  } while (false)
