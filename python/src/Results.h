// What a traced function returned, which each call of its program gives anew.
#pragma once

#include "ArgumentWalker.h"
#include "Foreign.h"

namespace weft::python {

/// The result of a function while it was traced: its containers as they were then, and what is no
/// tensor in them. It holds what the trace's signature names, too. Objects of Python are kept by
/// the owner of the slot, in sight of the collector. With the lock of Python.
class Prototype {
public:
  /// Reads a result and adds its tensors. Throws TypeError for what no call could give anew.
  Prototype(const char *function, PyObject *result, const HeldObjects &numbered,
            const CallablePointer &owner, std::vector<Tensor> &tensors);
  /// With the lock or without.
  ~Prototype();
  Prototype(const Prototype &) = delete;
  Prototype &operator=(const Prototype &) = delete;

  /// The result of a call: new containers with these tensors, and with variables `to` where the
  /// trace returned those that stand for them, `from`.
  PyObject *fill(std::vector<Tensor> tensors, std::span<const detail::VariablePointer> from,
                 std::span<const detail::VariablePointer> to);

  int is_short = -1; ///< whether calls keep the lock of Python; asked once
  /// Leaves of the arguments whose items the function assigns. What they are then follows the
  /// tensors of the result.
  std::vector<std::uint32_t> assigned;

private:
  enum class Form : std::uint8_t { tensor, none, tree };
  /// A variable of the result, until the trace is complete, which must see whether somebody else
  /// keeps it.
  struct Loose {
    std::weak_ptr<VariableState> state;
    std::string name;
  };

  /// Takes the variables. Throws StateError for one that nobody keeps.
  void bind();

  const std::string function_;
  Tree::Node root_;
  Form form_ = Form::tree;
  KeptPointer objects_;
  HeldObjects numbered_;
  std::vector<Loose> loose_;
  std::vector<std::shared_ptr<VariableState>> variables_;
};

} // namespace weft::python
