// Functions and classes of C++ as those of Python: the parameters of each are a table, by which
// calls are bound, arguments read, wrong ones refused, and stubs written.
#pragma once

#include "Arguments.h"
#include "Text.h"

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::python {

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// A parameter in a definition: its name, and its default where it has one.
struct Arg {
  explicit Arg(const char *name) : name(name) {}

  /// It may be None.
  Arg none() const {
    Arg arg = *this;
    arg.takes_none = true;
    return arg;
  }
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, Arg>)
  Arg operator=(T &&value) const {
    Arg arg = *this;
    arg.otherwise = nb::cast(std::forward<T>(value));
    arg.takes_none |= arg.otherwise.is_none();
    return arg;
  }
  Arg(const Arg &) = default;
  Arg &operator=(const Arg &) = default;

  /// Whether it stands for all that are given by position behind the others: "*names".
  bool is_rest() const { return name[0] == '*'; }
  /// Its type in stubs, where that says more than its type in C++ does.
  Arg as(const char *type) const {
    Arg arg = *this;
    arg.stub = type;
    return arg;
  }

  const char *name;
  nb::object otherwise; ///< null if it must be given
  bool takes_none = false;
  const char *stub = nullptr;
  const char *shown = nullptr; ///< the default of an option, which `otherwise` does not hold
};

/// What a function gives in stubs, where that says more than its type in C++ does.
struct Returns {
  const char *stub;
};

/// Stands before the parameters that are given by keyword alone.
struct KeywordOnly {};
inline constexpr KeywordOnly keyword_only;

/// How many parameters may be given by position, where that is not said by `keyword_only`.
struct Positional {
  std::size_t count;
};

/// The path of a file: a text, bytes or an os.PathLike.
struct Path {
  std::string bytes;
};

/// What a type of C++ is in messages, "an integer" and "integers", and in stubs, "int".
struct TypeWords {
  std::string one, many, stub;
};
using TypeWordsOf = TypeWords (*)();

/// Of a class, by its type in Python.
TypeWords words_of_class(nb::handle type);

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct ValueOf {
  using Type = T;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using Type = T;
};
template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <class T>
struct ClassOfHandle {};
template <class T>
struct ClassOfHandle<nb::handle_t<T>> {
  using Type = T;
};

template <class Given>
TypeWords type_words() {
  using T = std::remove_pointer_t<std::remove_cvref_t<Given>>;
  if constexpr (std::is_void_v<T>) return {"None", "None", "None"};
  else if constexpr (std::is_same_v<T, bool>) return {"True or False", "bools", "builtins.bool"};
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return {"an integer from 0 to 2^64 - 1", "integers", "int"};
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>)
    return {"an integer", "integers", "int"};
  else if constexpr (std::is_floating_point_v<T>) return {"a number", "numbers", "float"};
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, nb::str> ||
                     std::is_same_v<T, const char> || std::is_same_v<T, char>)
    return {"a text", "texts", "str"};
  else if constexpr (std::is_same_v<T, nb::bytes>) return {"bytes", "bytes", "bytes"};
  else if constexpr (std::is_same_v<T, Path>) return {"a path as a text", "paths", "Path"};
  else if constexpr (std::is_same_v<T, nb::dict>) return {"a dict", "dicts", "dict[Any, Any]"};
  else if constexpr (std::is_same_v<T, nb::list>) return {"a list", "lists", "list[Any]"};
  else if constexpr (std::is_same_v<T, nb::tuple>) return {"a tuple", "tuples", "tuple[Any, ...]"};
  else if constexpr (std::is_same_v<T, nb::sequence>)
    return {"a sequence", "sequences", "Sequence[Any]"};
  else if constexpr (std::is_same_v<T, nb::callable>)
    return {"a function", "functions", "Callable[..., Any]"};
  else if constexpr (requires { typename ClassOfHandle<T>::Type; })
    return words_of_class(nb::type<typename ClassOfHandle<T>::Type>());
  else if constexpr (std::is_base_of_v<nb::handle, T>) return {"a value", "values", "Any"};
  else if constexpr (IsOptional<T>::value) {
    const TypeWords of = type_words<typename T::value_type>();
    return {of.one + " or None", of.many, of.stub + " | None"};
  } else if constexpr (IsVector<T>::value) {
    const TypeWords of = type_words<typename T::value_type>();
    return {"a list of " + of.many, "lists of " + of.many, "Sequence[" + of.stub + "]"};
  } else if constexpr (IsMap<T>::value) {
    return {"a dict", "dicts",
            "dict[" + type_words<typename T::key_type>().stub + ", " +
                type_words<typename T::mapped_type>().stub + "]"};
  } else if constexpr (IsTuple<T>::value) {
    std::string words, stubs;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto add = [&](const TypeWords &of) {
        words += (words.empty() ? "" : ", ") + of.one;
        stubs += (stubs.empty() ? "" : ", ") + of.stub;
      };
      (add(type_words<std::tuple_element_t<I, T>>()), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
    return {"a tuple (" + words + ")", "tuples", "tuple[" + stubs + "]"};
  } else {
    return words_of_class(nb::type<T>());
  }
}

//===----------------------------------------------------------------------===//
// Definitions and calls of them
//===----------------------------------------------------------------------===//

/// A function or method as it is defined. It lives for ever.
struct Definition {
  std::string name;              ///< "uniform"
  PyTypeObject *owner = nullptr; ///< of a method
  PyObject *object = nullptr;    ///< what it is in Python, once it is installed
  std::unique_ptr<Signature> signature;
  std::vector<Arg> args;
  std::vector<Arg> options; ///< the last of the parameters, if the function takes options
  std::vector<TypeWordsOf> types;
  TypeWordsOf result = nullptr;
  const char *returns = nullptr;         ///< as in Returns
  bool others = false, keywords = false; ///< whether there are `*args`, `**kwargs`
  PyMethodDef row = {};

  bool is_constructor() const { return owner != nullptr && name == "__init__"; }
  /// What users call: "weft.random.uniform".
  std::string public_name(PyObject *self) const;
};

/// A call of one.
struct BoundCall {
  const Definition &definition;
  PyObject *self;
  PyObject *const *args;
  std::size_t given; ///< by position
  PyObject *words;   ///< a tuple, or null
  PyObject **values; ///< of the parameters

  /// Fills the values. Throws TypeError.
  void bind() const;
  /// Throws DTypeError: the value of a parameter is none of its type.
  [[noreturn]] void refuse(std::size_t parameter) const;
  /// What messages call the function.
  std::string word() const;
  /// What `*args` and `**kwargs` hold.
  nb::tuple others() const;
  nb::dict keywords() const;
};

template <class T>
concept Keyed = std::same_as<T, nb::args> || std::same_as<T, nb::kwargs>;

/// A text that lives for ever.
inline const char *kept_words(const std::string &of) { return (new std::string(of))->c_str(); }

template <class T>
void read_option(T &target, nb::handle value, const Place &place) {
  Given given;
  read(target, value, place, given);
}

/// The members of options.
template <HasOptions T>
constexpr auto members_of() {
  return weft_options(static_cast<const T *>(nullptr));
}
/// How many parameters an argument of a function stands for: options are one for each member.
template <class A>
constexpr std::size_t parameters_of() {
  using T = std::remove_cvref_t<A>;
  if constexpr (HasOptions<T>) return std::tuple_size_v<decltype(members_of<T>())>;
  else return Keyed<T> ? 0 : 1;
}

/// An argument of a call, read as what a function of C++ takes.
template <class A>
class Reading {
  using T = std::remove_cvref_t<A>;
  using Caster = nb::detail::make_caster<A>;

public:
  void read(const BoundCall &call, std::size_t i) {
    if constexpr (std::is_same_v<T, nb::args>) {
      held_ = nb::borrow<nb::args>(call.others());
    } else if constexpr (std::is_same_v<T, nb::kwargs>) {
      held_ = nb::borrow<nb::kwargs>(call.keywords());
    } else if constexpr (HasOptions<T>) {
      const std::string word = call.word();
      const auto set = [&](const auto &option) {
        if (PyObject *value = call.values[i++]; value != nullptr)
          read_option(held_.*option.member, value, {word.c_str(), option.name});
      };
      std::apply([&](const auto &...options) { (set(options), ...); }, members_of<T>());
    } else {
      PyObject *value = call.values[i];
      if (value == Py_None && !IsOptional<T>::value && !call.definition.args[i].takes_none)
        call.refuse(i);
      // nanobind takes what int() takes, such as texts and fractions.
      using Value = typename ValueOf<T>::Type;
      if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>)
        if (PyIndex_Check(value) == 0 && value != Py_None) call.refuse(i);
      constexpr auto kFlags = static_cast<std::uint32_t>(nb::detail::cast_flags::convert);
      if (caster_.from_python(value, kFlags, nullptr) && caster_.template can_cast<A>()) return;
      PyErr_Clear();
      // Tensors of one integer or number, and integers that are too large.
      using Number = typename ValueOf<T>::Type;
      if constexpr (std::is_same_v<Number, std::int64_t> || std::is_same_v<Number, double>) {
        const std::string word = call.word();
        if (std::is_same_v<Number, T> || PyLong_Check(value) || is_tensor(value)) {
          const auto number = to<Number>(value, {word.c_str(), call.definition.args[i].name});
          if (caster_.from_python(nb::cast(number).ptr(), kFlags, nullptr)) return;
        }
      }
      call.refuse(i);
    }
  }
  decltype(auto) get() {
    if constexpr (Keyed<T> || HasOptions<T>) return static_cast<T &>(held_);
    else return caster_.operator nb::detail::cast_t<A>();
  }

private:
  struct None {};
  static constexpr bool kHolds = Keyed<T> || HasOptions<T>;
  std::conditional_t<kHolds, None, Caster> caster_;
  std::conditional_t<kHolds, T, None> held_;
};

/// The object of a method as its function takes it: one of the bound class `Object`.
template <class A, class Object>
A self_as(PyObject *self) {
  using T = std::remove_cvref_t<A>;
  if constexpr (std::is_pointer_v<T>) {
    return nb::inst_ptr<Object>(self);
  } else if constexpr (std::is_same_v<T, nb::object>) {
    return nb::borrow(self);
  } else if constexpr (std::is_base_of_v<nb::handle, T>) {
    return T(nb::handle(self));
  } else {
    if (!nb::inst_ready(self)) [[unlikely]]
      refuse_half_made(self);
    return *nb::inst_ptr<Object>(self);
  }
}

/// What a function gives, as an object of Python.
template <class Run>
PyObject *returned(const Run &run) {
  using R = decltype(run());
  if constexpr (std::is_void_v<R>) {
    run();
    return Py_NewRef(Py_None);
  } else if constexpr (std::is_same_v<R, Tensor>) {
    return wrap(run());
  } else {
    // A pointer to what is new is owned from now on.
    return checked(nb::cast(run(), nb::rv_policy::automatic).release().ptr()).release().ptr();
  }
}

/// What a function takes and gives.
template <class F>
struct FunctionTypes;
template <class R, class... A>
struct FunctionTypes<R (*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <class R, class C, class... A>
struct FunctionTypes<R (C::*)(A...)> : FunctionTypes<R (*)(C &, A...)> {};
template <class R, class C, class... A>
struct FunctionTypes<R (C::*)(A...) const> : FunctionTypes<R (*)(const C &, A...)> {};

/// A function that is known when the program is compiled, as a type.
template <auto function>
struct Constant {
  using Types = FunctionTypes<std::remove_const_t<decltype(function)>>;
  template <class... A>
  decltype(auto) operator()(A &&...args) const {
    return std::invoke(function, std::forward<A>(args)...);
  }
};

template <class F>
struct TypesOf {
  template <class R, class... A>
  static FunctionTypes<R (*)(A...)> of(R (F::*)(A...) const);
  using Type = decltype(of(&F::operator()));
};
template <auto function>
struct TypesOf<Constant<function>> {
  using Type = typename Constant<function>::Types;
};

/// The function `F`, a type without members, as one of Python. The first argument of a method is
/// its object, of the bound class `Object`; that of a function is void.
template <class F, class Object>
class Binding {
  static constexpr bool is_method = !std::is_void_v<Object>;
  using Types = typename TypesOf<F>::Type;
  template <class T>
  struct Split;
  template <class... A>
  struct Split<std::tuple<A...>> {
    using Self = void;
    using Rest = std::tuple<A...>;
  };
  template <class S, class... A>
    requires is_method
  struct Split<std::tuple<S, A...>> {
    using Self = S;
    using Rest = std::tuple<A...>;
  };
  using Self = typename Split<typename Types::Arguments>::Self;
  using Rest = typename Split<typename Types::Arguments>::Rest;
  template <std::size_t I>
  using Argument = std::tuple_element_t<I, Rest>;

  static constexpr std::size_t kCount = std::tuple_size_v<Rest>;
  /// The number of the first parameter of an argument.
  template <std::size_t Until>
  static constexpr std::size_t first = []<std::size_t... I>(std::index_sequence<I...>) {
    return (std::size_t{0} + ... + parameters_of<Argument<I>>());
  }(std::make_index_sequence<Until>());

public:
  static constexpr std::size_t kNamed = first<kCount>;

  static Definition describe() {
    Definition definition;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (describe_argument<Argument<I>>(definition), ...);
      definition.others =
          (std::is_same_v<std::remove_cvref_t<Argument<I>>, nb::args> || ... || false);
      definition.keywords =
          (std::is_same_v<std::remove_cvref_t<Argument<I>>, nb::kwargs> || ... || false);
    }(std::make_index_sequence<kCount>());
    definition.result = type_words<typename Types::Result>;
    return definition;
  }

  static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *words) {
    return guarded([&] { return run(self, args, static_cast<std::size_t>(count), words); });
  }

  /// The call of a class, whose `__init__` this is.
  static PyObject *construct(PyObject *type, PyObject *const *args, std::size_t count,
                             PyObject *words) {
    return guarded([&]() -> PyObject * {
      const nb::object self = nb::inst_alloc(type);
      Py_DECREF(run(self.ptr(), args, static_cast<std::size_t>(PyVectorcall_NARGS(count)), words));
      return Py_NewRef(self.ptr());
    });
  }

  static inline Definition *definition = nullptr;

private:
  template <class A>
  static void describe_argument(Definition &definition) {
    using T = std::remove_cvref_t<A>;
    if constexpr (HasOptions<T>) {
      const auto add = [&, defaults = T{}](const auto &option) {
        using Shows = Shown<std::remove_cvref_t<decltype(defaults.*option.member)>>;
        Arg arg = Arg(option.name).as(kept_words(Shows::type()));
        arg.shown = kept_words(Shows::value(defaults.*option.member));
        definition.options.push_back(arg);
        definition.types.push_back(type_words<nb::handle>);
      };
      std::apply([&](const auto &...each) { (add(each), ...); }, members_of<T>());
    } else if constexpr (!Keyed<T>) {
      definition.types.push_back(type_words<A>);
    }
  }
  static PyObject *run(PyObject *self, PyObject *const *args, std::size_t count, PyObject *words) {
    PyObject *values[kNamed + 1];
    const BoundCall call{*definition, self, args, count, words, values};
    call.bind();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] std::tuple<Reading<Argument<I>>...> read;
      (std::get<I>(read).read(call, first<I>), ...);
      if constexpr (std::is_pointer_v<std::remove_cvref_t<Self>>) {
        if (nb::inst_ready(self))
          throw StateError(call.word() + ": the object was initialized already");
        F()(self_as<Self, Object>(self), std::get<I>(read).get()...);
        nb::inst_mark_ready(self);
        return Py_NewRef(Py_None);
      } else if constexpr (is_method) {
        return returned([&]() -> decltype(auto) {
          return F()(self_as<Self, Object>(self), std::get<I>(read).get()...);
        });
      } else {
        return returned([&]() -> decltype(auto) { return F()(std::get<I>(read).get()...); });
      }
    }(std::make_index_sequence<kCount>());
  }
};

/// What a definition says besides its function: parameters and a docstring, in any order.
struct Extras {
  std::vector<Arg> args;
  std::size_t positional = SIZE_MAX; ///< how many stand before `keyword_only`
  const char *documentation = "", *returns = nullptr;

  void add(Returns of) { returns = of.stub; }
  void add(const Arg &arg) { args.push_back(arg); }
  void add(KeywordOnly) { positional = args.size(); }
  void add(Positional of) { positional = of.count; }
  void add(const char *text) { documentation = text; }
};

/// Completes a definition and keeps it. Throws std::logic_error unless each parameter has a name.
Definition *keep(Definition definition, Extras extras, PyCFunction call);
/// Makes it a function of the module, or a method of its class.
void install(nb::handle owner, Definition &definition);

template <class F, class Object, class... Extra>
const Definition &define_as(nb::handle owner, const char *name, const Extra &...extra) {
  using Bound = Binding<F, Object>;
  static_assert(std::is_empty_v<F>, "a function of Python captures nothing");
  Extras extras;
  (extras.add(extra), ...);
  Definition definition = Bound::describe();
  definition.name = name;
  if (!std::is_void_v<Object>) definition.owner = reinterpret_cast<PyTypeObject *>(owner.ptr());
  if (Bound::definition != nullptr) throw std::logic_error(std::string(name) + " is defined twice");
  Bound::definition =
      keep(std::move(definition), std::move(extras), reinterpret_cast<PyCFunction>(Bound::call));
  install(owner, *Bound::definition);
  return *Bound::definition;
}

/// Adds a function to the module.
/// \param name with the names of the parameters, "take(count)", or followed by an `Arg` of each,
/// where one has a default, may be None, or says its type. An argument of WEFT_OPTIONS is a
/// parameter for each of its members, behind the others.
template <class F, class... Extra>
void define(nb::module_ &module, const char *name, F, const Extra &...extra) {
  define_as<F, void>(module, name, extra...);
}
template <auto function, class... Extra>
void define(nb::module_ &module, const char *name, const Extra &...extra) {
  define_as<Constant<function>, void>(module, name, extra...);
}
/// Adds a method to any class.
template <auto function, class... Extra>
void define_method(PyTypeObject *type, const char *name, const Extra &...extra) {
  define_as<Constant<function>, nb::handle>(reinterpret_cast<PyObject *>(type), name, extra...);
}

/// Has a class of a module such as weft._data be one of weft.data.
void publish(nb::module_ &family, nb::handle type);
/// Notes a class and the properties of one, for stubs.
void note_class(nb::handle type);
void note_property(nb::handle type, const char *name, TypeWordsOf of, bool is_writable,
                   const char *stub = nullptr);
/// The stubs of all functions and classes that are defined so, by their names.
nb::dict stubs();

template <class Get>
struct ResultOf {
  using Type = typename TypesOf<Get>::Type::Result;
};
template <class Get>
  requires(std::is_pointer_v<Get> || std::is_member_function_pointer_v<Get>)
struct ResultOf<Get> {
  using Type = typename FunctionTypes<Get>::Result;
};

/// Has calls of a class say that only others make its objects, if no slot of it makes some.
void refuse_constructor(nb::handle type);
/// Refuses the value of a property.
[[noreturn]] void refuse_property(PyObject *self, const char *name, PyObject *value,
                                  TypeWordsOf wanted);

/// A class of Python that is bound to one of C++: as nanobind's, but with methods as above.
template <class T, class... Base>
class ClassOf : public nb::class_<T, Base...> {
  using Nanobind = nb::class_<T, Base...>;

public:
  template <class... Extra>
  ClassOf(nb::handle scope, const char *name, const Extra &...extra)
      : Nanobind(scope, name, extra...) {
    refuse_constructor(*this);
    note_class(*this);
  }

  template <class F, class... Extra>
    requires std::is_class_v<F>
  ClassOf &def(const char *name, F, const Extra &...extra) {
    return add<F>(name, extra...);
  }
  template <auto function, class... Extra>
  ClassOf &def(const char *name, const Extra &...extra) {
    return add<Constant<function>>(name, extra...);
  }
  /// The constructor without arguments.
  ClassOf &def(nb::init<>) {
    return def("__init__", [](T *self) { new (self) T(); });
  }
  template <class Get, class... Extra>
  ClassOf &def_prop_ro(const char *name, Get &&get, const Extra &...extra) {
    note_property(*this, name, type_words<typename ResultOf<std::decay_t<Get>>::Type>, false);
    Nanobind::def_prop_ro(name, std::forward<Get>(get), extra...);
    return *this;
  }
  template <class Get, class... Extra>
  ClassOf &def_prop_ro(const char *name, Get &&get, Returns of, const Extra &...extra) {
    note_property(*this, name, type_words<nb::object>, false, of.stub);
    Nanobind::def_prop_ro(name, std::forward<Get>(get), extra...);
    return *this;
  }
  /// \param set a function of the object and its new value, without members
  template <class Get, class Set, class... Extra>
  ClassOf &def_prop_rw(const char *name, Get &&get, Set, const Extra &...extra) {
    using Arguments = typename TypesOf<Set>::Type::Arguments;
    using Self = std::tuple_element_t<0, Arguments>;
    using Value = std::tuple_element_t<1, Arguments>;
    note_property(*this, name, type_words<typename ResultOf<std::decay_t<Get>>::Type>, true);
    Nanobind::def_prop_rw(
        name, std::forward<Get>(get),
        [name](nb::handle_t<T> self, nb::handle value) {
          nb::detail::make_caster<Value> caster;
          constexpr auto kFlags = static_cast<std::uint32_t>(nb::detail::cast_flags::convert);
          if (value.is_none() || !caster.from_python(value.ptr(), kFlags, nullptr))
            refuse_property(self.ptr(), name, value.ptr(), type_words<Value>);
          Set()(self_as<Self, T>(self.ptr()), caster.operator nb::detail::cast_t<Value>());
        },
        nb::for_setter(nb::arg("value").none()), extra...);
    return *this;
  }

private:
  template <class F, class... Extra>
  ClassOf &add(const char *name, const Extra &...extra) {
    const Definition &definition = define_as<F, T>(*this, name, extra...);
    if (definition.is_constructor())
      reinterpret_cast<PyTypeObject *>(this->ptr())->tp_vectorcall = Binding<F, T>::construct;
    return *this;
  }
};

} // namespace weft::python

template <>
struct nanobind::detail::type_caster<weft::python::Path> {
  NB_TYPE_CASTER(weft::python::Path, const_name("str | os.PathLike[str]"))
  bool from_python(handle source, std::uint32_t, cleanup_list *) noexcept {
    PyObject *bytes = nullptr;
    if (PyUnicode_FSConverter(source.ptr(), &bytes) == 0) return false;
    value.bytes.assign(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
    Py_DECREF(bytes);
    return true;
  }
};
