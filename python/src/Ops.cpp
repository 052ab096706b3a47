// Ops and functions made of them as functions of Python, made from their records, and those of them
// that are methods too.
#include "Binding.h"
#include "Composites.h"
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
  for (const auto &[table, list] :
       {std::pair(op_methods, "_ops"), std::pair(composite_methods, "_composites")}) {
    add_functions(module, table);
    nb::list names;
    for (const PyMethodDef *row = table; row->ml_name != nullptr; ++row) names.append(row->ml_name);
    module.attr(list) = names;
  }
  for (const auto &[alias, name] : kAliases) module.attr(alias) = module.attr(name);
  const nb::handle type(reinterpret_cast<PyObject *>(tensor_type));
  const auto add_methods = [&](std::span<const char *const> names) {
    for (const char *name : names)
      nb::setattr(type, name, checked(PyInstanceMethod_New(nb::object(module.attr(name)).ptr())));
  };
  add_methods(kMethods);
  add_methods(kCompositeMethods);
}

} // namespace weft::python
