// The trace that is recording, as AutoGraph and traced functions of Python reach it.
#pragma once

#include "Binding.h"

#include <weft/phase.h>

namespace weft::python {

/// Calls a function of the user while it is traced, converted by AutoGraph if that is wanted.
/// Tracebacks of errors have the user's frames only.
nb::object call_tracing(nb::handle function, const nb::tuple &positional, const nb::dict &named,
                        bool autograph);

/// Takes the package's frames out of the traceback of an error, which is that of this thread again.
void show_users_lines(nb::python_error &error);

/// The shape of a spec: a sequence of sizes, where None may be any.
Shape shape_of_spec(nb::handle sizes, const Place &place);

/// A value as a tensor of a dtype that was promised, by `says`: numbers, lists and arrays take it,
/// but floating ones no integer dtype. Throws DTypeError, which names both; ValueError for an
/// integer that does not fit.
Tensor to_tensor_as(PyObject *object, DType dtype, const Place &place, const char *says);

/// Tensors as a list of Python, and those of one; `function` is for messages.
nb::object list_of(std::span<const Tensor> tensors);
std::vector<Tensor> tensors_of(nb::handle list, const char *function);
/// The sizes of a shape, None for those that are not known.
nb::tuple tuple_of(const Shape &shape);

/// The phase of that name: 'linalg', 'control-deps'. Throws ValueError for no phase.
Phase phase_named(std::string_view name);

void define_functions(nb::module_ &module);
void define_staging(nb::module_ &module);
void define_tensor_arrays(nb::module_ &module);

} // namespace weft::python
