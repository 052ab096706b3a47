// Reads signatures back: what the words of a key say, and in what two keys differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weft/detail/signature.h>

namespace weft::detail {

/// One entry of a signature: a tensor, a variable, a literal, or a container before its entries.
struct SignatureEntry {
  std::string location; ///< "argument 0", "argument 1[2]"
  std::size_t argument; ///< the number of the argument it belongs to
  std::size_t at;       ///< its first word
  std::size_t words;
  std::uint64_t head; ///< that word

  Node node() const { return static_cast<Node>(head & 0xff); }
};

std::vector<SignatureEntry> entries_of(const SignatureKey &key);

/// The word of an unknown size.
inline constexpr auto kUnknownSize = static_cast<std::uint64_t>(unknown);

/// What became different, in words: "argument 0, dimension 0: 32 became 31".
std::vector<std::string> differences(const SignatureKey &before, const SignatureKey &now);

/// The sizes of tensors that differ, by the positions of their words, if nothing else does.
std::optional<std::vector<std::uint32_t>> differing_sizes(const SignatureKey &before,
                                                          const SignatureKey &now);

/// The types of the tensors in a key.
std::vector<TensorType> tensor_types(const SignatureKey &key);

} // namespace weft::detail
