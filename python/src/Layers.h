// How a layer of C++ becomes a class of Python: its arguments by a table, its call by a slot.
#pragma once

#include "Arguments.h"

#include <tuple>
#include <utility>

namespace weft::python {

/// What all bound layers have.
struct LayerObject : Visitable {
  nb::object activation; ///< a function of Python applied to the result; null if there is none
  nb::object arguments;  ///< by which it was made: a dict
  nb::object input_shape;
  std::vector<std::shared_ptr<Link>> links; ///< whose objects are owned here
  bool return_state = false;                ///< of recurrent layers

  LayerObject() = default;
  LayerObject(const LayerObject &) = delete;
  LayerObject &operator=(const LayerObject &) = delete;
  ~LayerObject() override { clear(); }

  void take(Given &given);
  int traverse(visitproc visit, void *arg) const;
  void clear();
};

/// The name among what a structure visits that is nearest to its root; null if there is none.
const nn::LayerName *name_of(Visitable &part);

/// Replaces variables by copies that copy.deepcopy makes, and names by others.
void exchange_variables(Visitable &part, nb::handle memo);

/// A new object of a class and what its own `__dict__` holds, copied deeply.
nb::object copy_of_instance(PyObject *self, nb::handle memo,
                            const std::function<void(nb::handle)> &construct);

/// The result of a layer: behind an activation of Python, if there is one.
PyObject *result_of(const LayerObject &layer, Tensor result);

/// Whether the arguments of a call are one tensor.
inline bool is_one_tensor(PyObject *args, PyObject *keywords) {
  return PyTuple_GET_SIZE(args) == 1 && is_tensor(PyTuple_GET_ITEM(args, 0)) &&
         (keywords == nullptr || PyDict_GET_SIZE(keywords) == 0);
}

inline bool is_true(PyObject *object) {
  if (object == nullptr || object == Py_None) return false;
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

/// The tensor that an argument of a layer's call is; undefined for None where it may be.
Tensor tensor_argument(PyObject *object, const char *layer, const char *argument);

/// A bound layer.
template <class L>
struct LayerOf : LayerObject {
  explicit LayerOf(L layer) : layer(std::move(layer)) {}
  void visit(StructureVisitor &visitor) override {
    weft::detail::VirtualVisitor inner(visitor);
    visit_structure(layer, inner);
  }

  L layer;
};

/// How a layer is called: the words of its call, and the call. This one is that of most.
template <class L>
struct CallOf {
  static constexpr const char *words[] = {"x", "training"};
  static constexpr std::size_t required = 1;

  static PyObject *call(const LayerOf<L> &self, const char *name, PyObject *const *values) {
    const Tensor x = tensor_argument(values[0], name, "x");
    const bool training = is_true(values[1]);
    return result_of(self, unlocked(x.impl()->size, [&] { return run(self.layer, x, training); }));
  }
  static Tensor run(const L &layer, const Tensor &x, bool training) {
    if constexpr (std::is_invocable_v<const L &, const Tensor &, const nn::CallOptions &>)
      return layer(x, nn::CallOptions{.training = training});
    else return layer(x);
  }
};

/// The class of a layer: `Args` are those of its constructor.
template <class L, class... Args>
class LayerClass {
public:
  using Arguments = std::tuple<Args...>;
  using Parameter = python::Parameter<Arguments>;

  /// `name` is "weft.nn.Dense".
  static nb::class_<LayerOf<L>, LayerObject> define(nb::module_ &module, const char *name,
                                                    Arguments defaults,
                                                    std::vector<Parameter> parameters,
                                                    std::size_t positional, std::size_t required,
                                                    const char *documentation) {
    table() = {{name, std::move(parameters), positional, required}, std::move(defaults)};
    std::vector<PyType_Slot> &slots =
        *new std::vector<PyType_Slot>{{Py_tp_init, reinterpret_cast<void *>(initialize)},
                                      {Py_tp_call, reinterpret_cast<void *>(call)},
                                      {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                                      {Py_tp_clear, reinterpret_cast<void *>(clear)},
                                      {0, nullptr}};
    const char *word = std::string_view(name).rfind('.') + 1 + name;
    auto type = nb::class_<LayerOf<L>, LayerObject>(module, word, nb::type_slots(slots.data()),
                                                    nb::is_weak_referenceable(), documentation);
    type.def("__deepcopy__", deep_copy, nb::arg("memo")).attr("__module__") = "weft.nn";
    return type;
  }

  /// The arguments in a dict by which a layer was made.
  static Arguments read(nb::handle words) {
    Arguments arguments = table().defaults;
    Given given;
    const nb::tuple none;
    PyObject *others[std::size(kMore)] = {};
    table().parameters.read_call(none.ptr(), words.ptr(), arguments, given, kMore, others);
    return arguments;
  }

private:
  struct Table {
    ParameterTable<Arguments> parameters;
    Arguments defaults;
  };
  // What all layers are given.
  static constexpr const char *kMore[] = {"input_shape"};

  static Table &table() {
    static auto &table = *new Table{{}, std::tuple<Args...>(initial<Args>()...)};
    return table;
  }
  template <class T>
  static T initial() {
    if constexpr (std::default_initializable<T>) return T();
    else return T(1);
  }
  static LayerOf<L> &self_of(PyObject *self) {
    return static_cast<LayerOf<L> &>(visitable_in(self));
  }

  static int initialize(PyObject *self, PyObject *args, PyObject *keywords) {
    return guarded([&] {
      const ParameterTable<Arguments> &parameters = table().parameters;
      if (nb::inst_ready(self))
        throw StateError(std::string(parameters.function) + ": it was initialized already");
      Arguments arguments = table().defaults;
      Given given;
      PyObject *others[std::size(kMore)] = {};
      parameters.read_call(args, keywords, arguments, given, kMore, others);
      L layer = std::apply([](const Args &...each) { return L(each...); }, arguments);
      auto *made = new (nb::inst_ptr<LayerOf<L>>(self)) LayerOf<L>(std::move(layer));
      nb::inst_mark_ready(self);
      made->take(given);
      nb::dict words;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
        words[parameters.list[static_cast<std::size_t>(i)].name] =
            nb::handle(PyTuple_GET_ITEM(args, i));
      if (keywords != nullptr) words.update(nb::handle(keywords));
      made->arguments = words;
      if (others[0] != nullptr && others[0] != Py_None) made->input_shape = nb::borrow(others[0]);
      return 0;
    });
  }

  static PyObject *call(PyObject *object, PyObject *args, PyObject *keywords) {
    return guarded([&]() -> PyObject * {
      const LayerOf<L> &self = self_of(object);
      const char *name = table().parameters.function;
      PyObject *values[std::size(CallOf<L>::words)] = {};
      if (is_one_tensor(args, keywords)) values[0] = PyTuple_GET_ITEM(args, 0);
      else
        bind_arguments(name, CallOf<L>::words, std::size(CallOf<L>::words), CallOf<L>::required,
                       args, keywords, values);
      return CallOf<L>::call(self, name, values);
    });
  }

  static nb::object deep_copy(nb::object self, nb::handle memo) {
    const LayerOf<L> &from = self_of(self.ptr());
    return copy_of_instance(self.ptr(), memo, [&](nb::handle to) {
      auto *made = new (nb::inst_ptr<LayerOf<L>>(to)) LayerOf<L>(from.layer);
      nb::inst_mark_ready(to);
      made->activation = from.activation;
      made->arguments = from.arguments;
      made->input_shape = from.input_shape;
      made->return_state = from.return_state;
      exchange_variables(*made, memo);
    });
  }

  static int traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    if (!nb::inst_ready(object)) return 0;
    return nb::inst_ptr<LayerOf<L>>(object)->traverse(visit, arg);
  }
  static int clear(PyObject *object) {
    if (nb::inst_ready(object)) nb::inst_ptr<LayerOf<L>>(object)->clear();
    return 0;
  }
};

/// The parameter that is argument number `I` of the constructor.
template <std::size_t I, class Class>
typename Class::Parameter argument(const char *name) {
  return {name, [](typename Class::Arguments &arguments, nb::handle value, const Place &place,
                   Given &given) { read(std::get<I>(arguments), value, place, given); }};
}
/// The parameter that is a member of the options that are argument number `I`.
template <std::size_t I, class Class, class Options, class T>
typename Class::Parameter member(const char *name, T Options::*member) {
  return {name,
          [member](typename Class::Arguments &arguments, nb::handle value, const Place &place,
                   Given &given) { read(std::get<I>(arguments).*member, value, place, given); }};
}

/// The property that is a variable of the layer, None until it has a value.
template <class L, class Member, class Owner>
void variable(nb::class_<LayerOf<L>, LayerObject> &type, const char *name, Member Owner::*member) {
  type.def_prop_ro(name, [member](const LayerOf<L> &self) -> nb::object {
    const Member &held = self.layer.*member;
    const Variable *of = nullptr;
    if constexpr (std::is_same_v<Member, Variable>) of = &held;
    else if (held) of = &*held;
    return of != nullptr && of->initialized() ? checked(wrap(*of)) : nb::none();
  });
}

/// The property that is a layer within the layer: an object of its own with the same variables.
template <class L, class Member, class Owner>
void inner(nb::class_<LayerOf<L>, LayerObject> &type, const char *name, Member Owner::*member) {
  type.def_prop_ro(name, [member](const LayerOf<L> &self) {
    nb::object made = nb::inst_alloc(nb::type<LayerOf<Member>>());
    auto *of = new (nb::inst_ptr<LayerOf<Member>>(made)) LayerOf<Member>(self.layer.*member);
    nb::inst_mark_ready(made);
    of->arguments = nb::dict();
    return made;
  });
}

void define_layers(nb::module_ &module);
void define_recurrent_layers(nb::module_ &module);

} // namespace weft::python
