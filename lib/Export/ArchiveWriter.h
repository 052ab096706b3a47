// Writing archives: what goes into one, and the function that lays it out.
#pragma once

#include <string>
#include <vector>

#include "Export/Manifest.h"
#include "IO/Safetensors.h"

namespace weft::archive {

/// What goes into an archive. Of the manifest all but the regions is set.
struct Contents {
  Manifest manifest;
  /// Contiguous, with names that are unlike.
  std::vector<SafetensorsItem> weights;
  std::vector<std::string> bytecode;             ///< of the entries
  std::vector<std::vector<std::string>> objects; ///< of the entries
};

/// Writes it as a whole or not at all. Throws IOError, and ValueError for names that are not UTF-8.
void write_archive(const std::string &path, Contents contents);

} // namespace weft::archive
