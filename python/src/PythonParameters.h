// Parameters that Python alone has, as the array API or NumPy gives them: what is done with their
// values.
#pragma once

#include "Binding.h"

namespace weft::python {

/// Of a flag without effect: throws what its truth throws.
void check_flag(PyObject *value, const Place &place, const Operand &x);
/// Throws ValueError for another device than the CPU.
void check_device(PyObject *value, const Place &place);
inline void check_device(PyObject *value, const Place &place, const Operand &) {
  check_device(value, place);
}
/// Throws ValueError if it is false, not None, and the elements of x are to be put in a row first.
void check_no_copy(PyObject *value, const Place &place, const Operand &x);
/// The value of a parameter with two names. Throws TypeError if both are given.
PyObject *either(PyObject *value, PyObject *other, const Place &place, const char *other_name);

/// Whether it is given, and not None.
inline bool is_given(PyObject *value) { return value != nullptr && value != Py_None; }

} // namespace weft::python
