// Trees of Python taken apart for Python: the leaves of any structure, and the structure without
// them.
#include "Define.h"
#include "Parts.h"
#include "Text.h"
#include "Tree.h"

namespace weft::python {

namespace {

/// A structure without its leaves.
struct TreeStructure {
  using Initialized = void; // see Initialized.h
  Tree tree = {};
  std::size_t leaves = 0;

  const Tree::Node &root() const { return tree.root.entries.front(); }
};

/// What counts as a leaf.
struct LeafRule {
  nb::object is_leaf; ///< asked of each object, if it is not None
  /// Whether of what a dataclass holds only tensors, variables, arrays, floats and models are
  /// leaves: the rest says what it is.
  bool plain_fields = false;
};

class LeafVisitor final : public TreeVisitor {
public:
  LeafVisitor(const std::string &what, const LeafRule &rule, nb::list &leaves)
      : what_(what), rule_(rule), leaves_(leaves) {}

  std::size_t count() const { return count_; }

private:
  Part part(PyObject *object, Kind &kind) override {
    if (kind != Kind::none && !rule_.is_leaf.is_none() &&
        nb::cast<bool>(nb::bool_(rule_.is_leaf(nb::handle(object)))))
      return leaf(object, kind);
    switch (kind) {
    case Kind::none: return Part::constant;
    case Kind::list:
    case Kind::tuple:
    case Kind::named:
    case Kind::dict:
    case Kind::mapping: return Part::container;
    case Kind::record:
      if (is_model(object)) return leaf(object, kind);
      return Part::container;
    case Kind::tensor:
    case Kind::variable:
    case Kind::array: return leaf(object, kind);
    default: break;
    }
    const bool counts = PyFloat_Check(object) != 0 || is_model(object);
    if (rule_.plain_fields && records_ != 0 && !counts) return Part::constant;
    return leaf(object, kind);
  }
  void enter_record() override { ++records_; }
  void leave_record() override { --records_; }
  void check_depth(int depth) override {
    if (depth > kDeepestTree)
      throw ValueError(what_ + ": the structure is nested too deep, or holds itself");
  }

  Part leaf(PyObject *object, Kind &kind) {
    leaves_.append(nb::handle(object));
    ++count_;
    if (kind != Kind::variable) kind = Kind::tensor;
    return Part::leaf;
  }

  const std::string &what_;
  const LeafRule &rule_;
  nb::list &leaves_;
  std::size_t count_ = 0;
  int records_ = 0; ///< dataclasses around
};

nb::tuple flatten(const std::string &what, nb::handle tree, nb::object is_leaf, bool sorted,
                  bool plain_fields) {
  nb::list leaves;
  const LeafRule rule{std::move(is_leaf), plain_fields};
  LeafVisitor visitor(what, rule, leaves);
  TreeStructure structure;
  structure.tree.read(tree.ptr(), visitor, {.sorted = sorted});
  structure.leaves = visitor.count();
  return nb::make_tuple(leaves, nb::cast(std::move(structure)));
}

nb::object unflatten(const TreeStructure &structure, nb::handle leaves) {
  const nb::list given(leaves);
  if (given.size() != structure.leaves)
    throw ValueError("unflatten: the structure has " + std::to_string(structure.leaves) +
                     " leaves, but there are " + std::to_string(given.size()));
  std::size_t next = 0;
  return Tree::build(structure.root(),
                     [&](const Tree::Node &) { return nb::object(given[next++]); });
}

bool equal(nb::handle a, nb::handle b) {
  const int same = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
  if (same < 0) throw nb::python_error();
  return same != 0;
}

/// The type of a container, where its kind does not say it.
nb::handle type_of(const Tree::Node &node) {
  if (!node.what.is_valid() || PyType_Check(node.what.ptr()) != 0) return node.what;
  return nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(node.what.ptr())));
}

bool same(const Tree::Node &a, const Tree::Node &b) {
  const auto is_leaf = [](Kind kind) { return kind == Kind::tensor || kind == Kind::variable; };
  if (is_leaf(a.kind) || is_leaf(b.kind)) return is_leaf(a.kind) && is_leaf(b.kind);
  if (a.kind != b.kind || a.entries.size() != b.entries.size()) return false;
  if (a.kind == Kind::object) return a.what.is(b.what) || equal(a.what, b.what);
  if (!type_of(a).is(type_of(b))) return false;
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const std::size_t at = a.order.empty() ? i : a.order[i], to = b.order.empty() ? i : b.order[i];
    if (a.names.is_valid() && !equal(nb::object(a.names[at]), nb::object(b.names[to])))
      return false;
    if (!same(a.entries[at], b.entries[to])) return false;
  }
  return true;
}

/// The structure as Python shows it, with a star for each leaf.
std::string shown(const TreeStructure &structure) {
  const nb::object star = nb::module_::import_("weft.tree").attr("_STAR");
  const nb::object built = Tree::build(structure.root(), [&](const Tree::Node &) { return star; });
  return "Structure(" + text_of(nb::repr(built)) + ")";
}

} // namespace

void define_tree_structures(nb::module_ &module) {
  define<flatten>(module, "internal_flatten", Arg("what"), Arg("tree").none(),
                  Arg("is_leaf").none(), Arg("sorted"), Arg("plain_fields"));
  define(
      module, "internal_is_model", [](nb::handle x) { return is_model(x.ptr()); }, Arg("x").none());
  ClassOf<TreeStructure>(
      module, "internal_TreeStructure",
      R"(A structure without its leaves, as `wf.tree.structure` gives it: equal to those of values that are
put together alike, with leaves of any kind.)")
      .def<unflatten>("unflatten(leaves)",
                      "A value of this structure with these leaves, in their order.")
      .def("__len__", [](const TreeStructure &self) { return self.leaves; })
      .def("__repr__", [](const TreeStructure &self) { return shown(self); })
      .def("__hash__", [](const TreeStructure &self) { return self.leaves; })
      .def(
          "__eq__",
          [](const TreeStructure &self, nb::handle other) {
            TreeStructure *with = nullptr;
            return nb::try_cast(other, with) && with != nullptr && same(self.root(), with->root());
          },
          Arg("other").none());
}

} // namespace weft::python
