// Results of traced functions, read once and built for each call.
#include "Results.h"

#include <weft/detail/staging.h>

namespace weft::python {

namespace {

class ResultVisitor final : public TreeVisitor {
public:
  ResultVisitor(const char *function, std::vector<Tensor> &tensors)
      : function_(function), tensors_(tensors) {}

  std::vector<nb::object> variables;

private:
  Part part(PyObject *object, Kind &kind) override {
    switch (kind) {
    case Kind::tensor: tensors_.push_back(tensor_in(object)); return Part::leaf;
    case Kind::array:
      tensors_.push_back(to_tensor(object, {function_, "the result"}));
      return Part::leaf;
    case Kind::variable: variables.push_back(nb::borrow(object)); return Part::leaf;
    case Kind::none:
    case Kind::number:
    case Kind::text:
    case Kind::bytes: return Part::constant;
    case Kind::list:
    case Kind::tuple:
    case Kind::named:
    case Kind::dict:
    case Kind::mapping:
    case Kind::record: return Part::container;
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
                       ": a traced function returns tensors, variables, numbers, text and None, "
                       "and lists, tuples, dicts and dataclasses of them");
    return Part::constant;
  }
  void check_depth(int depth) override { check_tree_depth(function_, depth); }

  const char *function_;
  std::vector<Tensor> &tensors_;
};

} // namespace

Prototype::Prototype(const char *function, PyObject *result, const HeldObjects &numbered,
                     const CallablePointer &owner, std::vector<Tensor> &tensors)
    : function_(function), numbered_(numbered) {
  ResultVisitor visitor(function, tensors);
  Tree tree;
  tree.read(result, visitor);
  root_ = std::move(tree.root.entries.front());
  if (root_.kind == Kind::tensor) form_ = Form::tensor;
  if (result == Py_None) form_ = Form::none;
  for (const nb::object &variable : visitor.variables) {
    const Variable &of = variable_in(variable.ptr());
    loose_.push_back({of.state(), of.name()});
  }
  nb::list references = numbered_.references();
  if (tree.objects.is_valid()) references.append(tree.objects);
  if (nb::len(references) != 0) objects_ = keep_in(owner, std::move(references));
}

Prototype::~Prototype() {
  // While Python ends it is no longer initialized, but its lock is there.
  if (PyGILState_Check() == 0 && Py_IsInitialized() == 0) {
    numbered_.abandon();
    return;
  }
  const Locked locked;
  numbered_ = {};
  objects_.reset();
}

void Prototype::bind() {
  for (const Loose &loose : loose_) {
    std::shared_ptr<VariableState> state = loose.state.lock();
    if (state == nullptr) {
      variables_.clear();
      detail::refuse_unkept(function_, loose.name);
    }
    variables_.push_back(std::move(state));
  }
  loose_.clear();
}

PyObject *Prototype::fill(std::vector<Tensor> tensors,
                          std::span<const detail::VariablePointer> from,
                          std::span<const detail::VariablePointer> to) {
  if (!loose_.empty()) bind();
  if (form_ == Form::tensor) return wrap(std::move(tensors[0]));
  if (form_ == Form::none) Py_RETURN_NONE;
  const nb::object alive = objects_ ? object_in(*objects_) : nb::object();
  std::size_t tensor = 0, variable = 0;
  return Tree::build(root_,
                     [&](const Tree::Node &node) -> nb::object {
                       if (node.kind == Kind::tensor)
                         return checked(wrap(std::move(tensors[tensor++])));
                       const std::shared_ptr<VariableState> &state = variables_[variable++];
                       for (std::size_t i = 0; i < from.size(); ++i)
                         if (state == *from[i]) return checked(wrap(Variable(*to[i])));
                       return checked(wrap(Variable(state)));
                     })
      .release()
      .ptr();
}

} // namespace weft::python
