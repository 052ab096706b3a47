// Trees of Python taken apart into tensors and a form, and put together again.
#include "Items.h"
#include "Text.h"
#include "Tree.h"

namespace weft::python {

namespace {

using data::detail::Form;

constexpr int kDeepestElement = 64;

/// A place in the tree of an element, whose objects are those of its form.
struct Node {
  Kind kind = Kind::tensor;
  nb::handle what = {};  ///< a type, a prototype, or what stays as it is
  nb::handle names = {}; ///< keys of a dict, fields of a record: a list
  std::vector<Node> entries = {};
  std::vector<std::uint32_t> order = {}; ///< of a dict: the entries in the order of their tensors
};

class PythonForm final : public Form {
public:
  PythonForm(const data::detail::SignatureKey &words, Node root, KeptPointer objects)
      : Form(words), root_(std::move(root)), objects_(std::move(objects)) {}
  const Node &root() const { return root_; }
  /// Those of the tree, to be held while that is used.
  nb::object objects() const { return object_in(*objects_); }

private:
  Node root_;
  KeptPointer objects_;
};

/// Whether a list is the elements of one tensor, by the first of what is innermost.
bool has_elements(PyObject *list, int depth = 0) {
  if (depth > kDeepestElement) return true; // which says so
  if (PyList_GET_SIZE(list) == 0) return true;
  PyObject *first = PyList_GET_ITEM(list, 0);
  switch (kind_of(first)) {
  case Kind::tensor:
  case Kind::variable:
  case Kind::number:
  case Kind::array: return true;
  case Kind::list: return has_elements(first, depth + 1);
  case Kind::tuple:
    return PyTuple_GET_SIZE(first) == 0 || [&] {
      const Kind inner = kind_of(PyTuple_GET_ITEM(first, 0));
      return inner == Kind::number || inner == Kind::tensor || inner == Kind::array;
    }();
  default: return false;
  }
}

/// The tensors of an element, and the words of the rest.
class Walker {
public:
  Walker(const char *function, Sharing sharing) : function_(function), sharing_(sharing) {}

  void walk(PyObject *object, int depth = 0) {
    if (depth > kDeepestElement)
      throw ValueError(std::string(function_) + ": an element is nested too deep, or holds itself");
    switch (kind_of(object)) {
    case Kind::tensor: return leaf(tensor_in(object));
    case Kind::variable: return leaf(variable_in(object).value());
    case Kind::number:
    case Kind::array: return leaf(to_tensor(object, {function_, "an element"}, {}, sharing_));
    case Kind::list:
      if (has_elements(object)) return leaf(to_tensor(object, {function_, "an element"}));
      return walk_items(Node_::sequence, object, depth);
    case Kind::tuple: return walk_items(Node_::tuple, object, depth);
    case Kind::named: type(object); return walk_items(Node_::tuple, object, depth);
    case Kind::mapping: type(object); [[fallthrough]];
    case Kind::dict: return walk_dict(object, depth);
    case Kind::record: return walk_record(object, depth);
    case Kind::none: return reader.enter(Node_::empty, 0);
    case Kind::text: return walk_text(object);
    case Kind::bytes:
      reader.enter(Node_::empty, 1);
      return reader.literal(std::string_view(PyBytes_AS_STRING(object),
                                             static_cast<std::size_t>(PyBytes_GET_SIZE(object))));
    case Kind::refused:
      raise_type_error(std::string(function_) + ": an element is or holds a " +
                       Py_TYPE(object)->tp_name + ", which has no order: make it a list or tuple");
    case Kind::slice:
    case Kind::method:
    case Kind::object: return identity(object);
    }
  }

  detail::StructureReader reader;

private:
  using Node_ = weft::Node;

  void leaf(Tensor tensor) {
    if (tensor.traced())
      throw StateError(std::string(function_) +
                       ": an element is or holds a tensor of a traced function, which has no value "
                       "while that is traced");
    reader.tensor(tensor);
  }
  /// By its address: the form that is compared with keeps it.
  void identity(PyObject *object) {
    reader.enter(Node_::record, 0);
    reader.key.push_back(reinterpret_cast<std::uint64_t>(object));
  }
  void type(PyObject *object) { identity(reinterpret_cast<PyObject *>(Py_TYPE(object))); }
  void walk_text(PyObject *object) {
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) { // what has no UTF-8
      PyErr_Clear();
      return identity(object);
    }
    reader.literal(std::string_view(text, static_cast<std::size_t>(size)));
  }
  void walk_items(Node_ node, PyObject *object, int depth) {
    const bool list = PyList_Check(object) != 0;
    const Py_ssize_t count = Py_SIZE(object);
    reader.enter(node, static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count && i < Py_SIZE(object); ++i) {
      const nb::object entry =
          nb::borrow(list ? PyList_GET_ITEM(object, i) : PyTuple_GET_ITEM(object, i));
      walk(entry.ptr(), depth + 1);
    }
  }
  void walk_dict(PyObject *object, int depth) {
    const DictShape &shape = shape_of_dict(object);
    const std::vector<std::uint32_t> sorted = shape.sorted, ends = shape.ends;
    const std::vector<std::uint64_t> words = shape.words;
    const nb::object values = checked(PyDict_Values(object));
    reader.enter(Node_::map, sorted.size());
    std::uint32_t from = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      for (; from < ends[i]; ++from) reader.key.push_back(words[from]);
      walk(PyList_GET_ITEM(values.ptr(), sorted[i]), depth + 1);
    }
  }
  void walk_record(PyObject *object, int depth) {
    const nb::object names = field_names(object);
    reader.enter(Node_::record, nb::len(names) + 1);
    type(object);
    for (const nb::handle name : names)
      walk(nb::object(nb::getattr(nb::handle(object), name)).ptr(), depth + 1);
  }

  const char *function_;
  Sharing sharing_;
};

/// The tree without its tensors; `objects` come to hold what it refers to.
Node node_of(PyObject *object, nb::list &objects) {
  const auto held = [&](nb::handle what) {
    objects.append(what);
    return what;
  };
  const nb::handle type(reinterpret_cast<PyObject *>(Py_TYPE(object)));
  const Kind kind = kind_of(object);
  const auto entries = [&](PyObject *of) {
    std::vector<Node> nodes;
    const nb::object items = checked(PySequence_Fast(of, "a sequence was expected"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i)
      nodes.push_back(node_of(PySequence_Fast_GET_ITEM(items.ptr(), i), objects));
    return nodes;
  };
  switch (kind) {
  case Kind::tensor:
  case Kind::variable:
  case Kind::number:
  case Kind::array: return {};
  case Kind::list:
    if (has_elements(object)) return {};
    return {.kind = kind, .entries = entries(object)};
  case Kind::tuple: return {.kind = kind, .entries = entries(object)};
  case Kind::named: return {.kind = kind, .what = held(type), .entries = entries(object)};
  case Kind::dict:
  case Kind::mapping: {
    Node node{.kind = kind,
              .names = held(checked(PyDict_Keys(object))),
              .entries = entries(checked(PyDict_Values(object)).ptr()),
              .order = shape_of_dict(object).sorted};
    if (kind == Kind::mapping) {
      node.what = held(nb::module_::import_("copy").attr("copy")(nb::handle(object)));
      node.what.attr("clear")();
    }
    return node;
  }
  case Kind::record: {
    Node node{.kind = kind, .what = held(type), .names = held(field_names(object))};
    for (const nb::handle name : node.names)
      node.entries.push_back(
          node_of(nb::object(nb::getattr(nb::handle(object), name)).ptr(), objects));
    return node;
  }
  default: return {.kind = Kind::object, .what = held(nb::handle(object))};
  }
}

/// Puts a tree together of leaves that `next()` gives.
template <class Next>
nb::object rebuilt(const Node &node, const Next &next) {
  switch (node.kind) {
  case Kind::tensor: return next();
  case Kind::list:
  case Kind::tuple:
  case Kind::named: {
    nb::list list;
    for (const Node &entry : node.entries) list.append(rebuilt(entry, next));
    if (node.kind == Kind::list) return list;
    if (node.kind == Kind::tuple) return nb::tuple(list);
    return node.what.attr("_make")(list);
  }
  case Kind::dict:
  case Kind::mapping: {
    std::vector<nb::object> values(node.entries.size());
    for (const std::uint32_t i : node.order) values[i] = rebuilt(node.entries[i], next);
    const nb::object made = node.kind == Kind::dict
                                ? checked(PyDict_New())
                                : nb::module_::import_("copy").attr("copy")(node.what);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (PyObject_SetItem(made.ptr(), nb::object(node.names[i]).ptr(), values[i].ptr()) != 0)
        throw nb::python_error();
    return made;
  }
  case Kind::record: {
    const nb::object made =
        nb::handle(reinterpret_cast<PyObject *>(&PyBaseObject_Type)).attr("__new__")(node.what);
    for (std::size_t i = 0; i < node.entries.size(); ++i) {
      const nb::object value = rebuilt(node.entries[i], next);
      // As a frozen one has it.
      if (PyObject_GenericSetAttr(made.ptr(), nb::object(node.names[i]).ptr(), value.ptr()) != 0)
        throw nb::python_error();
    }
    return made;
  }
  default: return nb::borrow(node.what);
  }
}

bool is_tuple_of_tensors(PyObject *object) {
  if (PyTuple_CheckExact(object) == 0 || PyTuple_GET_SIZE(object) < 2) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
    if (!is_tensor(PyTuple_GET_ITEM(object, i))) return false;
  return true;
}

/// Whether a null form says all: a tensor, or a plain tuple of two or more.
bool is_plain(const Node &node) {
  if (node.kind == Kind::tensor) return true;
  return node.kind == Kind::tuple && node.entries.size() >= 2 &&
         std::ranges::all_of(node.entries, [](const Node &n) { return n.kind == Kind::tensor; });
}

} // namespace

Item ItemReader::read(PyObject *element, Sharing sharing) {
  Walker walker(function_, sharing);
  walker.walk(element);
  Item item{std::move(walker.reader.tensors), nullptr};
  if (is_tensor(element) || is_tuple_of_tensors(element)) return item;
  if (last_ && last_->key == walker.reader.key) {
    item.form = last_;
    return item;
  }
  nb::list objects;
  Node node = node_of(element, objects);
  if (!is_plain(node))
    item.form = last_ = std::make_shared<PythonForm>(walker.reader.key, std::move(node),
                                                     keep_in(slot_, std::move(objects)));
  return item;
}

nb::object filled(const data::detail::Form *form, std::span<const nb::object> leaves) {
  if (form == nullptr) {
    if (leaves.size() == 1) return leaves[0];
    const nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(leaves.size())));
    for (std::size_t i = 0; i < leaves.size(); ++i)
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), leaves[i].inc_ref().ptr());
    return tuple;
  }
  if (const auto *ours = dynamic_cast<const PythonForm *>(form)) {
    const nb::object objects = ours->objects();
    std::size_t at = 0;
    return rebuilt(ours->root(), [&] { return leaves[at++]; });
  }
  if (const auto *line = dynamic_cast<const data::detail::FormOf<std::string> *>(form)) {
    const std::string text = line->parts.with({});
    return kept_text(text);
  }
  if (const auto *record = dynamic_cast<const data::detail::FormOf<Record> *>(form)) {
    const std::string bytes = record->parts.with({}).bytes;
    return nb::bytes(bytes.data(), bytes.size());
  }
  throw InternalError("an element of a data set has a form that Python does not know");
}

nb::object object_of(const Item &item) {
  std::vector<nb::object> leaves;
  leaves.reserve(item.tensors.size());
  for (const Tensor &tensor : item.tensors) leaves.push_back(checked(wrap(tensor)));
  return filled(item.form.get(), leaves);
}

nb::object call_with_item(const nb::object &function, const Item &item, const nb::dict &keywords) {
  const nb::object element = object_of(item);
  const nb::object args =
      PyTuple_CheckExact(element.ptr()) ? element : nb::object(nb::make_tuple(element));
  return checked(
      PyObject_Call(function.ptr(), args.ptr(), nb::len(keywords) == 0 ? nullptr : keywords.ptr()));
}

} // namespace weft::python
