// How functions made of ops are called from Python where calls of ops have nothing like it:
// operands that may be left out, numbers that may be None, and results that are lists.
#pragma once

#include "Binding.h"

#include <weft/composites.h>

namespace weft::python {

template <>
inline std::optional<double> to(PyObject *object, const Place &place) {
  return object == Py_None ? std::optional<double>() : to_number(object, place);
}
template <>
inline std::optional<std::int64_t> to(PyObject *object, const Place &place) {
  return object == Py_None ? std::optional<std::int64_t>() : to_integer(object, place);
}

template <>
inline IntList to(PyObject *object, const Place &place) {
  return to_integer_list(object, place);
}
template <>
inline NormOrder to(PyObject *object, const Place &place) {
  if (object == Py_None) return {};
  if (PyUnicode_Check(object) != 0) return nb::cast<std::string>(nb::handle(object));
  return to_number(object, place);
}
template <>
SearchSide to(PyObject *object, const Place &place);
template <>
RealList to(PyObject *object, const Place &place);
template <>
inline Sections to(PyObject *object, const Place &place) {
  const bool one = PyIndex_Check(object) != 0 && PySequence_Check(object) == 0;
  const bool scalar = is_tensor(object) && tensor_in(object).rank() == 0;
  IntList list = to_integer_list(object, place);
  return one || scalar ? Sections(list[0]) : Sections(std::move(list));
}

/// Tensors of anything that has items. Throws DTypeError, which names the item.
std::vector<Tensor> tensors_of(PyObject *object, const Place &place);

/// The first operands of a call, of which some may be null or None.
template <std::size_t N>
class OptionalOperands {
public:
  /// `at` is where they are among the arguments.
  OptionalOperands(const Signature &signature, PyObject *const *values, std::size_t promoted,
                   const std::array<std::size_t, N> &at) {
    Beside beside;
    for (std::size_t i = promoted; i < N; ++i)
      if (PyObject *value = values[at[i]]; value != nullptr && value != Py_None) beside.add(value);
    const std::optional<DType> hint = beside.dtype();
    for (std::size_t i = 0; i < N; ++i) {
      PyObject *value = values[at[i]];
      given_[i] = value != nullptr && (value != Py_None || at[i] < signature.required);
      if (!given_[i]) continue;
      const Place place{signature.name, signature.names[at[i]]};
      if (!arguments_[i].convert(value, place, i < promoted ? std::nullopt : hint))
        refuse_object(value, place);
      most_ = std::max(most_, arguments_[i].size());
    }
  }
  const Operand &operator[](std::size_t i) const { return arguments_[i].operand(); }
  /// Null if it is not given.
  const Operand *optional(std::size_t i) const {
    return given_[i] ? &arguments_[i].operand() : nullptr;
  }
  /// Of the largest.
  std::int64_t size() const { return most_; }

private:
  std::array<Argument, N> arguments_;
  std::array<bool, N> given_ = {};
  std::int64_t most_ = 0;
};

/// The row of a function that gives several tensors, in a new sequence of their number.
template <auto make, auto set, const Signature &signature,
          std::vector<Tensor> (*call)(PyObject *const *values)>
PyMethodDef sequence_method(const char *documentation) {
  constexpr auto listed = [](PyObject *const *values) {
    std::vector<Tensor> tensors = call(values);
    nb::object sequence = checked(make(static_cast<Py_ssize_t>(tensors.size())));
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (set(sequence.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i]))) != 0)
        throw nb::python_error();
    return sequence;
  };
  return method<signature, listed>(documentation);
}
template <const Signature &signature, auto call>
PyMethodDef list_method(const char *documentation) {
  return sequence_method<PyList_New, PyList_SetItem, signature, call>(documentation);
}
template <const Signature &signature, auto call>
PyMethodDef tuple_method(const char *documentation) {
  return sequence_method<PyTuple_New, PyTuple_SetItem, signature, call>(documentation);
}

} // namespace weft::python
