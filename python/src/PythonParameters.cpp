// Checks of the values of parameters that Python alone has.
#include "PythonParameters.h"
#include "Text.h"

namespace weft::python {

void check_flag(PyObject *value, const Place &place, const Operand &) {
  static_cast<void>(given<bool>(value, true, place));
}

void check_device(PyObject *value, const Place &place) {
  if (!is_given(value)) return;
  const std::string text = text_of(nb::handle(value));
  if (parse_device(text) != Device())
    throw ValueError(std::string(place.function) + ": there is no device " + text +
                     " here: elements are on cpu:0");
}

void check_no_copy(PyObject *value, const Place &place, const Operand &x) {
  if (!is_given(value) || to<bool>(value, place) || x.impl() == nullptr) return;
  const Tensor tensor = x.materialize();
  if (!tensor.traced() && !tensor.is_contiguous())
    throw ValueError(place.text() +
                     " is False, and the elements, which are not in a row, would be copied");
}

PyObject *either(PyObject *value, PyObject *other, const Place &place, const char *other_name) {
  if (!is_given(other)) return value;
  if (value != nullptr)
    raise_type_error("weft." + std::string(place.function) + "() got both '" + place.argument +
                     "' and '" + other_name + "', which are one argument");
  return other;
}

} // namespace weft::python
