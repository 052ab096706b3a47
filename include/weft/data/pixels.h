// Pixels of 8 bits in memory, as cameras and decoders give them, as a batch of floating numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/options.h>
#include <weft/tensor.h>

namespace weft::data {

/// An image in memory, which is only read: height, width and channels, and how many bytes lie
/// between rows, pixels and channels. Negative ones read it upside down, or BGR as RGB.
struct PixelFrame {
  const std::uint8_t *data = nullptr; ///< channel 0 of the first pixel
  std::array<std::int64_t, 3> sizes = {0, 0, 0};
  std::array<std::int64_t, 3> strides = {0, 0, 0};

  /// One whose pixels lie behind each other in a row, and rows `row_bytes` apart: without it behind
  /// each other too.
  static PixelFrame packed(const std::uint8_t *data, std::int64_t height, std::int64_t width,
                           std::int64_t channels, std::int64_t row_bytes = 0) {
    return {data,
            {height, width, channels},
            {row_bytes != 0 ? row_bytes : width * channels, channels, 1}};
  }
};

struct PixelOptions {
  /// What each sample is multiplied by: numbers of [0, 1] by default.
  double scale = 1.0 / 255;
  /// What is subtracted then, and what that is divided by: one for each channel, one for all, or
  /// none.
  std::vector<double> mean = {}, deviation = {};
  /// Whether the batch is (count, channels, height, width), and not channels last.
  bool channels_first = false;
};
WEFT_OPTIONS(PixelOptions, scale, mean, deviation, channels_first)

/// A batch f32(count, height, width, channels) of frames of one size, in one pass over their bytes
/// on all threads: `(sample * scale - mean) / deviation`, computed in f32 as `sample * a` or
/// `sample * a + b` with a = scale / deviation and b = -mean / deviation rounded once. The frames
/// are needed no more when it returns. Throws ValueError for no frames and for numbers that are not
/// finite or divide by 0, ShapeError where sizes differ.
Tensor batch_pixels(std::span<const PixelFrame> frames, const PixelOptions &options = {},
                    std::source_location where = WEFT_HERE);

} // namespace weft::data
