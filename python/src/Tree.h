// Trees of Python: the containers of arguments, results and elements, taken apart once, and put
// together again as often as there are other leaves for them.
#pragma once

#include "Kinds.h"

namespace weft::python {

/// What becomes of an object in a tree.
enum class Part : std::uint8_t {
  leaf,      ///< another comes in its stead
  constant,  ///< it stays as it is
  container, ///< another with what is in it
};

/// What a tree is told of while it is read, in the order of signatures.
class TreeVisitor {
public:
  virtual ~TreeVisitor() = default;
  /// An object, which may be seen as of another kind. It is held as long as this call; of a
  /// constant the tree holds it.
  virtual Part part(PyObject *object, Kind &kind) = 0;
  /// A container and how many entries it has, which follow.
  virtual void enter(PyObject * /*object*/, Kind /*kind*/, std::size_t /*count*/) {}
  /// Of a dict, before its entries.
  virtual void keys(const DictShape & /*shape*/) {}
  /// Number `i` of the sorted keys of a dict, before its entry.
  virtual void key(const DictShape & /*shape*/, std::size_t /*i*/) {}
  /// A dataclass, before its fields and behind them.
  virtual void enter_record() {}
  virtual void leave_record() {}
  /// Throws ValueError for a tree this deep.
  virtual void check_depth(int depth) = 0;
};

/// The containers of a tree as they were when it was read, without its leaves. What its entries run
/// while they are read, and what becomes of the containers afterwards, changes nothing in it.
class Tree {
public:
  struct Node {
    Kind kind = Kind::tensor; ///< of a leaf tensor or variable; of a constant object
    nb::handle what = {};     ///< a constant, a type, or the object that others are copies of
    nb::handle names = {};    ///< keys of a dict, fields of a record: a list
    std::vector<Node> entries = {};
    std::vector<std::uint32_t> order = {}; ///< of a dict: its entries in the order of their leaves
  };
  /// How containers are copied.
  struct Reading {
    /// What built records have besides their fields.
    enum class Records : std::uint8_t {
      copied, ///< what a record had when it was read
      linked, ///< what it has when others are built
      bare,   ///< nothing
    };
    bool sorted = true; ///< whether dicts go by their keys, and not as they were inserted
    Records records = Records::copied;
  };

  Node root;
  nb::object objects; ///< what the nodes refer to, in a list; null if that is nothing

  /// Adds a tree to what was read before, as an entry of the root.
  void read(PyObject *object, TreeVisitor &visitor, const Reading &reading);
  void read(PyObject *object, TreeVisitor &visitor) { read(object, visitor, Reading()); }

  /// Puts a node together of leaves that `next(node)` gives. The caller holds the objects.
  template <class Next>
  static nb::object build(const Node &node, const Next &next);

private:
  Node node_of(PyObject *object, TreeVisitor &visitor, const Reading &reading, int depth);
  Node dict_of(PyObject *object, Kind kind, TreeVisitor &visitor, const Reading &reading,
               int depth);
  Node record_of(PyObject *object, TreeVisitor &visitor, const Reading &reading, int depth);
  nb::handle hold(nb::handle object);

  static nb::object sequence(const Node &node, std::vector<nb::object> entries);
  static nb::object dict(const Node &node, std::span<const nb::object> values);
  static nb::object record(const Node &node, std::span<const nb::object> values);
};

template <class Next>
nb::object Tree::build(const Node &node, const Next &next) {
  switch (node.kind) {
  case Kind::tensor:
  case Kind::variable: return next(node);
  case Kind::object: return nb::borrow(node.what);
  default: break;
  }
  std::vector<nb::object> entries(node.entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t at = node.order.empty() ? i : node.order[i];
    entries[at] = build(node.entries[at], next);
  }
  switch (node.kind) {
  case Kind::dict:
  case Kind::mapping: return dict(node, entries);
  case Kind::record: return record(node, entries);
  default: return sequence(node, std::move(entries));
  }
}

/// The structures of `wf.tree`.
void define_tree_structures(nb::module_ &module);

inline constexpr int kDeepestTree = 256;
/// Throws ValueError, which names the function, for a tree that is nested deeper, or holds itself.
void check_tree_depth(const char *function, int depth);

} // namespace weft::python
