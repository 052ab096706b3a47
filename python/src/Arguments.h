// Arguments of calls with many options: bound by names, and read into members of options of C++.
#pragma once

#include "Parts.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/nn/convolution.h>
#include <weft/nn/layer.h>
#include <weft/options.h>
#include <weft/variable.h>
#include <weft/windows.h>

namespace weft::python {

/// What options bring along that no C++ object holds.
struct Given {
  nb::object activation;                    ///< a function of Python, applied behind the layer
  bool takes_functions = true;              ///< whether there may be one
  std::vector<std::shared_ptr<Link>> links; ///< of initializers of Python, which the owner keeps
};

void read(bool &target, nb::handle value, const Place &place, Given &given);
void read(std::int64_t &target, nb::handle value, const Place &place, Given &given);
void read(std::uint64_t &target, nb::handle value, const Place &place, Given &given);
void read(double &target, nb::handle value, const Place &place, Given &given);
void read(std::string &target, nb::handle value, const Place &place, Given &given);
void read(DType &target, nb::handle value, const Place &place, Given &given);
void read(Ints &target, nb::handle value, const Place &place, Given &given);
void read(std::vector<std::int64_t> &target, nb::handle value, const Place &place, Given &given);
void read(std::vector<double> &target, nb::handle value, const Place &place, Given &given);
void read(Tensor &target, nb::handle value, const Place &place, Given &given);
void read(std::vector<std::string> &target, nb::handle value, const Place &place, Given &given);
void read(nn::PerAxis &target, nb::handle value, const Place &place, Given &given);
void read(Padding &target, nb::handle value, const Place &place, Given &given);
void read(nn::Activation &target, nb::handle value, const Place &place, Given &given);
void read(VariableInitializer &target, nb::handle value, const Place &place, Given &given);

/// A mapping as a dict of its own. Throws DTypeError for what is none.
nb::dict to_dict(nb::handle value, const Place &place);

/// The number of a word among the words of an enum; other values of Python have their words too.
std::size_t word_of(nb::handle value, std::span<const char *const> words, const Place &place);

/// The words of an enum, in its order.
template <class Enum>
struct Words;

template <class Enum>
  requires std::is_enum_v<Enum>
void read(Enum &target, nb::handle value, const Place &place, Given &) {
  target = static_cast<Enum>(word_of(value, Words<Enum>::words, place));
}

void read(int &target, nb::handle value, const Place &place, Given &given);

template <class T>
void read(std::optional<T> &target, nb::handle value, const Place &place, Given &given) {
  if (value.is_none()) {
    target.reset();
    return;
  }
  if constexpr (std::default_initializable<T>) target.emplace();
  else target.emplace(0);
  read(*target, value, place, given);
}

/// Named initializers of variables, which pickles have by their name and numbers.
struct Initializer {
  using Initialized = void; // see Initialized.h
  std::string name;
  std::vector<double> numbers;
  VariableInitializer draw;
};
/// Throws ValueError for a name that none has; it names the nearest.
Initializer initializer_named(const std::string &name, const std::vector<double> &numbers,
                              const Place &place);
void define_initializers(nb::module_ &module);

/// 'valid', 'same', 'causal', or pairs of integers.
Padding to_padding(PyObject *object, const char *function);

//===----------------------------------------------------------------------===//
// How options stand in signatures and stubs
//===----------------------------------------------------------------------===//

/// The type that stubs give an option of C++, and its values as Python writes them.
template <class T>
struct Shown;

std::string shown_float(double value);
/// The name by which initializers of the library are known, in quotes.
std::string shown_initializer(const VariableInitializer &draw);
inline std::string shown_text(const char *text) { return "'" + std::string(text) + "'"; }

template <>
struct Shown<bool> {
  static std::string type() { return "bool"; }
  static std::string value(bool value) { return value ? "True" : "False"; }
};
template <std::integral T>
struct Shown<T> {
  static std::string type() { return "int"; }
  static std::string value(T value) { return std::to_string(value); }
};
template <>
struct Shown<double> {
  static std::string type() { return "float"; }
  static std::string value(double value) { return shown_float(value); }
};
template <>
struct Shown<std::string> {
  static std::string type() { return "str | None"; }
  static std::string value(const std::string &value) {
    return value.empty() ? "None" : shown_text(value.c_str());
  }
};
template <>
struct Shown<DType> {
  static std::string type() { return "Any"; }
  static std::string value(DType value) { return shown_text(python_name(value)); }
};
template <>
struct Shown<VariableInitializer> {
  static std::string type() { return "Any"; }
  static std::string value(const VariableInitializer &value) { return shown_initializer(value); }
};
template <>
struct Shown<nn::PerAxis> {
  static std::string type() { return "int | Sequence[int]"; }
  static std::string value(const nn::PerAxis &value) {
    return std::to_string(value.of_rank(1, "an option")[0]);
  }
};
template <>
struct Shown<Padding> {
  static std::string type() { return "Any"; }
  static std::string value(const Padding &) { return "'valid'"; }
};
/// What is none by default: functions and tensors.
template <class T>
struct ShownAsNone {
  static std::string type() { return "Any"; }
  static std::string value(const T &) { return "None"; }
};
template <>
struct Shown<nn::Activation> : ShownAsNone<nn::Activation> {};
template <>
struct Shown<Tensor> : ShownAsNone<Tensor> {};
template <class T>
struct Shown<std::vector<T>> {
  static std::string type() { return "Sequence[" + Shown<T>::type() + "]"; }
  static std::string value(const std::vector<T> &) { return "()"; }
};
template <>
struct Shown<std::vector<std::string>> {
  static std::string type() { return "Sequence[str]"; }
  static std::string value(const std::vector<std::string> &) { return "()"; }
};
template <>
struct Shown<Ints> {
  static std::string type() { return "Any"; }
  static std::string value(const Ints &) { return "()"; }
};
template <class Enum>
  requires std::is_enum_v<Enum>
struct Shown<Enum> {
  static std::string type() {
    const std::string_view first = Words<Enum>::words[0];
    return first == "no" ? "bool | str" : first == "none" ? "str | None" : "str";
  }
  static std::string value(Enum value) {
    const char *word = Words<Enum>::words[static_cast<std::size_t>(value)];
    return std::string_view(word) == "no" ? "False" : shown_text(word);
  }
};
template <class T>
struct Shown<std::optional<T>> {
  static std::string type() {
    const std::string of = Shown<T>::type();
    return of == "Any" ? of : of + " | None";
  }
  static std::string value(const std::optional<T> &value) {
    return value ? Shown<T>::value(*value) : "None";
  }
};

/// A parameter in signatures; one without a default must be given.
struct ParameterText {
  const char *name;
  std::string type, otherwise;
};
/// "units, activation=None, *, name=None", or with types, as stubs have it.
std::string signature_text(std::span<const ParameterText> parameters, std::size_t positional,
                           bool with_types);
/// Keeps the parameters of a class or function, "weft.nn.Dense", for its stub.
void keep_parameters(const std::string &name, std::string parameters);
void define_parameters(nb::module_ &module);

/// The module weft._nn, whose names weft.nn has: what is bound for `name` is in it.
nb::module_ family(const char *name);
void add_to_family(const char *name, const char *word, nb::handle value);
/// The arguments of a call by the fast protocol as a tuple and a dict.
std::pair<nb::object, nb::object> collected(PyObject *const *args, Py_ssize_t count,
                                            PyObject *keywords);
/// Defines weft.losses.huber, say, which pickles have by that name.
void define_function(const char *of, const char *name, std::string documentation,
                     PyObject *(*call)(PyObject *, PyObject *const *args, Py_ssize_t count,
                                       PyObject *keywords));

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// A parameter of a call whose values are read into `Target`.
template <class Target>
struct Parameter : ParameterText {
  std::function<void(Target &, nb::handle, const Place &, Given &)> set;
};

/// A parameter that is read into `get(target)`; `otherwise` is what that is before.
template <class Target, class T, class Get>
Parameter<Target> parameter(const char *name, const T *otherwise, Get get) {
  return {{name, Shown<T>::type(), otherwise == nullptr ? "" : Shown<T>::value(*otherwise)},
          [get](Target &target, nb::handle value, const Place &place, Given &given) {
            read(get(target), value, place, given);
          }};
}

/// What Python calls a member of options that C++ calls something else.
struct Renamed {
  std::string_view member;
  const char *name;
};
/// How Python's parameters differ from the members of options.
struct Differences {
  std::size_t positional = 0; ///< how many, the first, may be given by position
  std::size_t required = 0;   ///< how many, the first, must be given
  std::vector<Renamed> renamed = {};
  std::vector<std::string_view> without = {};
};

template <class T>
concept HasOptions = requires { weft_options(static_cast<const T *>(nullptr)); };

/// The parameters that are members of options, `get(target)`.
template <class Target, HasOptions Options, class Get>
std::vector<Parameter<Target>> option_parameters(const Differences &of, Get get) {
  const Options defaults{};
  std::vector<Parameter<Target>> list;
  const auto add = [&](const auto &option) {
    if (std::ranges::find(of.without, option.name) != of.without.end()) return;
    const auto other = std::ranges::find(of.renamed, option.name, &Renamed::member);
    list.push_back(parameter<Target>(
        other == of.renamed.end() ? option.name : other->name,
        list.size() < of.required ? nullptr : &(defaults.*option.member),
        [get, member = option.member](Target &target) -> auto & { return get(target).*member; }));
  };
  std::apply([&](const auto &...each) { (add(each), ...); },
             weft_options(static_cast<const Options *>(nullptr)));
  return list;
}

/// The parameters of a function, read one after the other.
template <class Target>
struct ParameterTable {
  const char *function;
  std::vector<Parameter<Target>> list;
  std::size_t positional, required;
  const char *title = nullptr; ///< what messages about values call it, if not by its whole name
  mutable std::vector<const char *> names = {}; ///< once it was used

  const char *said() const { return title != nullptr ? title : function; }
  /// Reads a call. `more` are words besides, whose values the caller takes out of `others`.
  void read_call(PyObject *args, PyObject *keywords, Target &target, Given &given,
                 std::span<const ParameterText> more = {},
                 std::span<PyObject *> others = {}) const {
    if (names.empty()) {
      for (const ParameterText &each : list) names.push_back(each.name);
      for (const ParameterText &each : more) names.push_back(each.name);
    }
    weft::detail::InlineVector<PyObject *, 16> values(names.size());
    bind_arguments(function, names, positional, required, args, keywords, values.data());
    for (std::size_t i = 0; i < list.size(); ++i)
      if (values[i] != nullptr) list[i].set(target, values[i], Place{said(), list[i].name}, given);
    for (std::size_t i = 0; i < more.size(); ++i) others[i] = values[list.size() + i];
  }

  /// Its docstring, which begins with the signature as Python's own functions have it; keeps what
  /// its stub says.
  std::string documented(const char *name, const char *documentation, const char *example,
                         std::span<const ParameterText> more = {}) const {
    std::vector<ParameterText> all(list.begin(), list.end());
    all.insert(all.end(), more.begin(), more.end());
    keep_parameters(function, signature_text(all, positional, /*with_types=*/true));
    return std::string(name) + "(" + signature_text(all, positional, false) + ")\n--\n\n" +
           documentation + "\n\nExample:\n" + example;
  }
};

} // namespace weft::python
