// Lists, tuples and dicts of tensors and variables: their leaves in order, and the same with
// others.
#pragma once

#include "Binding.h"

namespace weft::python {

inline constexpr int kDeepest = 256;

inline bool is_leaf(PyObject *object) { return is_tensor(object) || is_variable(object); }

/// Calls `visit` with the tensors and variables of a structure of lists, tuples and dicts; None
/// stays empty.
template <class Visit>
void visit_leaves(PyObject *object, const char *what, const Visit &visit, int depth = 0) {
  if (depth > kDeepest)
    throw ValueError(std::string(what) + ": the structure is nested too deep, or holds itself");
  if (is_leaf(object)) return visit(object);
  if (object == Py_None) return;
  if (PyDict_Check(object)) {
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(object, &at, &key, &value) != 0) visit_leaves(value, what, visit, depth + 1);
    return;
  }
  if (!PyList_Check(object) && !PyTuple_Check(object))
    throw DTypeError(std::string(what) + " is or holds an object of type " +
                     Py_TYPE(object)->tp_name +
                     ": tensors and variables are wanted, or lists, tuples and dicts of them");
  const nb::object items = checked(PySequence_Fast(object, "a sequence was expected"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i)
    visit_leaves(PySequence_Fast_GET_ITEM(items.ptr(), i), what, visit, depth + 1);
}

/// The same structure with other leaves.
template <class Next>
nb::object rebuilt(PyObject *object, const Next &next) {
  if (is_leaf(object)) return next();
  if (object == Py_None) return nb::none();
  if (PyDict_Check(object)) {
    nb::dict made;
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(object, &at, &key, &value) != 0)
      made[nb::handle(key)] = rebuilt(value, next);
    return made;
  }
  const bool tuple = PyTuple_Check(object);
  nb::list made;
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
  for (Py_ssize_t i = 0; i < size; ++i)
    made.append(rebuilt(PySequence_Fast_GET_ITEM(object, i), next));
  if (!tuple) return made;
  const nb::tuple items(made);
  // A namedtuple is made of its fields one by one.
  const nb::handle type(reinterpret_cast<PyObject *>(Py_TYPE(object)));
  return PyTuple_CheckExact(object) ? nb::object(items) : type(*items);
}

} // namespace weft::python
