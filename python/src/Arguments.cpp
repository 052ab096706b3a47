// Arguments by name, and values of Python as members of options.
#include "Arguments.h"
#include "Define.h"
#include "Text.h"

#include <algorithm>
#include <string_view>

#include <weft/detail/derivative_mark.h>

#include <weft/activations.h>
#include <weft/nn/functions.h>
#include <weft/nn/initializers.h>
#include <weft/nn/model.h>
#include <weft/ops.h>

namespace weft::python {

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

std::string shown_float(double value) { return repr_of(nb::float_(value)); }

std::string shown_initializer(const VariableInitializer &draw) {
  const auto *named = draw.target<nn::initializers::Named>();
  return named == nullptr ? "None" : shown_text(named->name);
}

std::string signature_text(std::span<const ParameterText> parameters, std::size_t positional,
                           bool with_types) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterText &each = parameters[i];
    if (i != 0) text += ", ";
    if (i == positional) text += "*, ";
    text += each.name;
    if (with_types) text += ": " + each.type;
    if (!each.otherwise.empty()) text += (with_types ? " = " : "=") + each.otherwise;
  }
  return text;
}

namespace {

std::vector<std::pair<std::string, std::string>> &kept_parameters() {
  static auto &kept = *new std::vector<std::pair<std::string, std::string>>;
  return kept;
}

} // namespace

void keep_parameters(const std::string &name, std::string parameters) {
  kept_parameters().emplace_back(name, std::move(parameters));
}

void define_parameters(nb::module_ &module) {
  define(
      module, "internal_parameters",
      [] {
        nb::dict all;
        for (const auto &[name, parameters] : kept_parameters()) all[name.c_str()] = parameters;
        return all;
      },
      Returns{"dict[str, str]"});
}

nb::module_ family(const char *name) {
  auto module = nb::borrow<nb::module_>(PyImport_AddModule((std::string("weft._") + name).c_str()));
  if (!nb::hasattr(module, "__all__")) module.attr("__all__") = nb::list();
  return module;
}

void add_to_family(const char *name, const char *word, nb::handle value) {
  const nb::module_ module = family(name);
  module.attr(word) = value;
  module.attr("__all__").attr("append")(word);
}

std::pair<nb::object, nb::object> collected(PyObject *const *args, Py_ssize_t count,
                                            PyObject *keywords) {
  nb::object tuple = checked(PyTuple_New(count));
  nb::dict words;
  for (Py_ssize_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(tuple.ptr(), i, nb::borrow(args[i]).release().ptr());
  for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i)
    words[nb::handle(PyTuple_GET_ITEM(keywords, i))] = nb::handle(args[count + i]);
  return {std::move(tuple), std::move(words)};
}

void define_function(const char *of, const char *name, std::string documentation,
                     PyObject *(*call)(PyObject *, PyObject *const *args, Py_ssize_t count,
                                       PyObject *keywords)) {
  const auto &text = *new std::string(std::move(documentation));
  auto &method = *new PyMethodDef{name, reinterpret_cast<PyCFunction>(call),
                                  METH_FASTCALL | METH_KEYWORDS, text.c_str()};
  const nb::str owner((std::string("weft.") + of).c_str());
  add_to_family(of, name, checked(PyCFunction_NewEx(&method, nullptr, owner.ptr())));
}

//===----------------------------------------------------------------------===//
// Plain values
//===----------------------------------------------------------------------===//

namespace {

[[noreturn]] void refuse(nb::handle value, const Place &place, const char *wanted) {
  throw DTypeError(place.text() + " is " + shown_value(value) + ": " + wanted + " is wanted");
}

/// Whether it has items and is no text.
bool is_listed(nb::handle value) {
  return PyUnicode_Check(value.ptr()) == 0 && PyObject_HasAttrString(value.ptr(), "__iter__") != 0;
}

} // namespace

double to_number(PyObject *object, const Place &place) {
  if (is_tensor(object))
    if (const char *derivative = detail::DerivativeMark::following(tensor_in(object)))
      throw StateError(
          place.text() + " is a number, through which " + derivative +
          " follows no tensor: write it with ops, or stop_gradient(x) if it is to be a "
          "constant of the derivative");
  const double number = PyUnicode_Check(object) != 0 ? -1 : PyFloat_AsDouble(object);
  if (PyErr_Occurred() == nullptr && PyUnicode_Check(object) == 0) return number;
  PyErr_Clear();
  refuse(object, place, "a number");
}

void read(bool &target, nb::handle value, const Place &place, Given &) {
  const std::string_view type = Py_TYPE(value.ptr())->tp_name;
  if (PyLong_Check(value.ptr()) == 0 && !type.starts_with("numpy.bool") && !is_tensor(value.ptr()))
    refuse(value, place, "True or False");
  target = to<bool>(value.ptr(), place);
}
void read(std::int64_t &target, nb::handle value, const Place &place, Given &) {
  target = to_integer(value.ptr(), place);
}
void read(int &target, nb::handle value, const Place &place, Given &) {
  const std::int64_t number = to_integer(value.ptr(), place);
  target = static_cast<int>(number);
  if (target != number)
    throw ValueError(place.text() + " is " + std::to_string(number) +
                     ", which has more than 32 bits");
}
void read(std::uint64_t &target, nb::handle value, const Place &place, Given &) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  target = index.is_valid() ? PyLong_AsUnsignedLongLong(index.ptr()) : 0;
  if (PyErr_Occurred() == nullptr) return;
  PyErr_Clear();
  constexpr const char *kWanted = "an integer from 0 to 2^64 - 1";
  if (!index.is_valid()) refuse(value, place, kWanted);
  throw ValueError(place.text() + " is " + repr_of(index) + ": " + kWanted + " is wanted");
}
void read(double &target, nb::handle value, const Place &place, Given &) {
  target = to_number(value.ptr(), place);
}
void read(std::string &target, nb::handle value, const Place &place, Given &) {
  if (value.is_none()) return;
  if (PyUnicode_Check(value.ptr()) == 0) refuse(value, place, "a text");
  target = text_of(value);
}
void read(DType &target, nb::handle value, const Place &place, Given &) {
  if (!value.is_none()) target = to_dtype(value.ptr(), place);
}
void read(Ints &target, nb::handle value, const Place &place, Given &) {
  target = to_integers(value.ptr(), place);
}
void read(std::vector<std::int64_t> &target, nb::handle value, const Place &place, Given &) {
  if (value.is_none()) refuse(value, place, "a list of integers");
  const Ints list = to_integers(value.ptr(), place);
  target.assign(list.begin(), list.end());
}
void read(std::vector<double> &target, nb::handle value, const Place &place, Given &given) {
  if (!is_listed(value)) refuse(value, place, "a list of numbers");
  target.clear();
  for (const nb::handle number : value) read(target.emplace_back(), number, place, given);
}
void read(Tensor &target, nb::handle value, const Place &place, Given &) {
  target = value.is_none() ? Tensor() : to_tensor(value.ptr(), place);
}
void read(std::vector<std::string> &target, nb::handle value, const Place &place, Given &given) {
  if (!is_listed(value)) refuse(value, place, "a list of texts");
  target.clear();
  for (const nb::handle word : value) read(target.emplace_back(), word, place, given);
}
void read(nn::PerAxis &target, nb::handle value, const Place &place, Given &) {
  if (PyLong_Check(value.ptr()) != 0) {
    target = nn::PerAxis(to_integer(value.ptr(), place));
    return;
  }
  const Ints list = to_integers(value.ptr(), place);
  switch (list.size()) {
  case 0: throw ValueError(place.text() + " is empty: an integer or one for each axis is wanted");
  case 1: target = nn::PerAxis(list[0]); break;
  case 2: target = {list[0], list[1]}; break;
  case 3: target = {list[0], list[1], list[2]}; break;
  default:
    throw ValueError(place.text() + " has " + std::to_string(list.size()) +
                     " entries: there are at most 3 spatial axes");
  }
}
void read(Padding &target, nb::handle value, const Place &place, Given &) {
  target = to_padding(value.ptr(), place.function);
}

nb::dict to_dict(nb::handle value, const Place &place) {
  nb::object dict =
      nb::steal(PyObject_CallOneArg(reinterpret_cast<PyObject *>(&PyDict_Type), value.ptr()));
  if (dict.is_valid()) return nb::steal<nb::dict>(dict.release());
  PyErr_Clear();
  refuse(value, place, "a dict");
}

std::size_t word_of(nb::handle value, std::span<const char *const> words, const Place &place) {
  const char *text = PyUnicode_Check(value.ptr()) != 0 ? PyUnicode_AsUTF8(value.ptr()) : nullptr;
  PyErr_Clear(); // of a lone surrogate
  // False is the first, as "no"; True the second.
  if (PyBool_Check(value.ptr()) != 0 && std::string_view(words[0]) == "no")
    return value.ptr() == Py_True ? 1 : 0;
  if (value.is_none() && std::string_view(words[0]) == "none") return 0;
  for (std::size_t i = 0; text != nullptr && i < words.size(); ++i)
    if (std::string_view(text) == words[i]) return i;
  std::string known;
  for (const char *word : words) known += std::string(known.empty() ? "'" : ", '") + word + "'";
  throw ValueError(place.text() + " is " + shown_value(value) + ": it is one of " + known);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {

struct NamedActivation {
  const char *name;
  Tensor (*function)(const Operand &);
};
constexpr NamedActivation kActivations[] = {
    {"relu", relu},
    {"tanh", tanh},
    {"sigmoid", sigmoid},
    {"logistic", logistic},
    {"softmax", [](const Operand &x) { return nn::softmax(x); }},
    {"gelu", gelu},
    {"gelu_tanh", gelu_tanh},
    {"silu", silu},
    {"swish", silu},
    {"softplus", softplus},
    {"elu", elu},
    {"selu", selu},
    {"leaky_relu", leaky_relu},
    {"relu6", relu6},
    {"hard_sigmoid", hard_sigmoid},
    {"mish", mish},
    {"softsign", softsign},
    {"log_softmax", [](const Operand &x) { return nn::log_softmax(x); }},
    {"exponential", exp},
    {"exp", exp},
};

const NamedActivation *activation_named(std::string_view name) {
  for (const NamedActivation &one : kActivations)
    if (name == one.name) return &one;
  return nullptr;
}

/// The name of one of the library's functions; empty for others.
std::string_view name_of_function(PyObject *object) {
  if (PyCFunction_Check(object) == 0) return {};
  const auto *function = reinterpret_cast<PyCFunctionObject *>(object);
  const bool ours = function->m_module != nullptr && PyUnicode_Check(function->m_module) != 0 &&
                    (PyUnicode_CompareWithASCIIString(function->m_module, "weft") == 0 ||
                     PyUnicode_CompareWithASCIIString(function->m_module, "weft.nn") == 0);
  return ours ? function->m_ml->ml_name : "";
}

} // namespace

void read(nn::Activation &target, nb::handle value, const Place &place, Given &given) {
  target = {};
  if (value.is_none()) return;
  if (PyUnicode_Check(value.ptr()) != 0) {
    const std::string name = text_of(value);
    if (name == "linear") return;
    if (const NamedActivation *found = activation_named(name)) {
      target = found->function;
      return;
    }
    std::vector<const char *> names = {"linear"};
    for (const NamedActivation &one : kActivations) names.push_back(one.name);
    const std::string near = nearest(name, names);
    throw ValueError(place.text() + " is '" + name + "', which names no activation" +
                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  if (const NamedActivation *found = activation_named(name_of_function(value.ptr()))) {
    target = found->function;
    return;
  }
  if (PyCallable_Check(value.ptr()) == 0)
    refuse(value, place, "the name of an activation, or a function of a tensor");
  // Nobody would find them there.
  if (is_model(value.ptr()) && !nn::named_variables(PythonParts(value)).empty())
    throw DTypeError(place.text() + " is a " + Py_TYPE(value.ptr())->tp_name +
                     " with variables of its own, which is a layer: put it behind this one");
  if (!given.takes_functions)
    throw DTypeError(place.text() + " is a function of Python, but is applied within the layer: "
                                    "the name of an activation is wanted");
  given.activation = nb::borrow(value);
}

} // namespace weft::python
