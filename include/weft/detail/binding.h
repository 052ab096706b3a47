// What bindings of other languages need of the library and C++ programs do not: tensors on foreign
// memory, whether a derivative follows a tensor, variables that nobody keeps, and indices whose
// number is not known when the call is compiled.
#pragma once

#include <span>

#include <weft/tensor.h>

namespace weft {

class Interpreter;

namespace detail {

/// A contiguous tensor whose elements are not set yet: write them through `impl()->data` before
/// anyone else sees it. Throws ShapeError for sizes that cannot be, OutOfMemory.
Tensor unset_tensor(DType dtype, std::span<const std::int64_t> dims);

/// A tensor on memory of somebody else, which must not change as long as it lives: `strides`, in
/// elements, may be empty for row-major ones. `owner.release` runs when the last tensor on it is
/// gone, on any thread, or at once when this throws. The first element must be aligned as its C++
/// type asks; bools must be 0 or 1.
Tensor foreign_tensor(DType dtype, std::span<const std::int64_t> dims,
                      std::span<const std::int64_t> strides, void *data, ExternalOwner owner);

/// Marks the tape or the tangents that this thread began last as those of a derivative of a
/// function, as long as it lives: who calls such a function has no tape in sight, and would take a
/// value that left its ops for one that counts.
class DerivativeMark {
public:
  /// `name` is what the user called, for messages, and outlives the mark. Null lifts the marks
  /// around it: what runs has a gradient of its own, whatever it computes with.
  explicit DerivativeMark(const char *name);
  ~DerivativeMark();
  DerivativeMark(const DerivativeMark &) = delete;
  DerivativeMark &operator=(const DerivativeMark &) = delete;

  /// The name of the innermost derivative of a function that follows a tensor where it is asked, or
  /// null.
  static const char *following(const Tensor &tensor);

private:
  const char *name_;
  const Interpreter *interpreter_;
  DerivativeMark *around_;
};

/// Throws the StateError about a variable that a traced function makes and nobody keeps.
[[noreturn]] void refuse_unkept(const std::string &function, const std::string &variable);

/// As `x[{...}]`.
Tensor index_tensor(const Tensor &x, std::span<const Index> indices);

} // namespace detail

} // namespace weft
