// Numbers of other libraries that count as those of Python.
#pragma once

#include <Python.h>

namespace weft::python {

/// Whether the object is a numpy.float64, a float of Python's by inheritance: it is as weak as one
/// beside tensors, and f64 alone.
inline bool is_wide_float(PyObject *object) {
  return PyFloat_Check(object) != 0 && PyFloat_CheckExact(object) == 0 &&
         PyObject_CheckBuffer(object) != 0;
}

} // namespace weft::python
