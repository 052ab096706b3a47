// The parts of files that checksums guard: taken apart, and put together with checksums that are
// right.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::fuzz {

/// The payloads of a file of records (TFRecord), as far as there are whole ones.
std::vector<std::string> records_of(std::string_view file);
std::string file_of_records(const std::vector<std::string> &records);

/// The chunks of a PNG file by their types, as far as there are whole ones.
using Chunks = std::vector<std::pair<std::string, std::string>>;
Chunks chunks_of(std::string_view file);
std::string file_of_chunks(const Chunks &chunks);

/// Header and elements of a safetensors file.
std::pair<std::string, std::string> safetensors_parts(std::string_view file);
/// One with the length before the header, and with digests that are right where there are some.
std::string safetensors_file(std::string header, std::string_view data);

/// Header and elements of a .npy file of version 1.
std::pair<std::string, std::string> npy_parts(std::string_view file);
std::string npy_file(std::string_view header, std::string_view data);

/// Inflates what zlib compressed, as far as it goes, up to 1 MiB.
std::string decompressed(std::string_view bytes);

} // namespace weft::fuzz
