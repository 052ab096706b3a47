// The classes of weft.optimizers: made for a model or variables, or for those of the first update.
#include "Networks.h"
#include "Text.h"

#include <algorithm>
#include <unordered_map>
#include <variant>

#include <weft/detail/staging.h>
#include <weft/optimizers.h>

namespace weft::python {

namespace {

using optimizers::LearningRate, optimizers::Optimizer;

/// A schedule of Python, which whoever keeps the link keeps.
optimizers::Schedule linked_schedule(const std::shared_ptr<Link> &link) {
  return [link](const Tensor &step) {
    const nb::gil_scoped_acquire locked;
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

namespace {

//===----------------------------------------------------------------------===//
// The object
//===----------------------------------------------------------------------===//

/// What an optimizer updates: variables in a list, or those of a model.
using Trained = std::variant<std::vector<Variable>, LinkedModel>;

struct OptimizerObject : MadeObject {
  static constexpr const char *kModule = "weft.optimizers";

  const char *kind = "";
  std::function<Optimizer(const Trained &)> make;
  std::optional<Optimizer> made;
  std::optional<Optimizer> unbound; ///< of a variable of no meaning, until there are others
  Trained trained;
  std::shared_ptr<Link> model; ///< whose object is owned, if it was made for one
  std::optional<Variable> rate;
  std::vector<Variable> order; ///< the variables that gradients are for, once all have values

  ~OptimizerObject() override { let_go(); }

  void visit(StructureVisitor &visitor) override {
    if (made) std::as_const(*made).weft_visit(visitor);
  }
  bool is_optimizer() const override { return true; }

  void let_go() {
    clear();
    if (const std::shared_ptr<Link> before = std::exchange(model, nullptr)) before->disown();
  }

  /// Makes it for what is trained.
  void bind(Trained what) {
    made = make(what);
    trained = std::move(what);
    unbound.reset();
  }
  const Optimizer &bound(const char *what) const {
    if (!made)
      throw StateError(std::string(kind) + ": " + what +
                       " was asked before the first update, and the optimizer was made without "
                       "variables: write " +
                       kind + "(model), or apply gradients first");
    return *made;
  }

  /// The variables that have values, in the order of gradients.
  const std::vector<Variable> &listed() {
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

private:
  std::vector<Variable> incomplete_;
};

OptimizerObject &self_of(PyObject *self) {
  return static_cast<OptimizerObject &>(visitable_in(self));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

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

bool is_pair(PyObject *object) {
  return (PyTuple_Check(object) != 0 && PyTuple_GET_SIZE(object) == 2 &&
          is_variable(PyTuple_GET_ITEM(object, 1))) ||
         (PyList_Check(object) != 0 && PyList_GET_SIZE(object) == 2 &&
          is_variable(PyList_GET_ITEM(object, 1)));
}

/// Gradients and variables in the order of a zip.
struct Pairs {
  std::vector<Tensor> gradients;
  std::vector<Variable> variables;
};

/// The pairs in a list; nothing if these are gradients alone.
std::optional<Pairs> pairs_in(const nb::object &items, const char *kind) {
  const Py_ssize_t count = PyList_GET_SIZE(items.ptr());
  Py_ssize_t pairs = 0;
  for (Py_ssize_t i = 0; i < count; ++i) pairs += is_pair(PyList_GET_ITEM(items.ptr(), i)) ? 1 : 0;
  if (pairs == 0) return std::nullopt;
  if (pairs != count)
    throw DTypeError(std::string(kind) + ": apply_gradients takes pairs of a gradient and a "
                                         "variable, as of zip(gradients, variables), or gradients "
                                         "alone, and was given both");
  Pairs all;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::object pair = checked(PySequence_Tuple(PyList_GET_ITEM(items.ptr(), i)));
    all.gradients.push_back(gradient_of(PyTuple_GET_ITEM(pair.ptr(), 0), kind));
    all.variables.push_back(variable_in(PyTuple_GET_ITEM(pair.ptr(), 1)));
  }
  return all;
}

/// The gradients of pairs in the order of the optimizer's variables, undefined where there is none.
std::vector<Tensor> in_order(OptimizerObject &self, Pairs pairs) {
  const std::vector<Variable> &order = self.listed();
  if (order == pairs.variables) return std::move(pairs.gradients);
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

void apply_gradients(nb::handle_t<OptimizerObject> object, nb::handle given) {
  OptimizerObject &self = self_of(object.ptr());
  std::vector<Tensor> gradients;
  const bool sequence = PyDict_Check(given.ptr()) == 0 && !is_tensor(given.ptr());
  std::optional<Pairs> pairs;
  nb::object items;
  if (sequence) {
    items = nb::steal(PySequence_List(given.ptr()));
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
  std::int64_t elements = 0;
  if (!weft::detail::is_tracing())
    for (const Tensor &gradient : gradients)
      if (gradient.defined()) elements += gradient.impl()->size;
  unlocked(elements, [&] { self.made->apply_gradients(gradients); });
}

Tensor minimize(nb::handle_t<OptimizerObject> object, nb::handle loss, nb::handle variables) {
  OptimizerObject &self = self_of(object.ptr());
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
  return self.bound("minimize").minimize([&] {
    const nb::object value = checked(PyObject_CallNoArgs(loss.ptr()));
    return to_tensor(value.ptr(), {"minimize", "what the loss gives"});
  });
}

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
    bool only = true;
    for (const nb::handle entry : object) {
      only = only && is_variable(entry.ptr());
      if (only) list.push_back(variable_in(entry.ptr()));
    }
    if (only) return list;
  } else if (!is_model(object.ptr()) && PyDict_Check(object.ptr()) == 0) {
    raise_type_error(std::string(self.kind) + ": " + repr_of(object) +
                     " is neither a model nor a list of variables, nor a learning rate");
  }
  self.model = std::make_shared<Link>(object.ptr());
  self.model->own();
  return LinkedModel(self.model);
}

template <class O>
std::vector<Parameter<O>> with_common(std::vector<Parameter<O>> own) {
  own.insert(own.begin(), option("learning_rate", &O::learning_rate));
  for (auto &common :
       {option("weight_decay", &O::weight_decay), option("no_decay", &O::no_decay),
        option("clip_value", &O::clip_value), option("clip_norm", &O::clip_norm),
        option("clip_global_norm", &O::clip_global_norm), option("average", &O::average),
        option("accumulate", &O::accumulate), option("name", &O::name)})
    own.push_back(common);
  return own;
}

template <class O>
struct Class {
  using Options = typename O::Options;

  static void define(nb::module_ &module, const char *name, std::vector<Parameter<Options>> own,
                     const char *documentation) {
    parameters() = {name, with_common<Options>(std::move(own)), 2, 0};
    parameters().list.insert(parameters().list.begin(),
                             {"variables", [](auto &, nb::handle, const Place &, Given &) {}});
    std::vector<PyType_Slot> &slots =
        *new std::vector<PyType_Slot>{{Py_tp_init, reinterpret_cast<void *>(initialize)},
                                      {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                                      {Py_tp_clear, reinterpret_cast<void *>(clear)},
                                      {0, nullptr}};
    const char *word = name + std::string_view(name).rfind('.') + 1;
    nb::class_<Of, OptimizerObject>(module, word, nb::type_slots(slots.data()),
                                    nb::is_weak_referenceable(), documentation)
        .attr("__module__") = "weft.optimizers";
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
      all.read_call(given.ptr(), keywords, options, more);
      if (PyTuple_GET_SIZE(given.ptr()) > 0) trained = nb::object(given[0]);
      else if (keywords != nullptr)
        if (PyObject *value = PyDict_GetItemString(keywords, "variables"); value != nullptr)
          trained = nb::borrow(value);
      auto *self = new (nb::inst_ptr<Of>(object)) Of();
      self->kind = std::string_view(all.function).rfind('.') + 1 + all.function;
      nb::inst_mark_ready(object);
      self->take(more);
      self->arguments = nb::dict();
      if (const Variable *rate = options.learning_rate.variable()) self->rate = *rate;
      self->make = [options](const Trained &what) {
        return std::visit([&](const auto &of) -> Optimizer { return O(of, options); }, what);
      };
      if (trained.is_valid() && !trained.is_none()) self->bind(trained_by(*self, trained));
      else self->unbound = unbound(options);
      return 0;
    });
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

void set_rate(OptimizerObject &self, nb::handle value) {
  if (!self.rate)
    throw StateError(std::string(self.kind) +
                     ": the learning rate is part of compiled functions, and stays as it is: make "
                     "the optimizer with learning_rate=weft.Variable(1e-3), which can be assigned");
  const Tensor number = to_tensor_of(value.ptr(), self.rate->dtype(), {self.kind, "learning_rate"});
  self.rate->assign(number);
}

void define_base(nb::module_ &module) {
  nb::class_<OptimizerObject, Visitable>(
      module, "Optimizer", nb::is_weak_referenceable(),
      "What all optimizers are: made for a model or a list of variables, or, without either, for "
      "those of the first update."
      "\n\nExample:\n"
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> optimizer = wf.optimizers.SGD([w], learning_rate=0.25)\n"
      "    >>> isinstance(optimizer, wf.optimizers.Optimizer)\n"
      "    True\n"
      "    >>> optimizer.apply_gradients([wf.tensor([2.0])])\n"
      "    >>> w.value(), optimizer.step\n"
      "    (tensor([0.5], shape=(1,), dtype=float32), tensor(1, shape=(), dtype=int64))\n")
      .def(
          "apply_gradients", apply_gradients, nb::arg("gradients").none(),
          "Updates the variables: by zip(gradients, variables), or by gradients alone in the order "
          "of the variables that it was made for. A gradient that is None leaves its variable as "
          "it "
          "is.")
      .def("minimize", minimize, nb::arg("loss").none(), nb::arg("variables") = nb::none(),
           "Runs `loss`, a function without parameters that gives a scalar, updates by its "
           "gradients, and gives what it gave.")
      .def(
          "swap_averages",
          [](const OptimizerObject &self) { self.bound("swap_averages").swap_averages(); },
          "Exchanges weights and their averages: once before testing, once after.")
      .def_prop_ro(
          "step",
          [](const OptimizerObject &self) {
            return (self.made ? *self.made : *self.unbound).step();
          },
          "The number of updates so far, an int64 scalar.")
      .def_prop_rw(
          "learning_rate",
          [](const OptimizerObject &self) -> nb::object {
            if (self.rate) return checked(wrap(*self.rate));
            return checked(wrap((self.made ? *self.made : *self.unbound).learning_rate()));
          },
          set_rate,
          "The learning rate of the next update: the variable that it was made with, which can be "
          "assigned, or a float64 scalar.")
      .def_prop_ro(
          "variables",
          [](OptimizerObject &self) { return self.made ? listed(self.listed()) : nb::list(); },
          "The variables that it updates and that have values, in the order of gradients.")
      .def_prop_ro(
          "state",
          [](const OptimizerObject &self) {
            return self.made ? listed(self.made->state()) : nb::list();
          },
          "Its own variables: the step, then what it keeps for each.")
      .def_prop_ro("name", [](const OptimizerObject &self) { return self.kind; })
      .def("__repr__",
           [](const OptimizerObject &self) {
             return "<weft.optimizers." + std::string(self.kind) +
                    (self.made ? ">" : ", of no variables yet>");
           })
      .attr("__module__") = "weft.optimizers";
}

} // namespace

void define_optimizers(nb::module_ &module) {
  namespace o = optimizers;
  define_base(module);
  Class<o::SGD>::define(
      module, "weft.optimizers.SGD",
      {option("momentum", &o::SGDOptions::momentum), option("nesterov", &o::SGDOptions::nesterov)},
      "Stochastic gradient descent: w -= learning_rate g.\n\n"
      "SGD(variables=None, learning_rate=0.01, *, momentum=0.0, nesterov=False, "
      "...)"
      "\n\nExample:\n"
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> with wf.GradientTape() as tape:\n"
      "    ...     loss = wf.sum(w * w)\n"
      "    >>> wf.optimizers.SGD([w], learning_rate=0.25).apply_gradients(tape.gradient(loss, "
      "[w]))\n"
      "    >>> w.value()\n"
      "    tensor([0.5], shape=(1,), dtype=float32)\n");
  const auto define_adam = [&]<class A>(std::type_identity<A>, const char *name, const char *text) {
    using O = typename A::Options;
    Class<A>::define(module, name,
                     {option("beta1", &O::beta1), option("beta2", &O::beta2),
                      option("epsilon", &O::epsilon), option("amsgrad", &O::amsgrad)},
                     text);
  };
  define_adam(std::type_identity<o::Adam>(), "weft.optimizers.Adam",
              "Adam (Kingma & Ba 2015).\n\nAdam(variables=None, learning_rate=0.001, *, beta1=0.9, "
              "beta2=0.999, epsilon=1e-07, amsgrad=False, ...)"
              "\n\nExample:\n"
              "    >>> w = wf.Variable([1.0])\n"
              "    >>> adam = wf.optimizers.Adam([w], learning_rate=0.1)\n"
              "    >>> for _ in range(100):\n"
              "    ...     loss = adam.minimize(lambda: wf.sum((w - 3) ** 2))\n"
              "    >>> np.round(w, 1)\n"
              "    array([3.], dtype=float32)\n");
  define_adam(std::type_identity<o::AdamW>(), "weft.optimizers.AdamW",
              "Adam with decoupled weight decay (Loshchilov & Hutter 2019).\n\nAdamW(variables="
              "None, learning_rate=0.001, *, weight_decay=0.004, beta1=0.9, beta2=0.999, "
              "epsilon=1e-07, amsgrad=False, ...)"
              "\n\nExample:\n"
              "    >>> w = wf.Variable([1.0])\n"
              "    >>> adamw = wf.optimizers.AdamW([w], learning_rate=0.1, weight_decay=0.5)\n"
              "    >>> adamw.apply_gradients([wf.tensor([2.0])])\n"
              "    >>> np.round(w, 3)\n"
              "    array([0.85], dtype=float32)\n");
  {
    using O = o::RMSpropOptions;
    Class<o::RMSprop>::define(
        module, "weft.optimizers.RMSprop",
        {option("rho", &O::rho), option("momentum", &O::momentum), option("epsilon", &O::epsilon),
         option("centered", &O::centered)},
        "RMSprop (Hinton 2012).\n\nRMSprop(variables=None, learning_rate=0.001, *, rho=0.9, "
        "momentum=0.0, epsilon=1e-07, centered=False, ...)"
        "\n\nExample:\n"
        "    >>> w = wf.Variable([1.0])\n"
        "    >>> wf.optimizers.RMSprop([w], "
        "learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
        "    >>> np.round(w, 3)\n"
        "    array([0.684], dtype=float32)\n");
  }
  {
    using O = o::AdagradOptions;
    Class<o::Adagrad>::define(
        module, "weft.optimizers.Adagrad",
        {option("initial_accumulator", &O::initial_accumulator), option("epsilon", &O::epsilon)},
        "Adagrad (Duchi et al. 2011).\n\nAdagrad(variables=None, "
        "learning_rate=0.001, *, initial_accumulator=0.1, epsilon=1e-07, "
        "...)"
        "\n\nExample:\n"
        "    >>> w = wf.Variable([1.0])\n"
        "    >>> wf.optimizers.Adagrad([w], "
        "learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
        "    >>> np.round(w, 3)\n"
        "    array([0.901], dtype=float32)\n");
  }
  {
    using O = o::AdadeltaOptions;
    Class<o::Adadelta>::define(module, "weft.optimizers.Adadelta",
                               {option("rho", &O::rho), option("epsilon", &O::epsilon)},
                               "Adadelta (Zeiler 2012).\n\nAdadelta(variables=None, "
                               "learning_rate=0.001, *, rho=0.95, epsilon=1e-07, ...)"
                               "\n\nExample:\n"
                               "    >>> w = wf.Variable([1.0])\n"
                               "    >>> wf.optimizers.Adadelta([w], "
                               "learning_rate=1.0).apply_gradients([wf.tensor([2.0])])\n"
                               "    >>> np.round(w, 3)\n"
                               "    array([0.999], dtype=float32)\n");
  }
  {
    using O = o::LambOptions;
    Class<o::Lamb>::define(
        module, "weft.optimizers.Lamb",
        {option("beta1", &O::beta1), option("beta2", &O::beta2), option("epsilon", &O::epsilon)},
        "LAMB (You et al. 2020).\n\nLamb(variables=None, learning_rate=0.001, "
        "*, beta1=0.9, beta2=0.999, epsilon=1e-07, ...)"
        "\n\nExample:\n"
        "    >>> w = wf.Variable([1.0])\n"
        "    >>> wf.optimizers.Lamb([w], learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
        "    >>> np.round(w, 3)\n"
        "    array([0.9], dtype=float32)\n");
  }
  using O = o::LionOptions;
  Class<o::Lion>::define(
      module, "weft.optimizers.Lion", {option("beta1", &O::beta1), option("beta2", &O::beta2)},
      "Lion (Chen et al. 2023).\n\nLion(variables=None, learning_rate=0.001, "
      "*, beta1=0.9, beta2=0.99, ...)"
      "\n\nExample:\n"
      "    >>> w = wf.Variable([1.0])\n"
      "    >>> wf.optimizers.Lion([w], learning_rate=0.1).apply_gradients([wf.tensor([2.0])])\n"
      "    >>> np.round(w, 3)\n"
      "    array([0.9], dtype=float32)\n");
}

} // namespace weft::python
