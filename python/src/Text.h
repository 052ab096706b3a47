// Text of C++ as text of Python, also where its bytes are no UTF-8.
#pragma once

#include "Binding.h"

namespace weft::python {

/// For people to read: bytes that are no UTF-8 become \xff.
inline nb::object shown_text(std::string_view text) {
  return checked(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

/// For programs to use: bytes that are no UTF-8 are kept as Python keeps those of file names
/// ("surrogateescape"), so that no two texts become one.
inline nb::object kept_text(std::string_view text) {
  return checked(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

} // namespace weft::python
