// What calls of ops on windows leave out or name, as numbers: lists that are not given, padding by
// name.
#pragma once

#include <optional>
#include <weft/windows.h>

namespace weft::windows {

/// The list, or that entry for each axis where none is given.
Ints entries(const Ints &given, std::size_t axes, std::int64_t otherwise);

/// The number of axes of images of that shape. Throws ShapeError if they are not images.
std::size_t spatial_axes(const char *function, const Shape &shape);

/// What is put in front of and behind each axis.
struct Amounts {
  Ints low, high;
};

/// The elements that a window goes over along an axis, where that can be told: the shape function
/// refuses the others.
std::int64_t reach_of(const Ints &window, const Ints &dilations, std::size_t axis);

/// The padding of images of that shape; `same` of an axis whose size is not known follows from the
/// size if the stride is not 1, and then nothing is put there and the axis is in `open`.
Amounts amounts_of(const char *function, const Shape &images, const Padding &padding,
                   const Ints &window, const Ints &strides, const Ints &dilations,
                   std::vector<std::size_t> &open);

/// The pairs that padding is given as.
Amounts pairs_of(const char *function, const Padding &padding, std::size_t axes);

/// A number as an i64 scalar, and the quotient of such numbers, which are not negative.
Tensor number(std::int64_t value);
Tensor quotient(const Tensor &value, std::int64_t divisor);

/// What `same` padding puts in front of an axis of that size, an i64 scalar, and puts around it
/// together.
struct OpenPadding {
  Tensor before, total;
};
OpenPadding same_padding(const Tensor &size, std::int64_t stride, std::int64_t reach);

} // namespace weft::windows
