// Files of records: lines of text and TFRecord, and tf.train.Example, a message of protocol buffers
// with named lists of numbers and bytes.
#include <cstring>

#include "Data/Stage.h"
#include "IO/InputFile.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Digest.h"
#include "Support/Fault.h"
#include "Support/Files.h"
#include <weft/data/files.h>

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

namespace {

/// A field of a message: a number of up to 64 bits, or bytes.
struct Field {
  std::uint32_t number = 0;
  std::uint32_t kind = 0;
  std::uint64_t value = 0;
  std::string_view bytes;
};
// The wire types of the encoding.
enum : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

[[noreturn]] void fail(const char *what) {
  raise(ErrorKind::io, std::string("parse_example: these bytes are no tf.train.Example: ") + what);
}

class Message {
public:
  explicit Message(std::string_view bytes) : left_(bytes) {}
  bool done() const { return left_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail("a number has more than ten bytes");
  }
  std::string_view take(std::uint64_t size) {
    if (size > left_.size()) fail("they end within a field");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  bool next(Field &field) {
    if (done()) return false;
    const std::uint64_t tag = varint();
    field = {static_cast<std::uint32_t>(tag >> 3), static_cast<std::uint32_t>(tag & 7), 0, {}};
    if (tag >> 3 == 0 || tag >> 32 != 0) fail("a field has a number that none has");
    switch (field.kind) {
    case kVarint: field.value = varint(); break;
    case kFixed64: field.bytes = take(8); break;
    case kBytes: field.bytes = take(varint()); break;
    case kFixed32: field.bytes = take(4); break;
    default: fail("a field is of a wire type that is not known");
    }
    return true;
  }

private:
  std::string_view left_;
};

template <class T>
Tensor vector_of(const std::vector<T> &values) {
  const Tensor tensor =
      weft::detail::new_tensor(dtype_of<T>, {{static_cast<std::int64_t>(values.size())}});
  if (!values.empty()) std::memcpy(tensor.impl()->data, values.data(), values.size() * sizeof(T));
  return tensor;
}

Tensor floats_of(std::string_view list) {
  std::vector<float> values;
  Message message(list);
  for (Field field; message.next(field);) {
    if (field.number != 1) continue;
    if (field.kind != kBytes && field.kind != kFixed32) fail("a list of floats has another type");
    if (field.bytes.size() % 4 != 0) fail("a list of floats ends within one");
    const std::size_t before = values.size();
    values.resize(before + field.bytes.size() / 4);
    if (!field.bytes.empty())
      std::memcpy(values.data() + before, field.bytes.data(), field.bytes.size());
  }
  return vector_of(values);
}

Tensor integers_of(std::string_view list) {
  std::vector<std::int64_t> values;
  Message message(list);
  for (Field field; message.next(field);) {
    if (field.number != 1) continue;
    if (field.kind == kVarint) {
      values.push_back(static_cast<std::int64_t>(field.value));
    } else if (field.kind == kBytes) {
      Message packed(field.bytes);
      while (!packed.done()) values.push_back(static_cast<std::int64_t>(packed.varint()));
    } else {
      fail("a list of integers has another type");
    }
  }
  return vector_of(values);
}

std::vector<std::string> strings_of(std::string_view list) {
  std::vector<std::string> values;
  Message message(list);
  for (Field field; message.next(field);)
    if (field.number == 1 && field.kind == kBytes) values.emplace_back(field.bytes);
  return values;
}

/// An entry of the map of features: a name and what it names. As ever, the last one counts.
void read_entry(std::string_view bytes, Example &example) {
  std::string name;
  std::string_view feature;
  Message entry(bytes);
  for (Field field; entry.next(field);) {
    if (field.kind != kBytes) continue;
    if (field.number == 1) name = field.bytes;
    if (field.number == 2) feature = field.bytes;
  }
  example.numbers.erase(name);
  example.strings.erase(name);
  Message message(feature);
  for (Field field; message.next(field);) {
    if (field.kind != kBytes) continue;
    if (field.number == 1) example.strings[name] = strings_of(field.bytes);
    if (field.number == 2) example.numbers[name] = floats_of(field.bytes);
    if (field.number == 3) example.numbers[name] = integers_of(field.bytes);
  }
}

} // namespace

Example parse_example(std::string_view bytes, std::source_location where) {
  const CallSite site(where);
  Example example;
  Message message(bytes);
  for (Field field; message.next(field);) {
    if (field.number != 1 || field.kind != kBytes) continue;
    Message features(field.bytes);
    for (Field entry; features.next(entry);)
      if (entry.number == 1 && entry.kind == kBytes) read_entry(entry.bytes, example);
  }
  return example;
}

} // namespace weft::data
