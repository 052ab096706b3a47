// The parts of the class Tensor of Python that have sources of their own.
#pragma once

#include "Binding.h"

namespace weft::python {

/// NumPy's text of the elements: of `print(x)`, or of `repr(x)` with `tensor(...)` around.
std::string text_of(const Tensor &tensor);
std::string repr_of(const Tensor &tensor);
/// A small table in HTML, for notebooks.
std::string html_of(const Tensor &tensor);

/// `x[key]`, NumPy's basic and advanced indexing.
PyObject *subscript(PyObject *self, PyObject *key);

/// Operators, which tensors and variables have in common.
extern const PyType_Slot operator_slots[];
extern const std::size_t operator_slot_count;

/// The members that a tensor and a variable both have: conversions to numbers and arrays.
nb::object array_of_tensor(const Tensor &tensor, nb::handle dtype, nb::handle copy);
nb::object numpy_of(const Tensor &tensor);
/// `iter(x)`: the slices along the first axis. Of a traced tensor only `a, b = x` may ask for them.
PyObject *iterate(PyObject *self);
/// `reversed(x)`: the slices along the first axis, the last one first.
nb::object iterate_back(const Tensor &tensor);
std::string formatted(const Tensor &tensor, const char *specification);

void define_rows(nb::module_ &module);

} // namespace weft::python
