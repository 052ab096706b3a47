// Trees of Python as they are when they are read: containers are copied before anything in them may
// run code, and built of the copies.
#include "Tree.h"
#include "Sizes.h"

namespace weft::python {

void check_tree_depth(const char *function, int depth) {
  if (depth > kDeepestTree)
    throw ValueError(std::string(function) +
                     ": an argument or a result is nested too deep, or holds itself");
}

namespace {

nb::object copy_of(nb::handle object) { return nb::module_::import_("copy").attr("copy")(object); }

nb::object bare_record(nb::handle type) {
  return nb::handle(reinterpret_cast<PyObject *>(&PyBaseObject_Type)).attr("__new__")(type);
}

nb::object copy_of_record(nb::handle record) {
  try {
    return copy_of(record);
  } catch (nb::python_error &error) {
    // A frozen one with slots has nothing but its fields, which copy.copy cannot set.
    if (!error.matches(PyExc_AttributeError)) throw;
  }
  return bare_record(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(record.ptr()))));
}

void set_field(const nb::object &record, nb::handle name, nb::handle value) {
  // As a frozen one has it.
  if (PyObject_GenericSetAttr(record.ptr(), name.ptr(), value.ptr()) != 0) throw nb::python_error();
}

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

nb::handle Tree::hold(nb::handle object) {
  if (!objects.is_valid()) objects = nb::list();
  if (PyList_Append(objects.ptr(), object.ptr()) != 0) throw nb::python_error();
  return object;
}

void Tree::read(PyObject *object, TreeVisitor &visitor, const Reading &reading) {
  root.kind = Kind::tuple;
  root.entries.push_back(node_of(object, visitor, reading, 0));
}

Tree::Node Tree::node_of(PyObject *object, TreeVisitor &visitor, const Reading &reading,
                         int depth) {
  visitor.check_depth(depth);
  if (is_size(object))
    return node_of(number_or_scalar(size_in(object)).ptr(), visitor, reading, depth);
  const nb::object alive = nb::borrow(object);
  Kind kind = kind_of(object);
  switch (visitor.part(object, kind)) {
  case Part::leaf: return {.kind = kind == Kind::variable ? kind : Kind::tensor};
  case Part::constant: return {.kind = Kind::object, .what = hold(object)};
  case Part::container: break;
  }
  Node node{.kind = kind};
  const auto enter = [&](const nb::tuple &entries) {
    visitor.enter(object, kind, entries.size());
    node.entries.reserve(entries.size());
    for (const nb::handle entry : entries)
      node.entries.push_back(node_of(entry.ptr(), visitor, reading, depth + 1));
  };
  switch (kind) {
  case Kind::dict:
  case Kind::mapping: return dict_of(object, kind, visitor, reading, depth);
  case Kind::record: return record_of(object, visitor, reading, depth);
  case Kind::slice: {
    const auto *slice = reinterpret_cast<PySliceObject *>(object);
    enter(
        nb::make_tuple(nb::handle(slice->start), nb::handle(slice->stop), nb::handle(slice->step)));
    return node;
  }
  case Kind::named:
    node.what = hold(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object))));
    [[fallthrough]];
  default: enter(entries_of(object)); return node;
  }
}

Tree::Node Tree::dict_of(PyObject *object, Kind kind, TreeVisitor &visitor, const Reading &reading,
                         int depth) {
  Node node{.kind = kind};
  nb::object read = nb::borrow(object);
  // Of a subclass a copy keeps what else it has, such as the factory of a defaultdict.
  if (kind == Kind::mapping) read = copy_of(object);
  if (PyDict_Check(read.ptr()) == 0)
    raise_type_error(std::string("a copy of a ") + Py_TYPE(object)->tp_name +
                     ", as copy.copy makes it, is no dict");
  const auto items = items_of(read.ptr());
  nb::list names;
  std::vector<PyObject *> keys;
  for (const auto &[name, value] : items) {
    names.append(name);
    keys.push_back(name.ptr());
  }
  if (kind == Kind::mapping) {
    node.what = hold(read);
    for (PyObject *key : keys) // the copy outlives the values
      if (PyDict_SetItem(read.ptr(), key, Py_None) != 0) throw nb::python_error();
  }
  node.names = hold(names);
  node.entries.resize(keys.size());
  const auto read_entry = [&](std::size_t at) {
    node.entries[at] = node_of(items[at].second.ptr(), visitor, reading, depth + 1);
  };
  if (!reading.sorted) {
    visitor.enter(object, kind, keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) read_entry(i);
    return node;
  }
  const std::shared_ptr<const DictShape> shape = shape_of_keys(keys);
  visitor.enter(object, kind, keys.size());
  visitor.keys(*shape);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    visitor.key(*shape, i);
    read_entry(shape->sorted[i]);
  }
  node.order = shape->sorted;
  return node;
}

Tree::Node Tree::record_of(PyObject *object, TreeVisitor &visitor, const Reading &reading,
                           int depth) {
  Node node{.kind = Kind::record};
  const nb::list names = field_names(object);
  nb::list values;
  for (const nb::handle name : names) values.append(nb::getattr(nb::handle(object), name));
  node.names = hold(names);
  if (reading.records == Reading::Records::bare) {
    node.what = hold(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object))));
  } else if (reading.records == Reading::Records::linked) {
    node.what = hold(object);
  } else {
    const nb::object copy = copy_of_record(object);
    for (const nb::handle name : names) // the copy outlives the values
      if (PyObject_GenericSetAttr(copy.ptr(), name.ptr(), Py_None) != 0) PyErr_Clear();
    node.what = hold(copy);
  }
  visitor.enter(object, Kind::record, values.size());
  visitor.enter_record();
  for (const nb::handle value : values)
    node.entries.push_back(node_of(value.ptr(), visitor, reading, depth + 1));
  visitor.leave_record();
  return node;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

nb::object Tree::sequence(const Node &node, std::vector<nb::object> entries) {
  if (node.kind == Kind::slice)
    return checked(PySlice_New(entries[0].ptr(), entries[1].ptr(), entries[2].ptr()));
  const auto count = static_cast<Py_ssize_t>(entries.size());
  const bool tuple = node.kind == Kind::tuple;
  const nb::object built = checked(tuple ? PyTuple_New(count) : PyList_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *entry = entries[static_cast<std::size_t>(i)].release().ptr();
    if (tuple) PyTuple_SET_ITEM(built.ptr(), i, entry);
    else PyList_SET_ITEM(built.ptr(), i, entry);
  }
  return node.kind == Kind::named ? node.what.attr("_make")(built) : built;
}

nb::object Tree::dict(const Node &node, std::span<const nb::object> values) {
  const nb::object built = node.kind == Kind::dict ? checked(PyDict_New()) : copy_of(node.what);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (PyObject_SetItem(built.ptr(), nb::object(node.names[i]).ptr(), values[i].ptr()) != 0)
      throw nb::python_error();
  return built;
}

nb::object Tree::record(const Node &node, std::span<const nb::object> values) {
  const nb::object built =
      PyType_Check(node.what.ptr()) != 0 ? bare_record(node.what) : copy_of_record(node.what);
  for (std::size_t i = 0; i < values.size(); ++i)
    set_field(built, nb::object(node.names[i]), values[i]);
  return built;
}

} // namespace weft::python
