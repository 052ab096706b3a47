// Reads .npy from memory.
#include "IO/NpyBytes.h"

#include <cstring>

#include "IO/NpyHeader.h"
#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"

namespace weft {

namespace {

[[noreturn]] void fail(const std::string &name, const std::string &what) {
  raise(ErrorKind::io, name + ": " + what);
}

/// The header's text, which `bytes` is left behind.
std::string_view take_header(std::string_view &bytes, const std::string &name) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (!bytes.starts_with(magic))
    fail(name, "is not a .npy array: it does not start with \\x93NUMPY");
  const std::size_t start = magic.size() + 2;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::size_t major = bytes.size() > magic.size() ? byte(magic.size()) : 0;
  const std::size_t digits = major == 1 ? 2 : 4;
  if (major < 1 || major > 3)
    fail(name, "has version " + std::to_string(major) + " of the .npy format; 1 to 3 are known");
  if (bytes.size() < start + digits) fail(name, "is truncated within its header");
  std::size_t length = 0;
  for (std::size_t i = digits; i-- > 0;) length = length << 8 | byte(start + i);
  bytes.remove_prefix(start + digits);
  if (length > bytes.size()) fail(name, "is truncated within its header");
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return header;
}

} // namespace

Tensor read_npy_bytes(std::string_view bytes, const std::string &name) {
  const std::string_view text = take_header(bytes, name);
  const Result<NpyHeader> header = parse_npy_header(text);
  if (!header) fail(name, header.fault().message);
  const Shape &shape = header->type.shape;
  // Fortran order is the transposed of an array in C order with the sizes turned round.
  Shape stored = shape;
  if (header->fortran_order)
    for (std::size_t i = 0; i < shape.size(); ++i) stored[i] = shape[shape.size() - 1 - i];
  const std::size_t size = detail::checked_tensor_bytes(header->type.dtype, stored);
  if (size != bytes.size())
    fail(name, "its header asks for " + std::to_string(size) + " bytes of elements, but " +
                   std::to_string(bytes.size()) + " follow");
  if (header->type.dtype == DType::boolean)
    for (const char byte : bytes)
      if (static_cast<unsigned char>(byte) > 1)
        fail(name, "an element of dtype bool is not 0 or 1");
  Tensor result = detail::new_tensor(header->type.dtype, stored);
  std::memcpy(result.impl()->data, bytes.data(), size);
  if (!header->fortran_order || shape.size() < 2) return result;
  Ints strides;
  for (std::size_t i = 0; i < shape.size(); ++i)
    strides.push_back(result.impl()->strides()[shape.size() - 1 - i]);
  return make_contiguous(detail::new_view(result, shape, strides, 0));
}

} // namespace weft
