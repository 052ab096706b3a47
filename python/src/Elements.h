// Elements in memory of somebody else, as buffers and DLPack describe them, and tensors of them.
#pragma once

#include "Binding.h"

#include <weft/detail/tensor_impl.h>

namespace weft::python {

/// What one element is.
struct Element {
  std::optional<DTypeKind> kind = std::nullopt; ///< nothing for what no dtype is like
  std::size_t size = 0;                         ///< in bytes
  bool swapped = false;                         ///< in the byte order of other machines
  /// The dtype, where its kind and size do not say it: that of a format which NumPy lacks.
  std::optional<DType> format = std::nullopt;

  /// The dtype of just these elements.
  std::optional<DType> dtype() const;
};

/// An array of them; strides are in bytes.
struct Elements {
  Element element;
  std::byte *data = nullptr;
  Ints dims, strides;
};

/// What to call such elements in messages: "float16", "int32 (big-endian)".
std::string to_string(const Element &element);

/// A tensor of the elements: on them, if that is wanted and they are as a tensor's, or of a copy.
/// `owner` is released when they are not needed any
/// more, also if this throws. Throws DTypeError for elements that no dtype holds, ValueError if
/// they must be shared and cannot be.
Tensor tensor_of_elements(const Elements &elements, detail::ExternalOwner owner, Sharing sharing,
                          const Place &place);

/// Runs `release` with the lock of Python, wherever it is called.
template <class Release>
void with_python(const Release &release) {
  if (Py_IsInitialized() == 0) return; // what Python owned is gone with it
  if (PyGILState_Check() != 0) {
    release();
    return;
  }
  const Locked locked;
  release();
}

} // namespace weft::python
