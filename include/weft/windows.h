// Ops on windows of images, which are (batch, 1 to 3 spatial axes, channels): convolution, pooling,
// and images of other sizes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include <weft/tensor.h>

namespace weft {

/// What is put around the spatial axes before windows are laid over them.
class Padding {
public:
  /// Nothing: windows lie inside.
  static const Padding valid;
  /// As many zeros that there are ceil(size / stride) positions; the odd one goes behind.
  static const Padding same;
  /// Zeros in front only, so that no position sees what is behind it.
  static const Padding causal;

  /// So many in front of and behind each spatial axis: `{{1, 1}, {0, 2}}`.
  constexpr Padding(std::initializer_list<std::array<std::int64_t, 2>> pairs) : kind_(Kind::pairs) {
    for (const auto &pair : pairs) {
      if (count_ < pairs_.size()) pairs_[count_] = pair;
      ++count_;
    }
  }

  enum class Kind : std::int32_t { valid, same, causal, pairs };
  constexpr Kind kind() const { return kind_; }
  /// How many pairs there are, of which the first three are kept: there are no more axes.
  constexpr std::size_t count() const { return count_; }
  constexpr const std::array<std::int64_t, 2> &pair(std::size_t axis) const { return pairs_[axis]; }

private:
  explicit constexpr Padding(Kind kind) : kind_(kind) {}
  std::array<std::array<std::int64_t, 2>, 3> pairs_ = {};
  std::size_t count_ = 0;
  Kind kind_;
};

inline constexpr Padding Padding::valid{Kind::valid};
inline constexpr Padding Padding::same{Kind::same};
inline constexpr Padding Padding::causal{Kind::causal};

/// Options of `convolution`. Lists have an entry for each spatial axis; none stand for ones.
struct ConvolutionOptions {
  Ints strides = {};
  Padding padding = Padding::valid;
  /// How far the elements that a window sees are apart.
  Ints dilations = {};
  /// Channels are parted into so many groups, which do not see each other; as many as there are
  /// channels make it depthwise.
  std::int64_t groups = 1;
};

/// Of each position the sum over its window, and the channels of its group, of x and the kernel,
/// which is not flipped. Padding is zeros that take part: NaN and infinities of the kernel meet
/// them. Each sum is one chain over (window, channel), the same at any number of threads. Operands
/// take one dtype, as those of `matmul`.
///
/// Throws ShapeError if the ranks differ or are not 3 to 5, a window is larger than the padded
/// axis, or channels do not fit the groups or each other; ValueError for strides, dilations or
/// groups below 1 and negative padding.
/// \param x a number, (batch, spatial axes.., channels)
/// \param kernel (window.., channels / groups, result's channels), of known sizes of the window
/// \return (batch, positions.., result's channels)
Tensor convolution(const Operand &x, const Operand &kernel, const ConvolutionOptions &options = {});

/// Options of `convolution_transpose`.
struct ConvolutionTransposeOptions {
  Ints strides = {};
  /// As that of the convolution whose transpose it is: it takes away from the result.
  Padding padding = Padding::valid;
  Ints dilations = {};
  std::int64_t groups = 1;
  /// Elements behind the last window, below the stride; none stand for as many as make the result
  /// `size * stride` long with `same`, and at least a stride per position with `valid`, as Keras
  /// has it.
  Ints output_padding = {};
};

/// The transpose of a convolution in its images: each element is the sum over the windows that see
/// it of x and the kernel. It makes images larger by the strides. Throws as `convolution` does.
/// \param x (batch, positions.., channels)
/// \param kernel (window.., result's channels / groups, x's channels)
/// \return (batch, spatial axes.., result's channels)
Tensor convolution_transpose(const Operand &x, const Operand &kernel,
                             const ConvolutionTransposeOptions &options = {});

/// What a window of numbers becomes.
enum class WindowReduction : std::int32_t { max, min, sum, mean };

/// Options of `reduce_window`. Lists have an entry for each spatial axis; none stand for ones.
struct ReduceWindowOptions {
  Ints strides = {};
  Padding padding = Padding::valid;
  /// How far the elements that a window sees are apart.
  Ints dilations = {};
  /// Whether a mean is over all elements of its window, of which those in the padding are 0, and
  /// not over those of the image alone.
  bool count_padding = false;
};

/// Of each position and channel what its window becomes. Padding takes no part: it is never the
/// largest or least, and is not counted. NaN in a window is what is largest and least. Of equal
/// elements the first in the order of the window has the gradient, as has the first NaN. Each sum
/// is one chain over the window, the same at any number of threads.
///
/// Of a window that sees nothing, which only dilation and images without elements make: the lowest
/// value, the highest, 0, NaN.
///
/// Throws ShapeError if the rank is not 3 to 5, a window is larger than the padded axis, or a list
/// has not an entry for each spatial axis; ValueError for windows, strides and dilations below 1,
/// and for padding that is negative or as large as a window.
/// \param x a number, (batch, spatial axes.., channels); of a mean integers
///     become f32
/// \return (batch, positions.., channels)
Tensor reduce_window(const Operand &x, WindowReduction reduction, const Ints &window,
                     const ReduceWindowOptions &options = {});

/// Options of `max_pool` and `min_pool`.
struct PoolOptions {
  /// None stand for the sizes of the window: windows side by side.
  Ints strides = {};
  Padding padding = Padding::valid;
};

/// The largest element of each window, as `reduce_window` has it.
Tensor max_pool(const Operand &x, const Ints &window, const PoolOptions &options = {});

/// The least element of each window, as `reduce_window` has it.
Tensor min_pool(const Operand &x, const Ints &window, const PoolOptions &options = {});

/// Options of `average_pool`.
struct AveragePoolOptions {
  /// None stand for the sizes of the window: windows side by side.
  Ints strides = {};
  Padding padding = Padding::valid;
  /// Whether zeros of the padding are counted.
  bool count_padding = false;
};

/// The mean of each window, as `reduce_window` has it.
Tensor average_pool(const Operand &x, const Ints &window, const AveragePoolOptions &options = {});

/// How elements of a resized image follow from those of the image.
enum class Resize : std::int32_t {
  nearest,  ///< the one within which the element's centre falls
  bilinear, ///< those around its centre, weighted by how near they are along each axis
};

/// Images of those sizes along their spatial axes, the centres of whose elements lie evenly over
/// those of `x` (half-pixel centres). Nothing is smoothed where images become smaller. What lies
/// outside of the outer centres is as they are.
///
/// Throws ShapeError if the rank is not 3 to 5, there is not a size for each spatial axis, or an
/// axis has no elements; ValueError for sizes below 1.
/// \param x (batch, spatial axes.., channels); with `bilinear` integers become f32
/// \return (batch, size.., channels)
Tensor resize_image(const Operand &x, const Ints &size, Resize method = Resize::bilinear);

} // namespace weft
