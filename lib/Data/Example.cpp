// Parses tf.train.Example, a message of protocol buffers with named lists of numbers and bytes.
#include <weft/data/files.h>

#include <cstring>

#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"

namespace weft::data {

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
