// Trees of Python, walked in the order of their signature.
#include "Tree.h"
#include "Text.h"

#include <algorithm>
#include <unordered_map>

#include <weft/detail/staging.h>

namespace weft::python {

namespace {

constexpr int kDeepest = 256;

void check_depth(const char *function, int depth) {
  if (depth > kDeepest)
    throw ValueError(std::string(function) +
                     ": an argument or a result is nested too deep, or holds itself");
}

PyObject *interned(const char *text) { return PyUnicode_InternFromString(text); }

bool type_has(PyObject *object, PyObject *name) {
  return PyObject_HasAttr(reinterpret_cast<PyObject *>(Py_TYPE(object)), name) != 0;
}

bool is_dtype_object(PyObject *object) {
  static PyTypeObject *const type = Py_TYPE(wrap(DType::f32).ptr()); // the module keeps it
  return Py_TYPE(object) == type;
}

bool has_elements(PyObject *object) {
  static PyObject *const array = interned("__array__"), *const dlpack = interned("__dlpack__");
  return PyObject_CheckBuffer(object) != 0 || type_has(object, array) || type_has(object, dlpack);
}

Kind kind_of_other(PyObject *object) {
  static PyObject *const fields = interned("_fields"),
                         *const dataclass = interned("__dataclass_fields__"),
                         *const attrs = interned("__attrs_attrs__");
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

//===----------------------------------------------------------------------===//
// Objects by number
//===----------------------------------------------------------------------===//

namespace {

std::uint64_t next_serial() {
  static std::uint64_t last = 0; // under the lock of Python
  return ++last;
}

/// Objects that can be referred to weakly, by who they are. A number is never used again, so that a
/// new object in the place of a dead one is another.
class Identities {
public:
  static Identities &all() {
    static auto &identities = *new Identities;
    return identities;
  }

  /// 0 if the object cannot be referred to weakly.
  std::uint64_t number(PyObject *object) {
    if (const auto found = numbers_.find(object); found != numbers_.end())
      if (PyWeakref_GET_OBJECT(found->second.reference) == object) return found->second.number;
    static PyMethodDef row{"forget", forget, METH_O, nullptr};
    static PyObject *const callback = PyCFunction_New(&row, nullptr);
    PyObject *reference = PyWeakref_NewRef(object, callback);
    if (reference == nullptr) {
      PyErr_Clear();
      return 0;
    }
    drop(object);
    objects_[reference] = object;
    return (numbers_[object] = {reference, next_serial()}).number;
  }

private:
  struct Entry {
    PyObject *reference;
    std::uint64_t number;
  };

  static PyObject *forget(PyObject *, PyObject *reference) {
    Identities &self = all();
    if (const auto found = self.objects_.find(reference); found != self.objects_.end())
      self.drop(found->second);
    Py_RETURN_NONE;
  }
  void drop(PyObject *object) {
    const auto found = numbers_.find(object);
    if (found == numbers_.end()) return;
    PyObject *reference = found->second.reference;
    numbers_.erase(found);
    objects_.erase(reference);
    Py_DECREF(reference);
  }

  std::unordered_map<PyObject *, Entry> numbers_;
  std::unordered_map<PyObject *, PyObject *> objects_; ///< by weak reference
};

/// Objects without weak references, by their type and value. Null if they have no hash.
std::uint64_t number_by_value(PyObject *object) {
  constexpr Py_ssize_t kMost = 4096;
  static PyObject *const table = PyDict_New();
  const nb::object key =
      nb::make_tuple(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object))), nb::handle(object));
  PyObject *known = PyDict_GetItemWithError(table, key.ptr());
  if (known != nullptr) return PyLong_AsUnsignedLongLong(known);
  if (PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();
    return 0;
  }
  if (PyDict_GET_SIZE(table) >= kMost) PyDict_Clear(table);
  const std::uint64_t number = next_serial();
  const nb::object value = checked(PyLong_FromUnsignedLongLong(number));
  if (PyDict_SetItem(table, key.ptr(), value.ptr()) != 0) throw nb::python_error();
  return number;
}

/// The words of an object as a literal of a kind of its own, which explanations call an object.
template <class Words>
void push_object(Words &words, std::uint64_t number) {
  words.push_back(static_cast<std::uint64_t>(Node::literal) | 6U << 8 | 8U << 16);
  words.push_back(number);
}

void push_type(detail::ArgumentReader &reader, PyObject *object) {
  push_object(reader.key, Identities::all().number(reinterpret_cast<PyObject *>(Py_TYPE(object))));
}

//===----------------------------------------------------------------------===//
// Dicts
//===----------------------------------------------------------------------===//

void push_key(detail::SignatureWriter &writer, PyObject *key) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, &size) : nullptr;
  if (text != nullptr)
    return writer.literal(std::string_view(text, static_cast<std::size_t>(size)));
  PyErr_Clear();
  int overflow = 0;
  if (PyLong_CheckExact(key))
    if (const std::int64_t value = PyLong_AsLongLongAndOverflow(key, &overflow); overflow == 0)
      return writer.literal(value);
  push_object(writer.key, number_by_value(key));
}

DictShape make_shape(std::span<PyObject *const> keys) {
  DictShape shape;
  const nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(keys.size())));
  std::unordered_map<PyObject *, std::uint32_t> numbers;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    numbers[keys[i]] = static_cast<std::uint32_t>(i);
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(keys[i]));
  }
  if (PyList_Sort(list.ptr()) != 0) {
    PyErr_Clear();
    raise_type_error("the keys of a dict must be of one type that can be sorted, such as str, to "
                     "be an argument or a result of a traced function");
  }
  detail::SignatureWriter writer;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    PyObject *key = PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i));
    shape.sorted.push_back(numbers.at(key));
    push_key(writer, key);
    shape.ends.push_back(static_cast<std::uint32_t>(writer.key.size()));
  }
  shape.words.assign(writer.key.begin(), writer.key.end());
  for (PyObject *key : keys) shape.keys.push_back(Py_NewRef(key));
  return shape;
}

} // namespace

const DictShape &shape_of_dict(PyObject *dict) {
  constexpr std::size_t kMost = 1024;
  static auto &shapes = *new std::unordered_map<std::uint64_t, DictShape>;
  detail::InlineVector<PyObject *, 64> keys;
  PyObject *key = nullptr, *value = nullptr;
  std::uint64_t hash = 0;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value) != 0;) {
    keys.push_back(key);
    hash = (hash ^ reinterpret_cast<std::uint64_t>(key) >> 4) * 0x9E3779B97F4A7C15u;
  }
  const auto found = shapes.find(hash);
  if (found != shapes.end() && std::ranges::equal(found->second.keys, keys)) return found->second;
  DictShape made = make_shape({keys.data(), keys.size()});
  if (shapes.size() >= kMost || found != shapes.end()) {
    std::vector<PyObject *> old;
    for (auto &[number, shape] : shapes)
      old.insert(old.end(), shape.keys.begin(), shape.keys.end());
    shapes.clear();
    for (PyObject *owned : old) Py_DECREF(owned);
  }
  return shapes[hash] = std::move(made);
}

nb::object field_names(PyObject *record) {
  const nb::handle type(reinterpret_cast<PyObject *>(Py_TYPE(record)));
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

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void ArgumentWalker::refuse(PyObject *object, const char *why) const {
  std::string message = std::string(function_) + ": ";
  if (parameter_ != nullptr)
    message += std::string("argument '") + text_of(nb::handle(parameter_)) + "' ";
  else message += "an argument ";
  raise_type_error(message + "is or holds a " + Py_TYPE(object)->tp_name + ", " + why);
}

void ArgumentWalker::walk_items(PyObject *const *items, std::size_t count, int depth) {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_tensor(items[i])) reader.tensor(*nb::inst_ptr<Tensor>(items[i]));
    else walk_other(items[i], depth + 1);
  }
}

void ArgumentWalker::walk_other(PyObject *object, int depth) {
  check_depth(function_, depth);
  switch (kind_of(object)) {
  case Kind::tensor: return reader.tensor(*nb::inst_ptr<Tensor>(object));
  case Kind::variable: return reader.variable(variable_in(object));
  case Kind::none: return reader.enter(Node::empty, 0);
  case Kind::number: return number(object);
  case Kind::text: return text(object);
  case Kind::bytes:
    reader.enter(Node::record, 2);
    push_type(reader, object);
    return reader.literal(std::string_view(PyBytes_AS_STRING(object),
                                           static_cast<std::size_t>(PyBytes_GET_SIZE(object))));
  case Kind::list:
  case Kind::tuple: {
    const bool list = PyList_Check(object) != 0;
    const auto count = static_cast<std::size_t>(Py_SIZE(object));
    reader.enter(list ? Node::sequence : Node::tuple, count);
    return walk_items(list ? PySequence_Fast_ITEMS(object) : &PyTuple_GET_ITEM(object, 0), count,
                      depth);
  }
  case Kind::named: {
    const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(object));
    reader.enter(Node::record, count + 1);
    push_type(reader, object);
    return walk_items(&PyTuple_GET_ITEM(object, 0), count, depth);
  }
  case Kind::dict: return walk_dict(object, depth);
  case Kind::mapping:
    reader.enter(Node::record, 2);
    push_type(reader, object);
    return walk_dict(object, depth);
  case Kind::record: return walk_record(object, depth);
  case Kind::slice: {
    auto *slice = reinterpret_cast<PySliceObject *>(object);
    reader.enter(Node::record, 4);
    push_type(reader, object);
    PyObject *const items[] = {slice->start, slice->stop, slice->step};
    return walk_items(items, 3, depth);
  }
  case Kind::array: return array(object);
  case Kind::method:
    reader.enter(Node::record, 2);
    identity(nb::object(nb::handle(object).attr("__func__")).ptr());
    return identity(nb::object(nb::handle(object).attr("__self__")).ptr());
  case Kind::object:
    if (!is_dtype_object(object)) return identity(object);
    reader.enter(Node::record, 2);
    push_type(reader, object);
    return reader.literal(std::string_view(python_name(to_dtype(object, {function_, "a dtype"}))));
  case Kind::refused: refuse(object, "which has no order: pass a list or a tuple");
  }
}

void ArgumentWalker::walk_dict(PyObject *dict, int depth) {
  detail::InlineVector<PyObject *, 64> values;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value) != 0;) values.push_back(value);
  const DictShape &shape = shape_of_dict(dict);
  reader.enter(Node::map, values.size());
  // A value may be a dict itself, and so make the shape go.
  const std::vector<std::uint32_t> *sorted = &shape.sorted;
  bool flat = true;
  for (PyObject *entry : values) flat = flat && is_tensor(entry);
  DictShape kept;
  const DictShape *of = &shape;
  if (!flat) {
    kept.sorted = shape.sorted;
    kept.words = shape.words;
    kept.ends = shape.ends;
    of = &kept;
    sorted = &kept.sorted;
  }
  std::uint32_t from = 0;
  for (std::size_t i = 0; i < sorted->size(); ++i) {
    for (; from < of->ends[i]; ++from) reader.key.push_back(of->words[from]);
    PyObject *entry = values[(*sorted)[i]];
    if (is_tensor(entry)) reader.tensor(*nb::inst_ptr<Tensor>(entry));
    else walk_other(entry, depth + 1);
  }
}

void ArgumentWalker::walk_record(PyObject *object, int depth) {
  const nb::object names = field_names(object);
  reader.enter(Node::record, nb::len(names) + 1);
  push_type(reader, object);
  for (const nb::handle name : names) {
    // A field may be made anew each time, so that only this call holds it.
    const nb::object value = nb::getattr(nb::handle(object), name);
    if (is_tensor(value.ptr())) arrays_.push_back(tensor_in(value.ptr()));
    walk_other(value.ptr(), depth + 1);
  }
}

void ArgumentWalker::number(PyObject *object) {
  if (PyBool_Check(object)) return reader.literal(object == Py_True);
  if (PyFloat_CheckExact(object)) return reader.literal(PyFloat_AS_DOUBLE(object));
  int overflow = 0;
  if (PyLong_CheckExact(object)) {
    const std::int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return reader.literal(value);
  }
  // Large and complex numbers, by their text.
  reader.enter(Node::record, 2);
  push_type(reader, object);
  const nb::object said = checked(PyObject_Repr(object));
  text(said.ptr());
}

void ArgumentWalker::text(PyObject *object) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text != nullptr)
    return reader.literal(std::string_view(text, static_cast<std::size_t>(size)));
  PyErr_Clear(); // what has no UTF-8
  push_object(reader.key, number_by_value(object));
}

void ArgumentWalker::identity(PyObject *object) {
  std::uint64_t number = Identities::all().number(object);
  if (number == 0) number = number_by_value(object);
  if (number == 0)
    refuse(object, "which has neither a weak reference nor a hash: a call cannot be found by it");
  push_object(reader.key, number);
}

void ArgumentWalker::array(PyObject *object) {
  arrays_.push_back(
      to_tensor(object, {function_, "an argument"}, std::nullopt, Sharing::if_possible));
  reader.tensor(arrays_.back());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void ResultWalker::walk(PyObject *object, int depth) {
  check_depth(function_, depth);
  switch (kind_of(object)) {
  case Kind::tensor: tensors.push_back(tensor_in(object)); return;
  case Kind::array: tensors.push_back(to_tensor(object, {function_, "the result"})); return;
  case Kind::variable: variables = true; return;
  case Kind::none:
  case Kind::number:
  case Kind::text:
  case Kind::bytes: return;
  case Kind::list:
  case Kind::tuple:
  case Kind::named: {
    const nb::object items = checked(PySequence_Fast(object, "a sequence was expected"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i)
      walk(PySequence_Fast_GET_ITEM(items.ptr(), i), depth + 1);
    return;
  }
  case Kind::dict:
  case Kind::mapping: {
    const std::vector<std::uint32_t> sorted = shape_of_dict(object).sorted;
    const nb::object values = checked(PyDict_Values(object));
    for (const std::uint32_t i : sorted) walk(PyList_GET_ITEM(values.ptr(), i), depth + 1);
    return;
  }
  case Kind::record:
    for (const nb::handle name : field_names(object))
      walk(nb::object(nb::getattr(nb::handle(object), name)).ptr(), depth + 1);
    return;
  case Kind::slice:
  case Kind::method:
  case Kind::object:
  case Kind::refused: break;
  }
  const bool plain =
      PyType_Check(object) != 0 || is_dtype_object(object) ||
      nb::hasattr(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object))), "__members__");
  if (!plain)
    raise_type_error(std::string(function_) + ": the result is or holds a " +
                     Py_TYPE(object)->tp_name +
                     ": a traced function returns tensors, variables, numbers, text and None, and "
                     "lists, tuples, dicts and dataclasses of them");
}

nb::object TreeFiller::fill(PyObject *object) {
  switch (kind_of(object)) {
  case Kind::tensor:
  case Kind::array: return variables_only ? nb::borrow(object) : nb::steal(wrap(tensors_[next_++]));
  case Kind::variable: return fill_variable(object);
  case Kind::list: {
    const nb::object made = checked(PyList_New(PyList_GET_SIZE(object)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i)
      PyList_SET_ITEM(made.ptr(), i, fill(PyList_GET_ITEM(object, i)).release().ptr());
    return made;
  }
  case Kind::tuple:
  case Kind::named: {
    const nb::object made = checked(PyTuple_New(PyTuple_GET_SIZE(object)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
      PyTuple_SET_ITEM(made.ptr(), i, fill(PyTuple_GET_ITEM(object, i)).release().ptr());
    if (!nb::hasattr(nb::handle(object), "_make")) return made;
    return nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object))).attr("_make")(made);
  }
  case Kind::dict:
  case Kind::mapping: return fill_dict(object);
  case Kind::record: return fill_record(object);
  case Kind::slice: {
    auto *slice = reinterpret_cast<PySliceObject *>(object);
    const nb::object start = fill(slice->start), stop = fill(slice->stop), step = fill(slice->step);
    return checked(PySlice_New(start.ptr(), stop.ptr(), step.ptr()));
  }
  default: break;
  }
  const Returned *returned = nullptr;
  if (!nb::try_cast(nb::handle(object), returned) || returned == nullptr) return nb::borrow(object);
  if (const std::shared_ptr<VariableState> state = returned->state.lock())
    return nb::steal(wrap(Variable(state)));
  detail::refuse_unkept(returned->function, returned->name);
}

nb::object TreeFiller::fill_variable(PyObject *object) const {
  const Variable &variable = variable_in(object);
  if (loosened_by != nullptr)
    return nb::cast(Returned{variable.state(), loosened_by, variable.name()});
  for (std::size_t i = 0; i < from_.size(); ++i)
    if (variable.state() == *from_[i]) return nb::steal(wrap(Variable(*to_[i])));
  return nb::borrow(object);
}

nb::object TreeFiller::fill_dict(PyObject *dict) {
  const std::vector<std::uint32_t> sorted = shape_of_dict(dict).sorted;
  const nb::object keys = checked(PyDict_Keys(dict)), values = checked(PyDict_Values(dict));
  std::vector<nb::object> filled(sorted.size());
  for (const std::uint32_t i : sorted) filled[i] = fill(PyList_GET_ITEM(values.ptr(), i));
  // Of a subclass a copy keeps what else it has, such as the factory of a defaultdict.
  const nb::object made = PyDict_CheckExact(dict) != 0
                              ? checked(PyDict_New())
                              : nb::module_::import_("copy").attr("copy")(nb::handle(dict));
  for (std::size_t i = 0; i < filled.size(); ++i)
    if (PyObject_SetItem(made.ptr(), PyList_GET_ITEM(keys.ptr(), static_cast<Py_ssize_t>(i)),
                         filled[i].ptr()) != 0)
      throw nb::python_error();
  return made;
}

nb::object TreeFiller::fill_record(PyObject *object) {
  const nb::object made = nb::module_::import_("copy").attr("copy")(nb::handle(object));
  for (const nb::handle name : field_names(object)) {
    const nb::object value = fill(nb::object(nb::getattr(nb::handle(object), name)).ptr());
    // As a frozen one has it.
    if (PyObject_GenericSetAttr(made.ptr(), name.ptr(), value.ptr()) != 0) throw nb::python_error();
  }
  return made;
}

} // namespace weft::python
