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
// Plain values
//===----------------------------------------------------------------------===//

namespace {

[[noreturn]] void refuse(nb::handle value, const Place &place, const char *wanted) {
  throw DTypeError(place.text() + " is " + shown_value(value) + ": " + wanted + " is wanted");
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
  if (PyBool_Check(value.ptr()) == 0 && PyLong_Check(value.ptr()) == 0)
    refuse(value, place, "True or False");
  target = PyObject_IsTrue(value.ptr()) != 0;
}
void read(std::int64_t &target, nb::handle value, const Place &place, Given &) {
  target = to_integer(value.ptr(), place);
}
void read(std::uint64_t &target, nb::handle value, const Place &place, Given &) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  target = index.is_valid() ? PyLong_AsUnsignedLongLong(index.ptr()) : 0;
  if (PyErr_Occurred() == nullptr) return;
  PyErr_Clear();
  refuse(value, place, "an integer from 0 to 2^64 - 1");
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
void read(std::vector<double> &target, nb::handle value, const Place &place, Given &given) {
  if (PyUnicode_Check(value.ptr()) != 0 || PyObject_HasAttrString(value.ptr(), "__iter__") == 0)
    refuse(value, place, "a list of numbers");
  target.clear();
  for (const nb::handle number : value) read(target.emplace_back(), number, place, given);
}
void read(Tensor &target, nb::handle value, const Place &place, Given &) {
  target = value.is_none() ? Tensor() : to_tensor(value.ptr(), place);
}
void read(std::vector<std::string> &target, nb::handle value, const Place &place, Given &given) {
  if (PyUnicode_Check(value.ptr()) != 0) refuse(value, place, "a list of texts");
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

std::size_t word_of(nb::handle value, std::span<const char *const> words, const Place &place) {
  const char *text = PyUnicode_Check(value.ptr()) != 0 ? PyUnicode_AsUTF8(value.ptr()) : nullptr;
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

//===----------------------------------------------------------------------===//
// Initializers
//===----------------------------------------------------------------------===//

namespace {

using Numbers = std::vector<double>;

struct NamedInitializer {
  const char *name;
  std::vector<std::pair<const char *, double>> numbers; ///< and what they are if not given
  VariableInitializer (*make)(const Numbers &);
};

const std::vector<NamedInitializer> &initializers_by_name() {
  namespace of = nn::initializers;
  static const auto &all = *new std::vector<NamedInitializer>{
      {"glorot_uniform", {}, [](const Numbers &) { return of::glorot_uniform(); }},
      {"glorot_normal", {}, [](const Numbers &) { return of::glorot_normal(); }},
      {"he_uniform", {}, [](const Numbers &) { return of::he_uniform(); }},
      {"he_normal", {}, [](const Numbers &) { return of::he_normal(); }},
      {"lecun_uniform", {}, [](const Numbers &) { return of::lecun_uniform(); }},
      {"lecun_normal", {}, [](const Numbers &) { return of::lecun_normal(); }},
      {"orthogonal", {{"gain", 1}}, [](const Numbers &n) { return of::orthogonal(n[0]); }},
      {"uniform",
       {{"low", -0.05}, {"high", 0.05}},
       [](const Numbers &n) { return of::uniform(n[0], n[1]); }},
      {"normal",
       {{"stddev", 0.05}, {"mean", 0}},
       [](const Numbers &n) { return of::normal(n[0], n[1]); }},
      {"truncated_normal",
       {{"stddev", 0.05}, {"mean", 0}},
       [](const Numbers &n) { return of::truncated_normal(n[0], n[1]); }},
      {"constant", {{"value", 0}}, [](const Numbers &n) { return of::constant(n[0]); }},
      {"zeros", {}, [](const Numbers &) { return of::zeros(); }},
      {"ones", {}, [](const Numbers &) { return of::ones(); }},
  };
  return all;
}

/// An initializer of Python, which whoever keeps the link keeps.
VariableInitializer linked(const std::shared_ptr<Link> &link) {
  return [link](const Shape &shape, DType dtype, const std::optional<std::uint64_t> &) {
    const Locked locked;
    if (link->object == nullptr)
      throw StateError("an initializer of Python has gone with the layer that it was given to");
    nb::list sizes;
    for (const std::int64_t size : shape) sizes.append(size);
    const nb::object made = nb::borrow(link->object)(nb::tuple(sizes), wrap(dtype));
    return to_tensor_of(made.ptr(), dtype, {"initializer", "what it gives"});
  };
}

} // namespace

Initializer initializer_named(const std::string &name, const Numbers &numbers, const Place &place) {
  std::vector<const char *> names;
  for (const NamedInitializer &one : initializers_by_name()) {
    names.push_back(one.name);
    if (name != one.name) continue;
    Numbers all = numbers;
    for (std::size_t i = all.size(); i < one.numbers.size(); ++i)
      all.push_back(one.numbers[i].second);
    return {name, all, one.make(all)};
  }
  const std::string near = nearest(name, names);
  throw ValueError(place.text() + " is '" + name + "', which names no initializer" +
                   (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

void read(VariableInitializer &target, nb::handle value, const Place &place, Given &given) {
  if (value.is_none()) return;
  if (nb::isinstance<Initializer>(value)) {
    target = nb::cast<const Initializer &>(value).draw;
  } else if (PyUnicode_Check(value.ptr()) != 0) {
    target = initializer_named(text_of(value), {}, place).draw;
  } else if (PyCallable_Check(value.ptr()) != 0) {
    auto link = std::make_shared<Link>(value.ptr());
    target = linked(link);
    given.links.push_back(std::move(link));
  } else {
    refuse(value, place, "the name of an initializer, or a function of a shape and a dtype");
  }
}

void define_initializers(nb::module_ &module) {
  ClassOf<Initializer>(module, "Initializer", nb::is_final(), nb::is_weak_referenceable(),
                       "Draws the first values of variables."
                       "\n\nExample:\n"
                       "    >>> draw = wf.nn.initializers.constant(0.5)\n"
                       "    >>> isinstance(draw, wf.nn.initializers.Initializer)\n"
                       "    True\n"
                       "    >>> draw((2,), wf.float32)\n"
                       "    tensor([0.5, 0.5], shape=(2,), dtype=float32)\n")
      .def(
          "__call__",
          [](const Initializer &self, nb::handle shape, nb::handle dtype, nb::handle seed) {
            const Place place{self.name.c_str(), "shape"};
            Given given;
            std::optional<std::uint64_t> number;
            read(number, seed, {self.name.c_str(), "seed"}, given);
            return self.draw(Shape(to_integers(shape.ptr(), place)), to_dtype(dtype.ptr(), place),
                             number);
          },
          Arg("shape").none(), Arg("dtype").none() = "float32", Arg("seed") = nb::none(),
          "Numbers of that shape; the same for a seed.")
      .def("__repr__",
           [](const Initializer &self) {
             nb::list words;
             for (const double number : self.numbers) words.append(nb::repr(nb::float_(number)));
             return nb::str("{}({})").format(kept_text(self.name),
                                             nb::str(", ").attr("join")(words));
           })
      .def("__reduce__",
           [](const Initializer &self) {
             nb::list numbers;
             for (const double number : self.numbers) numbers.append(number);
             return nb::make_tuple(
                 nb::module_::import_("weft._arguments").attr("made_by"),
                 nb::make_tuple("weft._weft", "internal_initializer",
                                nb::make_tuple(kept_text(self.name), nb::tuple(numbers))));
           })
      .attr("__module__") = "weft.initializers";
  define(module, "internal_initializer(given_name, given)",
         [](nb::handle given_name, nb::handle given) {
           const std::string name = text_of(given_name);
           Numbers numbers;
           const auto &all = initializers_by_name();
           const auto found = std::ranges::find_if(
               all, [&](const NamedInitializer &one) { return name == one.name; });
           Given others;
           for (const nb::handle number : given) {
             const bool named = found != all.end() && numbers.size() < found->numbers.size();
             const char *argument = named ? found->numbers[numbers.size()].first : "a number";
             read(numbers.emplace_back(), number, {name.c_str(), argument}, others);
           }
           return initializer_named(name, numbers, {"initializer", "name"});
         });
}

} // namespace weft::python
