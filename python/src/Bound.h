// How an object of C++ becomes a class of Python: its arguments by a table, its call by a slot.
#pragma once

#include "Arguments.h"
#include "Define.h"
#include "Restores.h"
#include "Snapshots.h"

#include <cstring>
#include <tuple>
#include <utility>

namespace weft::python {

/// What bound objects that are made of arguments have.
struct MadeObject : Visitable {
  nb::object activation; ///< a function of Python applied to the result; null if there is none
  nb::object arguments;  ///< by which it was made: a dict
  nb::object input_shape;
  std::vector<std::shared_ptr<Link>> links; ///< whose objects are owned here

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

/// The slots of a class whose objects can be made by what `get_config` gave: `from_config`.
extern const PyType_Slot config_slots[];
/// Defines `get_config`.
template <class Object>
void define_config(ClassOf<Object, Visitable> &type) {
  type.def(
      "get_config", [](const Object &self) { return checked(PyDict_Copy(self.arguments.ptr())); },
      "The arguments by which it was made.");
}

/// The name among what a structure visits that is nearest to its root; null if there is none.
const nn::LayerName *name_of(Visitable &part);

/// Replaces variables by copies that copy.deepcopy makes, and names by others.
void exchange_variables(Visitable &part, nb::handle memo);

/// A new object of a class and what its own `__dict__` holds, copied deeply.
nb::object copy_of_instance(PyObject *self, nb::handle memo,
                            const std::function<void(nb::handle)> &construct);

/// What a row says of an argument of a constructor of C++: its name in Python and what it is if it
/// is not given, or how Python's parameters differ from the options that it is.
template <class T>
struct ArgumentRow {
  const char *name = nullptr;
  std::optional<T> otherwise = std::nullopt;
  bool by_position = true;
  Differences options = {};
};
template <class T>
ArgumentRow<T> required(const char *name) {
  return {.name = name};
}
template <class T>
ArgumentRow<T> positional(const char *name, T otherwise) {
  return {.name = name, .otherwise = std::move(otherwise)};
}
template <class T>
ArgumentRow<T> by_keyword(const char *name, T otherwise) {
  return {.name = name, .otherwise = std::move(otherwise), .by_position = false};
}
template <HasOptions O>
ArgumentRow<O> options(Differences of = {}) {
  return {.options = std::move(of)};
}

/// The parameters that are the arguments of a constructor or function of C++, of a row for each.
template <class... Args>
struct RowTable {
  using Arguments = std::tuple<Args...>;

  /// `function` is "weft.nn.Dense".
  explicit RowTable(std::string function, const ArgumentRow<Args> &...rows)
      : defaults(rows.otherwise.value_or(initial<Args>())...), name(std::move(function)),
        parameters{name.c_str(), {}, 0, 0} {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add<I>(rows), ...);
    }(std::index_sequence_for<Args...>());
  }
  RowTable(const RowTable &) = delete;
  RowTable &operator=(const RowTable &) = delete;

  Arguments read(PyObject *args, PyObject *keywords) const {
    Arguments arguments = defaults;
    Given given;
    parameters.read_call(args, keywords, arguments, given);
    return arguments;
  }

  Arguments defaults;
  std::string name;
  ParameterTable<Arguments> parameters;

private:
  template <class T>
  static T initial() {
    if constexpr (std::default_initializable<T>) return T();
    else return T(1);
  }
  template <std::size_t I, class T>
  void add(const ArgumentRow<T> &row) {
    const auto get = [](Arguments &arguments) -> T & { return std::get<I>(arguments); };
    if constexpr (HasOptions<T>) {
      parameters.positional += row.options.positional;
      parameters.required += row.options.required;
      for (auto &each : option_parameters<Arguments, T>(row.options, get))
        parameters.list.push_back(std::move(each));
    } else {
      parameters.positional += row.by_position;
      parameters.required += !row.otherwise;
      parameters.list.push_back(
          parameter<Arguments, T>(row.name, row.otherwise ? &*row.otherwise : nullptr, get));
    }
  }
};

/// The class of a bound object, `LayerOf<nn::Dense>`: `Args` are those of the constructor of what
/// it holds.
template <class Object, class... Args>
class BoundClass {
public:
  using Arguments = std::tuple<Args...>;

  /// `name` is "Dense"; the class stands in the family of the object's module, "weft.nn".
  static ClassOf<Object, typename Object::Base> define(const char *name, const char *documentation,
                                                       const char *example,
                                                       const ArgumentRow<Args> &...rows) {
    table() = new RowTable<Args...>(std::string(Object::kModule) + "." + name, rows...);
    ParameterTable<Arguments> &parameters = table()->parameters;
    // One without arguments of its own may take its name by position.
    if (parameters.list.empty()) parameters.positional = Object::kMoreByPosition;
    const std::string text = parameters.documented(name, documentation, example, Object::more());
    std::vector<PyType_Slot> &slots =
        *new std::vector<PyType_Slot>{{Py_tp_init, reinterpret_cast<void *>(initialize)},
                                      {Py_tp_call, reinterpret_cast<void *>(call)},
                                      {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                                      {Py_tp_clear, reinterpret_cast<void *>(clear)},
                                      {0, nullptr}};
    const char *of = std::strrchr(Object::kModule, '.') + 1;
    auto type = ClassOf<Object, typename Object::Base>(
        family(of), name, nb::type_slots(slots.data()), nb::is_weak_referenceable(), text.c_str());
    type.template def<deep_copy>("__deepcopy__(memo)").attr("__module__") = Object::kModule;
    add_to_family(of, name, type);
    return type;
  }

  /// The arguments in a dict by which a layer was made.
  static Arguments read(nb::handle words) {
    Arguments arguments = table()->defaults;
    Given given;
    const nb::tuple none;
    std::vector<PyObject *> others(Object::more().size());
    table()->parameters.read_call(none.ptr(), words.ptr(), arguments, given, Object::more(),
                                  others);
    return arguments;
  }

private:
  static RowTable<Args...> *&table() {
    static RowTable<Args...> *table = nullptr;
    return table;
  }
  static Object &self_of(PyObject *self) { return static_cast<Object &>(visitable_in(self)); }

  static int initialize(PyObject *self, PyObject *args, PyObject *keywords) {
    return guarded([&] {
      const ParameterTable<Arguments> &parameters = table()->parameters;
      if (nb::inst_ready(self))
        throw StateError(std::string(parameters.function) + ": it was initialized already");
      Arguments arguments = table()->defaults;
      Given given;
      const std::span<const ParameterText> more = Object::more();
      std::vector<PyObject *> others(more.size());
      given.takes_functions = Object::kTakesFunctions;
      const nb::object named = words_of(keywords);
      keywords = named.ptr();
      parameters.read_call(args, keywords, arguments, given, more, others);
      using Of = typename Object::Of;
      Of held = std::apply([](const Args &...each) { return Of(each...); }, arguments);
      auto *made = new (nb::inst_ptr<Object>(self)) Object(std::move(held));
      nb::inst_mark_ready(self);
      made->take(given);
      nb::dict words;
      const std::size_t own = parameters.list.size();
      for (std::size_t i = 0; i < static_cast<std::size_t>(PyTuple_GET_SIZE(args)); ++i)
        words[i < own ? parameters.list[i].name : more[i - own].name] =
            nb::handle(PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)));
      if (keywords != nullptr) words.update(nb::handle(keywords));
      made->arguments = words;
      made->take_more(parameters.function, others);
      return 0;
    });
  }

  static PyObject *call(PyObject *object, PyObject *args, PyObject *keywords) {
    return guarded([&]() -> PyObject * {
      restore_if_attached(static_cast<Visitable &>(self_of(object)));
      return self_of(object).call(table()->parameters.function, args, keywords);
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

} // namespace weft::python
