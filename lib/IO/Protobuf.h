// The wire format of Protocol Buffers: fields of a message, written and read one by one.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::protobuf {

/// A message that is being written. Fields come in the order of the calls.
class Message {
public:
  Message &integer(std::uint32_t field, std::int64_t value) {
    tag(field, 0);
    return varint(static_cast<std::uint64_t>(value));
  }
  Message &number(std::uint32_t field, double value) {
    tag(field, 1);
    return raw(std::bit_cast<std::uint64_t>(value));
  }
  Message &number(std::uint32_t field, float value) {
    tag(field, 5);
    return raw(std::bit_cast<std::uint32_t>(value));
  }
  Message &bytes(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    text_.append(value);
    return *this;
  }
  Message &message(std::uint32_t field, const Message &value) { return bytes(field, value.text_); }

  const std::string &text() const { return text_; }

private:
  void tag(std::uint32_t field, std::uint32_t wire) { varint(std::uint64_t{field} << 3 | wire); }
  Message &varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
    text_.push_back(static_cast<char>(value));
    return *this;
  }
  template <class T>
  Message &raw(T bits) {
    text_.append(reinterpret_cast<const char *>(&bits), sizeof bits);
    return *this;
  }

  std::string text_;
};

/// A field that was read: a number in `bits`, or bytes, which point into the message.
struct Field {
  std::uint32_t number = 0;
  std::uint32_t wire = 0;
  std::uint64_t bits = 0;
  std::string_view bytes;

  std::int64_t as_integer() const { return static_cast<std::int64_t>(bits); }
  double as_double() const { return std::bit_cast<double>(bits); }
  float as_float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
  /// Whether it is field `number` and of bytes; of 8 bytes; of a whole number.
  bool is_bytes(std::uint32_t which) const { return number == which && wire == 2; }
  bool is_fixed64(std::uint32_t which) const { return number == which && wire == 1; }
  bool is_integer(std::uint32_t which) const { return number == which && wire == 0; }
};

/// Goes along the fields of a message.
class Fields {
public:
  explicit Fields(std::string_view message) : rest_(message) {}

  /// Reads the next field; false at the end, or where the bytes are no message: then `damaged`.
  bool next(Field &field);
  bool damaged() const { return damaged_; }

private:
  bool varint(std::uint64_t &value);

  std::string_view rest_;
  bool damaged_ = false;
};

} // namespace weft::protobuf
