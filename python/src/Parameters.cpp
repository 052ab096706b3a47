// Arguments of calls in the places of parameters, as Python binds them.
#include "Parameters.h"
#include "Staging.h"
#include "Text.h"

#include <algorithm>

namespace weft::python {

Parameters parameters_of(PyObject *callable) {
  Parameters parameters;
  const bool method = PyMethod_Check(callable) != 0;
  PyObject *function = method ? PyMethod_GET_FUNCTION(callable) : callable;
  if (PyFunction_Check(function) == 0) return parameters;
  const nb::handle of(function);
  const nb::object code = of.attr("__code__"), names = code.attr("co_varnames");
  const auto count = nb::cast<std::size_t>(code.attr("co_argcount"));
  const auto only = nb::cast<std::size_t>(code.attr("co_posonlyargcount"));
  const auto keyword = nb::cast<std::size_t>(code.attr("co_kwonlyargcount"));
  const int flags = nb::cast<int>(code.attr("co_flags"));
  const std::size_t skipped = method ? 1 : 0;
  if (count < skipped) return parameters;
  parameters.positional = count - skipped;
  parameters.positional_only = only < skipped ? 0 : only - skipped;
  parameters.more = (flags & CO_VARARGS) != 0;
  parameters.words = (flags & CO_VARKEYWORDS) != 0;
  for (std::size_t i = skipped; i < count + keyword; ++i) parameters.names.push_back(names[i]);
  if (parameters.more) parameters.rest = text_of(nb::object(names[count + keyword]));
  parameters.defaults.resize(parameters.names.size());
  if (const nb::object defaults = of.attr("__defaults__"); !defaults.is_none()) {
    const std::size_t given = nb::len(defaults);
    for (std::size_t i = 0; i < given; ++i)
      if (const std::size_t at = count - given + i; at >= skipped)
        parameters.defaults[at - skipped] = defaults[i];
  }
  if (const nb::object defaults = of.attr("__kwdefaults__"); !defaults.is_none())
    for (std::size_t i = parameters.positional; i < parameters.names.size(); ++i)
      parameters.defaults[i] = defaults.attr("get")(parameters.names[i], nb::handle(code));
  for (std::size_t i = parameters.positional; i < parameters.names.size(); ++i)
    if (parameters.defaults[i].is(code)) parameters.defaults[i] = nb::object();
  return parameters;
}

namespace {

/// Raises the TypeError that Python has for such a call.
[[noreturn]] void refuse_call(const Callee &self, PyObject *const *args, std::size_t given,
                              PyObject *keywords) {
  nb::list positional;
  nb::dict named;
  for (std::size_t i = 0; i < given; ++i) positional.append(nb::handle(args[i]));
  for (Py_ssize_t k = 0; keywords != nullptr && k < PyTuple_GET_SIZE(keywords); ++k)
    named[nb::handle(PyTuple_GET_ITEM(keywords, k))] =
        nb::handle(args[given + static_cast<std::size_t>(k)]);
  const nb::object signature =
      nb::module_::import_("inspect").attr("signature")(nb::handle(self.function));
  std::string message = "the arguments do not fit its parameters";
  try {
    const nb::object bind = signature.attr("bind");
    static_cast<void>(checked(PyObject_Call(bind.ptr(), nb::tuple(positional).ptr(), named.ptr())));
  } catch (nb::python_error &error) {
    message = text_of(error.value());
  }
  raise_type_error(std::string(self.name) + "(): " + message);
}

} // namespace

void bind(const Callee &self, PyObject *const *args, std::size_t given, PyObject *keywords,
          Bound &bound) {
  const Parameters &parameters = *self.parameters;
  if (parameters.plain(given, keywords)) {
    bound.values = args;
    bound.count = given;
    return;
  }
  const std::size_t count = parameters.names.size();
  bound.placed.assign(count, nullptr);
  if (given > parameters.positional) {
    if (!parameters.more) refuse_call(self, args, given, keywords);
    bound.rest = {args + parameters.positional, given - parameters.positional};
  }
  for (std::size_t i = 0; i < std::min(given, parameters.positional); ++i)
    bound.placed[i] = args[i];
  for (Py_ssize_t k = 0; keywords != nullptr && k < PyTuple_GET_SIZE(keywords); ++k) {
    PyObject *word = PyTuple_GET_ITEM(keywords, k);
    PyObject *value = args[given + static_cast<std::size_t>(k)];
    std::size_t at = parameters.positional_only;
    while (at < count && parameters.names[at].ptr() != word) ++at;
    if (at == count)
      for (at = parameters.positional_only;
           at < count && PyUnicode_Compare(parameters.names[at].ptr(), word) != 0; ++at) {
      }
    if (at < count && bound.placed[at] != nullptr) refuse_call(self, args, given, keywords);
    if (at < count) bound.placed[at] = value;
    else if (parameters.words) bound.words.emplace_back(word, value);
    else refuse_call(self, args, given, keywords);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (bound.placed[i] == nullptr) bound.placed[i] = parameters.defaults[i].ptr();
    if (bound.placed[i] == nullptr) refuse_call(self, args, given, keywords);
  }
  std::ranges::sort(bound.words, [](const auto &a, const auto &b) {
    return PyUnicode_Compare(a.first, b.first) < 0;
  });
  bound.values = bound.placed.data();
  bound.count = count;
}

namespace {

/// A value as a tensor of the spec. Throws DTypeError or ShapeError, which name the parameter.
nb::object converted_leaf(PyObject *value, nb::handle spec, const Place &place) {
  const DType dtype = to_dtype(nb::object(spec.attr("dtype")).ptr(), place);
  const Tensor tensor =
      is_tensor(value) ? tensor_in(value) : to_tensor_as(value, dtype, place, "the signature");
  const TensorType type = detail::type_of(tensor);
  const nb::object sizes = spec.attr("shape");
  bool fits = sizes.is_none() || static_cast<std::size_t>(nb::len(sizes)) == type.shape.size();
  for (std::size_t i = 0; fits && !sizes.is_none() && i < type.shape.size(); ++i)
    if (const nb::object size = sizes[i]; nb::isinstance<nb::int_>(size))
      fits = type.shape[i] == unknown || nb::cast<std::int64_t>(size) == type.shape[i];
  if (fits && type.dtype == dtype)
    return is_tensor(value) ? nb::borrow(value) : nb::steal(wrap(tensor));
  const TensorType wanted{dtype, shape_of_spec(sizes, place)};
  const std::string message =
      place.text() + " is " + to_string(type) + ", but the signature says " + to_string(wanted);
  if (type.dtype != dtype) throw DTypeError(message);
  throw ShapeError(message);
}

/// A tree in which what stands at a spec is a tensor: of its dtype, unless it was one before.
nb::object converted(PyObject *value, PyObject *spec, const Place &place) {
  if (nb::hasattr(nb::handle(spec), "_is_tensor_spec")) return converted_leaf(value, spec, place);
  const bool list = PyList_Check(spec) != 0, dict = PyDict_Check(spec) != 0;
  if (dict && PyDict_Check(value) != 0) {
    nb::dict made;
    for (const auto &[key, entry] : items_of(value)) {
      const nb::object inner = nb::borrow(PyDict_GetItemWithError(spec, key.ptr()));
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      made[key] = inner.is_valid() ? converted(entry.ptr(), inner.ptr(), place) : entry;
    }
    return made;
  }
  const bool fits =
      (list && PyList_Check(value) != 0) || (PyTuple_Check(spec) != 0 && PyTuple_Check(value) != 0);
  if (!fits) return nb::borrow(value);
  const nb::tuple entries = entries_of(value), specs = entries_of(spec);
  if (entries.size() != specs.size()) return nb::borrow(value);
  nb::list items;
  for (std::size_t i = 0; i < entries.size(); ++i)
    items.append(converted(nb::handle(entries[i]).ptr(), nb::handle(specs[i]).ptr(), place));
  if (list) return items;
  const nb::handle type(reinterpret_cast<PyObject *>(Py_TYPE(value)));
  return nb::hasattr(type, "_make") ? type.attr("_make")(items) : nb::object(nb::tuple(items));
}

} // namespace

void convert_to_specs(const Callee &self, Bound &bound) {
  const auto specs = static_cast<std::size_t>(PyTuple_GET_SIZE(self.specs));
  const auto convert = [&](PyObject *value, std::size_t spec, const std::string &name) {
    bound.converted.push_back(converted(value,
                                        PyTuple_GET_ITEM(self.specs, static_cast<Py_ssize_t>(spec)),
                                        {self.name, name.c_str()}));
    return bound.converted.back().ptr();
  };
  if (bound.placed.empty()) bound.placed.assign(bound.values, bound.values + bound.count);
  const std::size_t named = bound.count;
  for (std::size_t i = 0; i < std::min(specs, named); ++i)
    bound.placed[i] =
        convert(bound.placed[i], i, "argument '" + text_of(self.parameters->names[i]) + "'");
  bound.values = bound.placed.data();
  bound.converted_rest.assign(bound.rest.begin(), bound.rest.end());
  for (std::size_t i = 0; i < bound.rest.size() && named + i < specs; ++i)
    bound.converted_rest[i] =
        convert(bound.rest[i], named + i,
                "argument '*" + self.parameters->rest + "[" + std::to_string(i) + "]'");
  bound.rest = bound.converted_rest;
}

void walk(const Callee &self, const Bound &bound, ArgumentWalker &walker) {
  const std::vector<nb::object> &names = self.parameters->names;
  for (std::size_t i = 0; i < bound.count; ++i) {
    walker.begin(names[i].ptr());
    walker.walk(bound.values[i]);
  }
  walker.begin(nullptr);
  if (self.parameters->more) {
    walker.reader.enter(Node::tuple, bound.rest.size());
    for (PyObject *value : bound.rest) walker.walk(value);
  }
  if (self.parameters->words) {
    walker.reader.enter(Node::map, bound.words.size());
    for (const auto &[word, value] : bound.words) {
      walker.reader.literal(text_of(nb::handle(word)));
      walker.begin(word);
      walker.walk(value);
    }
  }
}

} // namespace weft::python
