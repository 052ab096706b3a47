// Structures of tensors and variables, read once and rebuilt of what was read.
#include "Structures.h"

namespace weft::python {

namespace {

class StructureVisitor final : public TreeVisitor {
public:
  StructureVisitor(const char *what, std::vector<nb::object> &leaves)
      : what_(what), leaves_(leaves) {}

private:
  Part part(PyObject *object, Kind &kind) override {
    switch (kind) {
    case Kind::tensor: leaves_.push_back(checked(wrap(tensor_in(object)))); return Part::leaf;
    case Kind::variable: leaves_.push_back(nb::borrow(object)); return Part::leaf;
    case Kind::none: return Part::constant;
    case Kind::mapping: kind = Kind::dict; return Part::container;
    case Kind::list:
    case Kind::tuple:
    case Kind::named:
    case Kind::dict: return Part::container;
    default:
      throw DTypeError(std::string(what_) + " is or holds an object of type " +
                       Py_TYPE(object)->tp_name +
                       ": tensors and variables are wanted, or lists, tuples and dicts of them");
    }
  }
  void check_depth(int depth) override {
    if (depth > kDeepestTree)
      throw ValueError(std::string(what_) + ": the structure is nested too deep, or holds itself");
  }

  const char *what_;
  std::vector<nb::object> &leaves_;
};

} // namespace

Structure::Structure(PyObject *object, const char *what) {
  StructureVisitor visitor(what, leaves_);
  tree_.read(object, visitor, {.sorted = false});
}

std::vector<Tensor> Structure::tensors() const {
  std::vector<Tensor> tensors;
  for (const nb::object &leaf : leaves_)
    tensors.push_back(is_variable(leaf.ptr()) ? variable_in(leaf.ptr()).value()
                                              : tensor_in(leaf.ptr()));
  return tensors;
}

} // namespace weft::python
