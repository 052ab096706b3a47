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

/// A value in a message: by its type if its text is long or has several lines.
inline std::string shown_value(nb::handle value) {
  constexpr std::size_t kMost = 60;
  std::string text = nb::repr(value).c_str();
  if (text.size() <= kMost && text.find('\n') == std::string::npos) return text;
  return "a " + std::string(nb::type_name(value.type()).c_str());
}

} // namespace weft::python
