// Takes files apart without trusting them, and writes their checksums.
#include "Formats.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "Bytes.h"
#include "IO/Records.h"
#include "Samples.h"
#include "Support/Digest.h"

namespace weft::fuzz {

std::vector<std::string> records_of(std::string_view file) {
  std::vector<std::string> records;
  while (file.size() >= 16) {
    const std::uint64_t length = little_at(file, 0, 8);
    if (length > file.size() - 16) break;
    records.emplace_back(file.substr(12, length));
    file.remove_prefix(16 + length);
  }
  return records;
}

std::string file_of_records(const std::vector<std::string> &records) {
  std::string file;
  for (const std::string &record : records) file += framed_record(record);
  return file;
}

Chunks chunks_of(std::string_view file) {
  Chunks chunks;
  file.remove_prefix(std::min<std::size_t>(file.size(), 8));
  while (file.size() >= 12) {
    const std::uint64_t length = big_at(file, 0, 4);
    if (length > file.size() - 12) break;
    chunks.emplace_back(file.substr(4, 4), file.substr(8, length));
    file.remove_prefix(12 + length);
  }
  return chunks;
}

std::string file_of_chunks(const Chunks &chunks) {
  std::string file = "\x89PNG\r\n\x1a\n";
  for (const auto &[type, data] : chunks) file += png_chunk(type, data);
  return file;
}

std::pair<std::string, std::string> safetensors_parts(std::string_view file) {
  const std::uint64_t length = little_at(file, 0, 8);
  if (file.size() < 8 || length > file.size() - 8) return {std::string(file), ""};
  return {std::string(file.substr(8, length)), std::string(file.substr(8 + length))};
}

namespace {

/// Puts the digest of each tensor that the header tells readably into it.
void correct_digests(std::string &header, std::string_view data) {
  const auto json = nlohmann::json::parse(header, nullptr, false);
  if (!json.is_object()) return;
  for (const auto &[name, entry] : json.items()) {
    const std::string key = "\"weft.digest." + name + "\":\"";
    const std::size_t at = header.find(key);
    if (at == std::string::npos || !entry.is_object() || !entry.contains("data_offsets")) continue;
    const auto &offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned())
      continue;
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    if (begin <= end && end <= data.size())
      put(header, at + key.size(), xxh3_of(data.substr(begin, end - begin)));
  }
}

} // namespace

std::string safetensors_file(std::string header, std::string_view data) {
  correct_digests(header, data);
  const std::string key = "\"weft.header\":\"";
  if (const std::size_t at = header.find(key); at != std::string::npos) {
    put(header, at + key.size(), std::string(Xxh3::kDigits, '0'));
    put(header, at + key.size(), xxh3_of(header));
  }
  return little(header.size(), 8) + header + std::string(data);
}

std::pair<std::string, std::string> npy_parts(std::string_view file) {
  const std::uint64_t length = little_at(file, 8, 2);
  if (file.size() < 10 || length > file.size() - 10) return {std::string(file), ""};
  return {std::string(file.substr(10, length)), std::string(file.substr(10 + length))};
}

std::string npy_file(std::string_view header, std::string_view data) {
  return "\x93NUMPY" + std::string("\1\0", 2) + little(header.size(), 2) + std::string(header) +
         std::string(data);
}

std::string decompressed(std::string_view bytes) {
  std::string out(std::size_t{1} << 20, '\0');
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

} // namespace weft::fuzz
