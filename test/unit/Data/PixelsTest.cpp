// Pixels of 8 bits as a batch: of any strides, against arithmetic of f32 one sample at a time.
#include <weft/data/pixels.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../Testing.h"

namespace weft::data {
namespace {

/// Bytes that no two neighbours have alike.
std::vector<std::uint8_t> bytes(std::size_t count) {
  std::vector<std::uint8_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint8_t>(i * 37 + i / 7);
  return values;
}

/// The element of a batch, as the header says it.
float expected(std::uint8_t sample, const PixelOptions &options, std::size_t channel) {
  const auto of = [&](const std::vector<double> &list, double otherwise) {
    return list.empty() ? otherwise : list[list.size() == 1 ? 0 : channel];
  };
  const double deviation = of(options.deviation, 1);
  const auto factor = static_cast<float>(options.scale / deviation),
             term = static_cast<float>(-of(options.mean, 0) / deviation);
  volatile float scaled = static_cast<float>(sample) * factor; // rounded before the sum
  return term == 0 ? scaled : scaled + term;
}

void compare(const std::vector<PixelFrame> &frames, const PixelOptions &options) {
  const Tensor batch = batch_pixels(frames, options);
  const auto [height, width, channels] = frames[0].sizes;
  const auto count = static_cast<std::int64_t>(frames.size());
  ASSERT_EQ(batch.type(),
            spec(f32, options.channels_first ? Shape{count, channels, height, width}
                                             : Shape{count, height, width, channels}));
  const std::vector<float> found = batch.to_vector<float>();
  for (std::int64_t n = 0; n < count; ++n)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        for (std::int64_t c = 0; c < channels; ++c) {
          const PixelFrame &frame = frames[static_cast<std::size_t>(n)];
          const std::uint8_t sample =
              frame.data[y * frame.strides[0] + x * frame.strides[1] + c * frame.strides[2]];
          const std::int64_t at = options.channels_first
                                      ? ((n * channels + c) * height + y) * width + x
                                      : ((n * height + y) * width + x) * channels + c;
          ASSERT_EQ(found[static_cast<std::size_t>(at)],
                    expected(sample, options, static_cast<std::size_t>(c)))
              << n << " " << y << " " << x << " " << c;
        }
}

TEST(Pixels, OfEveryLayout) {
  const auto values = bytes(20'000);
  for (const std::int64_t channels : {1, 2, 3, 4, 5})
    for (const bool first : {false, true})
      for (const bool shifts : {false, true}) {
        PixelOptions options{.channels_first = first};
        if (shifts) {
          options.mean = {0.485};
          for (std::int64_t c = 0; c < channels; ++c)
            options.deviation.push_back(0.2 + 0.01 * static_cast<double>(c));
        }
        const std::int64_t row = 13 * channels;
        compare({PixelFrame::packed(values.data(), 7, 13, channels),
                 PixelFrame::packed(values.data() + 99, 7, 13, channels, row + 5),
                 // upside down, BGR as RGB, every other pixel, one channel of planes
                 {values.data() + 6 * row, {7, 13, channels}, {-row, channels, 1}},
                 {values.data() + channels - 1, {7, 13, channels}, {row, channels, -1}},
                 {values.data(), {7, 13, channels}, {2 * row, 2 * channels, 1}},
                 {values.data(), {7, 13, channels}, {13, 1, 7 * 13}}},
                options);
      }
}

TEST(Pixels, LargeOnesOnAllThreads) {
  const auto values = bytes(3 * 480 * 640);
  compare({PixelFrame::packed(values.data(), 480, 640, 3)}, {});
  compare({PixelFrame::packed(values.data(), 480, 640, 3)},
          {.scale = 1, .mean = {123.7, 116.8, 103.9}, .channels_first = true});
}

TEST(Pixels, EveryByte) {
  std::vector<std::uint8_t> values(256);
  for (int i = 0; i < 256; ++i) values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  compare({PixelFrame::packed(values.data(), 1, 256, 1)}, {});
  compare({PixelFrame::packed(values.data(), 1, 256, 1)}, {.scale = -2.5, .mean = {1e-3}});
}

TEST(Pixels, Refusals) {
  const auto values = bytes(100);
  const PixelFrame frame = PixelFrame::packed(values.data(), 2, 3, 3);
  const std::vector<PixelFrame> one = {frame};
  EXPECT_THROWS(batch_pixels({}), ValueError, "batch_pixels: there are no frames");
  EXPECT_THROWS(batch_pixels(std::vector{frame, PixelFrame::packed(values.data(), 3, 2, 3)}),
                ShapeError, "batch_pixels: frame 1 is (3, 2, 3), but frame 0 is (2, 3, 3)");
  EXPECT_THROWS(batch_pixels(std::vector{PixelFrame::packed(nullptr, 2, 3, 3)}), ValueError,
                "batch_pixels: the pointer of frame 0 is null");
  EXPECT_THROWS(batch_pixels(one, {.mean = {1, 2}}), ShapeError,
                "batch_pixels: the option mean has 2 numbers, but the frames have 3 channels");
  for (const double wrong : {0.0, std::nan(""), std::numeric_limits<double>::infinity()})
    if (wrong == 0 || std::isnan(wrong)) {
      EXPECT_THROWS(batch_pixels(one, {.deviation = {1, wrong, 1}}), ValueError,
                    "batch_pixels: channel 1 has a scale, mean or deviation that is not finite, or "
                    "a deviation of 0");
    } else {
      EXPECT_THROW(batch_pixels(one, {.scale = wrong}), ValueError);
    }
  EXPECT_THROW(batch_pixels(std::vector{PixelFrame::packed(values.data(), -1, 3, 3)}), ShapeError);
  EXPECT_EQ(batch_pixels(std::vector{PixelFrame::packed(nullptr, 0, 3, 3)}).shape(),
            (Shape{1, 0, 3, 3}));
}

} // namespace
} // namespace weft::data
