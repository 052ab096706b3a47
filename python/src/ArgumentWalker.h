// Reads arguments of traced functions: the words of their signature, their tensors and variables.
#pragma once

#include "Tree.h"

#include <weft/detail/signature.h>

namespace weft::python {

/// First arguments are walked as they are, as fast as can be. That stops before anything runs code
/// of Python, which may change what is walked; then, or before the lock of Python is given up, they
/// are read again into a tree.
class ArgumentWalker final : public TreeVisitor {
public:
  explicit ArgumentWalker(const char *function) : function_(function) {}

  /// Reads an argument: what is read is borrowed from it, or held here once a tree is read.
  void walk(PyObject *object) {
    if (reads_tree_) [[unlikely]]
      return tree.read(object, *this, {.records = Tree::Reading::Records::linked});
    if (is_tensor(object)) reader.tensor(*nb::inst_ptr<Tensor>(object));
    else if (!stopped_) walk_other(object, 0);
  }
  /// Whether a walk came to what may run code of Python: what was read is of no use.
  bool stopped() const { return stopped_; }
  /// Forgets what was read. From now on arguments are read into the tree.
  void begin_tree();
  /// Begins a parameter of that name, for messages.
  void begin(PyObject *parameter) { parameter_ = parameter; }

  detail::ArgumentReader reader;
  Tree tree;
  std::vector<nb::object> leaves; ///< of the tree: tensors, which are nobody else's, and variables
  std::vector<nb::object> given;  ///< the objects that the leaves were read of
  HeldObjects numbered;           ///< what the signature names and nobody knows weakly

private:
  void walk_other(PyObject *object, int depth);
  void walk_items(PyObject *const *items, std::size_t count, int depth);
  void walk_dict(PyObject *dict, Kind kind, int depth);
  void read_constant(PyObject *object, Kind kind);
  void number(PyObject *object);
  void text(PyObject *object);
  void type(PyObject *object);
  void identity(PyObject *object);
  [[noreturn]] void refuse(PyObject *object, const char *why) const;
  /// False, and the walk stops, unless a tree is read.
  bool may_run_python();

  Part part(PyObject *object, Kind &kind) override;
  void enter(PyObject *object, Kind kind, std::size_t count) override;
  void keys(const DictShape &shape) override { numbered.add(shape.objects); }
  void key(const DictShape &shape, std::size_t i) override;
  void check_depth(int depth) override { check_tree_depth(function_, depth); }

  const char *function_;
  PyObject *parameter_ = nullptr;
  bool stopped_ = false, reads_tree_ = false;
};

} // namespace weft::python
