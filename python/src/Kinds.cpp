// What objects of Python are, by their types alone.
#include "Kinds.h"
#include "Numbers.h"

#include <algorithm>
#include <unordered_map>

#include <weft/detail/parts.h>

namespace weft::python {

namespace {

PyObject *interned(const char *text) { return PyUnicode_InternFromString(text); }

/// Whether a class, not its metaclass, has an attribute. A look into its bases runs nothing.
bool type_has(PyObject *object, PyObject *name) {
  return _PyType_Lookup(Py_TYPE(object), name) != nullptr;
}

bool has_elements(PyObject *object) {
  static PyObject *const array = interned("__array__"), *const dlpack = interned("__dlpack__");
  return PyObject_CheckBuffer(object) != 0 || type_has(object, array) || type_has(object, dlpack);
}

Kind kind_of_other(PyObject *object) {
  static PyObject *const fields = interned("_fields"),
                         *const dataclass = interned("__dataclass_fields__"),
                         *const attrs = interned("__attrs_attrs__");
  if (is_wide_float(object)) return Kind::number;
  if (PyType_Check(object) || PyFunction_Check(object) || PyModule_Check(object))
    return Kind::object;
  if (PyTuple_Check(object)) return type_has(object, fields) ? Kind::named : Kind::tuple;
  if (PyDict_Check(object)) return Kind::mapping;
  if (PyList_Check(object)) return Kind::list;
  if (PyMethod_Check(object) || Py_TYPE(object) == bound_type) return Kind::method;
  if (PySlice_Check(object)) return Kind::slice;
  if (PyAnySet_Check(object)) return Kind::refused;
  if (type_has(object, dataclass) || type_has(object, attrs)) return Kind::record;
  return has_elements(object) ? Kind::array : Kind::object;
}

} // namespace

nb::object imported_class(const char *module, const char *name) {
  PyObject *found = PyImport_GetModule(nb::str(module).ptr());
  if (found == nullptr) {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return {};
  }
  return nb::steal(found).attr(name);
}

bool is_dtype_object(PyObject *object) {
  static PyTypeObject *const type = Py_TYPE(wrap(DType::f32).ptr()); // the module keeps it
  return Py_TYPE(object) == type;
}

Kind kind_of(PyObject *object) {
  if (is_tensor(object)) return Kind::tensor;
  if (is_variable(object)) return Kind::variable;
  if (object == Py_None) return Kind::none;
  if (PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) ||
      PyComplex_CheckExact(object))
    return Kind::number;
  if (PyUnicode_CheckExact(object)) return Kind::text;
  if (PyTuple_CheckExact(object)) return Kind::tuple;
  if (PyList_CheckExact(object)) return Kind::list;
  if (PyDict_CheckExact(object)) return Kind::dict;
  if (PyBytes_CheckExact(object)) return Kind::bytes;
  return kind_of_other(object);
}

std::pair<PyObject *, PyObject *> parts_of_method(PyObject *method) {
  if (PyMethod_Check(method)) return {PyMethod_GET_FUNCTION(method), PyMethod_GET_SELF(method)};
  return parts_of_bound(method);
}

//===----------------------------------------------------------------------===//
// Dicts
//===----------------------------------------------------------------------===//

namespace {

/// Whether comparing an object runs no code of the user's, and holding it keeps nothing else.
bool is_plain_key(PyObject *key, int depth = 0) {
  if (PyUnicode_CheckExact(key) || PyLong_CheckExact(key) || PyFloat_CheckExact(key) ||
      PyBool_Check(key) || PyBytes_CheckExact(key) || key == Py_None)
    return true;
  if (PyTuple_CheckExact(key) == 0 || depth > 8) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i)
    if (!is_plain_key(PyTuple_GET_ITEM(key, i), depth + 1)) return false;
  return true;
}

void push_key(detail::SignatureWriter &writer, PyObject *key, HeldObjects &objects) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, &size) : nullptr;
  if (text != nullptr)
    return writer.literal(std::string_view(text, static_cast<std::size_t>(size)));
  PyErr_Clear();
  int overflow = 0;
  if (PyLong_CheckExact(key))
    if (const std::int64_t value = PyLong_AsLongLongAndOverflow(key, &overflow); overflow == 0)
      return writer.literal(value);
  const std::uint64_t number = objects.by_value(key);
  if (number == 0)
    raise_type_error(std::string("a key of a dict, a ") + Py_TYPE(key)->tp_name + ", has no hash");
  push_object(writer.key, number);
}

DictShape make_shape(std::span<PyObject *const> keys) {
  DictShape shape;
  for (PyObject *key : keys) shape.keys.push_back(nb::borrow(key));
  const nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(keys.size())));
  std::unordered_map<PyObject *, std::uint32_t> numbers;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    numbers[keys[i]] = static_cast<std::uint32_t>(i);
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(keys[i]));
  }
  if (PyList_Sort(list.ptr()) != 0) {
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
    PyErr_Clear();
    raise_type_error("the keys of a dict must be of one type that can be sorted, such as str, to "
                     "be an argument or a result of a traced function");
  }
  const nb::tuple sorted = entries_of(list.ptr());
  detail::SignatureWriter writer;
  for (const nb::handle key : sorted) {
    shape.sorted.push_back(numbers.at(key.ptr()));
    push_key(writer, key.ptr(), shape.objects);
    shape.ends.push_back(static_cast<std::uint32_t>(writer.key.size()));
  }
  shape.words.assign(writer.key.begin(), writer.key.end());
  return shape;
}

/// Those of dicts with plain keys, by the addresses of these.
std::unordered_map<std::uint64_t, std::shared_ptr<const DictShape>> &shapes() {
  static auto &shapes = *new std::unordered_map<std::uint64_t, std::shared_ptr<const DictShape>>;
  return shapes;
}

std::uint64_t hash_of(std::span<PyObject *const> keys) {
  std::uint64_t hash = 0;
  for (PyObject *key : keys)
    hash = (hash ^ reinterpret_cast<std::uint64_t>(key) >> 4) * 0x9E3779B97F4A7C15u;
  return hash;
}

} // namespace

std::shared_ptr<const DictShape> known_shape(std::span<PyObject *const> keys) {
  const auto found = shapes().find(hash_of(keys));
  if (found == shapes().end()) return nullptr;
  const bool same = std::ranges::equal(
      found->second->keys, keys, [](const nb::object &a, PyObject *b) { return a.ptr() == b; });
  return same ? found->second : nullptr;
}

std::shared_ptr<const DictShape> shape_of_keys(std::span<PyObject *const> keys) {
  constexpr std::size_t kMost = 1024;
  if (std::shared_ptr<const DictShape> known = known_shape(keys)) return known;
  auto shape = std::make_shared<const DictShape>(make_shape(keys));
  // Keys of the user's own are not kept, for what they lead to would be as well.
  if (!std::ranges::all_of(keys, [](PyObject *key) { return is_plain_key(key); })) return shape;
  if (shapes().size() >= kMost) shapes().clear();
  return shapes()[hash_of(keys)] = std::move(shape);
}

nb::list field_names(PyObject *record) {
  const nb::object type = nb::borrow(reinterpret_cast<PyObject *>(Py_TYPE(record)));
  nb::list names;
  if (nb::hasattr(type, "__dataclass_fields__")) {
    const nb::module_ dataclasses = nb::module_::import_("dataclasses");
    for (const nb::handle field : nb::object(dataclasses.attr("fields")(nb::handle(record))))
      names.append(field.attr("name"));
  } else {
    for (const nb::handle field : nb::object(type.attr("__attrs_attrs__")))
      names.append(field.attr("name"));
  }
  return names;
}

} // namespace weft::python
