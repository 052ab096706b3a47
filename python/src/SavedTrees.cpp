// `wf.save` and `wf.load`: trees of Python as values of files, and trees of such values.
#include "SavedTrees.h"
#include "Define.h"
#include "Foreign.h"
#include "Kinds.h"
#include "Parts.h"
#include "Sizes.h"
#include "Snapshots.h"
#include "Tensors.h"
#include "Text.h"

#include <unordered_map>

#include <weft/detail/saved_value.h>

namespace weft::python {

namespace {

using detail::SavedValue;
using SavedKind = SavedValue::Kind;

constexpr std::source_location kNowhere;

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

std::string joined(const std::string &path, const std::string &name) {
  return path.empty() ? name : path + "." + name;
}

/// "module:Outer.Class".
std::string class_name(nb::handle type) {
  return text_of(nb::object(type.attr("__module__"))) + ":" +
         text_of(nb::object(type.attr("__qualname__")));
}

nb::object type_of(nb::handle object) {
  return nb::borrow(reinterpret_cast<PyObject *>(Py_TYPE(object.ptr())));
}

[[noreturn]] void refuse(const std::string &path, nb::handle object, const std::string &instead) {
  throw DTypeError("save: " + (path.empty() ? "the tree" : "'" + path + "'") + " is of type " +
                   Py_TYPE(object.ptr())->tp_name + instead);
}

[[noreturn]] void refuse_kind(const std::string &path, nb::handle object) {
  if (is_model(object.ptr()))
    refuse(path, object,
           ", which only the program makes: a Checkpoint, or save_weights, keeps what it holds");
  refuse(path, object,
         ": a file holds lists, tuples, named tuples, dicts, OrderedDicts, dataclasses, None, "
         "numbers, texts, tensors, variables, and arrays and scalars of NumPy");
}

SavedValue number_of(PyObject *object) {
  if (PyBool_Check(object) != 0)
    return {.kind = SavedKind::boolean, .real = object == Py_True ? 1.0 : 0.0};
  if (PyFloat_Check(object) != 0)
    return {.kind = SavedKind::floating, .real = PyFloat_AS_DOUBLE(object)};
  if (PyComplex_Check(object) != 0)
    return {.kind = SavedKind::complex,
            .real = PyComplex_RealAsDouble(object),
            .imaginary = PyComplex_ImagAsDouble(object)};
  int overflow = 0;
  const std::int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return SavedValue::integer(value);
  return {.kind = SavedKind::integer, .text = text_of(nb::str(nb::handle(object)))};
}

/// An array or a scalar of NumPy, just as it is.
SavedValue array_of(const std::string &path, nb::handle object) {
  const nb::object array = imported_class("numpy", "ndarray"),
                   scalar = imported_class("numpy", "generic");
  const bool is_array = array.is_valid() && type_of(object).is(array);
  const bool is_scalar = scalar.is_valid() && nb::isinstance(object, scalar);
  if (!is_array && !is_scalar)
    refuse(path, object, ": make it a tensor, by weft.asarray, or an array of NumPy");
  const nb::object dtype = object.attr("dtype");
  const std::string name = text_of(nb::object(dtype.attr("name")));
  Tensor tensor;
  try {
    tensor = to_tensor(object.ptr(), {"save", path.empty() ? "the tree" : path.c_str()},
                       std::nullopt, Sharing::if_possible);
  } catch (const DTypeError &) { // said below
  }
  if (!tensor.defined() || python_name(tensor.dtype()) != name)
    throw DTypeError("save: " + (path.empty() ? "the tree" : "'" + path + "'") +
                     " is an array of " + name + ", which no dtype of Weft is: they are " +
                     dtypes_in_words() + "; convert it by .astype");
  return {.kind = is_array ? SavedKind::array : SavedKind::scalar, .tensor = tensor};
}

/// Throws ValueError for a tree that is nested too deep, or holds itself.
void check_depth(const std::string &path, int depth) {
  if (depth > detail::kDeepestSaved)
    throw ValueError("save: the tree is nested deeper than " +
                     std::to_string(detail::kDeepestSaved) + " at '" + path.substr(0, 40) +
                     "...', or holds itself");
}

SavedValue saved(PyObject *object, const std::string &path, int depth);

void add_entries(SavedValue &to, PyObject *object, const std::string &path, int depth) {
  std::size_t i = 0;
  for (const nb::handle entry : entries_of(object))
    to.entries.push_back(saved(entry.ptr(), joined(path, std::to_string(i++)), depth + 1));
}

SavedValue dict_of(PyObject *object, SavedKind kind, const std::string &path, int depth) {
  SavedValue dict{.kind = kind};
  for (const auto &[key, value] : items_of(object)) {
    const Kind is = kind_of(key.ptr());
    const std::string name = text_of(key);
    if (is != Kind::none && is != Kind::number && is != Kind::text)
      throw DTypeError("save: " + (path.empty() ? "the tree" : "'" + path + "'") +
                       " has a key of type " + Py_TYPE(key.ptr())->tp_name + ", " +
                       shown_value(key) + ": files hold keys that are texts, numbers or None");
    dict.keys.push_back(saved(key.ptr(), path, depth + 1));
    dict.entries.push_back(saved(value.ptr(), joined(path, name), depth + 1));
  }
  return dict;
}

SavedValue saved(PyObject *object, const std::string &path, int depth) {
  check_depth(path, depth);
  if (is_size(object)) return saved(number_or_scalar(size_in(object)).ptr(), path, depth);
  const nb::object alive = nb::borrow(object);
  SavedValue value;
  switch (kind_of(object)) {
  case Kind::none: return {};
  case Kind::tensor: return {.kind = SavedKind::tensor, .tensor = tensor_in(object)};
  case Kind::variable: return {.kind = SavedKind::variable, .variable = variable_in(object)};
  case Kind::number:
    if (PyFloat_Check(object) != 0 && !PyFloat_CheckExact(object)) return array_of(path, object);
    return number_of(object);
  case Kind::text: return SavedValue::of_text(nb::cast<std::string>(nb::handle(object)));
  case Kind::list:
    if (!PyList_CheckExact(object)) refuse_kind(path, object);
    value.kind = SavedKind::list;
    add_entries(value, object, path, depth);
    return value;
  case Kind::tuple:
    if (!PyTuple_CheckExact(object)) refuse_kind(path, object);
    value.kind = SavedKind::tuple;
    add_entries(value, object, path, depth);
    return value;
  case Kind::named:
    value.kind = SavedKind::named;
    value.text = class_name(type_of(object));
    for (const nb::handle name : nb::tuple(type_of(object).attr("_fields")))
      value.fields.push_back(text_of(name));
    for (std::size_t i = 0; const nb::handle entry : entries_of(object))
      value.entries.push_back(saved(entry.ptr(), joined(path, value.fields.at(i++)), depth + 1));
    if (value.entries.size() != value.fields.size()) refuse_kind(path, object);
    return value;
  case Kind::dict: return dict_of(object, SavedKind::dict, path, depth);
  case Kind::mapping:
    if (!type_of(object).is(imported_class("collections", "OrderedDict")))
      refuse_kind(path, object);
    return dict_of(object, SavedKind::ordered, path, depth);
  case Kind::record:
    if (is_model(object)) refuse_kind(path, object);
    value.kind = SavedKind::record;
    value.text = class_name(type_of(object));
    for (const nb::handle name : field_names(object)) {
      value.fields.push_back(text_of(name));
      const nb::object field = nb::getattr(nb::handle(object), name);
      value.entries.push_back(saved(field.ptr(), joined(path, value.fields.back()), depth + 1));
    }
    return value;
  case Kind::array: return array_of(path, object);
  default: refuse_kind(path, object);
  }
}

void save(const Path &path, nb::handle tree) {
  const SavedValue value = saved(tree.ptr(), "", 0);
  without_lock([&] { detail::write_saved(path.bytes, value, kNowhere); });
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Puts trees of Python together. Classes are looked up, never imported, and no constructor of
/// theirs runs.
class Builder {
public:
  explicit Builder(const nb::sequence &types) {
    for (const nb::handle type : types) {
      if (PyType_Check(type.ptr()) == 0)
        throw DTypeError("load: types has " + shown_value(type) +
                         ": classes of named tuples and dataclasses are wanted");
      types_[nb::str(class_name(type).c_str())] = type;
    }
  }

  nb::object build(const SavedValue &value, const detail::SavedPosition &place) {
    switch (value.kind) {
    case SavedKind::none: return nb::none();
    case SavedKind::boolean: return nb::bool_(value.real != 0);
    case SavedKind::integer: return integer(value, place);
    case SavedKind::floating: return checked(PyFloat_FromDouble(value.real));
    case SavedKind::complex: return checked(PyComplex_FromDoubles(value.real, value.imaginary));
    case SavedKind::text: return kept_text(value.text);
    case SavedKind::tensor: return once(value.tensor);
    case SavedKind::array: return array(value.tensor);
    case SavedKind::scalar: return numpy_of(value.tensor);
    case SavedKind::variable: return checked(wrap(*value.variable));
    case SavedKind::list: return entries(value, place);
    case SavedKind::tuple: return nb::tuple(entries(value, place));
    case SavedKind::dict: return dict(nb::dict(), value, place);
    case SavedKind::ordered:
      return dict(nb::module_::import_("collections").attr("OrderedDict")(), value, place);
    case SavedKind::named: return named(value, place);
    case SavedKind::record: return record(value, place);
    }
    return nb::none();
  }

private:
  static detail::SavedPosition at(const detail::SavedPosition &place, std::string_view name,
                                  std::size_t i) {
    return {place.file, &place, name, i, place.where};
  }
  static nb::object integer(const SavedValue &value, const detail::SavedPosition &place) {
    PyObject *number = PyLong_FromString(value.text.c_str(), nullptr, 10);
    if (number != nullptr) return nb::steal(number);
    nb::python_error error; // of a limit on digits
    detail::fail_saved(place, "is an integer of more digits than Python reads");
  }
  /// Tensors that were one are one object again.
  nb::object once(const Tensor &tensor) {
    nb::object &object = tensors_[tensor.impl()];
    if (!object.is_valid()) object = checked(wrap(tensor));
    return object;
  }
  static nb::object array(const Tensor &tensor) {
    return array_of_tensor(tensor, nb::none(), nb::bool_(true));
  }
  nb::list entries(const SavedValue &value, const detail::SavedPosition &place) {
    nb::list list;
    for (std::size_t i = 0; i < value.entries.size(); ++i)
      list.append(build(value.entries[i], at(place, {}, i)));
    return list;
  }
  nb::object dict(nb::object to, const SavedValue &value, const detail::SavedPosition &place) {
    for (std::size_t i = 0; i < value.entries.size(); ++i) {
      const nb::object key = build(value.keys[i], place);
      to[key] = build(value.entries[i], at(place, value.keys[i].text, i));
    }
    return to;
  }

  nb::list fields(const SavedValue &value, const detail::SavedPosition &place) {
    nb::list values;
    for (std::size_t i = 0; i < value.entries.size(); ++i)
      values.append(build(value.entries[i], at(place, value.fields[i], i)));
    return values;
  }
  nb::object named(const SavedValue &value, const detail::SavedPosition &place) {
    const nb::object type = class_of(value, place);
    const nb::tuple values(fields(value, place));
    if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type.ptr()), &PyTuple_Type) ||
        !nb::hasattr(type, "_fields"))
      detail::fail_saved(place, "is of the class '" + value.text + "', which is no named tuple");
    check_fields(value, nb::tuple(type.attr("_fields")), place);
    return nb::handle(reinterpret_cast<PyObject *>(&PyTuple_Type)).attr("__new__")(type, values);
  }
  nb::object record(const SavedValue &value, const detail::SavedPosition &place) {
    const nb::list values = fields(value, place);
    if (value.text.empty()) { // a struct of C++
      nb::dict dict;
      for (std::size_t i = 0; i < values.size(); ++i) dict[kept_text(value.fields[i])] = values[i];
      return dict;
    }
    const nb::object type = class_of(value, place);
    if (!nb::hasattr(type, "__dataclass_fields__") && !nb::hasattr(type, "__attrs_attrs__"))
      detail::fail_saved(place, "is of the class '" + value.text + "', which is no dataclass");
    const nb::object built =
        nb::handle(reinterpret_cast<PyObject *>(&PyBaseObject_Type)).attr("__new__")(type);
    check_fields(value, field_names(built.ptr()), place);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (PyObject_GenericSetAttr(built.ptr(), kept_text(value.fields[i]).ptr(),
                                  nb::object(values[i]).ptr()) != 0)
        throw nb::python_error();
    return built;
  }
  static void check_fields(const SavedValue &value, nb::handle own,
                           const detail::SavedPosition &place) {
    std::vector<std::string> names;
    for (const nb::handle name : own) names.push_back(text_of(name));
    if (names == value.fields) return;
    const auto list = [](const std::vector<std::string> &of) {
      std::string text;
      for (const std::string &name : of) text += (text.empty() ? "" : ", ") + name;
      return text;
    };
    detail::fail_saved(place, "has the fields (" + list(value.fields) + "), but the class '" +
                                  value.text + "' has (" + list(names) + ")");
  }

  /// One that was handed over, or that a module which is imported has under its name: found in
  /// their dicts alone, so that nothing runs.
  nb::object class_of(const SavedValue &value, const detail::SavedPosition &place) {
    const nb::str name(value.text.c_str());
    if (types_.contains(name)) return types_[name];
    const std::size_t colon = value.text.find(':');
    nb::object found;
    if (colon != std::string::npos) {
      PyObject *module = PyImport_GetModule(nb::str(value.text.substr(0, colon).c_str()).ptr());
      if (module == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
      found = nb::steal(module);
      std::string_view rest = std::string_view(value.text).substr(colon + 1);
      while (found.is_valid() && !rest.empty()) {
        const std::size_t dot = rest.find('.');
        found = in_dict(found, rest.substr(0, dot));
        rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
      }
    }
    if (!found.is_valid() || PyType_Check(found.ptr()) == 0)
      detail::fail_saved(place, "is of the class '" + value.text +
                                    "', which is in no module that is imported: import it, or hand "
                                    "the class over, load(path, types=[...])");
    return found;
  }
  static nb::object in_dict(const nb::object &object, std::string_view name) {
    PyObject *dict = PyModule_Check(object.ptr()) != 0 ? PyModule_GetDict(object.ptr())
                     : PyType_Check(object.ptr()) != 0
                         ? reinterpret_cast<PyTypeObject *>(object.ptr())->tp_dict
                         : nullptr;
    if (dict == nullptr) return {};
    PyObject *found = PyDict_GetItemWithError(dict, kept_text(name).ptr());
    if (found == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
    return nb::borrow(found);
  }

  nb::dict types_;
  std::unordered_map<const detail::TensorImpl *, nb::object> tensors_;
};

nb::object load(const Path &path, const nb::sequence &types) {
  Builder builder(types);
  const SavedValue root = without_lock([&] { return detail::read_saved(path.bytes, kNowhere); });
  return builder.build(root, {.file = path.bytes, .where = kNowhere});
}

} // namespace

void define_saved_trees(nb::module_ &module) {
  define<save>(
      module, "save", Arg("path"), Arg("tree").as("Any").none(),
      R"(Writes a tree as one file: lists, tuples, named tuples, dicts with keys that are texts or numbers,
OrderedDicts, dataclasses, None, numbers, texts, tensors, variables, and arrays and scalars of NumPy.

    >>> wf.save("run.weft", {"step": 7, "w": [wf.ones(2), None], "note": "warm-up"})
    >>> wf.load("run.weft")
    {'step': 7, 'w': [tensor([1., 1.], shape=(2,), dtype=float32), None], 'note': 'warm-up'}

It is a safetensors file: other programs read the tensors by their paths ("w.0"). The rest is JSON in its
metadata. It appears as a whole or not at all, and has a digest of each tensor and of the header. A tensor or
variable that is there twice is written once. `weft::load` reads it in C++.

Raises:
    DTypeError: for a value that files do not hold, by its path: models, sets, subclasses of list
    ValueError: if it is nested more than 256 deep, or holds itself
    StateError: for a tensor of a trace, or a variable without a value
    IOError: if it cannot be written
)");
  define<load>(
      module, "load", Arg("path"), keyword_only,
      Arg("types").as("Sequence[type[Any]]") = nb::tuple(), Returns{"Any"},
      R"(Reads a tree that `save` wrote, or `weft::save` in C++, whose structs are dicts here.

    >>> from collections import namedtuple
    >>> Point = namedtuple("Point", "x y")
    >>> wf.save("point.weft", Point(wf.zeros(1), 2.5))
    >>> wf.load("point.weft", types=[Point])
    Point(x=tensor([0.], shape=(1,), dtype=float32), y=2.5)

Nothing in a file is ever run: named tuples and dataclasses are put together of their fields, without their
constructors, by classes that are imported already.

Args:
    types: classes that no module has under their names, such as those made in a function

Raises:
    IOError: for a file that is missing, damaged or no tree, and for classes that are not there or have other
        fields
    DTypeError: for a dtype that Weft lacks
)");
}

} // namespace weft::python
