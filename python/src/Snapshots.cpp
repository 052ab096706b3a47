// Copies of containers, in which one look finds all entries.
#include "Snapshots.h"
#include "Binding.h"

namespace weft::python {

nb::tuple entries_of(PyObject *sequence) {
  if (PyTuple_Check(sequence) != 0) return nb::borrow<nb::tuple>(sequence);
  PyObject *entries =
      PyList_Check(sequence) != 0 ? PyList_AsTuple(sequence) : PySequence_Tuple(sequence);
  if (entries == nullptr) throw nb::python_error();
  return nb::steal<nb::tuple>(entries);
}

std::vector<std::pair<nb::object, nb::object>> items_of(PyObject *dict) {
  std::vector<std::pair<nb::object, nb::object>> items;
  items.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(dict)));
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value) != 0;) // which runs nothing
    items.emplace_back(nb::borrow(key), nb::borrow(value));
  return items;
}

nb::object words_of(PyObject *keywords) {
  return keywords == nullptr ? nb::object() : checked(PyDict_Copy(keywords));
}

} // namespace weft::python
