// The class Tensor of Python.
#include "Assignment.h"
#include "Define.h"
#include "Kinds.h"
#include "PythonParameters.h"
#include "Tensors.h"
#include "Text.h"

#include <cstring>

#include "Buffers.h"
#include "Sizes.h"
#include "Style.h"
#include <weft/detail/binding.h>
#include <weft/detail/named_call.h>

namespace weft::python {

namespace {

PyObject *no_constructor(PyTypeObject *, PyObject *, PyObject *) {
  PyErr_SetString(PyExc_TypeError,
                  "a tensor is made by weft.tensor(values), weft.asarray(array) or an op");
  return nullptr;
}

Py_ssize_t length(PyObject *self) {
  return guarded([&]() -> Py_ssize_t {
    const Tensor &tensor = tensor_in(self);
    if (tensor.rank() == 0)
      raise_type_error(prints_as_tensorflow() ? "Scalar tensor has no `len()`"
                                              : "a tensor of rank 0 has no len()");
    const std::int64_t size = tensor.shape()[0];
    if (size == unknown && prints_as_tensorflow())
      raise_type_error("len is not well defined for a symbolic Tensor (" + traced_name(tensor) +
                       "). Please call `x.shape` rather than `len(x)` for shape information.");
    if (size == unknown)
      throw SymbolicSizeError(
          "len: the first size of this tensor is known only when its function runs: it is open in "
          "the signature, or depends on values; x.shape[0] is it as a size");
    return size;
  });
}

/// How many elements there are, times a number.
nb::object elements_of(const Tensor &self, std::int64_t times) {
  Size count = times;
  for (std::int64_t axis = 0; axis < self.rank(); ++axis) count = count * self.size(axis);
  return wrap(count);
}

/// As NumPy has it: whether some element is equal.
int contains(PyObject *self, PyObject *item) {
  return guarded([&] {
    Argument argument;
    const Tensor &tensor = tensor_in(self);
    if (!argument.convert(item, {"in", "the operand"}, tensor.dtype())) return 0;
    const Tensor found = any(equal(tensor, argument.operand()));
    if (found.traced())
      raise_not_allowed("`in` of a tensor of a traced function, where AutoGraph does not convert "
                        "it: write weft.any(x == y)");
    return static_cast<int>(found.item<bool>());
  });
}

Py_hash_t refuse_hash(PyObject *) {
  PyErr_SetString(PyExc_TypeError,
                  prints_as_tensorflow()
                      ? "Tensor is unhashable. Instead, use tensor.ref() as the key."
                      : "unhashable type: 'weft.Tensor': == compares element by element");
  return -1;
}

PyObject *print_repr(PyObject *self) {
  return guarded([&] {
    if (prints_as_tensorflow()) return form_of("tensor_repr", self).release().ptr();
    const std::string text = repr_of(tensor_in(self));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}
PyObject *print_str(PyObject *self) {
  return guarded([&] {
    if (prints_as_tensorflow()) return form_of("tensor_str", self).release().ptr();
    const std::string text = text_of(tensor_in(self));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

nb::object shape_of(const Tensor &tensor) {
  // TensorFlow's shapes have None where a size is not known.
  const Shape shape = prints_as_tensorflow() ? tensor.shape() : detail::type_of(tensor).shape;
  nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    nb::object size = shape[i] != unknown      ? nb::object(nb::int_(shape[i]))
                      : prints_as_tensorflow() ? nb::none()
                                               : wrap(tensor.size(static_cast<std::int64_t>(i)));
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), size.release().ptr());
  }
  return shape_in_style(std::move(tuple));
}

nb::object number_of(DType dtype, const std::byte *element) {
  return visit_dtype(dtype, [&]<class T>() -> nb::object {
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, bool>) return nb::bool_(value);
    else if constexpr (is_floating_type<T>) return nb::float_(static_cast<double>(value));
    else if constexpr (is_complex_number<T>)
      return checked(PyComplex_FromDoubles(value.real(), value.imag()));
    else return nb::int_(value);
  });
}

nb::object list_of(const detail::TensorImpl &impl, int axis, const std::byte *data) {
  if (axis == impl.rank) return number_of(impl.dtype, data);
  nb::object list = checked(PyList_New(impl.dims()[axis]));
  const std::int64_t step = impl.strides()[axis] * static_cast<std::int64_t>(item_size(impl.dtype));
  for (std::int64_t i = 0; i < impl.dims()[axis]; ++i)
    PyList_SET_ITEM(list.ptr(), i, list_of(impl, axis + 1, data + i * step).release().ptr());
  return list;
}

nb::object to_list(const Tensor &tensor) {
  check_elements(tensor, "tolist");
  const Tensor host = on_host(tensor);
  return list_of(*host.impl(), 0, host.impl()->data);
}

nb::object item(const Tensor &tensor) {
  check_elements(tensor, "item");
  if (tensor.size() != 1)
    throw ShapeError("item: a tensor of shape " + weft::to_string(tensor.shape()) +
                     " has not one element: index it, or take tolist()");
  return number_of(tensor.dtype(), on_host(tensor).impl()->data);
}

/// For `complex(x)`.
nb::object complex_of_item(const Tensor &self) {
  check_elements(self, "complex()");
  const auto value = self.item<std::complex<double>>();
  return checked(PyComplex_FromDoubles(value.real(), value.imag()));
}

Tensor reshaped(const Tensor &tensor, const nb::args &args) {
  PyObject *const shape = args.size() == 1 ? nb::object(args[0]).ptr() : args.ptr();
  return reshape(tensor, to<Sizes>(shape, {"reshape", "shape"}));
}

Tensor transposed(const Tensor &tensor, const nb::args &args) {
  const Place place{"transpose", "axes"};
  PyObject *const axes = args.size() == 1 ? nb::object(args[0]).ptr() : args.ptr();
  return transpose(tensor, to_permutation(args.size() == 0 ? nullptr : axes, tensor, place));
}

nb::object memory_of(nb::handle self) { return checked(PyMemoryView_FromObject(self.ptr())); }

nb::object reduce(nb::handle_t<Tensor> self, int protocol) {
  const Tensor &tensor = tensor_in(self.ptr());
  if (tensor.traced())
    raise_type_error("a tensor of a traced function cannot be pickled: it has no elements");
  const Tensor elements = on_host(tensor).contiguous();
  const nb::object row_major = nb::cast(elements);
  nb::object data;
  if (numpy_lacks(tensor.dtype())) // of which there are no buffers
    data = nb::bytes(reinterpret_cast<const char *>(elements.impl()->data),
                     static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype()));
  else if (protocol >= 5) data = checked(PyPickleBuffer_FromObject(row_major.ptr()));
  else data = checked(PyBytes_FromObject(memory_of(row_major).ptr()));
  return nb::make_tuple(nb::module_::import_("weft").attr("_rebuild"),
                        nb::make_tuple(data, python_name(tensor.dtype()), shape_of(tensor)));
}

/// Makes a tensor of what `reduce` took apart.
const Signature rebuild_signature{"_rebuild", {"data", "dtype", "shape"}};
Tensor rebuild(PyObject *const *values) {
  const Ints sizes = to_integers(values[2], {"unpickle", "shape"});
  Tensor tensor = detail::unset_tensor(to_dtype(values[1], {"unpickle", "dtype"}), sizes);
  Py_buffer view;
  if (PyObject_GetBuffer(values[0], &view, PyBUF_CONTIG_RO) != 0) throw nb::python_error();
  const std::size_t bytes = static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype());
  const bool fits = static_cast<std::size_t>(view.len) == bytes;
  if (fits && bytes != 0) std::memcpy(tensor.impl()->data, view.buf, bytes);
  if (fits && tensor.dtype() == DType::boolean)
    for (std::size_t i = 0; i < bytes; ++i)
      tensor.impl()->data[i] = std::byte(tensor.impl()->data[i] != std::byte(0));
  PyBuffer_Release(&view);
  if (!fits)
    throw ValueError("unpickle: the data does not fit a tensor of shape " +
                     weft::to_string(tensor.shape()));
  const Device device = default_device();
  return device == Device() ? tensor : tensor.to(device);
}

std::vector<PyType_Slot> &slots() {
  static std::vector<PyType_Slot> &slots = *new std::vector<PyType_Slot>([] {
    std::vector<PyType_Slot> list(operator_slots, operator_slots + operator_slot_count);
    const auto add = [&](int id, auto *function) {
      list.push_back({id, reinterpret_cast<void *>(function)});
    };
    add(Py_tp_new, no_constructor);
    add(Py_mp_length, length);
    add(Py_sq_contains, contains);
    add(Py_mp_subscript, subscript);
    add(Py_mp_ass_subscript, assign_item);
    add(Py_tp_iter, iterate);
    add(Py_tp_hash, refuse_hash);
    add(Py_tp_repr, print_repr);
    add(Py_tp_str, print_str);
    add(Py_bf_getbuffer, get_buffer);
    add(Py_bf_releasebuffer, release_view);
    list.push_back({0, nullptr});
    return list;
  }());
  return slots;
}

PyObject *call_numpy(PyObject *self, PyObject *) {
  return guarded([&] { return numpy_of(tensor_in(self)).release().ptr(); });
}

/// Not a method, so that `hasattr(t, 'numpy')` says whether there are elements.
PyObject *method_numpy(PyObject *self, void *) {
  static PyMethodDef method = {"numpy", call_numpy, METH_NOARGS,
                               "numpy($self)\n--\n\nA copy of the elements as an array of NumPy, "
                               "or a scalar of it for rank 0."};
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = tensor_in(self);
    if (tensor.traced()) {
      if (const Valueless why = valueless(tensor); why.why != Valueless::Why::running)
        raise_no_attribute("numpy: " + why.what + " has no value: " + why.instead);
      const char *function = static_cast<detail::TraceRef *>(tensor.impl()->base)->name;
      raise_no_attribute(
          "numpy: the tensor " + traced_name(tensor) + " has no value while '" + function +
          "' is traced: return it and call .numpy() on what the function gives, print "
          "it with weft.print, or take it to weft.py_function");
    }
    return PyCFunction_New(&method, self);
  });
}

} // namespace

/// An array of the dtype that ml_dtypes has for it. Throws DTypeError where there is no ml_dtypes.
static nb::object array_of_storage(const Tensor &tensor) {
  const char *const name = python_name(tensor.dtype());
  nb::object own;
  try {
    own = nb::module_::import_("ml_dtypes").attr(name);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
    throw DTypeError(std::string("__array__: NumPy has no ") + name +
                     ": install ml_dtypes, which has it, or take astype(weft.float32)");
  }
  const Tensor elements = on_host(tensor).contiguous();
  const nb::bytes bytes(reinterpret_cast<const char *>(elements.impl()->data),
                        static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype()));
  return nb::module_::import_("numpy").attr("ndarray")(shape_of(tensor), own, bytes).attr("copy")();
}

nb::object array_of_tensor(const Tensor &tensor, nb::handle dtype, nb::handle copy) {
  check_elements(tensor, "__array__");
  refuse_followed(tensor, "__array__");
  const nb::module_ numpy = nb::module_::import_("numpy");
  const bool copies = !copy.is_none() && to<bool>(copy.ptr(), {"__array__", "copy"});
  if (tensor.device() != Device() && !copy.is_none() && !copies)
    throw ValueError("__array__: a tensor on " + weft::to_string(tensor.device()) +
                     " becomes an array only by a copy, and copy is False");
  if (numpy_lacks(tensor.dtype()) && !copy.is_none() && !copies)
    throw ValueError("__array__: a tensor of " + std::string(python_name(tensor.dtype())) +
                     ", which NumPy lacks, becomes an array only by a copy, and copy is False");
  if (is_storage(tensor.dtype())) {
    const nb::object array = array_of_storage(tensor);
    return dtype.is_none() ? array : array.attr("astype")(dtype);
  }
  if (tensor.dtype() == DType::bf16) {
    nb::object wanted = nb::borrow(dtype);
    if (const nb::object own = imported_class("ml_dtypes", "bfloat16");
        own.is_valid() && dtype.is_none())
      wanted = own;
    return array_of_tensor(tensor.astype(DType::f32), wanted, nb::bool_(true));
  }
  const nb::object view = numpy.attr("asarray")(memory_of(nb::cast(on_host(tensor))));
  if (!dtype.is_none() && !view.attr("dtype").equal(numpy.attr("dtype")(dtype))) {
    if (!copy.is_none() && !copies)
      throw ValueError(std::string("__array__: a tensor of ") + python_name(tensor.dtype()) +
                       " becomes an array of another dtype only by a copy, and copy is False");
    return view.attr("astype")(dtype);
  }
  return copies ? view.attr("copy")() : view;
}

nb::object numpy_of(const Tensor &tensor) {
  const nb::object array = array_of_tensor(tensor, nb::none(), nb::bool_(true));
  return tensor.rank() == 0 ? nb::object(array[nb::make_tuple()]) : array;
}

std::string formatted(const Tensor &tensor, const char *specification) {
  if (*specification == 0 && tensor.traced() && prints_as_tensorflow())
    return text_of(form_of("tensor_str", nb::cast(tensor)));
  if (*specification == 0) return text_of(tensor);
  if (tensor.rank() != 0)
    raise_type_error(std::string("the format '") + specification +
                     "' is for a single number, and this tensor has shape " +
                     weft::to_string(tensor.shape()));
  const nb::object text =
      checked(PyObject_Format(item(tensor).ptr(), nb::str(specification).ptr()));
  return nb::cast<std::string>(text);
}

const Tensor &tensor_in(PyObject *object) {
  const Tensor &tensor = *nb::inst_ptr<Tensor>(object);
  if (!tensor.defined()) [[unlikely]]
    raise_type_error("this tensor was never given elements");
  return tensor;
}

PyObject *wrap(Tensor tensor) {
  nb::object object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject *>(tensor_type)));
  new (nb::inst_ptr<Tensor>(object)) Tensor(std::move(tensor));
  nb::inst_mark_ready(object);
  if (TracedBody::any()) [[unlikely]]
    TracedBody::note_new(object.ptr());
  return object.release().ptr();
}

void define_tensors(nb::module_ &module) {
  define_rows(module);
  auto type = ClassOf<Tensor>(
      module, "Tensor", nb::is_final(), nb::pooled(1024), nb::is_weak_referenceable(),
      nb::type_slots(slots().data()),
      "An array of numbers, created by weft.tensor, weft.asarray and ops. x[...] = value gives the "
      "object x updated elements; whatever else holds the old ones, a view such as x[0] among "
      "them, "
      "keeps them."
      "\n\nExample:\n"
      "    >>> x = wf.tensor([[1.0, 2.0], [3.0, 4.0]])\n"
      "    >>> x.shape, x.dtype, x.ndim\n"
      "    ((2, 2), weft.float32, 2)\n"
      "    >>> (x @ x + 1)[0]\n"
      "    tensor([ 8., 11.], shape=(2,), dtype=float32)\n"
      "    >>> x.mean(axis=0)\n"
      "    tensor([2., 3.], shape=(2,), dtype=float32)\n");
  tensor_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  class_of_bound_classes = Py_TYPE(tensor_type);
  type.def_prop_ro("shape", shape_of,
                   "The sizes of the axes: numbers, and a weft.Size for one that a traced function "
                   "leaves open.")
      .def_prop_ro(
          "dtype", [](const Tensor &self) { return wrap(self.dtype()); },
          "The dtype of the elements.")
      .def_prop_ro(
          "ndim", [](const Tensor &self) { return self.rank(); }, "The number of axes.")
      .def_prop_ro(
          "size", [](const Tensor &self) { return elements_of(self, 1); },
          "The number of elements; an int64 scalar in a traced function that does not know it.")
      .def_prop_ro(
          "itemsize", [](const Tensor &self) { return item_size(self.dtype()); },
          "Bytes of an element.")
      .def_prop_ro(
          "nbytes",
          [](const Tensor &self) {
            return elements_of(self, static_cast<std::int64_t>(item_size(self.dtype())));
          },
          "Bytes of all elements; a scalar as `size` is.")
      .def_prop_ro(
          "device", [](const Tensor &self) { return device_text(self.device()); },
          "Where the elements are, as a text.")
      .def_prop_ro(
          "T",
          [](const Tensor &self) {
            return checked(wrap(transpose(self, to_permutation(nullptr, self, {"T", "self"}))));
          },
          Returns{"Tensor"}, "The axes in reverse order.")
      .def_prop_ro(
          "real", [](const Tensor &self) { return real(self); },
          "The real parts of complex elements; of others the tensor itself.")
      .def_prop_ro(
          "imag", [](const Tensor &self) { return imag(self); },
          "The imaginary parts of complex elements; of others zeros.")
      .def_prop_ro(
          "mT", [](const Tensor &self) { return checked(wrap(self.mT())); }, Returns{"Tensor"},
          "The last two axes swapped.")
      .def_prop_ro(
          "at",
          [](const Tensor &self) {
            return nb::module_::import_("weft._updates").attr("At")(checked(wrap(self)));
          },
          "Elements to be replaced in a copy: `x.at[0].set(1)`, and add, subtract, multiply, min, "
          "max.")
      .def<item>("item", "The only element as a number of Python."
                         "\n\nExample:\n"
                         "    >>> wf.tensor([2.5]).item()\n"
                         "    2.5\n")
      .def<to_list>("tolist", "The elements as nested lists of numbers."
                              "\n\nExample:\n"
                              "    >>> wf.tensor([[1, 2], [3, 4]]).tolist()\n"
                              "    [[1, 2], [3, 4]]\n")
      .def(
          "astype",
          [](const Tensor &self, nb::handle dtype, bool, nb::handle device) {
            const OnDevice there(device.ptr(), {"astype", "device"});
            return there.moved(self.astype(to_dtype(dtype.ptr(), {"astype", "dtype"})));
          },
          Arg("dtype").none(), keyword_only, Arg("copy") = true, Arg("device") = nb::none(),
          "The same values in another dtype. `copy` is without effect: elements do not change."
          "\n\nExample:\n"
          "    >>> wf.tensor([1.5, -1.5]).astype('int32')\n"
          "    tensor([ 1, -1], shape=(2,), dtype=int32)\n")
      .def(
          "to_device",
          [](const Tensor &self, const std::string &device, nb::handle stream) {
            if (!stream.is_none())
              throw ValueError("to_device: a stream was given, but work is in order by itself");
            const detail::NamedCall named("to_device");
            return self.to(parse_device(device));
          },
          Arg("device").none(), keyword_only, Arg("stream") = nb::none(),
          "The same elements on another device: 'cpu', 'gpu:0'.")
      .def(
          "to",
          [](const Tensor &self, const std::string &device) {
            const detail::NamedCall named("to");
            return self.to(parse_device(device));
          },
          Arg("device").none(),
          "The same elements on another device, 'cpu' or 'gpu:0'; the tensor itself if it is "
          "there. "
          "Ops run where their operands are."
          "\n\nExample:\n"
          "    >>> wf.ones(2).to('cpu').device\n"
          "    'cpu:0'\n")
      .def<reshaped>("reshape", "The same elements in another shape, of which one size may be -1."
                                "\n\nExample:\n"
                                "    >>> wf.arange(6).reshape(2, -1)\n"
                                "    tensor([[0, 1, 2],\n"
                                "            [3, 4, 5]], shape=(2, 3), dtype=int32)\n")
      .def<transposed>("transpose", "The axes in the order given, or reversed."
                                    "\n\nExample:\n"
                                    "    >>> wf.ones((2, 3, 4)).transpose(2, 0, 1).shape\n"
                                    "    (4, 2, 3)\n")
      .def(
          "flatten", [](const Tensor &self) { return reshape(self, {-1}); },
          "All elements along one axis."
          "\n\nExample:\n"
          "    >>> wf.tensor([[1, 2], [3, 4]]).flatten()\n"
          "    tensor([1, 2, 3, 4], shape=(4,), dtype=int32)\n")
      .def(
          "copy", [](const Tensor &self) { return self.contiguous(); },
          "The tensor with its elements in a row: it does not change.")
      // Objects of their own, which take other elements by x[i] = value; until then they share
      // them.
      .def("__copy__", [](const Tensor &self) { return self; })
      .def<complex_of_item>("__complex__")
      .def<iterate_back>("__reversed__")
      .def("__deepcopy__(memo)", [](const Tensor &self, nb::handle) { return self; })
      .def<reduce>("__reduce_ex__(protocol)")
      .def<formatted>("__format__(specification)")
      .def(
          "__array__",
          [](const Tensor &self, nb::handle dtype, nb::handle copy) {
            return array_of_tensor(self, dtype, copy);
          },
          Arg("dtype") = nb::none(), Arg("copy") = nb::none())
      .def(
          "__array_namespace__",
          [](const Tensor &, nb::handle) { return nb::module_::import_("weft"); }, keyword_only,
          Arg("api_version") = nb::none())
      .def<html_of>("_repr_html_");
  static PyGetSetDef numpy_entry = {
      "numpy", method_numpy, nullptr,
      "numpy()\n\nA copy of the elements as an array of NumPy, or a scalar of it for rank 0. A "
      "tensor of a traced function has no such attribute."
      "\n\nExample:\n"
      "    >>> wf.ones(2).numpy()\n"
      "    array([1., 1.], dtype=float32)\n",
      nullptr};
  nb::setattr(type, "numpy", checked(PyDescr_NewGetSet(tensor_type, &numpy_entry)));
  // Arrays of NumPy leave a + t to the tensor.
  type.attr("__array_priority__") = nb::int_(1000);
  static PyMethodDef functions[] = {
      method<rebuild_signature, rebuild>("A tensor that was pickled."),
      {nullptr, nullptr, 0, nullptr}};
  add_functions(module, functions);
}

} // namespace weft::python
