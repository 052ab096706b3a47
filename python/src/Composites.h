// How functions made of ops are called from Python where calls of ops have nothing like it:
// operands that may be left out, numbers that may be None, and results that are lists.
#pragma once

#include "Binding.h"
#include "Sizes.h"

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
TakeMode to(PyObject *object, const Place &place);
template <>
GridIndexing to(PyObject *object, const Place &place);
template <>
fft::Norm to(PyObject *object, const Place &place);
template <>
linalg::QrMode to(PyObject *object, const Place &place);
template <>
PadMode to(PyObject *object, const Place &place);
template <>
ScatterReduction to(PyObject *object, const Place &place);
template <>
QuantileMethod to(PyObject *object, const Place &place);
template <>
ConvolveMode to(PyObject *object, const Place &place);
template <>
PadWidths to(PyObject *object, const Place &place);
template <>
Bins to(PyObject *object, const Place &place);
template <>
inline std::optional<DType> to(PyObject *object, const Place &place) {
  return to_optional_dtype(object, place);
}
template <>
ContractedAxes to(PyObject *object, const Place &place);
/// A text that lives as long as the object.
template <>
std::string_view to(PyObject *object, const Place &place);
template <>
RealList to(PyObject *object, const Place &place);
template <>
inline std::optional<RealList> to(PyObject *object, const Place &place) {
  return object == Py_None ? std::optional<RealList>() : to<RealList>(object, place);
}
template <>
inline Sections to(PyObject *object, const Place &place) {
  const bool one = PyIndex_Check(object) != 0 && PySequence_Check(object) == 0;
  const bool scalar = is_tensor(object) && tensor_in(object).rank() == 0;
  if (one || scalar) return to_integer_list(object, place)[0];
  return to_sizes_or_integers(object, place);
}
/// Integers, or a tensor of them that a trace computes.
template <>
inline Integers to(PyObject *object, const Place &place) {
  if (is_size(object)) return size_in(object);
  if (is_computed(object)) return tensor_in(object);
  return to_sizes_or_integers(object, place);
}
template <>
inline std::optional<Sizes> to(PyObject *object, const Place &place) {
  return object == Py_None ? std::optional<Sizes>() : to<Sizes>(object, place);
}
template <>
inline std::optional<Size> to(PyObject *object, const Place &place) {
  return object == Py_None ? std::optional<Size>() : to<Size>(object, place);
}

/// Tensors of anything that has items; numbers take the dtype of the others if they are `weak`.
/// Throws DTypeError, which names the item.
std::vector<Tensor> tensors_of(PyObject *object, const Place &place, bool weak = true);

/// The first operands of a call, of which some may be null or None.
template <std::size_t N>
class OptionalOperands {
public:
  /// `at` is where they are among the arguments; those from `promoted` on take one dtype, but for
  /// the ones whose bits are in `apart`.
  OptionalOperands(const Signature &signature, PyObject *const *values, std::size_t promoted,
                   const std::array<std::size_t, N> &at, unsigned apart = 0) {
    Beside beside;
    const auto meets = [&](std::size_t i) { return i >= promoted && (apart >> i & 1) == 0; };
    for (std::size_t i = 0; i < N; ++i)
      if (PyObject *value = values[at[i]]; meets(i) && value != nullptr && value != Py_None)
        beside.add(value);
    const std::optional<DType> hint = beside.dtype();
    for (std::size_t i = 0; i < N; ++i) {
      PyObject *value = values[at[i]];
      given_[i] = value != nullptr && (value != Py_None || at[i] < signature.required);
      if (!given_[i]) continue;
      const Place place{signature.name, signature.names[at[i]]};
      if (!arguments_[i].convert(value, place, meets(i) ? hint : std::nullopt))
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

/// The objects of tensors in a list or tuple, which is new and of their number.
template <auto set>
PyObject *filled(PyObject *sequence, std::vector<Tensor> tensors) {
  const nb::object holder = checked(sequence);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (set(sequence, static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i]))) != 0)
      throw nb::python_error();
  return Py_NewRef(sequence);
}

/// What a function gives: one tensor, a list or tuple of them, or a tuple unless it is one alone.
enum class Gives : std::uint8_t { tensor, list, tuple, tensors };

template <Gives gives>
PyObject *wrapped(std::vector<Tensor> tensors) {
  if (gives == Gives::tensors && tensors.size() == 1) return wrap(std::move(tensors[0]));
  const auto size = static_cast<Py_ssize_t>(tensors.size());
  if constexpr (gives == Gives::list)
    return filled<PyList_SetItem>(PyList_New(size), std::move(tensors));
  else return filled<PyTuple_SetItem>(PyTuple_New(size), std::move(tensors));
}
template <Gives gives>
PyObject *wrapped(Tensor tensor) {
  return wrap(std::move(tensor));
}

/// A class of named tuples, as functions with several results give them.
struct NamedTuple {
  const char *name, *documentation;
  std::vector<const char *> fields;
  PyObject *type = nullptr; ///< once it is defined

  /// Makes it an attribute of the module.
  void define(nb::module_ &module);
  PyObject *of(std::vector<Tensor> tensors) const;
  /// The lines of its stub.
  std::string stub() const;
};
/// Those of all functions.
std::vector<NamedTuple *> &named_tuples();

/// `takes_rest`: what is given by position behind the parameters of the signature is a tuple, the
/// value behind theirs.
template <Gives gives, bool takes_rest, const Signature &signature, auto call>
PyObject *fast_composite_call(PyObject *, PyObject *const *args, Py_ssize_t given,
                              PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    const auto count = static_cast<std::size_t>(given);
    Values values(signature.names.size() + takes_rest);
    signature.bind_or_refuse(args, count, keywords, values.data());
    nb::object rest;
    if constexpr (takes_rest) {
      const std::size_t first = std::min(count, signature.positional);
      rest = checked(PyTuple_New(static_cast<Py_ssize_t>(count - first)));
      for (std::size_t i = first; i < count; ++i)
        PyTuple_SET_ITEM(rest.ptr(), static_cast<Py_ssize_t>(i - first), Py_NewRef(args[i]));
      values.data()[signature.names.size()] = rest.ptr();
    }
    return wrapped<gives>(call(values.data()));
  });
}

/// The row of a function that gives several tensors, or is given some one by one.
template <Gives gives, bool takes_rest, const Signature &signature, auto call>
PyMethodDef composite_method(const char *documentation) {
  documented_signatures().push_back(&signature);
  return {signature.name,
          reinterpret_cast<PyCFunction>(fast_composite_call<gives, takes_rest, signature, call>),
          METH_FASTCALL | METH_KEYWORDS, signature.documented(documentation)};
}

/// The row of a function that gives several results with names.
template <NamedTuple &results, const Signature &signature, auto call>
PyMethodDef named_method(const char *documentation) {
  documented_signatures().push_back(&signature);
  named_tuples().push_back(&results);
  constexpr auto function = [](PyObject *, PyObject *const *args, Py_ssize_t given,
                               PyObject *keywords) -> PyObject * {
    return guarded([&]() -> PyObject * {
      Values values(signature.names.size());
      signature.bind_or_refuse(args, static_cast<std::size_t>(given), keywords, values.data());
      return results.of(call(values.data()));
    });
  };
  return {signature.name, reinterpret_cast<PyCFunction>(+function), METH_FASTCALL | METH_KEYWORDS,
          signature.documented(documentation)};
}

} // namespace weft::python
