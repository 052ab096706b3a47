// How a layer of C++ becomes a class of Python, and how it is called.
#pragma once

#include "Bound.h"
#include "Define.h"
#include "Snapshots.h"

namespace weft::python {

/// What all bound layers have.
struct LayerObject : MadeObject {
  static constexpr const char *kModule = "weft.nn";
  static constexpr std::size_t kMoreByPosition = 0;
  static constexpr bool kTakesFunctions = true;
  using Base = LayerObject;

  /// What all layers take besides what those of C++ do.
  static std::span<const ParameterText> more() {
    static const auto &more = *new std::vector<ParameterText>{{"input_shape", "Any", "None"}};
    return more;
  }
  void take_more(const char *, std::span<PyObject *const> values) {
    if (values[0] != nullptr && values[0] != Py_None) input_shape = nb::borrow(values[0]);
  }
};

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

/// The tensor that an argument of a layer's call is. Throws DTypeError for None.
Tensor tensor_argument(PyObject *object, const char *layer, const char *argument);
/// What a layer is called with. In programs of weft.tf one in f64 is cast to the f32 of layers that
/// were not made with another dtype, as Keras does.
Tensor input_argument(const LayerObject &layer, PyObject *object, const char *name);
/// The same; undefined for one that is None or not given.
Tensor optional_tensor(PyObject *object, const char *layer, const char *argument);

/// What Python's class of a layer has besides what all have: nothing, of most.
template <class L>
struct MoreOf : LayerObject {};

/// A bound layer.
template <class L>
struct LayerOf : MoreOf<L> {
  using Of = L;
  explicit LayerOf(L layer) : layer(std::move(layer)) {}
  const L &of() const { return layer; }
  void visit(StructureVisitor &visitor) override {
    weft::detail::VirtualVisitor inner(visitor);
    visit_structure(layer, inner);
  }

  PyObject *call(const char *name, PyObject *args, PyObject *keywords) const;

  L layer;
};

/// How a layer is called: the words of its call, and the call. This one is that of most.
template <class L>
struct CallOf {
  static constexpr const char *words[] = {"x", "training"};
  static constexpr std::size_t required = 1;

  static PyObject *call(const LayerOf<L> &self, const char *name, PyObject *const *values) {
    const Tensor x = input_argument(self, values[0], name);
    const bool training = is_true(values[1]);
    return result_of(self, unlocked(x.impl()->size, [&] { return run(self.layer, x, training); }));
  }
  static Tensor run(const L &layer, const Tensor &x, bool training) {
    if constexpr (std::is_invocable_v<const L &, const Tensor &, const nn::CallOptions &>)
      return layer(x, nn::CallOptions{.training = training});
    else return layer(x);
  }
};

template <class L>
PyObject *LayerOf<L>::call(const char *name, PyObject *args, PyObject *keywords) const {
  PyObject *values[std::size(CallOf<L>::words)] = {};
  const nb::object own = words_of(keywords);
  if (is_one_tensor(args, keywords)) values[0] = PyTuple_GET_ITEM(args, 0);
  else
    bind_arguments(name, CallOf<L>::words, std::size(CallOf<L>::words), CallOf<L>::required, args,
                   own.ptr(), values);
  return CallOf<L>::call(*this, name, values);
}

/// Defines the class of a layer, with its variables, of a row for each argument of its constructor.
template <class L, class... Args>
ClassOf<LayerOf<L>, LayerObject> layer(const char *name, const char *documentation,
                                       const char *example, const ArgumentRow<Args> &...rows) {
  auto type = BoundClass<LayerOf<L>, Args...>::define(name, documentation, example, rows...);
  if constexpr (HasFields<L>) {
    using Fields = decltype(std::declval<const L &>().weft_fields());
    constexpr std::size_t count = std::tuple_size_v<Fields>;
    static constexpr auto names = weft::detail::field_names<L, count>();
    const auto add = [&]<std::size_t I>() {
      using Field = std::remove_cvref_t<std::tuple_element_t<I, Fields>>;
      constexpr bool optional = std::is_same_v<Field, std::optional<Variable>>;
      if constexpr (optional || std::is_same_v<Field, Variable>)
        type.def_prop_ro(std::string(names[I]).c_str(), [](const LayerOf<L> &self) -> nb::object {
          const auto &field = std::get<I>(self.layer.weft_fields());
          const Variable *of = nullptr;
          if constexpr (!optional) of = &field;
          else if (field) of = &*field;
          return of != nullptr && of->initialized() ? checked(wrap(*of)) : nb::none();
        });
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add.template operator()<I>(), ...);
    }(std::make_index_sequence<count>());
  }
  return type;
}

/// Those of these arguments that an object was given when it was made.
nb::dict arguments_named(const MadeObject &self, std::span<const char *const> names);
inline nb::dict arguments_named(const MadeObject &self, std::initializer_list<const char *> names) {
  return arguments_named(self, std::span(names.begin(), names.size()));
}

/// The property that is a layer within the layer: an object of its own with the same variables.
/// `arguments` gives those that would make it, a dict, of the object around it.
template <class L, class Member, class Owner, class Arguments>
void inner(ClassOf<LayerOf<L>, LayerObject> &type, const char *name, Member Owner::*member,
           const Arguments &arguments) {
  type.def_prop_ro(name, [member, arguments](const LayerOf<L> &self) {
    nb::dict words = arguments(self);
    nb::object made = nb::inst_alloc(nb::type<LayerOf<Member>>());
    auto *of = new (nb::inst_ptr<LayerOf<Member>>(made)) LayerOf<Member>(self.layer.*member);
    nb::inst_mark_ready(made);
    if (words.contains("activation")) of->activation = self.activation;
    of->arguments = std::move(words);
    of->own(self.links);
    return made;
  });
}

void define_made(nb::module_ &module);
void define_layers(nb::module_ &module);
void define_recurrent_layers();

} // namespace weft::python
