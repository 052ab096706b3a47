// Reads a file in all the ways the library has for its format, and judges what comes of it.
#pragma once

#include <cstdint>
#include <string>

#include "Samples.h"

namespace weft::fuzz {

struct FileVerdict {
  std::string fault;  ///< of one line; empty if all is well
  std::string detail; ///< what was said
  std::uint32_t calls = 0, refused = 0;
};

/// Reads the file `name` of a folder. Each way must give values, or an error of a kind that its
/// documentation names; it names the file, and what was there to be filled is as before.
/// `unchanged` says that the file is a valid one, `must_refuse` that no way may let it pass.
struct FileCase {
  Format format{};
  std::string folder, name;
  bool unchanged = false, must_refuse = false;
};
FileVerdict read_all_ways(const FileCase &file);

} // namespace weft::fuzz
