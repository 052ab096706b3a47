// The parts of the class Tensor of Python that have sources of their own.
#pragma once

#include "Binding.h"

#include <optional>
#include <vector>

#include <weft/composites.h>

namespace weft::python {

/// NumPy's text of the elements: of `print(x)`, or of `repr(x)` with `tensor(...)` around.
std::string text_of(const Tensor &tensor);
std::string repr_of(const Tensor &tensor);
/// A small table in HTML, for notebooks.
std::string html_of(const Tensor &tensor);

/// `x[key]`, NumPy's basic and advanced indexing.
PyObject *subscript(PyObject *self, PyObject *key);

/// The key of `x[key]` where it has integers, slices, ... and None alone, whose values are known.
std::optional<std::vector<Index>> basic_key(PyObject *key);
/// x with the elements that a key picks replaced by `items`, repeated to their shape. Of an element
/// that is picked several times the last one counts.
Tensor replaced(const Tensor &x, PyObject *key, const Tensor &items);

/// x with the elements that a key of arrays picks combined with `items`, as often as it picks each.
Tensor combined(const Tensor &x, PyObject *key, const Tensor &items, ScatterReduction reduction);
/// `x[key]`.
Tensor elements_at(const Tensor &x, PyObject *key);
/// Whether arrays of indices are in a key, which may pick an element several times.
bool picks_by_array(PyObject *key);

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
