// Arguments in the order of their signature.
#include "ArgumentWalker.h"
#include "Numbers.h"
#include "Text.h"

#include <weft/detail/inline_vector.h>

namespace weft::python {

void ArgumentWalker::refuse(PyObject *object, const char *why) const {
  std::string message = std::string(function_) + ": ";
  if (parameter_ != nullptr)
    message += std::string("argument '") + text_of(nb::handle(parameter_)) + "' ";
  else message += "an argument ";
  raise_type_error(message + "is or holds a " + Py_TYPE(object)->tp_name + ", " + why);
}

bool ArgumentWalker::may_run_python() {
  stopped_ = !reads_tree_;
  return reads_tree_;
}

void ArgumentWalker::begin_tree() {
  reader = {};
  stopped_ = false;
  reads_tree_ = true;
}

//===----------------------------------------------------------------------===//
// As they are
//===----------------------------------------------------------------------===//

void ArgumentWalker::walk_items(PyObject *const *items, std::size_t count, int depth) {
  for (std::size_t i = 0; i < count && !stopped_; ++i) {
    if (is_tensor(items[i])) reader.tensor(*nb::inst_ptr<Tensor>(items[i]));
    else walk_other(items[i], depth + 1);
  }
}

void ArgumentWalker::walk_other(PyObject *object, int depth) {
  check_depth(depth);
  switch (const Kind kind = kind_of(object)) {
  case Kind::tensor: return reader.tensor(*nb::inst_ptr<Tensor>(object));
  case Kind::variable: return reader.variable(variable_in(object));
  case Kind::list:
  case Kind::tuple:
  case Kind::named: {
    const bool list = PyList_Check(object) != 0;
    const auto count = static_cast<std::size_t>(Py_SIZE(object));
    enter(object, kind, count);
    return walk_items(list ? PySequence_Fast_ITEMS(object) : &PyTuple_GET_ITEM(object, 0), count,
                      depth);
  }
  case Kind::dict:
  case Kind::mapping: return walk_dict(object, kind, depth);
  case Kind::slice: {
    auto *slice = reinterpret_cast<PySliceObject *>(object);
    enter(object, kind, 3);
    PyObject *const items[] = {slice->start, slice->stop, slice->step};
    return walk_items(items, 3, depth);
  }
  case Kind::record:
  case Kind::array: stopped_ = true; return;
  default: return read_constant(object, kind);
  }
}

void ArgumentWalker::walk_dict(PyObject *dict, Kind kind, int depth) {
  detail::InlineVector<PyObject *, 64> keys, values;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value) != 0;) {
    keys.push_back(key);
    values.push_back(value);
  }
  const std::shared_ptr<const DictShape> shape = known_shape({keys.data(), keys.size()});
  if (shape == nullptr) {
    stopped_ = true;
    return;
  }
  enter(dict, kind, values.size());
  for (std::size_t i = 0; i < values.size() && !stopped_; ++i) {
    this->key(*shape, i);
    walk_items(&values[shape->sorted[i]], 1, depth);
  }
}

//===----------------------------------------------------------------------===//
// Into a tree
//===----------------------------------------------------------------------===//

Part ArgumentWalker::part(PyObject *object, Kind &kind) {
  if (kind == Kind::tensor || kind == Kind::array || kind == Kind::variable)
    given.push_back(nb::borrow(object));
  switch (kind) {
  case Kind::tensor: {
    const Tensor &tensor = tensor_in(object);
    // A tensor's object may take another value meanwhile.
    leaves.push_back(tensor.defined() ? checked(wrap(tensor)) : nb::borrow(object));
    reader.tensor(tensor_in(leaves.back().ptr()));
    return Part::leaf;
  }
  case Kind::array:
    leaves.push_back(checked(
        wrap(to_tensor(object, {function_, "an argument"}, std::nullopt, Sharing::if_possible))));
    reader.tensor(tensor_in(leaves.back().ptr()));
    return Part::leaf;
  case Kind::variable:
    leaves.push_back(nb::borrow(object));
    reader.variable(variable_in(object));
    return Part::leaf;
  case Kind::list:
  case Kind::tuple:
  case Kind::named:
  case Kind::dict:
  case Kind::mapping:
  case Kind::record:
  case Kind::slice: return Part::container;
  default: read_constant(object, kind); return Part::constant;
  }
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

void ArgumentWalker::enter(PyObject *object, Kind kind, std::size_t count) {
  switch (kind) {
  case Kind::list: return reader.enter(Node::sequence, count);
  case Kind::tuple: return reader.enter(Node::tuple, count);
  case Kind::dict: return reader.enter(Node::map, count);
  case Kind::mapping:
    reader.enter(Node::record, 2);
    type(object);
    return reader.enter(Node::map, count);
  default: reader.enter(Node::record, count + 1); return type(object);
  }
}

void ArgumentWalker::key(const DictShape &shape, std::size_t i) {
  for (const std::uint64_t word : shape.words_of(i)) reader.key.push_back(word);
}

void ArgumentWalker::read_constant(PyObject *object, Kind kind) {
  switch (kind) {
  case Kind::none: return reader.enter(Node::empty, 0);
  case Kind::number: return number(object);
  case Kind::text: return text(object);
  case Kind::bytes:
    reader.enter(Node::record, 2);
    type(object);
    return reader.literal(std::string_view(PyBytes_AS_STRING(object),
                                           static_cast<std::size_t>(PyBytes_GET_SIZE(object))));
  case Kind::method: {
    const auto [function, self] = parts_of_method(object);
    reader.enter(Node::record, 2);
    identity(function);
    return identity(self);
  }
  case Kind::refused: refuse(object, "which has no order: pass a list or a tuple");
  default: break;
  }
  if (!is_dtype_object(object)) return identity(object);
  reader.enter(Node::record, 2);
  type(object);
  reader.literal(std::string_view(python_name(to_dtype(object, {function_, "a dtype"}))));
}

void ArgumentWalker::number(PyObject *object) {
  if (PyBool_Check(object)) return reader.literal(object == Py_True);
  if (PyFloat_CheckExact(object)) return reader.literal(PyFloat_AS_DOUBLE(object));
  if (is_wide_float(object)) { // which alone is f64
    reader.enter(Node::record, 2);
    type(object);
    return reader.literal(PyFloat_AS_DOUBLE(object));
  }
  int overflow = 0;
  if (PyLong_CheckExact(object)) {
    const std::int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return reader.literal(value);
  }
  // Large and complex numbers, by their text.
  reader.enter(Node::record, 2);
  type(object);
  const nb::object said = checked(PyObject_Repr(object));
  text(said.ptr());
}

void ArgumentWalker::text(PyObject *object) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text != nullptr)
    return reader.literal(std::string_view(text, static_cast<std::size_t>(size)));
  PyErr_Clear(); // what has no UTF-8
  if (may_run_python()) push_object(reader.key, numbered.by_value(object));
}

void ArgumentWalker::type(PyObject *object) {
  identity(reinterpret_cast<PyObject *>(Py_TYPE(object)));
}

void ArgumentWalker::identity(PyObject *object) {
  // Of one that nobody knows weakly this call becomes a holder as well.
  if (reads_tree_) return push_object(reader.key, numbered.number_of(object));
  const std::uint64_t number = known_number(object);
  if (number != 0) push_object(reader.key, number);
  else stopped_ = true;
}

} // namespace weft::python
