// Sizes in Python: numbers, and integers that a traced function computes.
#include "Sizes.h"
#include "Arguments.h"
#include "Define.h"
#include "Snapshots.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include <weft/composites.h>
#include <weft/detail/binding.h>
#include <weft/detail/staging.h>

namespace weft::python {

namespace {

/// A tensor of sizes and what they are, so that those which are known stay known: TensorFlow's
/// programs write `tf.shape(x)[0]` in 32 bits.
struct Known {
  Tensor tensor;
  Sizes sizes;
};

/// The newest of this thread's trace, the last one last.
std::vector<Known> &known_sizes() {
  static thread_local std::vector<Known> known;
  return known;
}

void remember(const Tensor &tensor, Sizes sizes) {
  constexpr std::size_t kMost = 256;
  std::vector<Known> &all = known_sizes();
  if (!weft::detail::is_tracing()) return all.clear();
  if (all.size() == kMost) all.erase(all.begin(), all.begin() + kMost / 2);
  all.push_back({tensor, std::move(sizes)});
}

const Sizes *known(const Tensor &tensor) {
  if (!weft::detail::is_tracing()) known_sizes().clear(); // of a trace that has ended
  for (const Known &each : std::views::reverse(known_sizes()))
    if (each.tensor.impl() == tensor.impl()) return &each.sizes;
  return nullptr;
}

/// All sizes of a tensor, of which some are not known.
Tensor sizes_as_tensor(const Tensor &x, DType dtype) {
  std::vector<Tensor> parts;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis)
    parts.push_back(reshape(cast(size_of(x, {.axis = axis}), dtype), Ints{1}));
  Tensor sizes = concatenate({parts.begin(), parts.end()}, {.axis = 0});
  remember(sizes, weft::detail::sizes_of(x));
  return sizes;
}

Size size_from(const Tensor &size, const Place &place) {
  const TensorType type = weft::detail::type_of(size);
  if (!is_integer(type.dtype))
    throw DTypeError(place.text() + " has a size of dtype " + std::string(name_of(type.dtype)) +
                     ": integers are wanted");
  if (!type.shape.empty())
    throw ShapeError(place.text() + " has a size of shape " + weft::to_string(type.shape) +
                     ": scalars are wanted");
  if (const Sizes *same = known(size))
    return same->are_numbers() ? Size(same->numbers()[0]) : Size(same->values()[0]);
  return size;
}

/// Of a traced tensor.
Sizes sizes_from(const Tensor &all, const Place &place) {
  if (const Sizes *same = known(all)) return *same;
  const Shape of = weft::detail::type_of(all).shape;
  if (of.empty()) return {size_from(all, place)};
  if (of.rank() != 1 || of[0] == unknown)
    throw ShapeError(place.text() + " is a tensor of shape " + weft::to_string(of) +
                     ": how many sizes there are must be known");
  Sizes sizes;
  for (std::int64_t i = 0; i < of[0]; ++i)
    sizes.push_back(
        size_from(reshape(weft::slice(all, Ints{i}, Ints{i + 1}, Ints{1}), Ints{}), place));
  return sizes;
}

/// A number of the user as a size. Throws ShapeError for the one that stands for a computed size.
Size numbered(std::int64_t number, const Place &place) {
  if (number == weft::detail::kDynamic)
    throw ShapeError(place.text() + " has a size of " + std::to_string(number) +
                     ", which is negative");
  return number;
}

} // namespace

template <>
Sizes to(PyObject *object, const Place &place) {
  if (is_tensor(object) && tensor_in(object).traced()) return sizes_from(tensor_in(object), place);
  if (is_size(object)) return {size_in(object)};
  Sizes sizes;
  if (PyList_Check(object) == 0 && PyTuple_Check(object) == 0) {
    for (const std::int64_t number : to_integers(object, place))
      sizes.push_back(numbered(number, place));
    return sizes;
  }
  const nb::tuple items = entries_of(object);
  for (const nb::handle item : items) {
    if (is_size(item.ptr())) {
      sizes.push_back(size_in(item.ptr()));
      continue;
    }
    if (item.is_none() && weft::detail::is_tracing())
      throw DTypeError(place.text() + " has the size None, which the trace does not know: " +
                       "wf.size(x, axis) is it as a tensor, and tf.shape(x)[axis]");
    const bool computed = is_tensor(item.ptr()) && tensor_in(item.ptr()).traced();
    sizes.push_back(computed ? size_from(tensor_in(item.ptr()), place)
                             : numbered(to_integer(item.ptr(), place), place));
  }
  return sizes;
}

Sizes to_sizes_or_integers(PyObject *object, const Place &place) {
  const auto computes = [](nb::handle item) { return is_computed(item.ptr()); };
  const bool list = PyList_Check(object) != 0 || PyTuple_Check(object) != 0;
  if (computes(object) || (list && std::ranges::any_of(nb::tuple(entries_of(object)), computes)))
    return to<Sizes>(object, place);
  return to_integer_list(object, place);
}

template <>
Size to(PyObject *object, const Place &place) {
  if (is_size(object)) return size_in(object);
  if (is_tensor(object) && tensor_in(object).traced()) return size_from(tensor_in(object), place);
  return numbered(to_integer(object, place), place);
}

namespace {

/// How many numbers lie in a range of integers, exactly: the quotients by the step tell the
/// distance, which itself need not fit 64 bits.
Size count_between(const Tensor &start, const Tensor &stop, const Tensor &step) {
  const Tensor rises = greater(step, std::int64_t{0});
  const Tensor last = subtract(stop, select(rises, std::int64_t{1}, std::int64_t{-1}));
  const auto quotient = [&](const Tensor &x) { return floor_divide(x, step); };
  const auto rest = [&](const Tensor &x) { return remainder(x, step); };
  const Tensor borrows =
      select(rises, less(rest(last), rest(start)), greater(rest(last), rest(start)));
  const Tensor count = subtract(add(subtract(quotient(last), quotient(start)), std::int64_t{1}),
                                cast(borrows, DType::i64));
  // One that wrapped is more than any tensor has.
  const Tensor most = weft::tensor(std::numeric_limits<std::int64_t>::max());
  return select(select(rises, less(start, stop), greater(start, stop)),
                select(greater(count, std::int64_t{0}), count, most), std::int64_t{0});
}

} // namespace

Tensor arange_between(const Tensor &start, const Tensor &stop, const Tensor &step, DType dtype) {
  const auto is = [](const Tensor &x, std::int64_t number) {
    return !x.traced() && is_integer(x.dtype()) && x.item<std::int64_t>() == number;
  };
  const auto whole = [](const Tensor &x) { return is_integer(weft::detail::type_of(x).dtype); };
  if (step.traced()) check(not_equal(step, 0), "arange: the step is 0");
  else if (step.item<double>() == 0) throw ValueError("arange: the step is 0");
  if (is(start, 0) && is(step, 1) && whole(stop)) return iota(dtype, {max(Size(stop), 0)});
  if (whole(start) && whole(stop) && whole(step)) {
    const Tensor all = iota(DType::i64, {count_between(start, stop, step)});
    return cast(add(multiply(all, step), start), dtype);
  }
  const auto wide = [](const Tensor &x) { return cast(x, DType::f64); };
  const Tensor count = ceil(divide(subtract(wide(stop), wide(start)), wide(step)));
  const Tensor all = iota(DType::f64, {max(Size(cast(count, DType::i64)), 0)});
  return cast(add(multiply(all, wide(step)), wide(start)), dtype);
}

Tensor size_in(const Tensor &sizes, std::int64_t at) {
  if (!weft::detail::is_tracing() || !sizes.traced()) return {};
  const Sizes *const all = known(sizes);
  const TensorType type = weft::detail::type_of(sizes);
  if (all == nullptr || type.shape.empty()) return {};
  const auto count = static_cast<std::int64_t>(all->size());
  if (at < 0) at += count;
  if (at < 0 || at >= count) return {};
  const Size size = (*all)[static_cast<std::size_t>(at)];
  if (size.is_number())
    return type.dtype == DType::i64 ? tensor(size.number())
                                    : tensor(static_cast<std::int32_t>(size.number()));
  if (type.dtype == DType::i64) return size.value();
  const Tensor narrow = cast(size.value(), type.dtype);
  remember(narrow, {size});
  return narrow;
}

//===----------------------------------------------------------------------===//
// The class Size
//===----------------------------------------------------------------------===//

nb::object wrap(const Size &size) {
  if (size.is_number()) return nb::int_(size.number());
  nb::object object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject *>(size_type)));
  new (nb::inst_ptr<Size>(object)) Size(size);
  nb::inst_mark_ready(object);
  return object;
}

nb::object number_or_scalar(const Size &size) {
  try {
    return nb::int_(static_cast<std::int64_t>(size));
  } catch (const SymbolicSizeError &) {
    return checked(wrap(size.tensor()));
  }
}

namespace {

PyObject *not_implemented() { return Py_NewRef(Py_NotImplemented); }

/// A size or an integer of Python.
std::optional<Size> plain(PyObject *object) {
  if (is_size(object)) return size_in(object);
  if (PyLong_Check(object)) return Size(to_integer(object, {"Size", "the operand"}));
  return std::nullopt;
}

/// `a + b` of which one is a size: of integers a size, beside other numbers a scalar of the trace.
using OfSizes = Size (*)(const Size &, const Size &);
using OfNumbers = Tensor (*)(const Operand &, const Operand &);
template <OfSizes of_sizes, OfNumbers of_numbers>
PyObject *arithmetic(PyObject *a, PyObject *b) {
  return guarded([&]() -> PyObject * {
    const std::optional<Size> x = plain(a), y = plain(b);
    if constexpr (of_sizes != nullptr)
      if (x && y) return wrap(of_sizes(*x, *y)).release().ptr();
    if ((!x && !PyFloat_CheckExact(a)) || (!y && !PyFloat_CheckExact(b))) return not_implemented();
    Argument left, right;
    left.convert(a, {"Size", "the left operand"}, std::nullopt);
    right.convert(b, {"Size", "the right operand"}, std::nullopt);
    return python::wrap(of_numbers(left.operand(), right.operand()));
  });
}

Size sum_of(const Size &a, const Size &b) { return a + b; }
Size difference_of(const Size &a, const Size &b) { return a - b; }
Size product_of(const Size &a, const Size &b) { return a * b; }
Size quotient_of(const Size &a, const Size &b) { return a / b; }
Size rest_of(const Size &a, const Size &b) { return a % b; }

PyObject *raise_to(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) return not_implemented();
  return guarded([&]() -> PyObject * {
    constexpr long long kMost = 64;
    const bool small = PyLong_Check(b) != 0 && is_size(a);
    const long long exponent = small ? PyLong_AsLongLong(b) : -1;
    PyErr_Clear();
    if (exponent < 0 || exponent > kMost) return arithmetic<nullptr, power>(a, b);
    Size result = 1;
    for (long long i = 0; i < exponent; ++i) result = result * size_in(a);
    return wrap(result).release().ptr();
  });
}

PyObject *divide_with_rest(PyObject *a, PyObject *b) {
  return guarded([&]() -> PyObject * {
    const std::optional<Size> x = plain(a), y = plain(b);
    if (!x || !y) return not_implemented();
    return nb::make_tuple(wrap(*x / *y), wrap(*x % *y)).release().ptr();
  });
}

PyObject *negative(PyObject *self) {
  return guarded([&] { return wrap(-size_in(self)).release().ptr(); });
}
PyObject *same(PyObject *self) { return Py_NewRef(self); }
PyObject *absolute(PyObject *self) {
  return guarded([&] {
    const Size &size = size_in(self);
    return wrap(max(size, -size)).release().ptr();
  });
}

/// What it is in the call that is traced.
nb::object number_of(PyObject *self) { return nb::int_(static_cast<std::int64_t>(size_in(self))); }

int truth(PyObject *self) {
  return guarded([&] { return static_cast<int>(size_in(self) != 0); });
}
PyObject *as_int(PyObject *self) {
  return guarded([&] { return number_of(self).release().ptr(); });
}
PyObject *as_float(PyObject *self) {
  return guarded([&] { return PyNumber_Float(number_of(self).ptr()); });
}
Py_hash_t hash(PyObject *self) {
  return guarded([&] { return PyObject_Hash(number_of(self).ptr()); });
}
PyObject *print(PyObject *) { return PyUnicode_FromString("?"); }

PyObject *compare(PyObject *a, PyObject *b, int operation) {
  return guarded([&]() -> PyObject * {
    const bool numbers = is_size(b) || PyLong_Check(b) != 0 || PyFloat_Check(b) != 0;
    if (!numbers) return not_implemented();
    // One value is equal to itself in all calls.
    if (is_size(b) && (operation == Py_EQ || operation == Py_NE))
      return PyBool_FromLong((size_in(a) == size_in(b)) == (operation == Py_EQ));
    const nb::object right = is_size(b) ? number_of(b) : nb::borrow(b);
    return PyObject_RichCompare(number_of(a).ptr(), right.ptr(), operation);
  });
}

#define WEFT_SLOT(id, function) {id, reinterpret_cast<void *>(+(function))}
const PyType_Slot size_slots[] = {
    WEFT_SLOT(Py_nb_add, (arithmetic<sum_of, add>)),
    WEFT_SLOT(Py_nb_subtract, (arithmetic<difference_of, subtract>)),
    WEFT_SLOT(Py_nb_multiply, (arithmetic<product_of, multiply>)),
    WEFT_SLOT(Py_nb_floor_divide, (arithmetic<quotient_of, floor_divide>)),
    WEFT_SLOT(Py_nb_remainder, (arithmetic<rest_of, remainder>)),
    WEFT_SLOT(Py_nb_true_divide, (arithmetic<nullptr, divide>)),
    WEFT_SLOT(Py_nb_divmod, divide_with_rest),
    WEFT_SLOT(Py_nb_power, raise_to),
    WEFT_SLOT(Py_nb_negative, negative),
    WEFT_SLOT(Py_nb_positive, same),
    WEFT_SLOT(Py_nb_absolute, absolute),
    WEFT_SLOT(Py_nb_bool, truth),
    WEFT_SLOT(Py_nb_int, as_int),
    WEFT_SLOT(Py_nb_index, as_int),
    WEFT_SLOT(Py_nb_float, as_float),
    WEFT_SLOT(Py_tp_richcompare, compare),
    WEFT_SLOT(Py_tp_hash, hash),
    WEFT_SLOT(Py_tp_repr, print),
    WEFT_SLOT(Py_tp_str, print),
    {0, nullptr},
};
#undef WEFT_SLOT

} // namespace

void define_sizes(nb::module_ &module) {
  ClassOf<Size> type(module, "Size", nb::is_final(), nb::type_slots(size_slots),
                     "A size that a traced function leaves open, as x.shape has it: an entry of "
                     "shapes, a bound of "
                     "slices, and in arithmetic a number. Where Python wants the number itself, "
                     "as int(n), range(n) "
                     "and n > 2 do, it is that of the call which is traced, and the trace serves "
                     "calls of the same "
                     "sizes only; SymbolicSizeError if there is none."
                     "\n\nExample:\n"
                     "    >>> @wf.function(input_signature=[wf.TensorSpec([None, 2])])\n"
                     "    ... def padded(x):\n"
                     "    ...     n = x.shape[0]\n"
                     "    ...     return wf.concatenate([x, wf.zeros([-n % 4, 2])])\n"
                     "    >>> padded(wf.ones((3, 2))).shape, padded(wf.ones((5, 2))).shape\n"
                     "    ((4, 2), (8, 2))\n");
  type.def(
          "__array__",
          [](const Size &self, nb::handle dtype, nb::handle) {
            const nb::int_ number(static_cast<std::int64_t>(self));
            return nb::object(nb::module_::import_("numpy").attr("asarray")(number, dtype));
          },
          Arg("dtype").none() = nb::none(), Arg("copy").none() = nb::none())
      .def("__format__(specification)", [](const Size &self, const std::string &specification) {
        if (specification.empty()) return nb::object(nb::str("?"));
        const nb::int_ number(static_cast<std::int64_t>(self));
        return nb::object(
            checked(PyObject_Format(number.ptr(), nb::str(specification.c_str()).ptr())));
      });
  size_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  define(module, "internal_sizes(x, dtype)", [](nb::handle x, nb::handle dtype) {
    return sizes_as_tensor(to_tensor(x.ptr(), {"shape", "input"}),
                           to_dtype(dtype.ptr(), {"shape", "out_type"}));
  });
}

} // namespace weft::python
