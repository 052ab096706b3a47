// Errors of wrong calls of bound functions, worded anew: their calls pass through here.
#include "CallErrors.h"
#include "Snapshots.h"
#include "Text.h"

#include "Arguments.h"
#include "BoundForms.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace weft::python {

namespace {

//===----------------------------------------------------------------------===//
// What is bound, by what name
//===----------------------------------------------------------------------===//

/// Where a bound function is: in the module, or in a class of it.
struct Binding {
  PyObject *owner;
  std::string name;
  bool is_method, is_property;
};

/// All of them, which live as long as the module.
std::unordered_map<PyObject *, Binding> &bindings() {
  static auto &all = *new std::unordered_map<PyObject *, Binding>();
  return all;
}

/// What users call a class: one inside by the class of Python that derives from it, as History
/// does.
std::string name_of_class(nb::handle type) {
  std::string name = public_name(type);
  for (const nb::handle derived : nb::list(type.attr("__subclasses__")()))
    if (name.empty()) name = public_name(derived);
  if (!name.empty()) return name;
  return std::string("weft._weft.") + text_of(nb::object(type.attr("__qualname__")));
}

/// The function of the package in Python that users called, for those that only it calls.
struct Caller {
  std::string name;
  nb::object frame;
};

/// "weft.data.Dataset.batch" for "Dataset.batch" in those globals; empty if it is not public.
std::string name_of_code(std::string_view qualified, nb::handle globals) {
  const std::size_t dot = qualified.find('.');
  const std::string first(qualified.substr(0, dot));
  const std::string_view rest =
      dot == std::string_view::npos ? std::string_view() : qualified.substr(dot);
  const bool is_init = rest == ".__init__" || rest == ".__new__";
  const bool hidden = rest.find("<locals>") != std::string_view::npos || rest.starts_with("._");
  PyObject *object = PyDict_GetItemString(globals.ptr(), first.c_str());
  if (object == nullptr || (hidden && !is_init)) return {};
  const std::string name = public_name(object);
  return name.empty() || is_init ? name : name + std::string(rest);
}

Caller caller() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
  for (; frame.is_valid() && !frame.is_none(); frame = frame.attr("f_back")) {
    const nb::object globals = frame.attr("f_globals");
    PyObject *module = PyDict_GetItemString(globals.ptr(), "__name__");
    if (module == nullptr || !is_of_package(text_of(nb::handle(module)))) break;
    const nb::object qualified = frame.attr("f_code").attr("co_qualname");
    std::string name = name_of_code(text_of(qualified), globals);
    if (!name.empty()) return {std::move(name), std::move(frame)};
  }
  return {};
}

/// What the caller calls a value that it was given; empty where no argument is that, or several.
std::string name_in(const Caller &caller, nb::handle value) {
  std::string name;
  if (!caller.frame.is_valid()) return name;
  const nb::object code = caller.frame.attr("f_code"), locals = caller.frame.attr("f_locals");
  const auto count = nb::cast<std::size_t>(code.attr("co_argcount")) +
                     nb::cast<std::size_t>(code.attr("co_kwonlyargcount"));
  const nb::object names = code.attr("co_varnames");
  for (std::size_t i = 0; i < count; ++i) {
    const nb::object one = names[i];
    if (!nb::object(locals.attr("get")(one)).is(value)) continue;
    if (!name.empty()) return {};
    name = text_of(one);
  }
  return name;
}

//===----------------------------------------------------------------------===//
// The sentence
//===----------------------------------------------------------------------===//

/// A call that nanobind refused.
struct WrongCall {
  PyObject *function;
  const Binding &binding;
  std::span<PyObject *const> positional; ///< self among them
  std::span<PyObject *const> others;     ///< those given by keyword
  PyObject *keywords;                    ///< a tuple, or null
  std::string name;                      ///< of what users called
  Caller from;                           ///< only where that is a function of Python
};

void name_call(WrongCall &call) {
  const Binding &binding = call.binding;
  call.from = caller();
  call.name = call.from.name;
  if (!call.name.empty()) return;
  if (!binding.is_method) {
    call.name = public_name(call.function);
    if (call.name.empty()) call.name = "weft._weft." + binding.name;
    return;
  }
  call.name = name_of_class(binding.owner);
  if (binding.name != "__init__" && binding.name != "__new__") call.name += "." + binding.name;
}

std::string kind_of(PyObject *value) {
  if (value == Py_None) return " is None";
  return " is of type " + std::string(nb::type_name(nb::handle(value).type()).c_str());
}

/// What is wrong with a value, and which argument that is.
[[noreturn]] void refuse_value(const WrongCall &call, const BoundParameter &parameter,
                               std::size_t number, PyObject *value, const std::string &what) {
  using Kind = BoundParameter::Kind;
  if (call.binding.is_property && !call.from.frame.is_valid()) raise_type_error(call.name + what);
  std::string argument = "argument " + std::to_string(number + 1);
  if (call.from.frame.is_valid()) {
    const std::string name = name_in(call.from, value);
    argument = name.empty() ? "a value that it passes on" : "argument '" + name + "'";
  }
  if (argument.find('\'') == std::string::npos && parameter.kind != Kind::unnamed)
    argument = "argument '" + parameter.name + "'";
  raise_type_error(call.name + "(): " + argument + what);
}

bool takes_many(const BoundParameter &one) {
  return one.kind == BoundParameter::Kind::all_others ||
         one.kind == BoundParameter::Kind::all_keywords;
}

/// Puts the arguments in the places of their parameters, as bind_arguments does.
std::vector<PyObject *> bound_values(const WrongCall &call,
                                     const std::vector<BoundParameter> &parameters,
                                     std::span<PyObject *const> given) {
  using Kind = BoundParameter::Kind;
  std::vector<const char *> names;
  std::size_t positional = 0, required = 0;
  bool unnamed = false, all_others = false, all_keywords = false;
  for (const BoundParameter &one : parameters) {
    all_others |= one.kind == Kind::all_others;
    all_keywords |= one.kind == Kind::all_keywords;
    if (takes_many(one)) continue;
    unnamed |= one.kind == Kind::unnamed;
    if (one.kind != Kind::by_keyword) ++positional;
    if (required == names.size() && one.default_value.empty()) ++required;
    names.push_back(one.kind == Kind::unnamed ? "" : one.name.c_str());
  }
  if (all_others) given = given.first(std::min(given.size(), positional));
  const nb::tuple args = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(given.size())));
  for (std::size_t i = 0; i < given.size(); ++i)
    PyTuple_SET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i), nb::borrow(given[i]).release().ptr());
  nb::dict keywords;
  for (std::size_t i = 0; i < call.others.size(); ++i) {
    const nb::handle word = PyTuple_GET_ITEM(call.keywords, static_cast<Py_ssize_t>(i));
    const bool taken = std::ranges::any_of(names, [&](const char *name) {
      return PyUnicode_CompareWithASCIIString(word.ptr(), name) == 0;
    });
    if (taken || !all_keywords) keywords[word] = nb::handle(call.others[i]);
  }
  if (unnamed && given.size() != positional && keywords.size() == 0)
    raise_type_error(call.name + "() takes " + std::to_string(positional) +
                     (positional == 1 ? " argument" : " arguments") + " and was given " +
                     std::to_string(given.size()));
  std::vector<PyObject *> values(names.size());
  bind_arguments(call.name.c_str(), names, positional, required, args.ptr(), keywords.ptr(),
                 values.data());
  return values;
}

/// An overload and the values of its parameters, null where one is not given.
struct Form {
  std::vector<BoundParameter> parameters;
  std::vector<PyObject *> values;
};

/// Refuses the first argument that is of a wrong type for all overloads.
void refuse_types(const WrongCall &call, const std::vector<Form> &forms) {
  const Form &first = forms.front();
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    PyObject *value = first.values[i];
    if (value == nullptr) continue;
    std::string wanted;
    const bool wrong = std::ranges::all_of(forms, [&](const Form &form) {
      const bool same_place = i < form.values.size() && form.values[i] == value;
      const auto at =
          static_cast<std::size_t>(std::ranges::find(form.values, value) - form.values.begin());
      const std::string &type = form.parameters[same_place ? i : at].type;
      wanted += (wanted.empty() ? "" : " or ") + wanted_for(type);
      return !may_be(value, type);
    });
    if (wrong)
      refuse_value(call, first.parameters[i], i, value,
                   kind_of(value) + ": " + wanted + " is wanted");
  }
}

/// Refuses an integer that is probably out of the range of its parameter: the types are right.
void refuse_ranges(const WrongCall &call, const std::vector<Form> &forms) {
  for (const Form &form : forms)
    for (std::size_t i = 0; i < form.values.size(); ++i) {
      PyObject *value = form.values[i];
      if (value == nullptr || PyLong_CheckExact(value) == 0) continue;
      int beyond = 0;
      const long long number = PyLong_AsLongLongAndOverflow(value, &beyond);
      const bool suspect = beyond != 0 || number < 0 || number > std::numeric_limits<int>::max();
      if (suspect && takes_integers(form.parameters[i].type))
        refuse_value(call, form.parameters[i], i, value,
                     std::string(" is ") + repr_of(nb::handle(value)) + ", which is out of range");
    }
}

[[noreturn]] void refuse_call(WrongCall &call) {
  name_call(call);
  const bool has_self = call.binding.is_method || call.binding.name == "__new__";
  std::span<PyObject *const> given = call.positional;
  if (has_self) {
    if (given.empty()) raise_type_error(call.name + "() is missing the argument 'self'");
    if (call.binding.is_method && PyObject_IsInstance(given[0], call.binding.owner) != 1) {
      raise_type_error(call.name + "(): argument 'self'" + kind_of(given[0]) + ": a " +
                       name_of_class(call.binding.owner) + " is wanted");
    }
    given = given.subspan(1);
  }
  const nb::object signatures = nb::handle(call.function).attr("__nb_signature__");
  std::vector<Form> fitting;
  for (std::size_t k = 0, count = nb::len(signatures); k < count; ++k) {
    Form form{parameters_of(signatures[k], has_self), {}};
    try {
      form.values = bound_values(call, form.parameters, given);
      std::erase_if(form.parameters, takes_many);
      fitting.push_back(std::move(form));
    } catch (nb::python_error &) { // An overload of other arguments.
      if (k + 1 == count && fitting.empty()) throw;
    }
  }
  refuse_types(call, fitting);
  refuse_ranges(call, fitting);
  std::string forms;
  for (const nb::handle signature : signatures)
    forms += (forms.empty() ? "" : " or ") + call.name + "(" +
             text_of(parameters_of(signature, has_self)) + ")";
  raise_type_error(call.name + "() does not take these arguments: it is called as " + forms);
}

/// The error that nanobind itself has set for this function; null for those of what it ran.
bool is_of_nanobind(const nb::python_error &error) {
  if (!error.type().is(PyExc_TypeError)) return false;
  const nb::object traceback = error.value().attr("__traceback__");
  if (!traceback.is_none()) return false;
  const std::string text = text_of(error.value());
  return text.find("(): incompatible function arguments. The following argument types") !=
             std::string::npos ||
         text.ends_with(": no constructor defined!");
}

/// Words the error that is set anew if nanobind refused the arguments.
void word_anew(PyObject *function, PyObject *const *args, std::size_t count,
               PyObject *keywords) noexcept {
  if (PyErr_Occurred() != PyExc_TypeError) return;
  guarded([&] {
    nb::python_error error;
    if (!is_of_nanobind(error)) throw std::move(error);
    if (PyType_Check(function) != 0) {
      raise_type_error(name_of_class(function) +
                       " has no constructor: functions and other classes make its objects");
    }
    const auto found = bindings().find(function);
    if (found == bindings().end()) throw std::move(error);
    // nanobind marks a new object in the second bit from above.
    const auto given = static_cast<std::size_t>(PyVectorcall_NARGS(count)) &
                       ~(PY_VECTORCALL_ARGUMENTS_OFFSET >> 1);
    const auto words =
        static_cast<std::size_t>(keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0);
    WrongCall call{function, found->second, {args, given}, {args + given, words}, keywords, {}, {}};
    refuse_call(call);
    return 0;
  });
}

//===----------------------------------------------------------------------===//
// Calls that pass through
//===----------------------------------------------------------------------===//

/// nanobind has few ways to call: each has a place here, so that a call finds its own at once.
constexpr std::size_t kWays = 16;
vectorcallfunc ways[kWays] = {};

template <std::size_t Way>
PyObject *call_worded(PyObject *function, PyObject *const *args, std::size_t count,
                      PyObject *keywords) {
  stay_when_python_ends();
  PyObject *result = ways[Way](function, args, count, keywords);
  if (result == nullptr) [[unlikely]]
    word_anew(function, args, count, keywords);
  return result;
}

template <std::size_t... Way>
constexpr std::array<vectorcallfunc, kWays> worded_calls(std::index_sequence<Way...>) {
  return {call_worded<Way>...};
}

void pass_through(vectorcallfunc &place) {
  static constexpr auto kWorded = worded_calls(std::make_index_sequence<kWays>());
  std::size_t way = 0;
  while (way < kWays && ways[way] != nullptr && ways[way] != place) ++way;
  if (way == kWays) throw std::length_error("nanobind calls functions in more ways than expected");
  ways[way] = place;
  place = kWorded[way];
}

/// Has a function's calls pass through, if nanobind has bound it.
void add(nb::handle object, nb::handle owner, const std::string &name, bool is_property) {
  PyTypeObject *type = Py_TYPE(object.ptr());
  const std::string_view kind = type->tp_name;
  const bool is_method = kind.ends_with("nb_method");
  if ((!is_method && !kind.ends_with("nb_func")) || type->tp_vectorcall_offset <= 0) return;
  if (!bindings().try_emplace(object.ptr(), owner.ptr(), name, is_method, is_property).second)
    return;
  pass_through(*reinterpret_cast<vectorcallfunc *>(reinterpret_cast<char *>(object.ptr()) +
                                                   type->tp_vectorcall_offset));
}

void add_class(nb::handle type) {
  auto *of = reinterpret_cast<PyTypeObject *>(type.ptr());
  for (const auto &[key, value] : items_of(of->tp_dict)) {
    const std::string name = text_of(key);
    if (!PyObject_TypeCheck(value.ptr(), &PyProperty_Type)) {
      add(value, type, name, false);
      continue;
    }
    add(nb::object(value.attr("fget")), type, name, true);
    add(nb::object(value.attr("fset")), type, name, true);
  }
  // A class whose objects only others make has a call too, which says so.
  if (Py_TYPE(type.ptr()) != class_of_bound_classes) return;
  const nb::object init = type.attr("__init__");
  if (of->tp_vectorcall != nullptr && !bindings().contains(init.ptr()))
    pass_through(of->tp_vectorcall);
}

} // namespace

void word_call_errors(nb::module_ &module) {
  for (const auto &[key, value] : items_of(PyModule_GetDict(module.ptr()))) {
    if (PyType_Check(value.ptr()) == 0) add(value, module, text_of(key), false);
    else add_class(value);
  }
}

} // namespace weft::python
