// What is said of sizes that do not fit. Shape functions say it of shapes that are known, and
// compiled code by texts in which a {} stands for each size that only the call knows: both in the
// same words. Texts lack the op's name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/shape.h>

namespace weft::words {

/// "(3, {})": a shape as `to_string` writes it, with {} for what is not known.
inline std::string with_fields(const Shape &shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis != 0) text += ", ";
    text += shape[axis] == unknown ? "{}" : std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// An IndexError of one index.
inline std::string index_outside(std::int64_t index, std::int64_t axis, std::string_view shape) {
  return std::to_string(index) + " is out of range for axis " + std::to_string(axis) +
         " of a tensor of shape " + std::string(shape);
}

/// An IndexError of bounds, which are numbers, a {} or a ?.
inline std::string slice_outside(std::string_view start, std::string_view limit, std::int64_t axis,
                                 std::string_view shape) {
  return "the slice " + std::string(start) + ":" + std::string(limit) +
         " is out of range for axis " + std::to_string(axis) + " of x, which has shape " +
         std::string(shape);
}

/// The same of numbers; one element is an index.
inline std::string slice_outside(std::int64_t start, std::int64_t limit, std::int64_t axis,
                                 std::string_view shape) {
  if (start >= 0 && limit == start + 1) return index_outside(start, axis, shape);
  return slice_outside(std::to_string(start), std::to_string(limit), axis, shape);
}

/// A ValueError of a number of first elements.
inline std::string too_few(std::int64_t count, std::int64_t axis, std::string_view shape) {
  return "the first " + std::to_string(count) + " are asked for, but axis " + std::to_string(axis) +
         " of x, which has shape " + std::string(shape) + ", is shorter";
}

/// ShapeErrors of products, of the shapes of both operands and the sizes that meet.
inline std::string inner_sizes_differ(std::string_view lhs, bool transpose_lhs,
                                      std::string_view rhs, bool transpose_rhs,
                                      std::string_view inner, std::string_view other) {
  return "the inner dimensions differ: lhs is " + std::string(lhs) +
         (transpose_lhs ? " transposed" : "") + " and rhs is " + std::string(rhs) +
         (transpose_rhs ? " transposed" : "") + ", so " + std::string(inner) + " meets " +
         std::string(other);
}
inline std::string batches_do_not_broadcast(std::string_view lhs, std::string_view rhs) {
  return "the batch dimensions do not broadcast: lhs is " + std::string(lhs) + " and rhs is " +
         std::string(rhs);
}

/// A ShapeError of a reshape of so many elements.
inline std::string does_not_fill(std::string_view x, std::string_view count,
                                 std::string_view shape) {
  return "x of shape " + std::string(x) + " has " + std::string(count) +
         " elements, which do not fill the shape " + std::string(shape);
}

/// A ShapeError of tensors that are joined, the first one and that of another number.
inline std::string shapes_differ(std::int64_t axis, std::string_view first, std::size_t other,
                                 std::string_view shape) {
  return "the shapes differ outside axis " + std::to_string(axis) + ": xs[0] is " +
         std::string(first) + " and xs[" + std::to_string(other) + "] is " + std::string(shape);
}

/// ShapeErrors of linear algebra.
inline std::string not_square(std::string_view name, std::string_view shape) {
  return std::string(name) + " has the shape " + std::string(shape) + ": a square matrix is wanted";
}
inline std::string rows_differ(std::string_view a, std::string_view of_a, std::string_view b,
                               std::string_view rows, std::string_view what,
                               std::string_view of_b) {
  return std::string(a) + " has the shape " + std::string(of_a) + ", so " + std::string(b) +
         " has " + std::string(rows) + " " + std::string(what) + ", but it has the shape " +
         std::string(of_b);
}

/// A ShapeError of a Fourier transform.
inline std::string nothing_to_transform(std::string_view name, std::string_view shape,
                                        std::int64_t axis) {
  return std::string(name) + " has the shape " + std::string(shape) + ": a transform along axis " +
         std::to_string(axis) + " would have no element";
}

} // namespace weft::words
