// The ops as functions of Python, made from their records, and those of them that are methods too.
#include "Binding.h"
#include "ComputedSizes.h"

namespace weft::python {

namespace {

#include "PythonOps.inc"

/// What arrays of NumPy have as methods, with the same meaning here. Those that are functions of
/// Python are in weft/_tensor_methods.py.
constexpr std::array kMethods = {"sum",  "mean",    "prod",   "all",    "any",
                                 "sort", "argsort", "cumsum", "cumprod"};

} // namespace

void define_ops(nb::module_ &module) {
  add_functions(module, op_methods);
  nb::list names;
  for (const PyMethodDef *row = op_methods; row->ml_name != nullptr; ++row)
    names.append(row->ml_name);
  module.attr("_ops") = names;
  const nb::handle type(reinterpret_cast<PyObject *>(tensor_type));
  for (const char *name : kMethods)
    nb::setattr(type, name, checked(PyInstanceMethod_New(nb::object(module.attr(name)).ptr())));
}

} // namespace weft::python
