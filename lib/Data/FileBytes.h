// Files of data, read into memory as they are.
#pragma once

#include <cstdint>
#include <string>

namespace weft::data {

/// All bytes of a file. Throws IOError if there are more than `limit`, OutOfMemory if there is no
/// room for them.
std::string read_file(const std::string &path, std::uint64_t limit = ~std::uint64_t{0});

/// A string of so many bytes; throws OutOfMemory, naming the file, if they cannot be had.
std::string bytes_for(const std::string &path, std::uint64_t size);

} // namespace weft::data
