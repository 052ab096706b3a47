// Reads IDX files: header first, checked against the file's length, so that nothing is allocated
// for a lie; and read_idx, their elements as a tensor.
#include "Data/Idx.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

#include "IO/InputFile.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/SystemMemory.h"
#include <weft/data/files.h>
#include <weft/memory.h>
#include <weft/shape.h>

namespace weft::data {
namespace {

std::uint32_t big_endian_at(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[offset + i]);
  return value;
}

std::string hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

Fault fault(std::string_view name, const std::string &what) {
  return {ErrorKind::io, "read_idx: " + std::string(name) + ": " + what};
}

std::string product_text(const std::vector<std::int64_t> &dims) {
  if (dims.empty() || (dims.size() == 1 && dims[0] == 1)) return "1 element";
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : " x ") + std::to_string(dim);
  return text + " elements";
}

void to_native_order(std::span<std::byte> bytes, std::size_t item) {
  if (item == 1 || std::endian::native == std::endian::big) return;
  for (std::size_t at = 0; at + item <= bytes.size(); at += item)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + item));
}

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};

} // namespace

std::optional<DType> dtype_of_idx(IdxType type) {
  switch (type) {
  case IdxType::u8: return DType::u8;
  case IdxType::i8: return DType::i8;
  case IdxType::i16: return DType::i16;
  case IdxType::i32: return DType::i32;
  case IdxType::f32: return DType::f32;
  case IdxType::f64: return DType::f64;
  }
  return std::nullopt;
}

Result<IdxHeader> parse_idx_header(std::span<const std::byte> start, std::uint64_t file_bytes,
                                   std::string_view name) {
  if (start.size() < 4)
    return fault(name, "the file is truncated: it has " + std::to_string(start.size()) +
                           " bytes and the smallest IDX header has 4");
  if (start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b})
    return fault(name, "the file is compressed with gzip: unpack it with gunzip first");
  if (start[0] != std::byte{0} || start[1] != std::byte{0})
    return fault(name, "this is not an IDX file: it starts with " + hex(start.first(4)) +
                           " and an IDX file starts with 00 00");

  const auto code = std::to_integer<std::uint8_t>(start[2]);
  IdxHeader header{static_cast<IdxType>(code), {}, 0, 0};
  const std::optional<DType> dtype = dtype_of_idx(header.type);
  if (!dtype)
    return fault(
        name,
        "the type code is 0x" + hex(start.subspan(2, 1)) +
            "; IDX has 0x08 (u8), 0x09 (i8), 0x0b (i16), 0x0c (i32), 0x0d (f32) and 0x0e (f64)");
  const std::size_t item = item_size(*dtype);

  const auto rank = std::to_integer<std::size_t>(start[3]);
  header.header_bytes = 4 + 4 * rank;
  if (start.size() < header.header_bytes)
    return fault(name, "the file is truncated: a header of " + std::to_string(rank) +
                           " dimensions has " + std::to_string(header.header_bytes) +
                           " bytes and the file has " + std::to_string(start.size()));

  if (rank > static_cast<std::size_t>(max_rank))
    return fault(name, "its header announces " + std::to_string(rank) +
                           " dimensions, and a tensor has at most " + std::to_string(max_rank));

  // A zero among the dimensions makes the product zero, however large the others are.
  for (std::size_t i = 0; i < rank; ++i) header.dims.push_back(big_endian_at(start, 4 + 4 * i));
  const bool none = std::find(header.dims.begin(), header.dims.end(), 0) != header.dims.end();
  std::uint64_t bytes = none ? 0 : item;
  bool overflows = false;
  for (const std::int64_t dim : header.dims)
    overflows |= !none && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes);
  if (overflows || bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    return fault(name, "its header announces " + product_text(header.dims) + " of " +
                           std::to_string(item) + " bytes, more than 64 bits can address");
  header.element_bytes = bytes;

  const std::uint64_t expected = header.header_bytes + bytes;
  const std::string announced =
      "its header announces " + product_text(header.dims) + " of " + std::to_string(item) +
      (item == 1 ? " byte, " : " bytes, ") + std::to_string(expected) +
      " bytes with the header, and the file has " + std::to_string(file_bytes);
  if (file_bytes < expected) return fault(name, "the file is truncated: " + announced);
  if (file_bytes > expected) return fault(name, "bytes follow the last element: " + announced);
  return header;
}

IdxArray read_idx_file(const std::string &path) {
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status))
    raise(fault(path, code && code != std::errc::no_such_file_or_directory
                          ? code.message()
                          : "there is no such file"));
  if (!std::filesystem::is_regular_file(status)) raise(fault(path, "this is not a regular file"));
  const std::uint64_t file_bytes = std::filesystem::file_size(path, code);
  if (code) raise(fault(path, code.message()));

  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) raise(fault(path, std::string("it cannot be opened: ") + std::strerror(errno)));

  std::byte start[kMaxIdxHeader];
  const std::size_t got = std::fread(start, 1, kMaxIdxHeader, file.get());
  IdxArray array{parse_idx_header({start, got}, file_bytes, path).value(), {}};
  // Pages that are promised and not there would end the process when they are touched.
  const auto shortage = system_memory::shortage(array.header.element_bytes, memory_stats().current);
  try {
    if (shortage) throw std::bad_alloc();
    array.bytes.resize(array.header.element_bytes);
  } catch (const std::bad_alloc &) {
    raise(ErrorKind::out_of_memory, "read_idx: " + path + ": its elements take " +
                                        std::to_string(array.header.element_bytes) +
                                        " bytes, more than can be had");
  }

  if (std::fseek(file.get(), static_cast<long>(array.header.header_bytes), SEEK_SET) != 0 ||
      std::fread(array.bytes.data(), 1, array.bytes.size(), file.get()) != array.bytes.size())
    raise(fault(path, std::ferror(file.get()) != 0
                          ? std::string("it cannot be read: ") + std::strerror(errno)
                          : "the file became shorter while it was read"));
  to_native_order(array.bytes, item_size(*dtype_of_idx(array.header.type)));
  return array;
}

namespace {

Tensor as_tensor(const IdxArray &array) {
  Tensor result =
      weft::detail::new_tensor(*dtype_of_idx(array.header.type), Shape(array.header.dims));
  std::ranges::copy(array.bytes, result.impl()->data);
  return result;
}

} // namespace

Tensor read_idx(const std::string &path, IdxOptions options, std::source_location where) {
  const CompositeCall site("read_idx", where);
  check_path("read_idx", path);
  return naming(path, [&] {
    const Tensor read = as_tensor(read_idx_file(path));
    return options.dtype ? read.astype(*options.dtype) : read;
  });
}

} // namespace weft::data
