// Text of C++ as text of Python and the other way, also where its bytes are no UTF-8. Stands in the
// place of nanobind's header of this caster, which refuses such text.
#pragma once

#include "Binding.h"

/// As the names of files: bytes that are no UTF-8 are lone surrogates in Python
/// ("surrogateescape"). Lone surrogates that are no such bytes go to C++ as Python encodes them
/// ("surrogatepass").
template <>
struct nanobind::detail::type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list *) noexcept {
    if (PyUnicode_Check(source.ptr()) == 0) return false;
    Py_ssize_t size = 0;
    if (const char *text = PyUnicode_AsUTF8AndSize(source.ptr(), &size)) {
      value.assign(text, static_cast<std::size_t>(size));
      return true;
    }
    for (const char *errors : {"surrogateescape", "surrogatepass"}) {
      PyErr_Clear();
      const object bytes = steal(PyUnicode_AsEncodedString(source.ptr(), "utf-8", errors));
      if (!bytes.is_valid()) continue;
      value.assign(PyBytes_AS_STRING(bytes.ptr()),
                   static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr())));
      return true;
    }
    PyErr_Clear();
    return false;
  }
  static handle from_cpp(const std::string &text, rv_policy, cleanup_list *) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                "surrogateescape");
  }
};

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

/// A text of the library with dtypes as Python spells them, "float32" for "f32", where they stand
/// as words outside of quotes: those in quotes are the user's.
std::string with_dtypes(std::string_view text);
/// A text of the user with the dtypes of printed tensors in it as Python spells them:
/// "tensor([1, 2], shape=(2,), dtype=int32)".
std::string with_printed_dtypes(std::string_view text);

/// `str(object)` and `repr(object)`.
inline std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }
inline std::string repr_of(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }

/// A value in a message: by its type if its text is long or has several lines.
inline std::string shown_value(nb::handle value) {
  constexpr std::size_t kMost = 60;
  std::string text = repr_of(value);
  if (text.size() <= kMost && text.find('\n') == std::string::npos) return text;
  return "a " + std::string(nb::type_name(value.type()).c_str());
}

} // namespace weft::python
