// TFRecord: records of bytes, each with its length and checksums, one behind the other in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "IO/InputFile.h"

namespace weft {

/// A record as it stands in a file: u64 length, its masked CRC-32C, the bytes, and theirs; numbers
/// little-endian.
std::string framed_record(std::string_view bytes);

/// Reads records from the start of a file, as long as it was when it was opened. Every fault is an
/// IOError that names the file and the record; a length is trusted only if its checksum is right
/// and so many bytes follow.
class RecordReader {
public:
  explicit RecordReader(std::string path) : file_(std::move(path)) {}

  /// The bytes of the next record; none at the end. A last record that is cut off counts as the
  /// end: the file is being written, or its writer was killed.
  std::optional<std::string> next();

private:
  InputFile file_;
  std::uint64_t at_ = 0, record_ = 0;
};

} // namespace weft
