// Writes and reads entries, byte by byte and with every size checked.
#include "CodeCache/Entry.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "Support/Cpu.h"

namespace weft::cache {

namespace {

constexpr std::string_view kMagic = "WEFTCODE";
constexpr std::uint32_t kVersion = 4;

template <class T>
void put(std::string &to, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void put_text(std::string &to, std::string_view text) {
  put(to, static_cast<std::uint64_t>(text.size()));
  to += text;
}

/// Takes values off the front of some bytes; after one that is not there all are zero.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T take() {
    T value{};
    const std::string_view bytes = piece(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string text() { return std::string(piece(take<std::uint64_t>())); }
  bool at_end() const { return ok_ && rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

private:
  std::string_view piece(std::uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool ok_ = true;
};

Digest digest_of(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.finish();
}

Fault fault(std::string what) { return {ErrorKind::io, std::move(what)}; }

} // namespace

std::string encode(const Entry &entry) {
  std::string body;
  body.reserve(entry.object.size() + 1024);
  put(body, entry.key.program);
  for (const std::string *part : {&entry.key.pipeline, &entry.key.build, &entry.key.features})
    put_text(body, *part);
  put(body, entry.module);
  put_text(body, entry.function);
  put(body, entry.created);
  put(body, entry.compile_ms);
  put_text(body, entry.symbol);
  put(body, entry.arena_bytes);
  put(body, static_cast<std::uint64_t>(entry.variables.size()));
  for (const std::uint64_t variable : entry.variables) put(body, variable);
  put(body, static_cast<std::uint64_t>(entry.saved.size()));
  for (const SavedValue &value : entry.saved) {
    put(body, value.from);
    put(body, value.number);
    put(body, value.type.dtype);
    put(body, static_cast<std::uint64_t>(value.type.shape.size()));
    for (const std::int64_t size : value.type.shape) put(body, size);
  }
  put(body, static_cast<std::uint64_t>(entry.memory.size()));
  for (const MemoryNote &note : entry.memory) {
    put(body, note.kind);
    put(body, note.bytes);
    for (const std::string *part : {&note.what, &note.formula, &note.reason, &note.place})
      put_text(body, *part);
  }
  put(body, static_cast<std::uint64_t>(entry.saved_notes.size()));
  for (const SavedNote &note : entry.saved_notes) {
    put(body, note.form);
    put(body, note.bytes);
    put(body, note.times);
    for (const std::string *part :
         {&note.function, &note.what, &note.type, &note.reason, &note.place})
      put_text(body, *part);
  }
  put_text(body, entry.object);

  std::string bytes(kMagic);
  put(bytes, kVersion);
  put(bytes, static_cast<std::uint64_t>(body.size()));
  put(bytes, digest_of(body));
  return bytes + body;
}

Check check_size(std::string_view start, std::uint64_t file_bytes) {
  if (start.substr(0, kMagic.size()) != kMagic.substr(0, start.size()))
    return fault("is a file of another kind");
  if (start.size() < kEntryHeader) return fault("is truncated");
  // Magic, version, the size of what follows, and its digest.
  Reader reader(start.substr(kMagic.size()));
  const auto version = reader.take<std::uint32_t>();
  if (version != kVersion)
    return fault("has version " + std::to_string(version) + ", and this Weft reads version " +
                 std::to_string(kVersion));
  const auto size = reader.take<std::uint64_t>();
  if (file_bytes - kEntryHeader < size) return fault("is truncated");
  if (file_bytes - kEntryHeader > size) return fault("is damaged");
  return std::nullopt;
}

Result<Entry> decode(std::string_view bytes) {
  if (Check why = check_size(bytes, bytes.size())) return *why;
  Reader reader(bytes.substr(kEntryHeader - sizeof(Digest)));
  if (reader.take<Digest>() != digest_of(bytes.substr(kEntryHeader))) return fault("is damaged");

  Entry entry;
  entry.key.program = reader.take<Digest>();
  for (std::string *part : {&entry.key.pipeline, &entry.key.build, &entry.key.features})
    *part = reader.text();
  entry.module = reader.take<Digest>();
  entry.function = reader.text();
  entry.created = reader.take<std::int64_t>();
  entry.compile_ms = reader.take<double>();
  entry.symbol = reader.text();
  entry.arena_bytes = reader.take<std::uint64_t>();
  const auto variables = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < variables && reader.left() != 0; ++i)
    entry.variables.push_back(reader.take<std::uint64_t>());
  const auto saved = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < saved && reader.left() != 0; ++i) {
    SavedValue &value = entry.saved.emplace_back();
    value.from =
        reader.take<std::uint8_t>() == 0 ? SavedValue::From::input : SavedValue::From::output;
    value.number = reader.take<std::uint32_t>();
    value.type.dtype = static_cast<DType>(reader.take<std::uint8_t>());
    if (static_cast<int>(value.type.dtype) >= kNumDTypes) return fault("is damaged");
    const auto rank = reader.take<std::uint64_t>();
    for (std::uint64_t d = 0; d < rank && reader.left() != 0; ++d)
      value.type.shape.push_back(reader.take<std::int64_t>());
  }
  const auto notes = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < notes && reader.left() != 0; ++i) {
    MemoryNote &note = entry.memory.emplace_back();
    note.kind =
        static_cast<MemoryNote::Kind>(std::min<std::uint8_t>(reader.take<std::uint8_t>(), 3));
    note.bytes = reader.take<std::int64_t>();
    for (std::string *part : {&note.what, &note.formula, &note.reason, &note.place})
      *part = reader.text();
  }
  const auto saved_notes = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < saved_notes && reader.left() != 0; ++i) {
    SavedNote &note = entry.saved_notes.emplace_back();
    note.form =
        static_cast<SavedNote::Form>(std::min<std::uint8_t>(reader.take<std::uint8_t>(), 3));
    note.bytes = reader.take<std::int64_t>();
    note.times = reader.take<std::int64_t>();
    for (std::string *part : {&note.function, &note.what, &note.type, &note.reason, &note.place})
      *part = reader.text();
  }
  entry.object = reader.text();
  if (!reader.at_end()) return fault("is damaged");
  return entry;
}

Check check_key(const Key &found, const Key &wanted) {
  if (const std::string missing = missing_cpu_feature(found.features); !missing.empty())
    return fault("was written for " + missing + " and this CPU has none");
  if (found.build != wanted.build) return fault("was written by another build");
  if (found != wanted) return fault("was written for another program");
  return std::nullopt;
}

} // namespace weft::cache
