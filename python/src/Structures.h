// Lists, tuples and dicts of tensors and variables: their leaves in order, and the same with
// others.
#pragma once

#include "Tree.h"

namespace weft::python {

inline bool is_leaf(PyObject *object) { return is_tensor(object) || is_variable(object); }

/// A structure of lists, tuples and dicts as it was when it was read; None stays empty in it.
class Structure {
public:
  /// `what` is it for messages. Throws DTypeError for what holds other things than tensors and
  /// variables.
  Structure(PyObject *object, const char *what);

  /// Tensors and variables in order. They are not of the structure any more, and so another value
  /// of a tensor's object changes nothing.
  std::span<const nb::object> leaves() const { return leaves_; }
  /// Their values.
  std::vector<Tensor> tensors() const;

  /// The same structure with other leaves, of which `next()` gives one after the other.
  template <class Next>
  nb::object rebuilt(const Next &next) const {
    return Tree::build(tree_.root.entries.front(), [&](const Tree::Node &) { return next(); });
  }

private:
  Tree tree_;
  std::vector<nb::object> leaves_;
};

} // namespace weft::python
