// Tensors as buffers of Python.
#pragma once

#include "Binding.h"

namespace weft::python {

/// The slots of the buffer protocol: elements to read, without a copy.
int get_buffer(PyObject *self, Py_buffer *view, int flags);
void release_view(PyObject *self, Py_buffer *view);

/// What a traced tensor is, for messages, and what to do instead of asking for its value.
struct Valueless {
  enum class Why : std::uint8_t { mapped, left, running };
  Why why;
  std::string what, instead;
};
Valueless valueless(const Tensor &tensor);

/// The tensor with its elements in host memory: of a device's a copy, that waits for them.
inline Tensor on_host(const Tensor &tensor) {
  return tensor.device() == Device() ? tensor : tensor.to(Device());
}
/// Throws StateError, in the name of `what`, for a tensor of a trace.
void check_elements(const Tensor &tensor, const char *what);

/// Throws StateError, in the name of `what`, where a derivative of a function follows the tensor:
/// it does not see what another library makes of the elements, and would be wrong without a word.
void refuse_followed(const Tensor &tensor, const char *what);

} // namespace weft::python
