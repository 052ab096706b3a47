// Valid files of every format that Weft reads.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <weft/structure.h>

namespace weft::fuzz {

enum class Format : std::uint8_t {
  idx,
  npy,
  npz,
  csv,
  lines,
  tfrecord,
  safetensors,
  index, ///< of safetensors files
  png,
  jpeg,
  images, ///< a folder of them
  checkpoint,
  events,
  state, ///< of a data set, a text
  history,
  tree, ///< of `save`
};

inline constexpr std::array<std::string_view, 16> kFormats = {
    "idx", "npy",  "npz",    "csv",        "lines",  "tfrecord", "safetensors", "index",
    "png", "jpeg", "images", "checkpoint", "events", "state",    "history",     "tree"};

inline std::string_view name_of(Format format) {
  return kFormats[static_cast<std::size_t>(format)];
}

struct Sample {
  Format format{};
  std::string name;                          ///< of the file in its folder, maybe below it
  std::string bytes;                         ///< that are mutated
  std::map<std::string, std::string> beside; ///< other files there
  bool sealed = false;                       ///< by digests: no changed bit may pass
};

/// What a sample of the format tree has.
struct SavedLayer {
  Tensor w;
  std::optional<Tensor> b;
  std::int32_t units = 0;
  WEFT_FIELDS(SavedLayer, w, b, units)
};
struct SavedSearch {
  std::map<std::string, SavedLayer> layers;
  std::string note;
  std::tuple<std::int64_t, double> pair;
  WEFT_FIELDS(SavedSearch, layers, note, pair)
};

/// What `samples` needs of a folder that it may write to.
std::vector<Sample> samples(const std::string &scratch);

/// A ZIP archive, as .npz files are.
struct ZipMember {
  std::string name, bytes;
  bool deflated = false;
};
std::string zip_of(const std::vector<ZipMember> &members);

/// Bytes as zlib compresses them, and without its header and checksum.
std::string compressed(std::string_view bytes);
std::string deflated(std::string_view bytes);

/// A chunk of a PNG file with its length and checksum.
std::string png_chunk(std::string_view type, std::string_view data);

} // namespace weft::fuzz
