// TFRecord: records of bytes, each with its length and checksums, one behind the other in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// A record as it stands in a file: u64 length, its masked CRC-32C, the bytes, and theirs; numbers
/// little-endian.
std::string framed_record(std::string_view bytes);

/// Reads records from the start of a file. Every fault is an IOError that names the file and the
/// record; a length is trusted only if its checksum is right and so many bytes follow.
class RecordReader {
public:
  explicit RecordReader(std::string path);

  /// The bytes of the next record; none at the end of the file.
  std::optional<std::string> next();
  /// The same, but a last record that is cut off counts as the end: of a file that is being
  /// written, or whose writer was killed.
  std::optional<std::string> next_whole();
  /// Goes to a place that `position` gave.
  void seek(std::uint64_t position, std::uint64_t record);
  /// Where the next record begins.
  std::uint64_t position() const { return at_; }

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::optional<std::string> read(bool may_be_cut);
  [[noreturn]] void fail(const std::string &what) const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t at_ = 0, record_ = 0;
};

} // namespace weft
