// Tensors as text, for eager printing and for the print and assert of compiled code alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weft/tensor.h>

namespace weft {

/// An array to be printed, in host memory; strides in elements.
struct PrintedArray {
  DType dtype;
  std::span<const std::int64_t> dims;
  std::span<const std::int64_t> strides;
  const std::byte *data;
  Tensor owner = {}; ///< of what the others point to, or undefined
};

/// Appends one element: the shortest digits that read back as the same number, at most 8
/// significant ones; "nan", "inf", "true", "false".
void append_element(std::string &text, DType dtype, const std::byte *element);

/// Appends `tensor([[8, 11],\n        [16, 23]], shape=(2, 2), dtype=f32)`. Rows wrap at 80
/// columns; beyond 1000 elements an axis shows its first and last three.
void append_tensor(std::string &text, const PrintedArray &array);

/// Appends a value of a print: scalars as bare numbers, others as append_tensor does.
void append_value(std::string &text, const PrintedArray &array);

/// The array of a tensor that has elements; of a device's it is a copy.
PrintedArray printed(const Tensor &tensor);

/// Replaces each {} of `format` by the next value; `leftover` says what stands between the text and
/// each value that has no {}.
std::string format_values(std::string_view format, std::span<const PrintedArray> values,
                          std::string_view leftover = ", ");

/// Sends one line (without its end) to the print sink, or to stdout.
void print_line(std::string_view line);

} // namespace weft
