// Open safetensors files, and reading many of their tensors at once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "IO/InputFile.h"
#include "IO/SafetensorsHeader.h"
#include <weft/safetensors.h>

namespace weft {

/// One file of an open one, which has several where an index names them.
struct SafetensorsShard {
  InputFile file;
  SafetensorsHeader header;
  std::uint64_t data = 0; ///< where the elements start

  /// Opens and checks it.
  explicit SafetensorsShard(const std::string &path);
};

struct SafetensorsFile::State {
  /// A tensor's place.
  struct Place {
    const SafetensorsShard *shard;
    std::uint64_t offset; ///< in the file
    std::string digest;   ///< empty if there is none
  };
  std::string path;
  std::vector<std::unique_ptr<SafetensorsShard>> shards;
  std::vector<SafetensorsEntry> entries; ///< by name
  std::vector<Place> places;             ///< of the entries
  std::map<std::string, std::string> texts;
};

/// The tensors of these names, in their order, read on all threads. Throws what
/// SafetensorsFile::load does.
std::vector<Tensor> load_tensors(const SafetensorsFile &file, const std::vector<std::string> &names,
                                 const SafetensorsOptions &options);

/// Which file has which tensor, as an index says. Throws IOError.
std::map<std::string, std::string> read_safetensors_index(const InputFile &file);

/// The dtype that a tensor of the file has in memory, if there is one.
std::optional<DType> loaded_dtype(std::string_view dtype, const SafetensorsOptions &options);

} // namespace weft
