// What the types of traced functions and of their methods share.
#pragma once

#include "Binding.h"

namespace weft::python {

/// A call of a traced function, by the vectorcall protocol.
PyObject *call_function(PyObject *function, PyObject *const *args, std::size_t flags,
                        PyObject *keywords);

/// What `instance.step` is, for a traced function of its class.
PyObject *get_bound(PyObject *function, PyObject *self, PyObject *owner);

/// Keeps an object as long as the functions that this thread traces: what their programs find by a
/// CallableSlot.
void keep_while_traced(const nb::object &object);

void define_bound_functions(nb::module_ &module);

} // namespace weft::python
