// Images as they come out of decoders, before they are tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/data/images.h>

namespace weft::data {

/// Samples row by row, of 8 bits, or 16 in this machine's order.
struct Pixels {
  std::size_t height = 0, width = 0;
  int channels = 0; ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha
  int bits = 8;
  std::vector<unsigned char> samples;
};

/// What no image has: a file that says so is damaged, or meant to exhaust memory.
inline constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 28;

// Throw IOError, which begins with `name`.
Pixels decode_png(std::string_view bytes, const std::string &name);
Pixels decode_jpeg(std::string_view bytes, const std::string &name);

/// Of 1, 3 or 4 channels of 8 bits.
std::string encode_pixels(const Pixels &pixels);

bool is_png(std::string_view bytes);
bool is_jpeg(std::string_view bytes);

/// Throws IOError if there are no pixels, too many, or more than `most`, which is what the file's
/// bytes can hold.
void check_size(const Pixels &pixels, const std::string &name, std::uint64_t most);
/// Makes room for the samples; throws OutOfMemory.
void make_room(Pixels &pixels, const std::string &name);

/// Floating numbers held between 0 and 1, 0 for NaN: what encode_png takes. Others as they are.
Tensor drawable(const Tensor &image);

/// The image that is all of `bytes`, of either kind.
Tensor decode_named(std::string_view bytes, const std::string &name, const ImageOptions &options);
Tensor as_tensor(const Pixels &pixels, const ImageOptions &options);
void check_options(const ImageOptions &options);

} // namespace weft::data
