// What an optimizer of Python holds: the library's, once there is something to update.
#pragma once

#include "Bound.h"
#include "Define.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <weft/optimizers.h>

namespace weft::python {

/// What an optimizer updates: variables in a list, or those of a model.
using Trained = std::variant<std::vector<Variable>, LinkedModel>;

/// Whether a class of the user's has an `apply_gradients` of its own.
bool has_own_updates(nb::handle object);

struct OptimizerObject : MadeObject {
  static constexpr const char *kModule = "weft.optimizers";

  const char *kind = "";
  std::function<optimizers::Optimizer(const Trained &)> make;
  std::optional<optimizers::Optimizer> made;
  std::optional<optimizers::Optimizer>
      unbound; ///< of a variable of no meaning, until there are others
  Trained trained;
  std::shared_ptr<Link> model; ///< whose object is owned, if it was made for one
  std::optional<Variable> rate;
  std::vector<Variable> order; ///< the variables that gradients are for, once all have values

  ~OptimizerObject() override { let_go(); }

  void visit(StructureVisitor &visitor) override {
    settle();
    if (made) std::as_const(*made).weft_visit(visitor);
  }
  bool is_optimizer() const override { return true; }

  void let_go() {
    clear();
    if (const std::shared_ptr<Link> before = std::exchange(model, nullptr)) before->disown();
  }

  /// The model, which it owns from now on.
  LinkedModel owned(nb::handle object) {
    model = std::make_shared<Link>(object.ptr());
    model->own();
    return LinkedModel(model);
  }
  /// What a pickle or a copy had: it is made for that when it is first used, for the model may not
  /// have its attributes before, which this may be one of. `state` are the values of its variables,
  /// None for those without.
  void set(Trained what, const nb::list &state);
  void settle();
  /// Makes it for what is trained.
  void bind(Trained what) {
    made = make(what);
    trained = std::move(what);
    unbound.reset();
  }
  /// What is made for it. Throws StateError, which says what was asked, if nothing is.
  const optimizers::Optimizer &bound(const char *what);

  /// The variables that have values, in the order of gradients.
  const std::vector<Variable> &listed();

private:
  std::vector<Variable> incomplete_;
  nb::object state_; ///< until it is settled
};

/// The optimizer in an object of Python, settled.
OptimizerObject &optimizer_in(PyObject *object);

/// Defines `apply_gradients` and `minimize`.
void define_updates(ClassOf<OptimizerObject, Visitable> &type);

} // namespace weft::python
