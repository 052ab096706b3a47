// What bindings of other languages need to know of derivatives of functions: whether one follows a
// tensor that another library asks for.
#pragma once

#include <weft/tensor.h>

namespace weft {

class Interpreter;

namespace detail {

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

  /// Whether this thread is in a derivative of a function.
  static bool stands();
  /// The name of the innermost derivative of a function that follows a tensor where it is asked, or
  /// null.
  static const char *following(const Tensor &tensor);

private:
  const char *name_;
  const Interpreter *interpreter_;
  DerivativeMark *around_;
};

} // namespace detail
} // namespace weft
