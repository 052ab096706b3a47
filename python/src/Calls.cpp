// Arguments of fast calls, put in their places.
#include "Binding.h"

#include <algorithm>

namespace weft::python {

namespace {

[[noreturn]] void refuse_keyword(const Signature &signature, PyObject *keyword) {
  const char *word = PyUnicode_AsUTF8(keyword);
  if (word == nullptr) throw nb::python_error();
  std::string message =
      std::string("weft.") + signature.name + "() got an unexpected argument '" + word + "'";
  const std::span names(signature.names.data(), static_cast<std::size_t>(signature.count));
  const std::string near = nearest(word, names);
  if (!near.empty()) message += "; did you mean '" + near + "'?";
  raise_type_error(message);
}

[[noreturn]] void refuse_count(const Signature &signature, std::size_t given) {
  raise_type_error(std::string("weft.") + signature.name + "() takes " +
                   (signature.positional == signature.count ? "" : "by position ") + "at most " +
                   std::to_string(signature.positional) +
                   (signature.positional == 1 ? " argument" : " arguments") + " and was given " +
                   std::to_string(given));
}

} // namespace

void Signature::bind(PyObject *const *args, std::size_t given, PyObject *keywords,
                     PyObject **values) {
  if (given > static_cast<std::size_t>(positional)) refuse_count(*this, given);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    values[i] = i < given ? args[i] : nullptr;
  if (keywords != nullptr) {
    const Py_ssize_t words = PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < words; ++k) {
      PyObject *word = PyTuple_GET_ITEM(keywords, k);
      std::size_t at = 0;
      const auto last = static_cast<std::size_t>(count);
      for (; at < last; ++at) {
        if (interned[at] == nullptr) interned[at] = PyUnicode_InternFromString(names[at]);
        if (interned[at] == word) break;
      }
      if (at == last) // one that is not interned
        for (at = 0; at < last && PyUnicode_Compare(interned[at], word) != 0; ++at) {
        }
      if (at == last) {
        // numpy.sum(t) calls t.sum(axis=.., out=None).
        const bool of_numpy = PyUnicode_CompareWithASCIIString(word, "out") == 0 ||
                              PyUnicode_CompareWithASCIIString(word, "dtype") == 0;
        if (of_numpy && args[given + static_cast<std::size_t>(k)] == Py_None) continue;
        refuse_keyword(*this, word);
      }
      if (values[at] != nullptr)
        raise_type_error(std::string("weft.") + name + "() got the argument '" + names[at] +
                         "' twice");
      values[at] = args[given + static_cast<std::size_t>(k)];
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(required); ++i)
    if (values[i] == nullptr)
      raise_type_error(std::string("weft.") + name + "() is missing the argument '" + names[i] +
                       "'");
}

void add_functions(nb::module_ &module, PyMethodDef *table) {
  const nb::str owner("weft");
  for (; table->ml_name != nullptr; ++table)
    module.attr(table->ml_name) = checked(PyCFunction_NewEx(table, nullptr, owner.ptr()));
}

std::int64_t size_of_all(std::span<const Tensor> tensors) {
  std::int64_t size = 0;
  for (const Tensor &tensor : tensors) size += tensor.impl()->size;
  return size;
}

} // namespace weft::python
