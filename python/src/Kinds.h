// What objects of Python are as parts of trees, and the orders of their keys and fields.
#pragma once

#include "Binding.h"
#include "Identities.h"
#include "Snapshots.h"

#include <memory>

#include <weft/structure.h>

namespace weft::python {

/// What an object is as part of a tree.
enum class Kind : std::uint8_t {
  tensor,
  variable,
  none,
  number,  ///< bool, int, float or complex, exactly, or numpy.float64
  text,    ///< str
  bytes,   ///< bytes
  list,    ///< its entries
  tuple,   ///< its entries
  named,   ///< a namedtuple
  dict,    ///< its values, in the order of the sorted keys
  mapping, ///< a subclass of dict
  record,  ///< an instance of a dataclass or of a class of attrs: its fields
  slice,   ///< start, stop and step
  array,   ///< anything else that has elements: it counts as a tensor
  method,  ///< a bound method: its function and its self
  object,  ///< anything else: it counts by identity
  refused, ///< a set, which has no order
};
/// Runs no code of Python.
Kind kind_of(PyObject *object);

bool is_dtype_object(PyObject *object);

/// A class of a module that was imported already; null without it.
nb::object imported_class(const char *module, const char *name);

/// The type of a traced function with its first argument.
inline PyTypeObject *bound_type = nullptr;
/// The function and the first argument of a bound method of either type, borrowed.
std::pair<PyObject *, PyObject *> parts_of_method(PyObject *method);
/// The same of an object of `bound_type`.
std::pair<PyObject *, PyObject *> parts_of_bound(PyObject *bound);

/// The words of an object as a literal of a kind of its own, which explanations call an object.
template <class Words>
void push_object(Words &words, std::uint64_t number) {
  words.push_back(static_cast<std::uint64_t>(Node::literal) | 6U << 8 | 8U << 16);
  words.push_back(number);
}

/// The keys of a dict in sorted order, and what they are in a signature.
struct DictShape {
  std::vector<nb::object> keys;      ///< as they were inserted
  std::vector<std::uint32_t> sorted; ///< the numbers of the keys in order
  std::vector<std::uint64_t> words;  ///< of the sorted keys
  std::vector<std::uint32_t> ends;   ///< of each one's words
  HeldObjects objects;               ///< keys that words name by a number

  std::span<const std::uint64_t> words_of(std::size_t i) const {
    const std::uint32_t from = i == 0 ? 0 : ends[i - 1];
    return {words.data() + from, ends[i] - from};
  }
};
/// That of a dict with these keys, if it was asked for before; otherwise null. Runs no code of
/// Python.
std::shared_ptr<const DictShape> known_shape(std::span<PyObject *const> keys);
/// That of a dict with these keys, which the caller holds: comparing them may run whatever they
/// like. Throws TypeError for keys that have no order.
std::shared_ptr<const DictShape> shape_of_keys(std::span<PyObject *const> keys);

/// The names of the fields of a dataclass or of a class of attrs, in a new list.
nb::list field_names(PyObject *record);

} // namespace weft::python
