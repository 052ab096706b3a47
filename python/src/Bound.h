// How an object of C++ becomes a class of Python: its arguments by a table, its call by a slot.
#pragma once

#include "Arguments.h"
#include "Define.h"
#include "Restores.h"
#include "Snapshots.h"

#include <tuple>
#include <utility>

namespace weft::python {

/// What bound objects that are made of arguments have.
struct MadeObject : Visitable {
  nb::object activation; ///< a function of Python applied to the result; null if there is none
  nb::object arguments;  ///< by which it was made: a dict
  nb::object input_shape;
  std::vector<std::shared_ptr<Link>> links; ///< whose objects are owned here
  bool return_state = false;                ///< of recurrent layers

  MadeObject() = default;
  MadeObject(const MadeObject &) = delete;
  MadeObject &operator=(const MadeObject &) = delete;
  ~MadeObject() override { clear(); }

  void take(Given &given);
  /// Takes what a copy has of the object that it is one of, besides what the class holds.
  void copy(const MadeObject &from);
  /// Is an owner of links from now on.
  void own(const std::vector<std::shared_ptr<Link>> &more);
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

/// The class of a bound object, `LayerOf<nn::Dense>`: `Args` are those of the constructor of what
/// it holds.
template <class Object, class... Args>
class BoundClass {
public:
  using Arguments = std::tuple<Args...>;
  using Parameter = python::Parameter<Arguments>;

  /// `name` is "weft.nn.Dense".
  static ClassOf<Object, typename Object::Base> define(nb::module_ &module, const char *name,
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
    auto type = ClassOf<Object, typename Object::Base>(module, word, nb::type_slots(slots.data()),
                                                       nb::is_weak_referenceable(), documentation);
    type.template def<deep_copy>("__deepcopy__(memo)").attr("__module__") = Object::kModule;
    return type;
  }

  /// The arguments in a dict by which a layer was made.
  static Arguments read(nb::handle words) {
    Arguments arguments = table().defaults;
    Given given;
    const nb::tuple none;
    PyObject *others[std::size(Object::kMore)] = {};
    table().parameters.read_call(none.ptr(), words.ptr(), arguments, given, Object::kMore, others);
    return arguments;
  }

private:
  struct Table {
    ParameterTable<Arguments> parameters;
    Arguments defaults;
  };
  static Table &table() {
    static auto &table = *new Table{{}, std::tuple<Args...>(initial<Args>()...)};
    return table;
  }
  template <class T>
  static T initial() {
    if constexpr (std::default_initializable<T>) return T();
    else return T(1);
  }
  static Object &self_of(PyObject *self) { return static_cast<Object &>(visitable_in(self)); }

  static int initialize(PyObject *self, PyObject *args, PyObject *keywords) {
    return guarded([&] {
      const ParameterTable<Arguments> &parameters = table().parameters;
      if (nb::inst_ready(self))
        throw StateError(std::string(parameters.function) + ": it was initialized already");
      Arguments arguments = table().defaults;
      Given given;
      PyObject *others[std::size(Object::kMore)] = {};
      const nb::object named = words_of(keywords);
      keywords = named.ptr();
      parameters.read_call(args, keywords, arguments, given, Object::kMore, others);
      using Of = typename Object::Of;
      Of held = std::apply([](const Args &...each) { return Of(each...); }, arguments);
      auto *made = new (nb::inst_ptr<Object>(self)) Object(std::move(held));
      nb::inst_mark_ready(self);
      made->take(given);
      nb::dict words;
      const std::size_t own = parameters.list.size();
      for (std::size_t i = 0; i < static_cast<std::size_t>(PyTuple_GET_SIZE(args)); ++i)
        words[i < own ? parameters.list[i].name : Object::kMore[i - own]] =
            nb::handle(PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)));
      if (keywords != nullptr) words.update(nb::handle(keywords));
      made->arguments = words;
      made->take_more(others);
      return 0;
    });
  }

  static PyObject *call(PyObject *object, PyObject *args, PyObject *keywords) {
    return guarded([&]() -> PyObject * {
      restore_if_attached(static_cast<Visitable &>(self_of(object)));
      return self_of(object).call(table().parameters.function, args, keywords);
    });
  }

  static nb::object deep_copy(nb::handle_t<Object> self, nb::handle memo) {
    const Object &from = self_of(self.ptr());
    return copy_of_instance(self.ptr(), memo, [&](nb::handle to) {
      auto *made = new (nb::inst_ptr<Object>(to)) Object(from.of());
      nb::inst_mark_ready(to);
      made->copy(from);
      exchange_variables(*made, memo);
    });
  }

  static int traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    if (!nb::inst_ready(object)) return 0;
    return nb::inst_ptr<Object>(object)->traverse(visit, arg);
  }
  static int clear(PyObject *object) {
    if (nb::inst_ready(object)) nb::inst_ptr<Object>(object)->clear();
    return 0;
  }
};

/// A docstring with an example behind it: indented lines of a session.
inline std::string with_example(std::string documentation, const char *example) {
  return std::move(documentation) + "\n\nExample:\n" + example;
}

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

} // namespace weft::python
