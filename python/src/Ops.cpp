// Ops and functions made of them as functions of Python, made from their records, and those of them
// that are methods too.
#include "Aliases.h"
#include "Arguments.h"
#include "Binding.h"
#include "Composites.h"
#include "PythonParameters.h"
#include "Sizes.h"
#include "Snapshots.h"
#include <cstring>

#include <weft/detail/named_call.h>

namespace weft::python {

namespace {

/// The number of the word that the object is, of several.
template <class Word>
Word word_of(PyObject *object, const Place &place, std::initializer_list<const char *> words) {
  std::string list;
  for (const char *const *word = words.begin(); word != words.end(); ++word) {
    if (PyUnicode_Check(object) != 0 && PyUnicode_CompareWithASCIIString(object, *word) == 0)
      return static_cast<Word>(word - words.begin());
    list += (list.empty()              ? "'"
             : word + 1 == words.end() ? " or '"
                                       : ", '") +
            std::string(*word) + "'";
  }
  throw ValueError(place.text() + " is " +
                   nb::cast<std::string>(nb::object(nb::repr(nb::handle(object)))) + ": it is " +
                   list);
}

} // namespace

template <>
SearchSide to(PyObject *object, const Place &place) {
  return word_of<SearchSide>(object, place, {"left", "right"});
}
template <>
TakeMode to(PyObject *object, const Place &place) {
  return word_of<TakeMode>(object, place, {"raise", "wrap", "clip"});
}
template <>
GridIndexing to(PyObject *object, const Place &place) {
  return word_of<GridIndexing>(object, place, {"xy", "ij"});
}

template <>
fft::Norm to(PyObject *object, const Place &place) {
  return word_of<fft::Norm>(object, place, {"backward", "ortho", "forward"});
}

template <>
linalg::QrMode to(PyObject *object, const Place &place) {
  return word_of<linalg::QrMode>(object, place, {"reduced", "complete"});
}

template <>
PadMode to(PyObject *object, const Place &place) {
  return word_of<PadMode>(object, place,
                          {"constant", "edge", "linear_ramp", "maximum", "mean", "median",
                           "minimum", "reflect", "symmetric", "wrap"});
}
template <>
ScatterReduction to(PyObject *object, const Place &place) {
  return word_of<ScatterReduction>(object, place, {"set", "add", "multiply", "min", "max"});
}
template <>
QuantileMethod to(PyObject *object, const Place &place) {
  return word_of<QuantileMethod>(object, place,
                                 {"linear", "lower", "higher", "midpoint", "nearest"});
}
template <>
ConvolveMode to(PyObject *object, const Place &place) {
  return word_of<ConvolveMode>(object, place, {"full", "same", "valid"});
}

/// One number, a pair for all axes, or a list of pairs.
template <>
PadWidths to(PyObject *object, const Place &place) {
  const auto pair_of = [&](PyObject *of) -> std::array<std::int64_t, 2> {
    const Ints pair = to_integer_list(of, place);
    if (pair.size() != 2)
      throw ValueError(place.text() + " has " + std::to_string(pair.size()) +
                       " numbers for an axis: two are wanted, in front and behind");
    return {pair[0], pair[1]};
  };
  const bool is_list = PyIndex_Check(object) == 0 || PySequence_Check(object) != 0;
  if (!is_list || (is_tensor(object) && tensor_in(object).rank() == 0))
    return to_integer_list(object, place)[0];
  if (Py_TYPE(object)->tp_iter == nullptr && PySequence_Check(object) == 0)
    return to_integer_list(object, place)[0]; // which says what it is
  const nb::tuple entries = entries_of(object);
  const auto is_number = [](nb::handle entry) {
    return PyIndex_Check(entry.ptr()) != 0 &&
           (PySequence_Check(entry.ptr()) == 0 ||
            (is_tensor(entry.ptr()) && tensor_in(entry.ptr()).rank() == 0));
  };
  if (entries.size() != 0 && is_number(entries[0])) return PadWidths{pair_of(object)};
  std::vector<std::array<std::int64_t, 2>> pairs;
  for (const nb::handle entry : entries) pairs.push_back(pair_of(entry.ptr()));
  return pairs;
}

template <>
Bins to(PyObject *object, const Place &place) {
  const bool list =
      PySequence_Check(object) != 0 || (is_tensor(object) && tensor_in(object).rank() != 0);
  if (PyIndex_Check(object) != 0 && !list) return to_integer(object, place);
  return to<RealList>(object, place).values();
}

template <>
ContractedAxes to(PyObject *object, const Place &place) {
  const bool is_list = PyList_Check(object) != 0 || PyTuple_Check(object) != 0;
  if (!is_list && !(is_tensor(object) && tensor_in(object).rank() != 0))
    return to_integer(object, place);
  const nb::tuple lists = entries_of(object);
  if (lists.size() != 2)
    throw ValueError(place.text() + " has " + std::to_string(lists.size()) +
                     " entries: a number or two lists are wanted");
  return {to_integer_list(lists[0].ptr(), place), to_integer_list(lists[1].ptr(), place)};
}

template <>
std::string_view to(PyObject *object, const Place &place) {
  if (PyUnicode_Check(object) == 0)
    raise_type_error(place.text() + " is of type " + Py_TYPE(object)->tp_name +
                     ": a text is wanted");
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

template <>
RealList to(PyObject *object, const Place &place) {
  const Tensor list = to_tensor(object, place, DType::f64);
  if (list.rank() > 1 || list.traced())
    throw ShapeError(place.text() + " is a number, or a vector of numbers that are known");
  std::vector<double> values = list.to_vector<double>();
  return list.rank() == 0 ? RealList(values[0]) : RealList(std::move(values));
}

std::vector<Tensor> tensors_of(PyObject *object, const Place &place, bool weak) {
  const bool has_items = Py_TYPE(object)->tp_iter != nullptr || PySequence_Check(object) != 0;
  if (!has_items || PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object) ||
      (is_tensor(object) && tensor_in(object).rank() == 0))
    throw DTypeError(place.text() + " is of type " + Py_TYPE(object)->tp_name +
                     ": a list of tensors is wanted");
  const nb::tuple items = entries_of(object); // which Python that runs for one may change
  const std::optional<DType> hint = weak ? Beside::of(items.ptr()) : std::nullopt;
  std::vector<Tensor> tensors;
  for (const nb::handle item : items) {
    const std::string name =
        std::string(place.argument) + "[" + std::to_string(tensors.size()) + "]";
    tensors.push_back(to_tensor(item.ptr(), {place.function, name.c_str()}, hint));
  }
  return tensors;
}

std::vector<NamedTuple *> &named_tuples() {
  static std::vector<NamedTuple *> all;
  return all;
}

void NamedTuple::define(nb::module_ &module) {
  nb::list names;
  for (const char *field : fields) names.append(field);
  const char *const dot = std::strchr(name, '.');
  const std::string of = dot == nullptr ? "" : std::string(name, dot);
  const char *const own = dot == nullptr ? name : dot + 1;
  const std::string owner = of.empty() ? "weft" : "weft." + of;
  const nb::object made = nb::module_::import_("collections")
                              .attr("namedtuple")(own, names, nb::arg("module") = owner.c_str());
  made.attr("__doc__") = documentation;
  if (of.empty()) module.attr(own) = made;
  else add_to_family(of.c_str(), own, made);
  type = made.ptr(); // which the module holds
}

PyObject *NamedTuple::of(std::vector<Tensor> tensors) const {
  const nb::object list = checked(wrapped<Gives::tuple>(std::move(tensors)));
  return PyObject_Call(type, list.ptr(), nullptr);
}

std::string NamedTuple::stub() const {
  const std::string_view whole = name;
  std::string text = "class " + std::string(whole.substr(whole.rfind('.') + 1)) +
                     "(NamedTuple):\n    \"\"\"" + documentation + "\"\"\"\n\n";
  for (const char *field : fields) text += "    " + std::string(field) + ": Tensor\n";
  return text;
}

std::int64_t size_of_all(std::span<const Tensor> tensors) {
  std::int64_t size = 0;
  for (const Tensor &tensor : tensors) size += tensor.impl()->size;
  return size;
}

namespace {

#include "PythonOps.inc"

/// x where the condition holds, else y; where it holds, if neither is given.
const Signature where_signature{"where",
                                {{"condition", "TensorLike"},
                                 {"x", "TensorLike | None", "None"},
                                 {"y", "TensorLike | None", "None"},
                                 "*",
                                 {"size", "int | Tensor | None", "None"},
                                 {"fill_value", "int", "0"}}};
nb::object call_where(PyObject *const *values) {
  const auto none = [&](int i) { return values[i] == nullptr || values[i] == Py_None; };
  if (none(1) != none(2)) throw ValueError("where: x and y must both be given, or neither of them");
  if (none(1)) {
    const detail::NamedCall named("where");
    const Operands<1> condition(where_signature, values, 1);
    return checked(wrapped<Gives::tuple>(
        weft::where(condition[0],
                    {.size = given<std::optional<Size>>(values[3], std::nullopt, {"where", "size"}),
                     .fill_value = given<std::int64_t>(values[4], 0, {"where", "fill_value"})})));
  }
  if (!none(3) || given<std::int64_t>(values[4], 0, {"where", "fill_value"}) != 0)
    throw ValueError("where: size and fill_value are of positions, which it gives without x and y");
  const Operands<3> operands(where_signature, values, 1);
  return checked(wrap(unlocked(
      operands.size(), [&] { return weft::where(operands[0], operands[1], operands[2]); })));
}

PyMethodDef functions[] = {
    method<where_signature, call_where>("x where the condition holds, else y; alone, the positions "
                                        "where it holds, as `nonzero` gives "
                                        "them for `size` and `fill_value`."
                                        "\n\n"
                                        ">>> wf.where([True, False], [1, 2], 0)\n"
                                        "tensor([1, 0], shape=(2,), dtype=int32)\n\n"
                                        "Raises:\n"
                                        "    ShapeError: if the shapes do not broadcast\n"
                                        "    ValueError: if one of x and y is given\n"),
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void define_ops(nb::module_ &module) {
  for (const auto &[table, list] :
       {std::pair(op_methods, "_ops"), std::pair(composite_methods, "_composites")}) {
    nb::list names;
    for (const PyMethodDef *row = table; row->ml_name != nullptr; ++row) names.append(row->ml_name);
    module.attr(list) = names;
    add_functions(module, table);
  }
  add_functions(module, functions);
  for (NamedTuple *one : named_tuples()) one->define(module);
  for (const auto &[alias, name] : kAliases) add_alias(module, alias, name);
  add_alias(module, "vecdot", "linalg.vecdot"); // which the standard has in both
  const nb::handle type(reinterpret_cast<PyObject *>(tensor_type));
  for (const char *name : kMethods)
    nb::setattr(type, name, checked(PyInstanceMethod_New(nb::object(module.attr(name)).ptr())));
}

} // namespace weft::python
