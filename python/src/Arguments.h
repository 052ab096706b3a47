// Arguments of calls with many options: bound by names, and read into members of options of C++.
#pragma once

#include "Parts.h"

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/nn/convolution.h>
#include <weft/nn/layer.h>
#include <weft/variable.h>
#include <weft/windows.h>

namespace weft::python {

/// What options bring along that no C++ object holds.
struct Given {
  nb::object activation;                    ///< a function of Python, applied behind the layer
  bool takes_functions = true;              ///< whether there may be one
  std::vector<std::shared_ptr<Link>> links; ///< of initializers of Python, which the owner keeps
  bool return_state = false;                ///< of recurrent layers
};

void read(bool &target, nb::handle value, const Place &place, Given &given);
void read(std::int64_t &target, nb::handle value, const Place &place, Given &given);
void read(std::uint64_t &target, nb::handle value, const Place &place, Given &given);
void read(double &target, nb::handle value, const Place &place, Given &given);
void read(std::string &target, nb::handle value, const Place &place, Given &given);
void read(DType &target, nb::handle value, const Place &place, Given &given);
void read(Ints &target, nb::handle value, const Place &place, Given &given);
void read(std::vector<double> &target, nb::handle value, const Place &place, Given &given);
void read(Tensor &target, nb::handle value, const Place &place, Given &given);
void read(std::vector<std::string> &target, nb::handle value, const Place &place, Given &given);
void read(nn::PerAxis &target, nb::handle value, const Place &place, Given &given);
void read(Padding &target, nb::handle value, const Place &place, Given &given);
void read(nn::Activation &target, nb::handle value, const Place &place, Given &given);
void read(VariableInitializer &target, nb::handle value, const Place &place, Given &given);

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

/// A parameter of a call whose values are read into `Target`.
template <class Target>
struct Parameter {
  const char *name;
  std::function<void(Target &, nb::handle, const Place &, Given &)> set;
};

/// The parameters of a function, read one after the other.
template <class Target>
struct ParameterTable {
  const char *function;
  std::vector<Parameter<Target>> list;
  std::size_t positional, required;

  /// Reads a call. `more` are words besides, whose values the caller takes out of `others`.
  void read_call(PyObject *args, PyObject *keywords, Target &target, Given &given,
                 std::span<const char *const> more = {}, std::span<PyObject *> others = {}) const {
    std::vector<const char *> names;
    for (const Parameter<Target> &parameter : list) names.push_back(parameter.name);
    names.insert(names.end(), more.begin(), more.end());
    std::vector<PyObject *> values(names.size());
    bind_arguments(function, names, positional, required, args, keywords, values.data());
    for (std::size_t i = 0; i < list.size(); ++i)
      if (values[i] != nullptr)
        list[i].set(target, values[i], Place{function, list[i].name}, given);
    for (std::size_t i = 0; i < more.size(); ++i) others[i] = values[list.size() + i];
  }
};

/// The parameter that is a member of options.
template <class Options, class T>
Parameter<Options> option(const char *name, T Options::*member) {
  return {name, [member](Options &options, nb::handle value, const Place &place, Given &given) {
            read(options.*member, value, place, given);
          }};
}

} // namespace weft::python
