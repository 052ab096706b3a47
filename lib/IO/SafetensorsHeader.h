// The header of a safetensors file: what it says, read with limits and written in its order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "Support/Fault.h"
#include <weft/safetensors.h>

namespace weft {

/// The longest header that a file may have, in bytes, and the most tensors.
constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;
constexpr std::size_t kMaxSafetensors = 1'000'000;

/// Begins the names of metadata that Weft checks its own files by.
constexpr std::string_view kDigestPrefix = "weft.digest.";
constexpr std::string_view kHeaderDigest = "weft.header";

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;    ///< by name
  std::vector<std::uint64_t> offsets;       ///< of the entries' elements, behind the header
  std::map<std::string, std::string> texts; ///< all of the metadata
};

/// Reads a header that `data_bytes` of elements follow. Faults are of kind io and say what is
/// wrong, without the file's name.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes);

/// The bits of an element of that dtype of the format; nothing if it is not known.
std::optional<unsigned> safetensors_bits(std::string_view dtype);
/// The name of the dtype in the format.
std::string_view safetensors_dtype(DType dtype);
/// Reads the name of a dtype that Weft has.
std::optional<DType> parse_safetensors_dtype(std::string_view name);

/// A tensor that is to be written: contiguous, with elements.
struct SafetensorsItem {
  std::string name;
  Tensor tensor;
};

/// Brings them into the order of the format: wide dtypes first, so that all elements are aligned.
void sort_for_safetensors(std::vector<SafetensorsItem> &items);
/// The header of items in that order, filled up with spaces so that 8 bytes and it are a multiple
/// of `alignment`, itself one of 8. Throws ValueError for texts that are not UTF-8 and for more
/// than the format allows.
std::string make_safetensors_header(const std::vector<SafetensorsItem> &items,
                                    const std::map<std::string, std::string> &texts,
                                    std::size_t alignment = 8);

} // namespace weft
