// The calls that `weft-fuzz calls` makes: one entry per public function, of the ops built from
// their records.
#pragma once

#include <span>
#include <vector>

#include "Draw.h"

namespace weft::fuzz {

/// Kinds of errors, as a set of bits.
using ErrorKinds = std::uint32_t;
constexpr bool contains(ErrorKinds kinds, ErrorKind kind) {
  return kinds >> static_cast<unsigned>(kind) & 1;
}
/// These, and those that every op may raise.
constexpr ErrorKinds errors(std::initializer_list<ErrorKind> said) {
  ErrorKinds kinds = 0;
  for (const ErrorKind kind :
       {ErrorKind::state, ErrorKind::shape, ErrorKind::value, ErrorKind::out_of_memory})
    kinds |= 1u << static_cast<unsigned>(kind);
  for (const ErrorKind kind : said) kinds |= 1u << static_cast<unsigned>(kind);
  return kinds;
}

/// A call with drawn arguments, and its results.
struct CallEntry {
  const char *name;
  std::vector<Tensor> (*call)(Draw &draw);
  /// Whether the same may be called in a trace.
  bool traceable = true;
  /// Whether a call on values comes to everything that a trace sees: not where it has branches, or
  /// a loop that may have no iteration.
  bool every_path = true;
  /// The errors that it is said to raise.
  ErrorKinds raises = ~ErrorKinds{0};
  /// Whether it does the same where sizes are not known.
  bool open_sizes = true;
};

/// All of them: the ops, and what is written by hand.
std::vector<CallEntry> call_entries();

/// The tensors of what a call gives.
template <class T>
std::vector<Tensor> results(const T &value) {
  detail::StructureReader reader;
  visit_structure(value, reader);
  // An undefined result is one too, but none that a traced function may have.
  for (Tensor &tensor : reader.tensors)
    if (!tensor.defined()) tensor = weft::tensor(std::int64_t{-12345});
  return std::move(reader.tensors);
}

std::span<const CallEntry> op_calls();
std::span<const CallEntry> tensor_calls();
std::span<const CallEntry> network_calls();
std::span<const CallEntry> program_calls();
std::span<const CallEntry> window_calls();

} // namespace weft::fuzz
