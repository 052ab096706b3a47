// Samples of 8 bits into a batch of f32, scaled on the way.
#include <weft/data/pixels.h>

#include <algorithm>
#include <cmath>

#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Threads.h"

namespace weft::data {

namespace {

/// What a sample of each channel becomes: `sample * factor + term`.
struct Line {
  std::vector<float> factors, terms;
  bool shifts = false; ///< whether some term is not 0
};

std::string text_of(const std::array<std::int64_t, 3> &sizes) {
  return to_string(Shape(std::span<const std::int64_t>(sizes)));
}

/// One number for each channel.
std::vector<double> per_channel(const char *option, const std::vector<double> &given,
                                std::size_t channels, double otherwise) {
  if (given.empty()) return std::vector<double>(channels, otherwise);
  if (given.size() == 1) return std::vector<double>(channels, given[0]);
  if (given.size() != channels)
    throw ShapeError("batch_pixels: the option " + std::string(option) + " has " +
                     std::to_string(given.size()) + " numbers, but the frames have " +
                     std::to_string(channels) + " channels");
  return given;
}

Line line_of(const PixelOptions &options, std::size_t channels) {
  const std::vector<double> mean = per_channel("mean", options.mean, channels, 0),
                            deviation = per_channel("deviation", options.deviation, channels, 1);
  Line line;
  for (std::size_t c = 0; c < channels; ++c) {
    line.factors.push_back(static_cast<float>(options.scale / deviation[c]));
    line.terms.push_back(static_cast<float>(-mean[c] / deviation[c]));
    if (!std::isfinite(line.factors[c]) || !std::isfinite(line.terms[c]))
      throw ValueError("batch_pixels: channel " + std::to_string(c) +
                       " has a scale, mean or deviation that is not finite, or a deviation of 0");
    line.shifts |= line.terms[c] != 0;
  }
  return line;
}

void check_frames(std::span<const PixelFrame> frames) {
  if (frames.empty()) throw ValueError("batch_pixels: there are no frames");
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].sizes != frames[0].sizes)
      throw ShapeError("batch_pixels: frame " + std::to_string(i) + " is " +
                       text_of(frames[i].sizes) + ", but frame 0 is " + text_of(frames[0].sizes));
    const bool empty = std::ranges::find(frames[i].sizes, 0) != frames[i].sizes.end();
    if (frames[i].data == nullptr && !empty)
      throw ValueError("batch_pixels: the pointer of frame " + std::to_string(i) + " is null");
  }
}

/// Samples behind each other, with a factor and a term for each.
template <bool Shifts>
void convert_run(const std::uint8_t *__restrict from, std::int64_t count,
                 const float *__restrict factors, const float *__restrict terms,
                 float *__restrict to) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float scaled = static_cast<float>(from[i]) * factors[i];
    to[i] = Shifts ? scaled + terms[i] : scaled;
  }
}

/// Samples of one channel; `Step` is known to the compiler, or 0.
template <int Step>
void convert_channel(const std::uint8_t *__restrict from, std::int64_t step, std::int64_t count,
                     float factor, float term, bool shifts, float *__restrict to,
                     std::int64_t to_step) {
  if constexpr (Step != 0) step = Step;
  if (shifts)
    for (std::int64_t i = 0; i < count; ++i)
      to[i * to_step] = static_cast<float>(from[i * step]) * factor + term;
  else
    for (std::int64_t i = 0; i < count; ++i)
      to[i * to_step] = static_cast<float>(from[i * step]) * factor;
}

class Rows {
public:
  Rows(std::span<const PixelFrame> frames, const PixelOptions &options, const Line &line, float *to)
      : frames_(frames), line_(line), to_(to), height_(frames[0].sizes[0]),
        width_(frames[0].sizes[1]), channels_(frames[0].sizes[2]), first_(options.channels_first) {
    if (first_) return;
    for (std::int64_t x = 0; x < width_; ++x) {
      factors_.insert(factors_.end(), line.factors.begin(), line.factors.end());
      terms_.insert(terms_.end(), line.terms.begin(), line.terms.end());
    }
  }

  void convert(std::int64_t row) const {
    const std::int64_t n = row / height_, y = row % height_;
    const PixelFrame &frame = frames_[static_cast<std::size_t>(n)];
    const auto [down, right, deep] = frame.strides;
    const std::uint8_t *const from = frame.data + y * down;
    if (!first_ && deep == 1 && right == channels_) {
      float *const to = to_ + row * width_ * channels_;
      const std::int64_t count = width_ * channels_;
      if (line_.shifts) convert_run<true>(from, count, factors_.data(), terms_.data(), to);
      else convert_run<false>(from, count, factors_.data(), terms_.data(), to);
      return;
    }
    for (std::int64_t c = 0; c < channels_; ++c) {
      float *const to = first_ ? to_ + ((n * channels_ + c) * height_ + y) * width_
                               : to_ + row * width_ * channels_ + c;
      const std::int64_t to_step = first_ ? 1 : channels_;
      const float factor = line_.factors[static_cast<std::size_t>(c)],
                  term = line_.terms[static_cast<std::size_t>(c)];
      const auto channel = right == 1   ? convert_channel<1>
                           : right == 3 ? convert_channel<3>
                           : right == 4 ? convert_channel<4>
                                        : convert_channel<0>;
      channel(from + c * deep, right, width_, factor, term, line_.shifts, to, to_step);
    }
  }

private:
  std::span<const PixelFrame> frames_;
  const Line &line_;
  float *to_;
  std::int64_t height_, width_, channels_;
  bool first_;
  std::vector<float> factors_, terms_; ///< of a row of pixels behind each other
};

} // namespace

Tensor batch_pixels(std::span<const PixelFrame> frames, const PixelOptions &options,
                    std::source_location where) {
  const CompositeCall site("batch_pixels", where);
  check_frames(frames);
  const auto count = static_cast<std::int64_t>(frames.size());
  const auto [height, width, channels] = frames[0].sizes;
  const Shape shape = options.channels_first ? Shape{count, channels, height, width}
                                             : Shape{count, height, width, channels};
  Tensor batch = weft::detail::new_tensor(DType::f32, shape);
  const Line line = line_of(options, static_cast<std::size_t>(channels));
  if (batch.size() == 0) return batch;
  const Rows rows(frames, options, line, weft::detail::elements<float>(batch));
  constexpr std::int64_t kGrain = std::int64_t{1} << 16; // samples
  threads::parallel_for_noexcept(0, count * height,
                                 std::max<std::int64_t>(kGrain / (width * channels), 1),
                                 [&](std::int64_t begin, std::int64_t end) {
                                   for (std::int64_t row = begin; row < end; ++row)
                                     rows.convert(row);
                                 });
  return batch;
}

} // namespace weft::data
