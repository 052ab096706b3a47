// Signatures of functions that nanobind binds, read: names of parameters, their types and defaults.
#include "BoundForms.h"
#include "Snapshots.h"
#include "Text.h"

#include <algorithm>
#include <tuple>

namespace weft::python {

namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The parts of a text between separators that no bracket or quote holds.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c != separator || depth != 0) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  const std::string_view last = trimmed(text.substr(begin));
  if (!last.empty()) parts.push_back(last);
  return parts;
}

/// What the outermost brackets hold: "(a, b)" of "f(a, b) -> c".
std::string_view within(std::string_view text, char open, char close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    depth += text[i] == open ? 1 : text[i] == close ? -1 : 0;
    if (depth == 0) return text.substr(begin + 1, i - begin - 1);
  }
  return {};
}

bool is_number(PyObject *value) {
  const PyNumberMethods *of = Py_TYPE(value)->tp_as_number;
  return PyFloat_Check(value) != 0 || PyIndex_Check(value) != 0 ||
         (of != nullptr && of->nb_float != nullptr);
}

struct PlainType {
  std::string_view name;
  bool (*holds)(PyObject *);
  const char *one, *many;
};
constexpr PlainType kPlainTypes[] = {
    {"object", [](PyObject *value) { return value != Py_None; }, "a value", "values"},
    {"None", [](PyObject *value) { return value == Py_None; }, "None", "None"},
    {"bool", [](PyObject *value) { return PyBool_Check(value) != 0; }, "True or False", "bools"},
    {"int",
     [](PyObject *value) {
       return PyIndex_Check(value) != 0 || (PyFloat_Check(value) == 0 && is_number(value));
     },
     "an integer", "integers"},
    {"float", is_number, "a number", "numbers"},
    {"str", [](PyObject *value) { return PyUnicode_Check(value) != 0; }, "a text", "texts"},
    {"bytes", [](PyObject *value) { return PyBytes_Check(value) != 0; }, "bytes", "bytes"},
    {"dict", [](PyObject *value) { return PyDict_Check(value) != 0; }, "a dict", "dicts"},
    {"list", [](PyObject *value) { return PyList_Check(value) != 0; }, "a list", "lists"},
    {"tuple", [](PyObject *value) { return PyTuple_Check(value) != 0; }, "a tuple", "tuples"},
    {"collections.abc.Sequence", [](PyObject *value) { return PySequence_Check(value) != 0; },
     "a sequence", "sequences"},
    {"collections.abc.Mapping",
     [](PyObject *value) { return PyObject_HasAttrString(value, "keys") != 0; }, "a dict", "dicts"},
};

const PlainType *plain(std::string_view name) {
  for (const PlainType &one : kPlainTypes)
    if (one.name == name) return &one;
  return nullptr;
}

/// The class that "weft.random.Generator" names; null if there is none.
nb::object class_named(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string module(text.substr(0, dot)), name(text.substr(dot + 1));
  PyObject *loaded = PyDict_GetItemString(PyImport_GetModuleDict(), module.c_str());
  if (loaded == nullptr || PyObject_HasAttrString(loaded, name.c_str()) == 0) return {};
  nb::object found = nb::borrow(loaded).attr(name.c_str());
  return PyType_Check(found.ptr()) != 0 ? std::move(found) : nb::object();
}

bool may_be_one(nb::handle value, std::string_view type) {
  const std::string_view outer = trimmed(type.substr(0, type.find('[')));
  if (outer == type) {
    if (const PlainType *one = plain(type)) return one->holds(value.ptr());
    const nb::object found = class_named(type);
    return !found.is_valid() || PyObject_IsInstance(value.ptr(), found.ptr()) == 1;
  }
  if (outer != "tuple" && outer != "list" && outer != "collections.abc.Sequence") {
    const PlainType *one = plain(outer);
    return one == nullptr || one->holds(value.ptr());
  }
  if (PySequence_Check(value.ptr()) == 0 || PyUnicode_Check(value.ptr()) != 0) return false;
  const std::vector<std::string_view> inner = split(within(type, '[', ']'), ',');
  const nb::object items = nb::steal(PySequence_Tuple(value.ptr()));
  if (!items.is_valid()) {
    PyErr_Clear();
    return false;
  }
  const auto size = static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr()));
  if (outer == "tuple" && size != inner.size()) return false;
  for (std::size_t i = 0; i < size; ++i)
    if (!may_be(PyTuple_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i)),
                inner[outer == "tuple" ? i : 0]))
      return false;
  return true;
}

std::string wanted_for_one(std::string_view type) {
  const std::string_view outer = trimmed(type.substr(0, type.find('[')));
  const PlainType *one = plain(outer);
  if (one == nullptr) {
    const nb::object found = class_named(type);
    const std::string name = found.is_valid() ? public_name(found) : "";
    return "a " + (name.empty() ? "value of another type" : name);
  }
  if (outer == type || outer == "collections.abc.Mapping") return one->one;
  const std::vector<std::string_view> inner = split(within(type, '[', ']'), ',');
  if (outer == "tuple") {
    std::string all;
    for (const std::string_view each : inner) all += (all.empty() ? "" : ", ") + wanted_for(each);
    return "a tuple (" + all + ")";
  }
  const PlainType *each = inner.empty() ? nullptr : plain(inner[0]);
  return std::string(one->one) + (each == nullptr ? "" : std::string(" of ") + each->many);
}

} // namespace

std::vector<BoundParameter> parameters_of(nb::handle signature, bool has_self) {
  using Kind = BoundParameter::Kind;
  const nb::object text = signature[0], defaults = signature[2];
  std::vector<BoundParameter> parameters;
  Kind kind = Kind::named;
  bool first = has_self;
  const std::string all = text_of(text);
  for (std::string_view part : split(within(all, '(', ')'), ',')) {
    if (std::exchange(first, false)) continue;
    if (part == "*") {
      kind = Kind::by_keyword;
    } else if (part == "/") {
      for (BoundParameter &one : parameters) one.kind = Kind::unnamed;
    } else if (part.starts_with("**")) {
      parameters.push_back({Kind::all_keywords, std::string(part.substr(2)), "", ""});
    } else if (part.starts_with('*')) {
      parameters.push_back({Kind::all_others, std::string(part.substr(1)), "", ""});
      kind = Kind::by_keyword;
    } else {
      // "low: object | None = \0", where \0 is the first of the defaults; \=0 is one as a text.
      std::string value;
      if (const std::size_t at = part.rfind(" = \\"); at != std::string_view::npos) {
        std::string_view number = part.substr(at + 4);
        const bool is_text = number.starts_with('=');
        if (is_text) number.remove_prefix(1);
        const nb::object given = defaults[std::stoi(std::string(number))];
        value = is_text ? text_of(given) : repr_of(given);
        part = part.substr(0, at);
      }
      const std::size_t colon = part.find(':');
      parameters.push_back(
          {kind, std::string(trimmed(part.substr(0, colon))),
           std::string(colon == std::string_view::npos ? std::string_view("object")
                                                       : trimmed(part.substr(colon + 1))),
           value});
    }
  }
  return parameters;
}

std::string text_of(const std::vector<BoundParameter> &parameters) {
  using Kind = BoundParameter::Kind;
  std::string text;
  bool by_keyword = false;
  for (const BoundParameter &one : parameters) {
    if (!text.empty()) text += ", ";
    if (one.kind == Kind::by_keyword && !by_keyword) text += "*, ";
    by_keyword |= one.kind == Kind::by_keyword || one.kind == Kind::all_others;
    text += one.kind == Kind::all_others ? "*" : one.kind == Kind::all_keywords ? "**" : "";
    text += one.name;
    if (!one.default_value.empty()) text += "=" + one.default_value;
  }
  return text;
}

bool may_be(nb::handle value, std::string_view type) {
  return std::ranges::any_of(split(type, '|'),
                             [&](std::string_view one) { return may_be_one(value, one); });
}

std::string wanted_for(std::string_view type) {
  std::string text;
  for (const std::string_view one : split(type, '|'))
    text += (text.empty() ? "" : " or ") + wanted_for_one(one);
  return text;
}

bool takes_integers(std::string_view type) {
  return std::ranges::any_of(split(type, '|'), [](std::string_view one) { return one == "int"; });
}

bool is_of_package(std::string_view module) {
  return module == "weft" || module.starts_with("weft.");
}

std::string public_name(nb::handle object) {
  const auto is_public = [](std::string_view name) {
    return !name.starts_with('_') && name.find("._") == std::string_view::npos &&
           !name.starts_with("internal_");
  };
  // A class says where it is, if that is no file inside of the package.
  if (PyType_Check(object.ptr()) != 0) {
    const std::string module = text_of(nb::object(object.attr("__module__")));
    const std::string name = text_of(nb::object(object.attr("__qualname__")));
    if (is_of_package(module) && is_public(module) && is_public(name)) return module + "." + name;
  }
  // Others are where a module has them; where several have, the one with the shortest name.
  std::string best;
  const auto rank = [](const std::string &name) {
    return std::tuple(name.starts_with("weft.tf."), name.size(), name);
  };
  for (const auto &[key, module] : items_of(PyImport_GetModuleDict())) {
    if (PyModule_Check(module.ptr()) == 0 || PyUnicode_Check(key.ptr()) == 0) continue;
    const std::string within = text_of(key);
    if (!is_of_package(within) || !is_public(within)) continue;
    for (const auto &[name, value] : items_of(PyModule_GetDict(module.ptr()))) {
      if (!value.is(object) || PyUnicode_Check(name.ptr()) == 0) continue;
      const std::string text = text_of(name);
      if (!is_public(text)) continue;
      std::string full = within + "." + text;
      if (best.empty() || rank(full) < rank(best)) best = std::move(full);
    }
  }
  return best;
}

} // namespace weft::python
