// The operators of tensors and variables, and their conversions to Python's numbers.
#include "Tensors.h"

#include "Buffers.h"

#include <limits>

#include <weft/composites.h>

namespace weft::python {

namespace {

using Binary = Tensor (*)(const Operand &, const Operand &);
using Unary = Tensor (*)(const Operand &);

PyObject *not_implemented() { return Py_NewRef(Py_NotImplemented); }

PyObject *apply(Binary op, const char *name, PyObject *a, PyObject *b) {
  Argument x, y;
  if (!x.convert(a, {name, "the left operand"}, Beside::of(b))) return not_implemented();
  if (!y.convert(b, {name, "the right operand"}, Beside::of(a))) return not_implemented();
  return wrap(unlocked(std::max(x.size(), y.size()), [&] { return op(x.operand(), y.operand()); }));
}

/// What `a + b` calls, whichever of them is ours.
template <Binary op, const char *name>
PyObject *binary(PyObject *a, PyObject *b) {
  return guarded([&]() -> PyObject * {
    if (is_tensor(a) && is_tensor(b)) {
      const Tensor &x = tensor_in(a), &y = tensor_in(b);
      return wrap(unlocked(std::max(x.impl()->size, y.impl()->size), [&] { return op(x, y); }));
    }
    return apply(op, name, a, b);
  });
}

template <Unary op>
PyObject *unary(PyObject *a) {
  return guarded([&]() -> PyObject * {
    const Tensor x = is_tensor(a) ? tensor_in(a) : variable_in(a).value();
    return wrap(unlocked(x.impl()->size, [&] { return op(x); }));
  });
}

Tensor positive(const Operand &x) { return x.materialize(); }
Tensor bits_of_both(const Operand &a, const Operand &b) { return a & b; }
Tensor bits_of_either(const Operand &a, const Operand &b) { return a | b; }
Tensor bits_of_one(const Operand &a, const Operand &b) { return a ^ b; }
Tensor inverted(const Operand &x) { return ~x; }
Tensor matrix_product(const Operand &a, const Operand &b) { return matmul(a, b); }

#define WEFT_OPERATOR_NAME(function, text) constexpr char function##_name[] = text;
WEFT_OPERATOR_NAME(add, "add")
WEFT_OPERATOR_NAME(subtract, "subtract")
WEFT_OPERATOR_NAME(multiply, "multiply")
WEFT_OPERATOR_NAME(divide, "divide")
WEFT_OPERATOR_NAME(floor_divide, "floor_divide")
WEFT_OPERATOR_NAME(remainder, "remainder")
WEFT_OPERATOR_NAME(power, "power")
WEFT_OPERATOR_NAME(matmul, "matmul")
WEFT_OPERATOR_NAME(bits_of_both, "bitwise_and")
WEFT_OPERATOR_NAME(bits_of_either, "bitwise_or")
WEFT_OPERATOR_NAME(bits_of_one, "bitwise_xor")
WEFT_OPERATOR_NAME(bitwise_left_shift, "bitwise_left_shift")
WEFT_OPERATOR_NAME(bitwise_right_shift, "bitwise_right_shift")
#undef WEFT_OPERATOR_NAME

PyObject *raise_to(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) return not_implemented();
  return binary<power, power_name>(a, b);
}

PyObject *divide_with_rest(PyObject *a, PyObject *b) {
  PyObject *quotient = binary<floor_divide, floor_divide_name>(a, b);
  if (quotient == nullptr || quotient == Py_NotImplemented) return quotient;
  PyObject *rest = binary<remainder, remainder_name>(a, b);
  if (rest == nullptr) {
    Py_DECREF(quotient);
    return nullptr;
  }
  return Py_BuildValue("(NN)", quotient, rest);
}

Tensor value_of(PyObject *object) {
  return is_tensor(object) ? tensor_in(object) : variable_in(object).value();
}

/// Infinity of its sign for a whole number beyond 64 bits, which C++ does not have: it compares
/// with integers as the number does. Null for anything else, and beside floats.
nb::object beyond_integers(PyObject *self, PyObject *object) {
  if (!PyLong_CheckExact(object)) return {};
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0 || is_inexact(value_of(self).dtype())) return {};
  if (overflow > 0) {
    PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() == nullptr) return {};
    PyErr_Clear();
  }
  return nb::float_(overflow * std::numeric_limits<double>::infinity());
}

PyObject *compare(PyObject *a, PyObject *b, int operation) {
  return guarded([&]() -> PyObject * {
    const nb::object bound = beyond_integers(a, b);
    if (bound.is_valid()) b = bound.ptr();
    static constexpr std::array<Binary, 6> ops = {less,      less_equal, equal,
                                                  not_equal, greater,    greater_equal};
    static constexpr std::array names = {"less",      "less_equal", "equal",
                                         "not_equal", "greater",    "greater_equal"};
    const auto which = static_cast<std::size_t>(operation);
    return apply(ops[which], names[which], a, b);
  });
}

/// The tensor, if it has one element.
Tensor single(PyObject *object, const char *what) {
  Tensor tensor = value_of(object);
  check_elements(tensor, what);
  if (tensor.impl()->size != 1)
    throw ShapeError(std::string(what) + " of a tensor of shape " +
                     weft::to_string(tensor.shape()) +
                     ": only one with a single element is a number");
  return tensor;
}

int truth(PyObject *self) {
  return guarded([&] {
    const Tensor tensor = value_of(self);
    if (tensor.traced()) {
      const Valueless why = valueless(tensor);
      if (why.why != Valueless::Why::running)
        raise_not_allowed(why.what + " has no truth value: " + why.instead);
      raise_not_allowed("a tensor of a traced function has no truth value while it is traced: "
                        "where AutoGraph does not convert `if`, `while`, `and`, `or` and `not`, "
                        "write weft.select");
    }
    if (tensor.impl()->size != 1)
      throw ValueError("the truth value of a tensor of shape " + weft::to_string(tensor.shape()) +
                       " is ambiguous: take its any() or all()");
    return static_cast<int>(tensor.item<double>() != 0);
  });
}

/// The one element of integers or bools.
PyObject *integer_of(const Tensor &tensor) {
  return is_unsigned(tensor.dtype()) ? PyLong_FromUnsignedLongLong(tensor.item<std::uint64_t>())
                                     : PyLong_FromLongLong(tensor.item<std::int64_t>());
}

PyObject *as_int(PyObject *self) {
  return guarded([&] {
    const Tensor tensor = single(self, "int()");
    if (is_floating(tensor.dtype())) return PyLong_FromDouble(tensor.item<double>());
    return integer_of(tensor);
  });
}

PyObject *as_float(PyObject *self) {
  return guarded([&] { return PyFloat_FromDouble(single(self, "float()").item<double>()); });
}

PyObject *as_index(PyObject *self) {
  return guarded([&] {
    const Tensor tensor = value_of(self);
    if (!is_integer(tensor.dtype()) ||
        tensor.rank() != 0) // a TypeError, after which Python asks otherwise
      throw DTypeError(std::string("a tensor of ") + python_name(tensor.dtype()) + " and shape " +
                       weft::to_string(tensor.shape()) +
                       " is no index: only one of integers and of rank 0 is");
    return integer_of(tensor);
  });
}

} // namespace

#define WEFT_SLOT(id, function) {id, reinterpret_cast<void *>(+(function))}
const PyType_Slot operator_slots[] = {
    WEFT_SLOT(Py_nb_add, (binary<add, add_name>)),
    WEFT_SLOT(Py_nb_subtract, (binary<subtract, subtract_name>)),
    WEFT_SLOT(Py_nb_multiply, (binary<multiply, multiply_name>)),
    WEFT_SLOT(Py_nb_true_divide, (binary<divide, divide_name>)),
    WEFT_SLOT(Py_nb_floor_divide, (binary<floor_divide, floor_divide_name>)),
    WEFT_SLOT(Py_nb_remainder, (binary<remainder, remainder_name>)),
    WEFT_SLOT(Py_nb_divmod, divide_with_rest),
    WEFT_SLOT(Py_nb_power, raise_to),
    WEFT_SLOT(Py_nb_matrix_multiply, (binary<matrix_product, matmul_name>)),
    WEFT_SLOT(Py_nb_and, (binary<bits_of_both, bits_of_both_name>)),
    WEFT_SLOT(Py_nb_or, (binary<bits_of_either, bits_of_either_name>)),
    WEFT_SLOT(Py_nb_xor, (binary<bits_of_one, bits_of_one_name>)),
    WEFT_SLOT(Py_nb_lshift, (binary<bitwise_left_shift, bitwise_left_shift_name>)),
    WEFT_SLOT(Py_nb_rshift, (binary<bitwise_right_shift, bitwise_right_shift_name>)),
    WEFT_SLOT(Py_nb_negative, unary<negate>),
    WEFT_SLOT(Py_nb_positive, unary<positive>),
    WEFT_SLOT(Py_nb_absolute, unary<abs>),
    WEFT_SLOT(Py_nb_invert, unary<inverted>),
    WEFT_SLOT(Py_nb_bool, truth),
    WEFT_SLOT(Py_nb_int, as_int),
    WEFT_SLOT(Py_nb_float, as_float),
    WEFT_SLOT(Py_nb_index, as_index),
    WEFT_SLOT(Py_tp_richcompare, compare),
    WEFT_SLOT(Py_tp_hash, PyObject_HashNotImplemented),
};
const std::size_t operator_slot_count = std::size(operator_slots);

} // namespace weft::python
