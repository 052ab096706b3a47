// Short-time Fourier transforms: frames of signals, windows, and the sums of frames that overlap.
#include "Ops/Composites/Parts.h"

#include <cmath>
#include <numbers>
#include <string>

#include "Runtime/Elements.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"

namespace weft::composites {

namespace {

std::string named(const char *function) { return std::string("fft.") + function + ": "; }

void check_step(const char *function, std::int64_t step) {
  if (step < 1)
    raise(ErrorKind::value,
          named(function) + "frame_step is " + std::to_string(step) + ": it must be 1 or more");
}
void check_frames(const char *function, std::int64_t length, std::int64_t step) {
  if (length < 1)
    raise(ErrorKind::value,
          named(function) + "frame_length is " + std::to_string(length) + ": it must be 1 or more");
  check_step(function, step);
}
void check_rank(const char *function, const Tensor &x, std::int64_t rank) {
  if (x.rank() < rank)
    raise(ErrorKind::shape, named(function) + "x has the shape " + to_string(shape_of(x)) + ": " +
                                (rank == 1 ? "a scalar has no frames"
                                           : "an axis of frames and one of what they have are "
                                             "wanted"));
}

std::int64_t transform_length(const char *function, std::int64_t frame,
                              const std::optional<std::int64_t> &given) {
  if (given.value_or(frame) < frame)
    raise(ErrorKind::value, named(function) + "fft_length is " + std::to_string(*given) +
                                ", less than a frame's " + std::to_string(frame) + " elements");
  return given.value_or(frame);
}

/// The window, Hann's if none is given, in that dtype.
Tensor window_of(const char *function, const Tensor &given, std::int64_t length, DType dtype) {
  if (!given.defined()) return fft::hann_window(length, {.dtype = dtype});
  const Shape shape = shape_of(given);
  std::vector<Tensor> open;
  const std::string text = named(function) + "window has the shape " + written(given, open) +
                           ": as many elements as a frame has are wanted, " +
                           std::to_string(length);
  if (shape.size() != 1 || (shape[0] != length && shape[0] != unknown)) refuse_shape(text);
  if (shape[0] == unknown)
    detail::check_sizes(equal(size_along(given, 0).tensor(), length), text, open);
  return cast(given, dtype);
}

/// x with zeros along an axis, in front and behind.
Tensor with_zeros(const Tensor &x, std::int64_t axis, const Size &before, const Size &behind) {
  const auto rank = static_cast<std::size_t>(x.rank());
  Sizes front(Ints(rank, 0)), back(Ints(rank, 0));
  front.set(static_cast<std::size_t>(axis), before);
  back.set(static_cast<std::size_t>(axis), behind);
  return weft::pad(x, tensor(0).astype(x.dtype()), front, back, Ints(rank, 0));
}

Tensor framed(const char *function, Tensor x, std::int64_t length, std::int64_t step,
              bool pad_end) {
  check_frames(function, length, step);
  check_rank(function, x, 1);
  const std::int64_t axis = x.rank() - 1;
  const Size size = size_along(x, axis);
  // As many as begin within, or as end there.
  const Size count = pad_end ? (size + (step - 1)) / step : max(size - length + step, 0) / step;
  if (pad_end) x = with_zeros(x, axis, 0, max(count * step - step + length - size, 0));
  Tensor taken;
  {
    const AtOnce constant(size.is_number());
    taken = with_axis(iota(DType::i64, {count}) * step, 1) + iota(DType::i64, {Size(length)});
  }
  return gather(x, taken, {.axis = axis});
}

Tensor overlapped(const char *function, const Tensor &x, std::int64_t step) {
  check_step(function, step);
  check_rank(function, x, 2);
  const std::int64_t axis = x.rank() - 2, length = detail::size_for_call(x, axis + 1);
  if (length == unknown)
    raise(ErrorKind::shape, named(function) + "the size of a frame, the last axis of x, is not "
                                              "known, which decides how many overlap");
  const Size count = size_along(x, axis);
  // Each frame as parts of one step; then all first parts, all second ones a step further, ...
  const std::int64_t parts = std::max<std::int64_t>((length + step - 1) / step, 1);
  const Tensor whole = with_zeros(x, axis + 1, 0, parts * step - length);
  Tensor total;
  for (std::int64_t i = 0; i < parts; ++i) {
    const Tensor part =
        with_zeros(between(whole, axis + 1, i * step, (i + 1) * step), axis, i, parts - 1 - i);
    total = total.defined() ? total + part : part;
  }
  Sizes sizes = detail::sizes_of(total), joined;
  for (std::int64_t i = 0; i < axis; ++i) joined.push_back(sizes[static_cast<std::size_t>(i)]);
  joined.push_back((count + (parts - 1)) * step);
  return between(reshape(total, joined), axis, 0, min(count, 1) * ((count - 1) * step + length));
}

} // namespace

Tensor fourier_frame(const Tensor &x, std::int64_t frame_length, std::int64_t frame_step,
                     const fft::FrameOptions &options) {
  return framed("frame", x, frame_length, frame_step, options.pad_end);
}

Tensor fourier_overlap_and_add(const Tensor &x, std::int64_t frame_step) {
  return overlapped("overlap_and_add", x, frame_step);
}

Tensor fourier_stft(const Tensor &x, const Tensor &window, std::int64_t frame_length,
                    std::int64_t frame_step, const fft::StftOptions &options) {
  const Tensor frames = framed("stft", x, frame_length, frame_step, options.pad_end);
  const std::int64_t n = transform_length("stft", frame_length, options.fft_length);
  return fft::rfft(frames * window_of("stft", window, frame_length, x.dtype()), n);
}

Tensor fourier_istft(const Tensor &x, const Tensor &window, std::int64_t frame_length,
                     std::int64_t frame_step, const fft::IstftOptions &options) {
  check_frames("istft", frame_length, frame_step);
  check_rank("istft", x, 2);
  const std::int64_t n = transform_length("istft", frame_length, options.fft_length);
  Tensor frames = fft::irfft(x, n);
  if (n != frame_length) frames = between(frames, frames.rank() - 1, 0, frame_length);
  const Tensor weights = window_of("istft", window, frame_length, frames.dtype());
  Tensor signal = overlapped("istft", frames * weights, frame_step);
  if (!options.normalize) return signal;
  const Tensor squares = overlapped(
      "istft",
      broadcast(weights * weights, {size_along(frames, frames.rank() - 2), Size(frame_length)}),
      frame_step);
  const Tensor seen = squares > 1e-10;
  return select(seen, signal / select(seen, squares, 1), signal);
}

} // namespace weft::composites

namespace weft::fft {

namespace {

/// a - b cos(2 pi i / n), where a periodic window is one of n + 1 elements without its last.
Tensor cosine_window(const char *function, std::int64_t length, double a, double b,
                     const WindowOptions &options, std::source_location where) {
  const CompositeCall site(function, where);
  if (length < 0)
    raise(ErrorKind::value, std::string(function) + ": the length is " + std::to_string(length) +
                                ": it must not be negative");
  if (!is_floating(options.dtype))
    raise(ErrorKind::dtype, std::string(function) + ": the dtype is " +
                                std::string(name_of(options.dtype)) + ": a floating one is wanted");
  const Tensor window = detail::new_tensor(DType::f64, Shape{length});
  auto *const values = detail::elements<double>(window);
  const double steps = static_cast<double>(options.periodic ? length : length - 1);
  for (std::int64_t i = 0; i < length; ++i)
    values[i] =
        length == 1 ? 1 : a - b * std::cos(2 * std::numbers::pi * static_cast<double>(i) / steps);
  return cast(detail::placed(window), options.dtype);
}

} // namespace

Tensor hann_window(std::int64_t length, const WindowOptions &options, std::source_location where) {
  return cosine_window("fft.hann_window", length, 0.5, 0.5, options, where);
}

Tensor hamming_window(std::int64_t length, const WindowOptions &options,
                      std::source_location where) {
  return cosine_window("fft.hamming_window", length, 0.54, 0.46, options, where);
}

} // namespace weft::fft
