// Updates by optimizers of Python: by gradients of variables in any order, and of losses.
#include "Define.h"
#include "Optimizers.h"
#include "Restores.h"
#include "Snapshots.h"

#include <algorithm>
#include <unordered_map>

#include "Text.h"
#include <weft/detail/staging.h>

namespace weft::python {

OptimizerObject &optimizer_in(PyObject *object) {
  auto &self = static_cast<OptimizerObject &>(visitable_in(object));
  self.settle();
  return self;
}

void OptimizerObject::set(Trained what, const nb::list &state) {
  trained = std::move(what);
  state_ = state;
  const auto *of = std::get_if<LinkedModel>(&trained);
  if (of == nullptr) return settle();
  const auto all = nn::named_variables(*of);
  if (std::ranges::none_of(all, [](const auto &entry) { return entry.variable.trainable(); }))
    return;
  if (make(trained).state().size() == nb::len(state)) settle();
}

void OptimizerObject::settle() {
  if (!state_.is_valid()) return;
  const nb::list values = nb::borrow<nb::list>(state_);
  if (!made) bind(std::move(trained));
  const std::vector<Variable> own = made->state();
  if (own.size() != nb::len(values))
    throw ValueError(std::string(kind) + ": it was pickled with " +
                     std::to_string(nb::len(values)) + " variables of its own, and has " +
                     std::to_string(own.size()) + " for the model as it is");
  state_ = nb::object();
  weft::detail::run_eagerly([&] {
    for (std::size_t i = 0; i < own.size(); ++i) {
      const nb::object given = values[i];
      if (given.is_none()) continue;
      if (!own[i].initialized())
        throw StateError(std::string(kind) + ": it was pickled with a value of '" + own[i].name() +
                         "', and the variable that this is for has none");
      own[i].assign(variable_in(given.ptr()).value());
    }
  });
}

const optimizers::Optimizer &OptimizerObject::bound(const char *what) {
  settle();
  if (!made)
    throw StateError(std::string(kind) + ": " + what +
                     " was asked before the first update, and the optimizer was made without "
                     "variables: write " +
                     kind + "(model), or apply gradients first");
  return *made;
}

const std::vector<Variable> &OptimizerObject::listed() {
  if (!order.empty()) return order;
  std::vector<Variable> all;
  bool complete = true;
  const auto add = [&](const Variable &variable) {
    if (!variable.trainable() && std::holds_alternative<LinkedModel>(trained)) return;
    if (variable.initialized()) all.push_back(variable);
    else complete = false;
  };
  if (const auto *list = std::get_if<std::vector<Variable>>(&trained))
    for (const Variable &variable : *list) add(variable);
  else
    for (const nn::NamedVariable &entry : nn::named_variables(std::get<LinkedModel>(trained)))
      add(entry.variable);
  if (complete) return order = std::move(all);
  incomplete_ = std::move(all);
  return incomplete_;
}

bool has_own_updates(nb::handle object) {
  const nb::handle base = nb::type<OptimizerObject>();
  return !nb::object(object.type().attr("apply_gradients")).is(base.attr("apply_gradients"));
}

namespace {

Tensor gradient_of(PyObject *object, const char *kind) {
  if (object == Py_None) return {};
  if (is_tensor(object)) return tensor_in(object);
  if (is_variable(object)) return variable_in(object).value();
  return to_tensor(object, {kind, "a gradient"});
}

/// The gradients of a structure of lists, tuples and dicts, None among them.
void flatten(PyObject *object, const char *kind, std::vector<Tensor> &gradients, int depth = 0) {
  constexpr int kDeepestOfAll = 256;
  if (depth > kDeepestOfAll)
    throw ValueError(std::string(kind) + ": the gradients are nested too deep, or hold themselves");
  if (PyDict_Check(object) != 0) {
    const nb::object values = checked(PyDict_Values(object));
    for (const nb::handle value : values) flatten(value.ptr(), kind, gradients, depth + 1);
  } else if (PyList_Check(object) != 0 || PyTuple_Check(object) != 0) {
    const nb::object items = checked(PySequence_Tuple(object));
    for (const nb::handle value : items) flatten(value.ptr(), kind, gradients, depth + 1);
  } else {
    gradients.push_back(gradient_of(object, kind));
  }
}

/// A tuple or list of something and a variable as a tuple; null for anything else.
nb::object pair_of(PyObject *object) {
  if (PyTuple_Check(object) == 0 && PyList_Check(object) == 0) return {};
  nb::tuple entries = entries_of(object);
  if (entries.size() != 2 || !is_variable(nb::handle(entries[1]).ptr())) return {};
  return entries;
}

/// Gradients and variables in the order of a zip.
struct Pairs {
  std::vector<Tensor> gradients;
  std::vector<Variable> variables;
};

/// The pairs in a list; nothing if these are gradients alone.
std::optional<Pairs> pairs_in(const nb::object &items, const char *kind) {
  std::vector<nb::object> pairs;
  for (const nb::handle item : items)
    if (nb::object pair = pair_of(item.ptr()); pair.is_valid()) pairs.push_back(std::move(pair));
  if (pairs.empty()) return std::nullopt;
  if (pairs.size() != nb::len(items))
    throw DTypeError(std::string(kind) + ": apply_gradients takes pairs of a gradient and a "
                                         "variable, as of zip(gradients, variables), or gradients "
                                         "alone, and was given both");
  Pairs all;
  for (const nb::object &pair : pairs) {
    all.gradients.push_back(gradient_of(PyTuple_GET_ITEM(pair.ptr(), 0), kind));
    all.variables.push_back(variable_in(PyTuple_GET_ITEM(pair.ptr(), 1)));
  }
  return all;
}

/// The variables of an optimizer with those that its model has come to hold, if one of `wanted` is
/// none of those that it knows.
const std::vector<Variable> &order_with(OptimizerObject &self,
                                        const std::vector<Variable> &wanted) {
  const std::vector<Variable> &known = self.listed();
  const bool all = std::ranges::all_of(wanted, [&](const Variable &variable) {
    return std::ranges::find(known, variable) != known.end();
  });
  if (all) return known;
  self.order.clear();
  self.made->relist();
  return self.listed();
}

/// The gradients of pairs in the order of the optimizer's variables, undefined where there is none.
std::vector<Tensor> in_order(OptimizerObject &self, Pairs pairs) {
  if (self.listed() == pairs.variables) return std::move(pairs.gradients);
  const std::vector<Variable> &order = order_with(self, pairs.variables);
  std::unordered_map<const VariableState *, std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i].state().get()] = i;
  std::vector<Tensor> gradients(order.size());
  std::vector<bool> taken(order.size());
  for (std::size_t i = 0; i < pairs.variables.size(); ++i) {
    const Variable &variable = pairs.variables[i];
    const auto found = places.find(variable.state().get());
    if (found == places.end())
      throw ValueError(std::string(self.kind) + ": there is a gradient for the variable '" +
                       variable.name() +
                       "', which is none of those that the optimizer was made for or first "
                       "updated: make an optimizer for it");
    if (taken[found->second])
      throw ValueError(std::string(self.kind) + ": there are two gradients for the variable '" +
                       variable.name() + "'");
    taken[found->second] = true;
    gradients[found->second] = pairs.gradients[i];
  }
  return gradients;
}

/// Gradients in the order of the variables of an optimizer, which is made for these if it was for
/// none.
std::vector<Tensor> gradients_for(OptimizerObject &self, nb::handle given) {
  std::vector<Tensor> gradients;
  const bool sequence = PyDict_Check(given.ptr()) == 0 && !is_tensor(given.ptr());
  std::optional<Pairs> pairs;
  nb::object items;
  if (sequence) {
    items = nb::steal(PySequence_Tuple(given.ptr()));
    if (!items.is_valid()) {
      PyErr_Clear();
      raise_type_error(std::string(self.kind) + ": apply_gradients was given a " +
                       Py_TYPE(given.ptr())->tp_name +
                       ": zip(gradients, variables) is wanted, or gradients in the order of the "
                       "variables");
    }
    pairs = pairs_in(items, self.kind);
  }
  if (pairs) {
    if (!self.made) self.bind(pairs->variables);
    gradients = in_order(self, *std::move(pairs));
  } else {
    if (!self.made)
      throw StateError(std::string(self.kind) +
                       ": it was made without variables, so that the first gradients come with "
                       "theirs: apply_gradients(zip(gradients, variables))");
    flatten(sequence ? items.ptr() : given.ptr(), self.kind, gradients);
  }
  if (waiting_restores != 0) {
    // What is kept for variables that came later is there before it is restored and updated.
    self.made->relist();
    restore_attached();
  }
  return gradients;
}

/// How many elements are computed at once.
std::int64_t elements_of(const std::vector<Tensor> &gradients) {
  std::int64_t elements = 0;
  if (!weft::detail::is_tracing())
    for (const Tensor &gradient : gradients)
      if (gradient.defined()) elements += gradient.impl()->size;
  return elements;
}

void apply_gradients(nb::handle_t<OptimizerObject> object, nb::handle given) {
  OptimizerObject &self = optimizer_in(object.ptr());
  const std::vector<Tensor> gradients = gradients_for(self, given);
  unlocked(elements_of(gradients), [&] { self.made->apply_gradients(gradients); });
}

/// What a loss is in: what the function gives, or the first entry of that.
nb::object loss_in(const nb::object &given) {
  const bool listed = PyTuple_Check(given.ptr()) != 0 || PyList_Check(given.ptr()) != 0;
  return listed && nb::len(given) != 0 ? nb::object(given[0]) : given;
}

nb::object minimize(nb::handle_t<OptimizerObject> object, nb::handle loss, nb::handle variables) {
  OptimizerObject &self = optimizer_in(object.ptr());
  if (!variables.is_none()) {
    std::vector<Variable> list;
    for (const nb::handle variable : variables) {
      if (!is_variable(variable.ptr()))
        raise_type_error(std::string(self.kind) + ": minimize: variables holds a " +
                         Py_TYPE(variable.ptr())->tp_name + ": a list of variables is wanted");
      list.push_back(variable_in(variable.ptr()));
    }
    if (!self.made) self.bind(std::move(list));
    else if (list != self.listed())
      throw ValueError(std::string(self.kind) +
                       ": minimize: these are not the variables that it was made for");
  }
  const optimizers::Optimizer &bound = self.bound("minimize");
  if (has_own_updates(object))
    return nb::module_::import_("weft._bases")
        .attr("minimized")(object, loss, nb::none(), /*pairs=*/false);
  nb::object given, value;
  Tensor tensor = bound.minimize([&] {
    given = checked(PyObject_CallNoArgs(loss.ptr()));
    value = loss_in(given);
    return to_tensor(value.ptr(), {"minimize", "what the loss gives"});
  });
  return value.is(given) ? checked(wrap(std::move(tensor))) : given;
}

using optimizers::LossScale;

void define_loss_scale() {
  nb::module_ module = family("optimizers");
  const auto type =
      ClassOf<LossScale>(
          module, "LossScale", nb::is_final(),
          "Keeps gradients of 16-bit floats in their range: what is differentiated is the loss "
          "times a scale, by which the gradients are divided. Where one of these is not finite the "
          "update is skipped and, if it is dynamic, the scale divided by `factor`; after "
          "`growth_interval` updates on end it is multiplied by it."
          "\n\nExample:\n"
          "    >>> w = wf.Variable([1.0])\n"
          "    >>> scale = wf.optimizers.LossScale()\n"
          "    >>> sgd = wf.optimizers.SGD([w], learning_rate=0.25)\n"
          "    >>> scale.minimize(sgd, lambda: wf.sum(w * w))\n"
          "    tensor(1.0, shape=(), dtype=float32)\n"
          "    >>> w.value()\n"
          "    tensor([0.5], shape=(1,), dtype=float32)\n")
          .def(
              "__init__",
              [](LossScale *self, double initial, bool dynamic, std::int64_t growth_interval,
                 double factor, std::string name) {
                new (self) LossScale({.initial = initial,
                                      .dynamic = dynamic,
                                      .growth_interval = growth_interval,
                                      .factor = factor,
                                      .name = std::move(name)});
              },
              Arg("initial") = 32768., Arg("dynamic") = true, Arg("growth_interval") = 2000,
              Arg("factor") = 2., Arg("name") = "loss_scale")
          .def_prop_ro(
              "scale", [](const LossScale &self) { return nb::steal(wrap(self.scale())); },
              Returns{"Variable"}, "What losses are multiplied by.")
          .def(
              "scaled",
              [](const LossScale &self, nb::handle loss) {
                return self.scaled(to_tensor(loss.ptr(), {"LossScale", "loss"}));
              },
              Arg("loss").none().as("TensorLike"), "The loss times the scale.")
          .def(
              "apply_gradients",
              [](const LossScale &self, nb::handle optimizer, nb::handle given) {
                OptimizerObject &of = optimizer_in(optimizer.ptr());
                const std::vector<Tensor> gradients = gradients_for(of, given);
                return unlocked(elements_of(gradients),
                                [&] { return self.apply_gradients(*of.made, gradients); });
              },
              Arg("optimizer"), Arg("gradients").none(),
              "Divides gradients of the scaled loss by the scale and has the optimizer apply them "
              "if all are finite: whether they were.")
          .def(
              "minimize",
              [](const LossScale &self, nb::handle optimizer, nb::handle loss) {
                OptimizerObject &of = optimizer_in(optimizer.ptr());
                return self.minimize(of.bound("minimize"), [&] {
                  const nb::object value = checked(PyObject_CallNoArgs(loss.ptr()));
                  return to_tensor(value.ptr(), {"minimize", "what the loss gives"});
                });
              },
              Arg("optimizer"), Arg("loss").none(),
              "Runs `loss`, a function without parameters that gives a scalar; has the optimizer "
              "update by its gradients, and gives what it gave.");
  publish(module, type);
}

} // namespace

void define_updates(ClassOf<OptimizerObject, Visitable> &type) {
  define_loss_scale();
  type.def<apply_gradients>(
          "apply_gradients", Arg("gradients").none(),
          "Updates the variables: by zip(gradients, variables), or by gradients alone in the order "
          "of the variables that it was made for. A gradient that is None leaves its variable as "
          "it is.")
      .def<minimize>(
          "minimize", Arg("loss").none(), Arg("variables") = nb::none(),
          "Runs `loss`, a function without parameters that gives a scalar, or a tuple whose first "
          "part is one and whose rest is carried along; updates by the scalar's gradients, and "
          "gives what it gave.");
}

} // namespace weft::python
