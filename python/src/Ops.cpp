// Ops and functions made of them as functions of Python, made from their records, and those of them
// that are methods too.
#include "Binding.h"
#include "Composites.h"
#include "Sizes.h"
#include "Snapshots.h"

namespace weft::python {

template <>
SearchSide to(PyObject *object, const Place &place) {
  static constexpr std::array kWords = {"left", "right"};
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (PyUnicode_Check(object) != 0 && PyUnicode_CompareWithASCIIString(object, kWords[i]) == 0)
      return static_cast<SearchSide>(i);
  throw ValueError(place.text() + " is " +
                   nb::cast<std::string>(nb::object(nb::repr(nb::handle(object)))) +
                   ": it is 'left' or 'right'");
}

template <>
RealList to(PyObject *object, const Place &place) {
  const Tensor list = to_tensor(object, place, DType::f64);
  if (list.rank() > 1 || list.traced())
    throw ShapeError(place.text() + " is a number, or a vector of numbers that are known");
  std::vector<double> values = list.to_vector<double>();
  return list.rank() == 0 ? RealList(values[0]) : RealList(std::move(values));
}

std::vector<Tensor> tensors_of(PyObject *object, const Place &place) {
  const bool has_items = Py_TYPE(object)->tp_iter != nullptr || PySequence_Check(object) != 0;
  if (!has_items || PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object) ||
      (is_tensor(object) && tensor_in(object).rank() == 0))
    throw DTypeError(place.text() + " is of type " + Py_TYPE(object)->tp_name +
                     ": a list of tensors is wanted");
  const nb::tuple items = entries_of(object); // which Python that runs for one may change
  const std::optional<DType> hint = Beside::of(items.ptr());
  std::vector<Tensor> tensors;
  for (const nb::handle item : items) {
    const std::string name =
        std::string(place.argument) + "[" + std::to_string(tensors.size()) + "]";
    tensors.push_back(to_tensor(item.ptr(), {place.function, name.c_str()}, hint));
  }
  return tensors;
}

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
