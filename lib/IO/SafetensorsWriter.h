// Writing safetensors files with digests, in one pass over the tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "IO/SafetensorsHeader.h"
#include "Support/Files.h"

namespace weft {

/// Writes all of a file but its name: what is left is to commit it. Adds the digests to the texts.
/// With `beside_others`, who want the processors meanwhile, a large file takes less of their time,
/// and on a disk with a fast cache more of its own. Throws IOError and ValueError.
void write_safetensors(AtomicFile &file, std::vector<SafetensorsItem> items,
                       std::map<std::string, std::string> texts, bool beside_others = false);

/// How a file of items begins that have this order: the length of the header and the header, with
/// its own digest added to the texts. They fill a multiple of `alignment` bytes.
std::string safetensors_beginning(const std::vector<SafetensorsItem> &items,
                                  std::map<std::string, std::string> &texts,
                                  std::size_t alignment = 8);

/// The tensor, contiguous, as it can be written. Throws StateError, naming `function` and it, if it
/// has no elements to write.
SafetensorsItem writable_item(const std::string &function, const std::string &name,
                              const Tensor &tensor);

} // namespace weft
