// Trees of Python taken apart into tensors and a form, and put together again.
#include "Items.h"
#include "Text.h"
#include "Tree.h"

namespace weft::python {

namespace {

using data::detail::Form;

constexpr int kDeepestElement = 64;

class PythonForm final : public Form {
public:
  PythonForm(const data::detail::SignatureKey &words, Tree::Node root, KeptPointer objects)
      : Form(words), root_(std::move(root)), objects_(std::move(objects)) {}
  const Tree::Node &root() const { return root_; }
  /// Those of the tree, to be held while that is used.
  nb::object objects() const { return objects_ ? object_in(*objects_) : nb::object(); }

private:
  Tree::Node root_;
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
class ItemVisitor final : public TreeVisitor {
public:
  ItemVisitor(const char *function, Sharing sharing) : function_(function), sharing_(sharing) {}

  detail::StructureReader reader;

private:
  Part part(PyObject *object, Kind &kind) override {
    switch (kind) {
    case Kind::tensor: return leaf(tensor_in(object));
    case Kind::variable: kind = Kind::tensor; return leaf(variable_in(object).value());
    case Kind::number:
    case Kind::array:
      return leaf(detail::committed(to_tensor(object, {function_, "an element"}, {}, sharing_)));
    case Kind::list:
      return has_elements(object)
                 ? leaf(detail::committed(to_tensor(object, {function_, "an element"})))
                 : Part::container;
    case Kind::tuple:
    case Kind::named:
    case Kind::dict:
    case Kind::mapping:
    case Kind::record: return Part::container;
    case Kind::none: reader.enter(Node::empty, 0); return Part::constant;
    case Kind::text: text(object); return Part::constant;
    case Kind::bytes:
      reader.enter(Node::empty, 1);
      reader.literal(std::string_view(PyBytes_AS_STRING(object),
                                      static_cast<std::size_t>(PyBytes_GET_SIZE(object))));
      return Part::constant;
    case Kind::refused:
      raise_type_error(std::string(function_) + ": an element is or holds a " +
                       Py_TYPE(object)->tp_name + ", which has no order: make it a list or tuple");
    case Kind::slice:
    case Kind::method:
    case Kind::object: break;
    }
    identity(object);
    return Part::constant;
  }
  void enter(PyObject *object, Kind kind, std::size_t count) override {
    switch (kind) {
    case Kind::list: return reader.enter(Node::sequence, count);
    case Kind::tuple: return reader.enter(Node::tuple, count);
    case Kind::dict: return reader.enter(Node::map, count);
    case Kind::record: reader.enter(Node::record, count + 1); return type(object);
    default:
      type(object);
      return reader.enter(kind == Kind::named ? Node::tuple : Node::map, count);
    }
  }
  void key(const DictShape &shape, std::size_t i) override {
    for (const std::uint64_t word : shape.words_of(i)) reader.key.push_back(word);
  }
  void check_depth(int depth) override {
    if (depth > kDeepestElement)
      throw ValueError(std::string(function_) + ": an element is nested too deep, or holds itself");
  }

  Part leaf(Tensor tensor) {
    if (tensor.traced())
      throw StateError(std::string(function_) +
                       ": an element is or holds a tensor of a traced function, which has no value "
                       "while that is traced");
    reader.tensor(tensor);
    return Part::leaf;
  }
  /// By its address: the form that is compared with keeps it.
  void identity(PyObject *object) {
    reader.enter(Node::record, 0);
    reader.key.push_back(reinterpret_cast<std::uint64_t>(object));
  }
  void type(PyObject *object) { identity(reinterpret_cast<PyObject *>(Py_TYPE(object))); }
  void text(PyObject *object) {
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) { // what has no UTF-8
      PyErr_Clear();
      return identity(object);
    }
    reader.literal(std::string_view(text, static_cast<std::size_t>(size)));
  }

  const char *function_;
  Sharing sharing_;
};

/// Whether a null form says all: a tensor, or a plain tuple of two or more.
bool is_plain(const Tree::Node &node) {
  const auto is_leaf = [](const Tree::Node &of) { return of.kind == Kind::tensor; };
  if (is_leaf(node)) return true;
  return node.kind == Kind::tuple && node.entries.size() >= 2 &&
         std::ranges::all_of(node.entries, is_leaf);
}

} // namespace

Item ItemReader::read(PyObject *element, Sharing sharing) {
  ItemVisitor visitor(function_, sharing);
  Tree tree;
  // What else a record has is not part of its form, which others are built of.
  tree.read(element, visitor, {.records = Tree::Reading::Records::bare});
  Item item{std::move(visitor.reader.tensors), nullptr};
  Tree::Node &root = tree.root.entries.front();
  if (is_plain(root)) return item;
  if (!last_ || !(last_->key == visitor.reader.key))
    last_ = std::make_shared<PythonForm>(
        visitor.reader.key, std::move(root),
        tree.objects.is_valid() ? keep_in(slot_, std::move(tree.objects)) : nullptr);
  item.form = last_;
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
    return Tree::build(ours->root(), [&](const Tree::Node &) {
      if (at == leaves.size())
        throw InternalError("an element of a data set has fewer tensors than its form");
      return leaves[at++];
    });
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
