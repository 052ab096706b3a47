// The classes of weft.optimizers: made for a model or variables, or for those of the first update.
#include "Optimizers.h"
#include "Define.h"
#include "Networks.h"
#include "Runs.h"
#include "Snapshots.h"
#include "Text.h"

#include <algorithm>

#include <weft/detail/staging.h>
#include <weft/optimizers.h>

namespace weft::python {

namespace {

using optimizers::LearningRate, optimizers::Optimizer;

/// A schedule of Python, which whoever keeps the link keeps.
optimizers::Schedule linked_schedule(const std::shared_ptr<Link> &link) {
  return [link](const Tensor &step) {
    const Locked locked;
    if (link->object == nullptr)
      throw StateError(
          "a learning rate of Python has gone with the optimizer that it was given to");
    const nb::object number = checked(wrap(step));
    const nb::object rate = checked(PyObject_CallOneArg(link->object, number.ptr()));
    return to_tensor(rate.ptr(), {"learning_rate", "what it gives"});
  };
}

bool is_number(PyObject *object) {
  return PyBool_Check(object) == 0 && (PyLong_Check(object) != 0 || PyFloat_Check(object) != 0);
}

/// Whether an object by position, the only one, is a learning rate and not what is trained.
bool is_rate(PyObject *object) {
  if (is_number(object) || schedule_of(object)) return true;
  return PyCallable_Check(object) != 0 && !is_model(object);
}

} // namespace

static void read(LearningRate &target, nb::handle value, const Place &place, Given &given) {
  if (is_variable(value.ptr())) {
    target = variable_in(value.ptr());
  } else if (auto schedule = schedule_of(value)) {
    target = std::move(schedule);
  } else if (is_model(value.ptr()) && !nn::named_variables(PythonParts(value)).empty()) {
    raise_type_error(place.text() + " is a " + Py_TYPE(value.ptr())->tp_name +
                     " with variables: an optimizer is for one model, or for a list of models");
  } else if (PyUnicode_Check(value.ptr()) == 0 && PyCallable_Check(value.ptr()) != 0) {
    auto link = std::make_shared<Link>(value.ptr());
    target = linked_schedule(link);
    given.links.push_back(std::move(link));
  } else {
    double number = 0;
    read(number, value, place, given);
    target = number;
  }
}

template <>
struct Shown<LearningRate> {
  static std::string type() { return "Any"; }
  static std::string value(const LearningRate &rate) { return shown_float(rate.number()); }
};

namespace {

nb::list listed(const std::vector<Variable> &variables) {
  nb::list list;
  for (const Variable &variable : variables) list.append(checked(wrap(variable)));
  return list;
}

//===----------------------------------------------------------------------===//
// The classes
//===----------------------------------------------------------------------===//

/// What is trained, of an argument: variables in a list, or a model.
Trained trained_by(OptimizerObject &self, nb::handle object) {
  if (is_variable(object.ptr()))
    raise_type_error(std::string(self.kind) + ": a variable alone may be what is trained or a "
                                              "learning rate: write [v], or learning_rate=v");
  if (PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0) {
    std::vector<Variable> list;
    bool only = true, empty = true;
    for (const nb::handle entry : object) {
      empty = false;
      only = only && is_variable(entry.ptr());
      if (only) list.push_back(variable_in(entry.ptr()));
    }
    if (empty)
      throw ValueError(std::string(self.kind) +
                       ": the list of variables is empty: a model lists none of layers that are "
                       "not built; hand over the model itself, or call or build it first");
    if (only) return list;
  } else if (!is_model(object.ptr()) && PyDict_Check(object.ptr()) == 0) {
    raise_type_error(std::string(self.kind) + ": " + shown_value(object) +
                     " is neither a model nor a list of variables, nor a learning rate");
  }
  return self.owned(object);
}

/// Makes an optimizer without variables that of a model; whether it was one. Other objects, of
/// classes of the user, are left as they are.
bool bind_to_model(nb::handle optimizer, nb::handle model) {
  if (!nb::isinstance<OptimizerObject>(optimizer)) return false;
  OptimizerObject &self = optimizer_in(optimizer.ptr());
  if (self.made) return false;
  if (!may_train(model))
    throw StateError("fit: the model has no variables that are trained, and replicas and "
                     "checkpoints want to know them before the first step: one that makes its "
                     "layers in its first call is called before");
  self.bind(self.owned(model));
  return true;
}

/// The class of an optimizer.
template <class O>
struct OptimizerClass {
  using Options = typename O::Options;

  static void define(const char *name, const char *documentation, const char *example) {
    static const auto &function = *new std::string(std::string("weft.optimizers.") + name);
    parameters() = {function.c_str(),
                    option_parameters<Options, Options>(
                        {}, [](Options &options) -> Options & { return options; }),
                    2, 0};
    parameters().list.insert(
        parameters().list.begin(),
        {{"variables", "Any", "None"}, [](Options &, nb::handle, const Place &, Given &) {}});
    std::vector<PyType_Slot> &slots =
        *new std::vector<PyType_Slot>{{Py_tp_init, reinterpret_cast<void *>(initialize)},
                                      {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                                      {Py_tp_clear, reinterpret_cast<void *>(clear)},
                                      {0, nullptr}};
    const std::string text = parameters().documented(name, documentation, example);
    auto type =
        ClassOf<Of, OptimizerObject>(family("optimizers"), name, nb::type_slots(slots.data()),
                                     nb::is_weak_referenceable(), text.c_str());
    type.attr("__module__") = "weft.optimizers";
    add_to_family("optimizers", name, type);
  }

private:
  struct Of final : OptimizerObject {};

  static ParameterTable<Options> &parameters() {
    static auto &parameters = *new ParameterTable<Options>;
    return parameters;
  }

  static int initialize(PyObject *object, PyObject *args, PyObject *keywords) {
    return guarded([&] {
      const ParameterTable<Options> &all = parameters();
      if (nb::inst_ready(object))
        throw StateError(std::string(all.function) + ": it was initialized already");
      // A learning rate by position.
      nb::object given = nb::borrow(args);
      nb::object trained;
      if (PyTuple_GET_SIZE(args) == 1 && is_rate(PyTuple_GET_ITEM(args, 0)))
        given = nb::make_tuple(nb::none(), nb::handle(PyTuple_GET_ITEM(args, 0)));
      Options options;
      Given more;
      const nb::object own = words_of(keywords);
      keywords = own.ptr();
      all.read_call(given.ptr(), keywords, options, more);
      if (PyTuple_GET_SIZE(given.ptr()) > 0) trained = nb::object(given[0]);
      else if (keywords != nullptr)
        if (PyObject *value = PyDict_GetItemString(keywords, "variables"); value != nullptr)
          trained = nb::borrow(value);
      auto *self = new (nb::inst_ptr<Of>(object)) Of();
      self->kind = std::string_view(all.function).rfind('.') + 1 + all.function;
      nb::inst_mark_ready(object);
      self->take(more);
      self->arguments = options_in(given, keywords);
      if (const Variable *rate = options.learning_rate.variable()) self->rate = *rate;
      self->make = [options](const Trained &what) {
        return std::visit([&](const auto &of) -> Optimizer { return O(of, options); }, what);
      };
      if (trained.is_valid() && !trained.is_none()) self->bind(trained_by(*self, trained));
      else self->unbound = unbound(options);
      return 0;
    });
  }
  /// All but what is trained.
  static nb::dict options_in(nb::handle given, PyObject *keywords) {
    nb::dict named;
    if (nb::len(given) > 1) named["learning_rate"] = nb::object(given[1]);
    if (keywords != nullptr) named.update(nb::borrow<nb::dict>(keywords));
    if (named.contains("variables")) nb::del(named["variables"]);
    return named;
  }
  /// Checks the options, too.
  static Optimizer unbound(Options options) {
    // The name that variables of the state will have stays free.
    if (options.name.empty()) options.name = "unbound";
    return O(std::vector{Variable(0.F)}, options);
  }
  static int traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    if (!nb::inst_ready(object)) return 0;
    const auto *self = nb::inst_ptr<Of>(object);
    if (self->model) Py_VISIT(self->model->object);
    return self->traverse(visit, arg);
  }
  static int clear(PyObject *object) {
    if (nb::inst_ready(object)) nb::inst_ptr<Of>(object)->let_go();
    return 0;
  }
};

template <class O>
void optimizer(const char *name, const char *documentation, const char *example) {
  OptimizerClass<O>::define(name, documentation, example);
}

void set_rate(OptimizerObject &self, nb::handle value) {
  if (!self.rate)
    throw StateError(std::string(self.kind) +
                     ": the learning rate is part of compiled functions, and stays as it is: make "
                     "the optimizer with learning_rate=weft.Variable(1e-3), which can be assigned");
  const Tensor number = to_tensor_of(value.ptr(), self.rate->dtype(), {self.kind, "learning_rate"});
  self.rate->assign(number);
}

//===----------------------------------------------------------------------===//
// Pickles and copies
//===----------------------------------------------------------------------===//

nb::list values_of(const std::vector<Variable> &variables) {
  nb::list list;
  for (const Variable &variable : variables)
    list.append(variable.initialized() ? checked(wrap(variable)) : nb::none());
  return list;
}

/// The class and the options; then what is trained, the state, and attributes of a subclass.
nb::object reduce(nb::handle_t<OptimizerObject> object) {
  const OptimizerObject &self = optimizer_in(object.ptr());
  nb::object trained = nb::none(), state = nb::none();
  if (self.made) {
    if (const auto *variables = std::get_if<std::vector<Variable>>(&self.trained))
      trained = listed(*variables);
    else trained = nb::borrow(self.model->object);
    if (self.made->is_sharded())
      throw StateError(self.kind + std::string(": the state is cut over ranks, of which this one "
                                               "has a part: call gather_state() on all of them "
                                               "before it is pickled or copied"));
    state = values_of(self.made->state());
  }
  return nb::make_tuple(
      nb::module_::import_("weft._copies").attr("unpickled_optimizer"),
      nb::make_tuple(object.type(), self.arguments),
      nb::make_tuple(trained, state, nb::getattr(object, "__dict__", nb::dict())));
}

void set_state(nb::handle_t<OptimizerObject> object, const nb::tuple &given) {
  OptimizerObject &self = optimizer_in(object.ptr());
  const nb::object trained = given[0], state = given[1];
  if (!trained.is_none()) self.set(trained_by(self, trained), nb::cast<nb::list>(state));
  if (const nb::dict attributes = given[2]; nb::len(attributes) != 0)
    object.attr("__dict__").attr("update")(attributes);
}

void define_base(nb::module_ &module) {
  auto type = ClassOf<OptimizerObject, Visitable>(
      module, "Optimizer", nb::type_slots(config_slots), nb::is_weak_referenceable(),
      "What all optimizers are: made for a model or a list of variables, or, without either, for "
      "those of the first update."
      "\n\nExample:\n"
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> optimizer = wf.optimizers.SGD([w], learning_rate=0.25)\n"
      "    >>> isinstance(optimizer, wf.optimizers.Optimizer)\n"
      "    True\n"
      "    >>> optimizer.apply_gradients([wf.tensor([2.0])])\n"
      "    >>> w.value(), optimizer.step\n"
      "    (tensor([0.5], shape=(1,), dtype=float32), tensor(1, shape=(), dtype=int64))\n");
  define_updates(type);
  define_config(type);
  type.def(
          "swap_averages",
          [](OptimizerObject &self) { self.bound("swap_averages").swap_averages(); },
          "Exchanges weights and their averages: once before testing, once after.")
      .def(
          "shard_state",
          [](OptimizerObject &self, nb::handle group, bool weights) {
            const distributed::Group over = group_of(group, self.kind);
            self.bound("shard_state").shard_state(over, {.weights = weights});
          },
          Arg("group").as("Group | None") = nb::none(), keyword_only,
          Arg("weights").as("bool") = false,
          "Cuts the state over the ranks of a group, by default the world (ZeRO-1): of all "
          "variables, one behind the other, each rank keeps as many bytes of state as any other. "
          "All ranks call it, with equal weights and state. An update is then a collective, to "
          "which all come with equal gradients: each updates its part of the weights, and all get "
          "all of them, with the bits that whole state gives. `state` has the parts."
          "\n\nWith `weights` these are cut as well (ZeRO-3): what reads one gathers it from all "
          "ranks, which all do so, and forgets it when it was used; an update sends nothing. A "
          "value that is assigned on all ranks leaves each its part. Traced functions that assign "
          "such a variable, or have it as an argument, are a StateError, and so is "
          "`save_weights`."
          "\n\nRaises:\n"
          "    ValueError: for a method that takes norms of whole variables (Lamb), and for "
          "`clip_norm` and `clip_global_norm` where gradients are accumulated\n"
          "    StateError: if the state is cut over other ranks; and in a traced function for "
          "updates from then on"
          "\n\nExample:\n"
          "    >>> adam = wf.optimizers.Adam([wf.Variable([1.0, 2.0])])\n"
          "    >>> adam.shard_state()  # with `mpirun -n 2`, one of the two elements\n"
          "    >>> adam.gather_state()\n")
      .def(
          "gather_state", [](OptimizerObject &self) { self.bound("gather_state").gather_state(); },
          "Has the whole state, and weights, on all ranks again, if they were cut: a collective."
          "\n\nExample:\n"
          "    >>> adam = wf.optimizers.Adam([wf.Variable([1.0, 2.0])])\n"
          "    >>> adam.gather_state()\n"
          "    >>> [each.shape for each in adam.state]\n"
          "    [(), (2,), (2,)]\n")
      .def_prop_ro(
          "step",
          [](OptimizerObject &self) {
            self.settle();
            return (self.made ? *self.made : *self.unbound).step();
          },
          "The number of updates so far, an int64 scalar.")
      .def_prop_rw(
          "learning_rate",
          [](OptimizerObject &self) -> nb::object {
            self.settle();
            if (self.rate) return checked(wrap(*self.rate));
            return checked(wrap((self.made ? *self.made : *self.unbound).learning_rate()));
          },
          Constant<set_rate>(),
          "The learning rate of the next update: the variable that it was made with, which can be "
          "assigned, or a float64 scalar.")
      .def_prop_ro(
          "variables",
          [](OptimizerObject &self) {
            self.settle();
            return self.made ? listed(self.listed()) : nb::list();
          },
          "The variables that it updates and that have values, in the order of gradients.")
      .def_prop_ro(
          "state",
          [](OptimizerObject &self) {
            self.settle();
            return self.made ? listed(self.made->state()) : nb::list();
          },
          "Its own variables: the step, then what it keeps for each.")
      .def_prop_ro("name", [](const OptimizerObject &self) { return self.kind; })
      .def("__repr__",
           [](OptimizerObject &self) {
             self.settle();
             return "<weft.optimizers." + std::string(self.kind) +
                    (self.made ? ">" : ", of no variables yet>");
           })
      .def<reduce>("__reduce__")
      .def<set_state>("__setstate__(given)")
      .attr("__module__") = "weft.optimizers";
}

} // namespace

void define_optimizers(nb::module_ &module) {
  namespace o = optimizers;
  define_base(module);
  define<bind_to_model>(module, "internal_bind_optimizer(optimizer, model)");
  optimizer<o::SGD>(
      "SGD", "Stochastic gradient descent: w -= learning_rate g.",
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> with wf.GradientTape() as tape:\n"
      "    ...     loss = wf.sum(w * w)\n"
      "    >>> wf.optimizers.SGD([w], learning_rate=0.25).apply_gradients(tape.gradient(loss, "
      "[w]))\n"
      "    >>> w.value()\n"
      "    tensor([0.5], shape=(1,), dtype=float32)\n");
  optimizer<o::Adam>("Adam", "Adam (Kingma & Ba 2015).",
                     "    >>> w = wf.Variable([1.0])\n"
                     "    >>> adam = wf.optimizers.Adam([w], learning_rate=0.1)\n"
                     "    >>> for _ in range(100):\n"
                     "    ...     loss = adam.minimize(lambda: wf.sum((w - 3) ** 2))\n"
                     "    >>> np.round(w, 1)\n"
                     "    array([3.], dtype=float32)\n");
  optimizer<o::AdamW>(
      "AdamW", "Adam with decoupled weight decay (Loshchilov & Hutter 2019).",
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> adamw = wf.optimizers.AdamW([w], learning_rate=0.1, weight_decay=0.5)\n"
      "    >>> adamw.apply_gradients([wf.tensor([2.0])])\n"
      "    >>> np.round(w, 3)\n"
      "    array([0.85], dtype=float32)\n");
  optimizer<o::RMSprop>(
      "RMSprop", "RMSprop (Hinton 2012).",
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> wf.optimizers.RMSprop([w], learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
      "    >>> np.round(w, 3)\n"
      "    array([0.684], dtype=float32)\n");
  optimizer<o::Adagrad>(
      "Adagrad", "Adagrad (Duchi et al. 2011).",
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> wf.optimizers.Adagrad([w], learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
      "    >>> np.round(w, 3)\n"
      "    array([0.901], dtype=float32)\n");
  optimizer<o::Adadelta>(
      "Adadelta", "Adadelta (Zeiler 2012).",
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> wf.optimizers.Adadelta([w], learning_rate=1.0).apply_gradients([wf.tensor([2.0])])\n"
      "    >>> np.round(w, 3)\n"
      "    array([0.999], dtype=float32)\n");
  optimizer<o::Lamb>(
      "Lamb", "LAMB (You et al. 2020).",
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> wf.optimizers.Lamb([w], learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
      "    >>> np.round(w, 3)\n"
      "    array([0.9], dtype=float32)\n");
  optimizer<o::Lion>(
      "Lion", "Lion (Chen et al. 2023).",
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> wf.optimizers.Lion([w], learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
      "    >>> np.round(w, 3)\n"
      "    array([0.9], dtype=float32)\n");
}

} // namespace weft::python
