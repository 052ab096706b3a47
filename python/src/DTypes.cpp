// Element types as objects of Python, and what else names one there.
#include "Define.h"
#include "Style.h"
#include "Text.h"

namespace weft::python {

namespace {

/// What an object of the class DType holds.
struct DTypeValue {
  using Initialized = void; // see Initialized.h
  DType dtype;
};

PyTypeObject *dtype_type = nullptr;
/// One per dtype, made when it is first wanted; given up when Python ends.
std::array<PyObject *, kNumDTypes> objects = {};

void drop_objects() {
  for (PyObject *&object : objects) Py_CLEAR(object);
}

std::optional<DType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < kNumDTypes; ++i)
    if (detail::kDTypeInfos[i].numpy == name) return static_cast<DType>(i);
  if (name == "bool_") return DType::boolean; // NumPy's scalar type before version 2
  return parse_dtype(name);
}

std::string text_of(PyObject *object) {
  const char *text = PyUnicode_AsUTF8(object);
  if (text == nullptr) throw nb::python_error();
  return text;
}

/// The dtype in an object of the class. Throws TypeError for one that was never initialized.
DType dtype_in(PyObject *object) {
  if (!nb::inst_ready(object)) refuse_half_made(object);
  return nb::inst_ptr<DTypeValue>(object)->dtype;
}

/// The dtype that an object names; nothing if it names none. No error is left set.
std::optional<DType> find_dtype(PyObject *object) {
  if (Py_TYPE(object) == dtype_type) return dtype_in(object);
  if (PyUnicode_Check(object)) return dtype_named(text_of(object));
  if (object == reinterpret_cast<PyObject *>(&PyBool_Type)) return DType::boolean;
  if (object == reinterpret_cast<PyObject *>(&PyLong_Type)) return DType::i32;
  if (object == reinterpret_cast<PyObject *>(&PyFloat_Type)) return DType::f32;
  if (object == reinterpret_cast<PyObject *>(&PyComplex_Type)) return DType::c64;
  // numpy.float32 and numpy.dtype('float32').
  const nb::object name =
      nb::steal(PyObject_GetAttrString(object, PyType_Check(object) ? "__name__" : "name"));
  if (!name.is_valid() || !PyUnicode_Check(name.ptr())) {
    PyErr_Clear();
    return std::nullopt;
  }
  return dtype_named(text_of(name.ptr()));
}

PyObject *compare(PyObject *self, PyObject *other, int operation) {
  return guarded([&]() -> PyObject * {
    if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    const std::optional<DType> dtype = find_dtype(other);
    const bool equal = dtype == dtype_in(self);
    return PyBool_FromLong(equal == (operation == Py_EQ));
  });
}

PyObject *name_dtype(PyObject *, PyObject *of) {
  return guarded([&] { return wrap(to_dtype(of, {"dtype", "the argument"})).release().ptr(); });
}

/// As the name's, which it is equal to.
Py_hash_t hash(PyObject *self) {
  return guarded([&] {
    const nb::str name(python_name(dtype_in(self)));
    return PyObject_Hash(name.ptr());
  });
}

const char *kind_letter(DType dtype) {
  switch (kind_of(dtype)) {
  case DTypeKind::boolean: return "b";
  case DTypeKind::integer: return "i";
  case DTypeKind::unsigned_integer: return "u";
  case DTypeKind::floating: return "f";
  case DTypeKind::complex: return "c";
  case DTypeKind::storage: break;
  }
  return "V";
}

const PyType_Slot slots[] = {{Py_tp_richcompare, reinterpret_cast<void *>(compare)},
                             {Py_tp_hash, reinterpret_cast<void *>(hash)},
                             {0, nullptr}};

} // namespace

const char *python_name(DType dtype) { return dtype_info(dtype).numpy.data(); }

std::string dtypes_in_words() { return detail::list_of_dtypes(&DTypeInfo::numpy, " and "); }

nb::object wrap(DType dtype) {
  PyObject *&kept = objects[static_cast<std::size_t>(dtype)];
  if (kept == nullptr) {
    nb::object object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject *>(dtype_type)));
    new (nb::inst_ptr<DTypeValue>(object)) DTypeValue{dtype};
    nb::inst_mark_ready(object);
    kept = object.release().ptr();
  }
  return nb::borrow(kept);
}

DType to_dtype(PyObject *object, const Place &place) {
  if (const std::optional<DType> dtype = find_dtype(object)) return *dtype;
  throw DTypeError(place.text() + " is " + shown_value(object) +
                   ", which names no dtype: the dtypes are " + dtypes_in_words());
}

std::optional<DType> to_optional_dtype(PyObject *object, const Place &place) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  return to_dtype(object, place);
}

void define_dtypes(nb::module_ &module) {
  const auto type =
      ClassOf<DTypeValue>(
          module, "DType", nb::is_final(), nb::type_slots(slots),
          "The type of a tensor's elements. Equal to every other name of it: its name, the dtype "
          "and the scalar type of NumPy."
          "\n\nExample:\n"
          "    >>> wf.float32, wf.float32.name, wf.float32.itemsize\n"
          "    (weft.float32, 'float32', 4)\n"
          "    >>> wf.float32 == 'float32', wf.float32 == np.float32\n"
          "    (True, True)\n")
          .def_prop_ro(
              "name", [](const DTypeValue &self) { return python_name(self.dtype); },
              "As texts have it: 'float32'.")
          .def_prop_ro(
              "itemsize", [](const DTypeValue &self) { return item_size(self.dtype); },
              "Bytes of an element.")
          .def_prop_ro(
              "kind", [](const DTypeValue &self) { return kind_letter(self.dtype); },
              "NumPy's letter: 'b', 'i', 'u', 'f' or 'c'; 'V' of what is only kept.")
          .def_prop_ro(
              "is_floating", [](const DTypeValue &self) { return is_floating(self.dtype); },
              "Whether its numbers have a point.")
          .def_prop_ro(
              "is_complex", [](const DTypeValue &self) { return is_complex(self.dtype); },
              "Whether its numbers are complex.")
          .def_prop_ro(
              "is_integer", [](const DTypeValue &self) { return is_integer(self.dtype); },
              "Whether it has whole numbers alone; bool has none.")
          .def_prop_ro(
              "is_bool", [](const DTypeValue &self) { return self.dtype == DType::boolean; },
              "Whether it is bool.")
          .def_prop_ro(
              "dtype",
              [](const DTypeValue &self) {
                return nb::module_::import_("numpy").attr("dtype")(python_name(self.dtype));
              },
              "The dtype of NumPy, which `numpy.dtype(weft.float32)` asks for.")
          .def("__str__",
               [](const DTypeValue &self) -> std::string {
                 const char *name = python_name(self.dtype);
                 return prints_as_tensorflow() ? "<dtype: '" + std::string(name) + "'>" : name;
               })
          .def("__repr__",
               [](const DTypeValue &self) {
                 return std::string(prints_as_tensorflow() ? "tf." : "weft.") +
                        python_name(self.dtype);
               })
          .def("__reduce__", [](const DTypeValue &self) {
            return nb::make_tuple(nb::module_::import_("weft").attr("dtype"),
                                  nb::make_tuple(python_name(self.dtype)));
          });
  dtype_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  for (int i = 0; i < kNumDTypes; ++i)
    module.attr(i == 0 ? "bool_" : python_name(static_cast<DType>(i))) =
        wrap(static_cast<DType>(i));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(drop_objects));
  static PyMethodDef functions[] = {
      {"dtype", name_dtype, METH_O,
       "dtype(of, /)\n--\n\nThe dtype of that name: a string, a "
       "dtype or scalar type of NumPy, or bool, int (int32) or float "
       "(float32)."
       "\n\nExample:\n"
       "    >>> wf.dtype('int64'), wf.dtype(np.float32), wf.dtype(float)\n"
       "    (weft.int64, weft.float32, weft.float32)\n"},
      {nullptr, nullptr, 0, nullptr}};
  add_functions(module, functions);
}

} // namespace weft::python
