// Reads fields of Protocol Buffers' wire format.
#include "IO/Protobuf.h"

#include <cstring>

namespace weft::protobuf {

bool Fields::varint(std::uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Fields::next(Field &field) {
  if (rest_.empty() || damaged_) return false;
  damaged_ = true; // unless it is read to its end
  std::uint64_t tag = 0;
  if (!varint(tag) || tag >> 3 == 0 || tag >> 32 != 0) return false;
  field = {.number = static_cast<std::uint32_t>(tag >> 3),
           .wire = static_cast<std::uint32_t>(tag & 7),
           .bytes = {}};
  if (field.wire == 0) {
    if (!varint(field.bits)) return false;
  } else if (field.wire == 1 || field.wire == 5) {
    const std::size_t size = field.wire == 1 ? 8 : 4;
    if (rest_.size() < size) return false;
    std::memcpy(&field.bits, rest_.data(), size);
    rest_.remove_prefix(size);
  } else if (field.wire == 2) {
    std::uint64_t size = 0;
    if (!varint(size) || size > rest_.size()) return false;
    field.bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
  } else {
    return false;
  }
  damaged_ = false;
  return true;
}

} // namespace weft::protobuf
