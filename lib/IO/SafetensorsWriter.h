// Writing safetensors files with digests, in one pass over the tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "IO/SafetensorsHeader.h"
#include "Support/AtomicFile.h"

namespace weft {

/// Writes all of a file but its name: what is left is to commit it. Adds the digests to the texts.
/// Throws IOError and ValueError.
void write_safetensors(AtomicFile &file, std::vector<SafetensorsItem> items,
                       std::map<std::string, std::string> texts);

/// The tensor, contiguous, as it can be written. Throws StateError, naming `function` and it, if it
/// has no elements to write.
SafetensorsItem writable_item(const std::string &function, const std::string &name,
                              const Tensor &tensor);

} // namespace weft
