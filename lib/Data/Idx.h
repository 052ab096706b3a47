// IDX, the file format of MNIST: what its header says, and its elements as bytes of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "Support/Fault.h"
#include <weft/dtype.h>

namespace weft::data {

/// The type codes of IDX, as they stand in the third byte of a file.
enum class IdxType : std::uint8_t {
  u8 = 0x08,
  i8 = 0x09,
  i16 = 0x0B,
  i32 = 0x0C,
  f32 = 0x0D,
  f64 = 0x0E,
};

/// The dtype of its elements; nothing for a byte that is no type.
std::optional<DType> dtype_of_idx(IdxType type);

/// What the first bytes of an IDX file announce.
struct IdxHeader {
  IdxType type;
  std::vector<std::int64_t> dims; // empty for a file that holds one element
  std::size_t header_bytes;
  std::size_t element_bytes; // of all elements together; the product is checked for overflow
};

/// A whole IDX file: its elements stand in `bytes` in row-major order, in this machine's byte
/// order.
struct IdxArray {
  IdxHeader header;
  std::vector<std::byte> bytes;
};

/// The longest header there can be: four bytes and 255 dimensions.
inline constexpr std::size_t kMaxIdxHeader = 4 + 4 * 255;

/// Reads a header from the first bytes of a file of `file_bytes` bytes, of which `start` holds at
/// least the first kMaxIdxHeader or all, and checks that the file is as long as the header says.
/// `name` is what messages call the file.
Result<IdxHeader> parse_idx_header(std::span<const std::byte> start, std::uint64_t file_bytes,
                                   std::string_view name);

/// Reads the file at `path`; throws IOError, naming the file, what is wrong and what would be
/// right.
IdxArray read_idx_file(const std::string &path);

} // namespace weft::data
