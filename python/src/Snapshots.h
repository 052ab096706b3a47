// Containers of Python as they are now. Whatever a walk over entries calls, be it `__array__`, `==`
// of keys, a property, the collector or another thread, may change a list or a dict: a walk that
// calls anything goes over these.
#pragma once

#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

namespace weft::python {

/// The entries of a list or of another sequence, as a tuple.
nanobind::tuple entries_of(PyObject *sequence);

/// The keys and values of a dict, held.
std::vector<std::pair<nanobind::object, nanobind::object>> items_of(PyObject *dict);

/// A copy of the words of a call, which may be the dict of a functools.partial; null for none.
nanobind::object words_of(PyObject *keywords);

} // namespace weft::python
