// Files of records: lines of text, and TFRecord.
#include <weft/data/files.h>

#include <cstring>

#include "Data/Stage.h"
#include "IO/InputFile.h"
#include "Support/CallSite.h"
#include "Support/Digest.h"
#include "Support/Files.h"

namespace weft::data {

namespace {

using detail::Item;
using detail::Maker;

BasicDataset<std::string> records(const char *function, const std::string &path, std::size_t count,
                                  std::shared_ptr<const Maker> rows) {
  // A folder may be moved: its name is no part of the state.
  const std::string name = path.substr(path.rfind('/') + 1);
  return BasicDataset<std::string>(detail::Pipeline(std::make_shared<detail::RowStage>(
      std::string(function) + " '" + name + "' of " + std::to_string(count),
      static_cast<std::int64_t>(count), std::move(rows))));
}

class Lines final : public Maker {
public:
  explicit Lines(const std::string &path) : path_(path), text_(read_file(path)) {
    for (std::size_t start = 0; start < text_.size(); start = behind(start))
      if (count_++ % kEvery == 0) starts_.push_back(start);
  }
  std::size_t count() const { return count_; }
  Item make(std::int64_t index) const override {
    const auto i = static_cast<std::size_t>(index);
    std::size_t start = starts_[i / kEvery];
    for (std::size_t before = i % kEvery; before > 0; --before) start = behind(start);
    std::string line = text_.substr(start, behind(start) - start);
    if (line.ends_with('\n')) line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    return detail::item_of(std::move(line));
  }
  std::string origin(std::int64_t index) const override {
    return path_ + ", line " + std::to_string(index + 1);
  }

private:
  /// Where the line behind the one from there on starts.
  std::size_t behind(std::size_t start) const {
    const std::size_t end = text_.find('\n', start);
    return end == std::string::npos ? text_.size() : end + 1;
  }

  /// Of so many lines one start is kept: of a file of short ones they would take more than its
  /// text.
  static constexpr std::size_t kEvery = 16;
  std::string path_, text_;
  std::size_t count_ = 0;
  std::vector<std::size_t> starts_;
};

/// A length (u64), its masked checksum (u32), as many bytes, and their masked checksum (u32).
class TfRecords final : public Maker {
public:
  explicit TfRecords(const std::string &path) : file_(path) {
    for (std::uint64_t at = 0; at < file_.size();) {
      const std::string name = name_of(records_.size(), at);
      if (file_.size() - at < kHead) file_.fail(name + " is truncated within its length");
      char head[kHead];
      file_.read_at(at, head, kHead, "record");
      std::uint64_t length = 0;
      std::uint32_t crc = 0;
      std::memcpy(&length, head, 8);
      std::memcpy(&crc, head + 8, 4);
      if (masked_crc32c({head, 8}) != crc)
        file_.fail(name + " is damaged, or this is no TFRecord file: the checksum of its length is "
                          "another");
      const std::uint64_t left = file_.size() - at - kHead;
      if (left < kTail || length > left - kTail)
        file_.fail(name + " is truncated: it has " + std::to_string(length) + " bytes, and " +
                   std::to_string(left) + " follow");
      records_.push_back({at, length});
      at += kHead + length + kTail;
    }
  }
  std::size_t count() const { return records_.size(); }
  Item make(std::int64_t index) const override {
    const auto [at, length] = records_[static_cast<std::size_t>(index)];
    std::string bytes = bytes_for(file_.path(), length + kTail);
    file_.read_at(at + kHead, bytes.data(), bytes.size(), "record");
    std::uint32_t crc = 0;
    std::memcpy(&crc, bytes.data() + length, kTail);
    bytes.resize(length);
    if (masked_crc32c(bytes) != crc)
      file_.fail(name_of(static_cast<std::size_t>(index), at) +
                 " is damaged: the checksum of its bytes is another");
    return detail::item_of(std::move(bytes));
  }
  std::string origin(std::int64_t index) const override {
    return file_.path() + ", record " + std::to_string(index);
  }

private:
  static constexpr std::size_t kHead = 12, kTail = 4;
  static std::string name_of(std::size_t record, std::uint64_t at) {
    return "record " + std::to_string(record) + " at byte " + std::to_string(at);
  }
  struct Record {
    std::uint64_t at, length;
  };
  InputFile file_;
  std::vector<Record> records_;
};

} // namespace

BasicDataset<std::string> from_lines(const std::string &path, std::source_location where) {
  const CompositeCall site("from_lines", where);
  check_path("from_lines", path);
  auto lines = naming(path, [&] { return std::make_shared<const Lines>(path); });
  const std::size_t count = lines->count();
  return records("from_lines", path, count, std::move(lines));
}

BasicDataset<std::string> from_tfrecord(const std::string &path, std::source_location where) {
  const CompositeCall site("from_tfrecord", where);
  check_path("from_tfrecord", path);
  auto rows = naming(path, [&] { return std::make_shared<const TfRecords>(path); });
  const std::size_t count = rows->count();
  return records("from_tfrecord", path, count, std::move(rows));
}

} // namespace weft::data
