// Numbers, nested sequences and whatever else has elements, as tensors and operands.
#include "Binding.h"
#include "Numbers.h"
#include "Sizes.h"
#include "Snapshots.h"

#include <limits>
#include <utility>

#include <weft/detail/binding.h>

namespace weft::python {

namespace {

/// The kinds of numbers in a nested sequence, and its numbers, row-major.
class Numbers {
public:
  enum class Found : std::uint8_t { number, other };

  /// Reads a number; `other` if it is none.
  Found add(PyObject *object) {
    if (PyFloat_Check(object)) {
      kind_ = std::max(kind_, DTypeKind::floating);
      wide_ |= is_wide_float(object);
      return push(0, PyFloat_AS_DOUBLE(object));
    }
    if (PyComplex_Check(object)) {
      kind_ = DTypeKind::complex;
      wide_ |= PyComplex_CheckExact(object) == 0;
      const Py_complex value = PyComplex_AsCComplex(object);
      return push(0, value.real, value.imag);
    }
    if (PyBool_Check(object)) return push(object == Py_True, object == Py_True);
    if (!PyLong_Check(object)) return Found::other;
    kind_ = std::max(kind_, DTypeKind::integer);
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      least_ = std::min<std::int64_t>(least_, value);
      if (value > 0) most_ = std::max(most_, static_cast<std::uint64_t>(value));
      return push(value, static_cast<double>(value));
    }
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      too_large_ = true;
    }
    most_ = std::max<std::uint64_t>(most_, large);
    const double rounded = PyLong_AsDouble(object);
    if (rounded == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return push(static_cast<std::int64_t>(large), rounded); // the same bits, which u64 has
  }

  std::size_t count() const { return integers_.size(); }

  /// The dtype of their kind: `hint` if that is of the kind or a higher one.
  DType dtype(std::optional<DType> hint) const {
    if (hint && kind_of(*hint) >= kind_) return *hint;
    if (kind_ == DTypeKind::complex)
      return wide_ && !hint ? DType::c128 : complex_of(hint.value_or(DType::f32));
    if (kind_ == DTypeKind::floating && !hint && wide_) return DType::f64;
    if (kind_ == DTypeKind::floating || count() == 0) return DType::f32;
    if (kind_ == DTypeKind::boolean) return DType::boolean;
    if (fits<std::int32_t>()) return DType::i32;
    return least_ < 0 || fits<std::int64_t>() ? DType::i64 : DType::u64;
  }

  Tensor tensor(std::span<const std::int64_t> dims, DType dtype, const Place &place) const {
    if (too_large_ && !is_inexact(dtype))
      throw ValueError(place.text() + " has a number that no integer dtype holds");
    const bool all_fit = visit_dtype(dtype, [&]<class T>() {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return fits<T>();
      return true;
    });
    if (!all_fit)
      throw ValueError(place.text() + " has a number that is too " +
                       (is_unsigned(dtype) && least_ < 0 ? "small" : "large") + " for " +
                       python_name(dtype));
    Tensor result = detail::unset_tensor(dtype, dims);
    visit_dtype(dtype, [&]<class T>() {
      T *to = reinterpret_cast<T *>(result.impl()->data);
      for (std::size_t i = 0; i < count(); ++i)
        if constexpr (is_floating_type<T>) to[i] = static_cast<T>(floats_[i]);
        else if constexpr (is_complex_number<T>)
          to[i] = T(static_cast<typename T::value_type>(floats_[i]),
                    static_cast<typename T::value_type>(imaginary_[i]));
        else to[i] = static_cast<T>(integers_[i]);
    });
    return result;
  }

private:
  Found push(std::int64_t integer, double floating, double imaginary = 0) {
    integers_.push_back(integer);
    floats_.push_back(floating);
    imaginary_.push_back(imaginary);
    return Found::number;
  }

  /// Whether all whole numbers are of an integer type.
  template <class T>
  bool fits() const {
    return std::in_range<T>(least_) && std::in_range<T>(most_);
  }

  std::vector<std::int64_t> integers_;
  std::vector<double> floats_, imaginary_;
  DTypeKind kind_ = DTypeKind::boolean;
  std::int64_t least_ = 0;
  std::uint64_t most_ = 0;
  bool too_large_ = false; ///< there is a whole number of more than 64 bits
  bool wide_ = false;      ///< there is a numpy.float64 or numpy.complex128
};

bool is_sequence(PyObject *object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  return PySequence_Check(object) != 0 && !PyUnicode_Check(object) && !PyBytes_Check(object) &&
         !PyDict_Check(object);
}

/// Walks a nested sequence once; its shape is that of its first elements.
class Walk {
public:
  explicit Walk(const Place &place) : place_(place) {}

  /// False if there are other things than numbers in it.
  bool run(PyObject *object) { return visit(object, 0); }

  Tensor finish(std::optional<DType> hint) const {
    return numbers_.tensor(dims_, numbers_.dtype(hint), place_);
  }

private:
  bool visit(PyObject *object, std::size_t depth) {
    if (numbers_.add(object) == Numbers::Found::number) {
      if (depth != dims_.size()) ragged(depth);
      leaves_at_ = depth;
      return true;
    }
    if (is_tensor(object) || is_variable(object) || PyObject_CheckBuffer(object) != 0 ||
        !is_sequence(object))
      return false;
    if (static_cast<std::int64_t>(depth) >= max_rank)
      throw ShapeError(place_.text() + " is nested deeper than " + std::to_string(max_rank) +
                       " levels");
    const nb::object items = checked(PySequence_Fast(object, "a sequence was expected"));
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(items.ptr());
    if (leaves_at_ && depth >= *leaves_at_) ragged(depth);
    if (depth == dims_.size()) {
      if (finished_) ragged(depth);
      dims_.push_back(size);
    } else if (dims_[depth] != size) {
      path_.resize(depth);
      throw ValueError(place_.text() + " is ragged: the element at " + path_text() +
                       " has length " + std::to_string(size) + ", but others there have " +
                       std::to_string(dims_[depth]));
    }
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (path_.size() <= depth) path_.resize(depth + 1);
      path_[depth] = i;
      if (PySequence_Fast_GET_SIZE(items.ptr()) != size)
        throw ValueError(place_.text() + " was changed while it was read");
      const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i));
      if (!visit(item.ptr(), depth + 1)) return false;
    }
    if (depth + 1 == dims_.size()) finished_ = true;
    return true;
  }

  [[noreturn]] void ragged(std::size_t depth) {
    path_.resize(depth);
    throw ValueError(place_.text() + " is ragged: the element at " + path_text() +
                     " is nested otherwise than those before it");
  }

  std::string path_text() const {
    std::string text;
    for (const Py_ssize_t i : path_) text += "[" + std::to_string(i) + "]";
    return text;
  }

  const Place &place_;
  Numbers numbers_;
  Ints dims_;
  std::vector<Py_ssize_t> path_;
  std::optional<std::size_t> leaves_at_;
  bool finished_ = false;
};

/// Tensors along a new first axis, as ops, which tapes and traces see.
Tensor stacked(PyObject *sequence, const Place &place, std::optional<DType> hint, int depth) {
  if (depth > max_rank)
    throw ShapeError(place.text() + " is nested deeper than " + std::to_string(max_rank) +
                     " levels");
  const nb::object items = checked(PySequence_Fast(sequence, "a sequence was expected"));
  std::vector<Tensor> parts;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i));
    const bool nested = !is_tensor(item.ptr()) && !is_variable(item.ptr()) &&
                        PyObject_CheckBuffer(item.ptr()) == 0 && is_sequence(item.ptr());
    Tensor part =
        nested ? stacked(item.ptr(), place, hint, depth + 1) : to_tensor(item.ptr(), place, hint);
    if (!parts.empty() && detail::type_of(part).shape != detail::type_of(parts.front()).shape)
      throw ValueError(place.text() + " is ragged: element " + std::to_string(i) +
                       " has the shape " + weft::to_string(part.shape()) + ", the first " +
                       weft::to_string(parts.front().shape()));
    parts.push_back(std::move(part));
  }
  for (Tensor &part : parts) {
    Ints sizes{1};
    for (const std::int64_t size : part.shape()) sizes.push_back(size);
    part = reshape(part, sizes);
  }
  return concatenate(std::span<const Tensor>(parts));
}

/// `__array__` of an object that has it.
nb::object array_of(PyObject *object) {
  if (PyType_Check(object)) return {};
  const nb::object method = nb::steal(PyObject_GetAttrString(object, "__array__"));
  if (!method.is_valid()) {
    PyErr_Clear();
    return {};
  }
  return checked(PyObject_CallNoArgs(method.ptr()));
}

} // namespace

//===----------------------------------------------------------------------===//
// What numbers beside others become
//===----------------------------------------------------------------------===//

void Beside::add(PyObject *object, int depth) {
  const auto strong = [&](DType dtype) { strong_.add(dtype); };
  if (is_tensor(object)) return strong(detail::type_of(tensor_in(object)).dtype);
  if (is_variable(object)) return strong(variable_in(object).dtype());
  if (PyFloat_Check(object)) {
    wide_ |= is_wide_float(object);
    return;
  }
  if (PyComplex_Check(object)) {
    wide_ |= PyComplex_CheckExact(object) == 0;
    return;
  }
  if (PyLong_Check(object) || is_size(object) || object == Py_None || PyUnicode_Check(object) ||
      PyBytes_Check(object) || PyDict_Check(object) || depth > max_rank)
    return;
  if (!PyList_Check(object) && !PyTuple_Check(object)) {
    // What has elements of its own; an error in them is that of the conversion, which follows.
    const Place place{"", ""};
    Tensor tensor;
    try {
      tensor = tensor_of_buffer(object, place, Sharing::if_possible);
      if (!tensor.defined()) tensor = tensor_of_dlpack(object, place, Sharing::if_possible);
      if (!tensor.defined())
        if (const nb::object array = array_of(object); array.is_valid())
          tensor = tensor_of_buffer(array.ptr(), place, Sharing::if_possible);
    } catch (const Error &) {
      return;
    }
    if (tensor.defined()) return strong(detail::type_of(tensor).dtype);
    if (!is_sequence(object)) return;
  }
  const nb::object items = checked(PySequence_Fast(object, "a sequence was expected"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i));
    add(item.ptr(), depth + 1);
  }
}

void refuse_object(PyObject *object, const Place &place) {
  std::string kind = Py_TYPE(object)->tp_name;
  std::string hint = "a tensor, a number, a nested list of numbers or an array is wanted";
  if (object == Py_None) kind = "None";
  if (kind == "Input")
    hint = "models are not made of what stands for inputs and outputs: write a Sequential of "
           "layers, or a "
           "subclass of Model with a method call";
  throw DTypeError(place.text() + " is of type " + kind + ", of which no tensor is made: " + hint);
}

bool Argument::convert(PyObject *object, const Place &place, std::optional<DType> hint) {
  if (is_tensor(object)) {
    operand_.emplace(tensor_in(object));
    return true;
  }
  if (PyFloat_CheckExact(object)) {
    operand_.emplace(PyFloat_AS_DOUBLE(object));
    return true;
  }
  if (PyBool_Check(object)) {
    operand_.emplace(object == Py_True);
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      operand_.emplace(static_cast<std::int64_t>(value));
      return true;
    }
    if (hint && is_inexact(*hint)) {
      const double rounded = PyLong_AsDouble(object);
      if (rounded == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        throw ValueError(place.text() + " is a whole number that no dtype holds");
      }
      operand_.emplace(rounded);
      return true;
    }
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw ValueError(place.text() + " is a whole number that no dtype holds");
    }
    operand_.emplace(static_cast<std::uint64_t>(large));
    return true;
  }
  if (PyComplex_CheckExact(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    operand_.emplace(std::complex<double>(value.real, value.imag));
    return true;
  }
  if (is_variable(object)) {
    set(variable_in(object).value());
    return true;
  }
  if (is_size(object)) {
    operand_.emplace(size_in(object));
    return true;
  }
  if (object == Py_None || PyUnicode_Check(object) || PyBytes_Check(object)) return false;
  if (hint && is_inexact(*hint) && PyComplex_Check(object)) { // a numpy.complex128, as below
    const Py_complex value = PyComplex_AsCComplex(object);
    set_made(Operand(std::complex<double>(value.real, value.imag)).materialize(complex_of(*hint)));
    return true;
  }
  if (hint && PyFloat_Check(object)) {
    // A numpy.float64 counts as the number of Python that it is: alone it is f64, beside a floating
    // tensor of that dtype.
    const double number = PyFloat_AS_DOUBLE(object);
    if (is_inexact(*hint)) set_made(Operand(number).materialize(*hint));
    else operand_.emplace(number);
    return true;
  }
  if (Tensor tensor = tensor_of_buffer(object, place, Sharing::copy); tensor.defined()) {
    set_made(std::move(tensor));
    return true;
  }
  if (PyFloat_Check(object) || (PyLong_Check(object) && PyIndex_Check(object))) {
    // Subclasses of Python's numbers.
    const nb::object plain =
        checked(PyFloat_Check(object) ? PyFloat_FromDouble(PyFloat_AS_DOUBLE(object))
                                      : PyNumber_Long(object));
    if (!PyLong_CheckExact(plain.ptr()) && !PyFloat_CheckExact(plain.ptr())) return false;
    return convert(plain.ptr(), place, hint);
  }
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
    if (Tensor tensor = tensor_of_dlpack(object, place, Sharing::copy); tensor.defined()) {
      set_made(std::move(tensor));
      return true;
    }
    if (const nb::object array = array_of(object); array.is_valid()) {
      Tensor tensor = tensor_of_buffer(array.ptr(), place, Sharing::copy);
      if (!tensor.defined()) return false;
      set_made(std::move(tensor));
      return true;
    }
    if (!is_sequence(object)) return false;
  }
  Walk walk(place);
  if (walk.run(object)) {
    set_made(walk.finish(hint));
    return true;
  }
  Beside others(hint);
  others.add(object);
  set(stacked(object, place, others.dtype(), 0));
  return true;
}

Tensor to_tensor(PyObject *object, const Place &place, std::optional<DType> hint, Sharing sharing) {
  if (is_tensor(object)) return tensor_in(object);
  if (sharing != Sharing::copy && !is_variable(object) && !PyFloat_Check(object) &&
      !PyLong_Check(object)) {
    Tensor tensor = tensor_of_buffer(object, place, sharing);
    if (!tensor.defined()) tensor = tensor_of_dlpack(object, place, sharing);
    if (tensor.defined()) return detail::uncommitted(std::move(tensor));
  }
  Argument argument;
  if (!argument.convert(object, place, hint)) refuse_object(object, place);
  if (sharing == Sharing::only && !is_variable(object))
    throw ValueError(place.text() +
                     " has no elements in memory that could be shared, and copy is False");
  const Operand &operand = argument.operand();
  if (!operand.weak()) return operand.materialize();
  if (hint && kind_of(*hint) >= operand.weak_kind())
    return detail::uncommitted(operand.materialize(*hint, place.function));
  if (hint && operand.weak_kind() == DTypeKind::complex)
    return detail::uncommitted(operand.materialize(complex_of(*hint)));
  return detail::uncommitted(operand.materialize());
}

Tensor to_tensor_for_cast(PyObject *object, DType dtype, const Place &place) {
  Tensor tensor = to_tensor(object, place, is_inexact(dtype) ? std::optional(dtype) : std::nullopt);
  // Numbers with a fraction are cut as they are, not as f32 rounds them.
  const bool rounded = dtype != DType::f32 && detail::type_of(tensor).dtype == DType::f32;
  return rounded && !Beside::of(object) ? to_tensor(object, place, DType::f64) : tensor;
}

Tensor to_tensor_of(PyObject *object, std::optional<DType> dtype, const Place &place,
                    Sharing sharing) {
  Tensor tensor = to_tensor(object, place, dtype, sharing);
  if (!dtype || detail::type_of(tensor).dtype == *dtype) return tensor;
  if (sharing != Sharing::only && detail::type_of(tensor).dtype == DType::f32)
    tensor = to_tensor_for_cast(object, *dtype, place);
  if (sharing == Sharing::only)
    throw ValueError(place.text() + " is of another dtype, and copy is False");
  return tensor.astype(*dtype);
}

std::vector<Tensor> to_tensors(PyObject *object, const Place &place) {
  if (!is_sequence(object) && !is_tensor(object))
    throw DTypeError(place.text() + " is of type " + Py_TYPE(object)->tp_name +
                     ": a sequence of tensors is wanted");
  const nb::tuple items = entries_of(object);
  const std::optional<DType> hint = Beside::of(items.ptr());
  std::vector<Tensor> tensors;
  for (const nb::handle item : items) tensors.push_back(to_tensor(item.ptr(), place, hint));
  return tensors;
}

namespace {

/// Throws DTypeError for a tensor of a trace, an argument or what came of one, where the program
/// has to know the number.
void refuse_traced(PyObject *object, const Place &place) {
  if (is_tensor(object) && tensor_in(object).traced())
    throw DTypeError(place.text() +
                     " is a tensor of a traced function, and a number of Python is wanted: "
                     "arguments that are tensors, arrays or scalars of NumPy such as numpy.int64 "
                     "have no value while it is traced, but a number of Python is a constant of "
                     "the trace, so pass int(n)");
}

} // namespace

std::int64_t to_integer(PyObject *object, const Place &place) {
  refuse_traced(object, place);
  const nb::object index = nb::steal(PyNumber_Index(object));
  if (!index.is_valid()) {
    if (is_size(object)) throw nb::python_error();
    PyErr_Clear();
    throw DTypeError(place.text() + " is of type " + Py_TYPE(object)->tp_name +
                     ": an integer is wanted");
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) throw ValueError(place.text() + " does not fit 64 bits");
  return value;
}

Ints to_integers(PyObject *object, const Place &place) {
  if (is_tensor(object))
    if (const Tensor list = tensor_in(object);
        !list.traced() && list.rank() == 1 && is_integer(list.dtype())) {
      Ints integers;
      for (const std::int64_t each : list.to_vector<std::int64_t>()) integers.push_back(each);
      return integers;
    }
  if (PyLong_CheckExact(object) || !is_sequence(object)) return Ints{to_integer(object, place)};
  const nb::tuple items = entries_of(object);
  Ints list;
  for (const nb::handle item : items) list.push_back(to_integer(item.ptr(), place));
  return list;
}

Ints to_integer_list(PyObject *object, const Place &place) {
  refuse_traced(object, place);
  try {
    return to_integers(is_variable(object) ? nb::cast(variable_in(object).value()).ptr() : object,
                       place);
  } catch (const DTypeError &) {
    if (PyList_Check(object) || PyTuple_Check(object)) throw; // which is of an item
    throw DTypeError(place.text() + " is of type " + Py_TYPE(object)->tp_name +
                     ": an integer or a list of them is wanted");
  }
}

Ints to_permutation(PyObject *object, const Operand &x, const Place &place) {
  Ints axes;
  if (object != nullptr && object != Py_None) {
    for (const std::int64_t axis : to_integers(object, place))
      axes.push_back(axis < 0 ? axis + x.rank() : axis);
    return axes;
  }
  for (std::int64_t axis = x.rank(); axis-- > 0;) axes.push_back(axis);
  return axes;
}

} // namespace weft::python
