// Arrays of tensors that are written and read by number, and grow: what loops collect.
#pragma once

#include <weft/ops.h>
#include <weft/structure.h>

namespace weft {

/// Options of a `TensorArray`.
struct TensorArrayOptions {
  bool dynamic_size = true; ///< whether a write past the end makes it longer
};

/// An immutable array of tensors of one dtype and shape, numbered from 0. A write gives a new
/// array, which must be used: `array = array.write(i, x)`. It may be loop state, an argument and a
/// result of traced functions. Elements that were never written are zero.
///
/// Appending takes time in proportion to the element, on average: values share memory with the
/// arrays they came from, and a trace reserves memory for twice as many when there is none left. On
/// values another write copies the array, and so does every write under a tape; in a loop of a
/// trace writes are in place.
class TensorArray {
public:
  /// `size` zeros of this type. Throws DTypeError or ShapeError unless `size` is an integer scalar,
  /// and ShapeError if it is negative.
  TensorArray(DType dtype, const Shape &element_shape, const Operand &size = 0,
              TensorArrayOptions options = {});
  /// The slices of `x` along its first axis. Throws ShapeError for a scalar.
  static TensorArray unstack(const Operand &x, TensorArrayOptions options = {});

  DType dtype() const { return elements_.dtype(); }
  Shape element_shape() const;
  /// How many elements there are, an i64 scalar.
  const Tensor &size() const { return size_; }

  /// The array with element `index` replaced, an integer scalar. Throws AssertionError for a
  /// negative index, or one past the end of an array that may not grow; DTypeError or ShapeError
  /// for a value of another type.
  TensorArray write(const Operand &index, const Operand &value) const;
  /// The array with `value` behind its last element.
  TensorArray append(const Operand &value) const;
  /// Element `index`. Throws AssertionError if there is none.
  Tensor read(const Operand &index) const;
  /// The elements of these numbers, stacked along new leading axes in the shape of `indices`.
  /// Throws IndexError if there is no such element.
  Tensor gather(const Operand &indices) const;
  /// All elements, stacked along a new first axis.
  Tensor stack(std::source_location where = WEFT_HERE) const;
  /// All elements, joined along their first axis. Throws ShapeError if they are scalars.
  Tensor concat(std::source_location where = WEFT_HERE) const;

  WEFT_FIELDS(TensorArray, elements_, size_, dynamic_size_)

private:
  TensorArray(Tensor elements, Tensor size, bool dynamic_size)
      : elements_(std::move(elements)), size_(std::move(size)), dynamic_size_(dynamic_size) {}

  Tensor elements_; ///< at least `size_` slices
  Tensor size_;
  bool dynamic_size_;
};

} // namespace weft
