// Pixels of 8 bits in arrays of Python, as a batch of float32.
#include "Data.h"
#include "Define.h"
#include "Foreign.h"
#include "Snapshots.h"
#include "Text.h"

#include <weft/data/pixels.h>

namespace weft::python {

namespace {

constexpr std::source_location kNowhere;

/// Buffers of bytes, held as long as this lives.
class HeldBuffers {
public:
  HeldBuffers() = default;
  ~HeldBuffers() {
    for (Py_buffer &view : views_) PyBuffer_Release(&view);
  }
  HeldBuffers(const HeldBuffers &) = delete;
  HeldBuffers &operator=(const HeldBuffers &) = delete;

  /// That of an object with samples of 8 bits. Throws DTypeError for another.
  const Py_buffer &hold(nb::handle object, const std::string &name) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) != 0) {
      PyErr_Clear();
      throw DTypeError("pixels: " + name + " is of type " + Py_TYPE(object.ptr())->tp_name +
                       ": an array of uint8 is wanted");
    }
    views_.push_back(view);
    const std::string_view format = view.format == nullptr ? "B" : view.format;
    if (format.ends_with('B') && view.itemsize == 1 && view.suboffsets == nullptr)
      return views_.back();
    throw DTypeError("pixels: " + name + " has elements of the format '" + std::string(format) +
                     "': uint8 is wanted");
  }

private:
  std::vector<Py_buffer> views_;
};

data::PixelFrame frame_of(const Py_buffer &view, int axis, std::int64_t number) {
  data::PixelFrame frame;
  const auto *data = static_cast<const std::uint8_t *>(view.buf);
  std::array<std::int64_t, 4> strides = {};
  std::int64_t packed = 1;
  for (int i = view.ndim; i-- > 0; packed *= view.shape[i])
    strides[static_cast<std::size_t>(i)] = view.strides != nullptr ? view.strides[i] : packed;
  if (axis == 1) data += number * strides[0];
  frame.data = data;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t at = i + static_cast<std::size_t>(axis);
    frame.sizes[i] = view.shape[at];
    frame.strides[i] = strides[at];
  }
  return frame;
}

[[noreturn]] void refuse_axes(const Py_buffer &view, const std::string &name) {
  Shape shape;
  for (int i = 0; i < view.ndim; ++i) shape.push_back(view.shape[i]);
  throw ShapeError("pixels: " + name + " has the shape " + weft::to_string(shape) +
                   ": (height, width, channels) is wanted" +
                   (view.ndim == 2 ? ", which frame[:, :, None] of a grey one has" : ""));
}

Tensor pixels(nb::handle frames, const data::PixelOptions &options) {
  HeldBuffers held;
  std::vector<data::PixelFrame> all;
  if (PyList_Check(frames.ptr()) != 0 || PyTuple_Check(frames.ptr()) != 0) {
    for (const nb::handle frame : entries_of(frames.ptr())) {
      const std::string name = "frame " + std::to_string(all.size());
      const Py_buffer &view = held.hold(frame, name);
      if (view.ndim != 3) refuse_axes(view, name);
      all.push_back(frame_of(view, 0, 0));
    }
  } else {
    const Py_buffer &view = held.hold(frames, "frames");
    if (view.ndim != 3 && view.ndim != 4) refuse_axes(view, "frames");
    const int axis = view.ndim - 3;
    for (std::int64_t i = 0; i < (axis == 0 ? 1 : view.shape[0]); ++i)
      all.push_back(frame_of(view, axis, i));
  }
  return without_lock([&] { return data::batch_pixels(all, options, kNowhere); });
}

} // namespace

void define_pixels() {
  nb::module_ data = family("data");
  define<pixels>(
      data, "pixels", Arg("frames").as("Any"), keyword_only,
      R"(Frames of a camera as a batch, float32 (count, height, width, channels): arrays of uint8 are read,
scaled and written in one pass, `(frame * scale - mean) / deviation`.

    >>> frame = np.array([[[0, 51, 255]]], np.uint8)
    >>> wf.data.pixels([frame, frame[:, :, ::-1]]).tolist()
    [[[[0.0, 0.20000001788139343, 1.0]]], [[[1.0, 0.20000001788139343, 0.0]]]]

The frames may have any strides: frame[:, :, ::-1] takes BGR for RGB, frame[::-1] one that is upside down, and
neither is copied. They may change when the call has returned.

Args:
    frames: one array (height, width, channels), several in one (count, height, width, channels), or a list of
        arrays of one shape
    scale: what each sample is multiplied by
    mean: what is subtracted then, for each channel or for all
    deviation: what that is divided by, for each channel or for all
    channels_first: gives (count, channels, height, width)

Raises:
    DTypeError: for arrays of other than uint8
    ShapeError: for frames of several shapes
    ValueError: for no frames, and for numbers that are not finite
)");
}

} // namespace weft::python
