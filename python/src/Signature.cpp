// Binding of the arguments of calls to parameters, and what a call that does not bind says.
#include "Arguments.h"
#include "Binding.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft::python {

namespace {

bool is_equal(PyObject *word, const char *name) {
  return PyUnicode_CompareWithASCIIString(word, name) == 0;
}

std::optional<std::size_t> find(std::span<const char *const> names, PyObject *word) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_equal(word, names[i])) return i;
  return std::nullopt;
}

/// numpy.sum(t) calls t.sum(axis=.., dtype=None, out=None).
bool is_left_by_numpy(PyObject *word, PyObject *value) {
  return value == Py_None && (is_equal(word, "out") || is_equal(word, "dtype"));
}

[[noreturn]] void refuse_count(const std::string &function, const Names &names, std::size_t given) {
  const bool all = names.positional == names.list.size();
  const std::string most =
      std::to_string(names.positional) + " argument" + (names.positional == 1 ? "" : "s");
  raise_type_error(function + "() takes " +
                   (names.positional == 0 ? all ? "no arguments" : "no arguments by position"
                    : all                 ? "at most " + most
                                          : "by position at most " + most) +
                   " and was given " + std::to_string(given));
}

/// What a function takes instead, if that is soon said.
std::string listed(std::span<const char *const> names) {
  constexpr std::size_t kFew = 6;
  std::string text;
  if (names.size() <= kFew)
    for (const char *name : names)
      text += (text.empty() ? ": it takes " : ", ") + std::string(name);
  return text;
}

const char *kept(const std::string &text) {
  // Rows of functions have it as long as the process lives.
  return (new std::string(text))->c_str();
}

} // namespace

namespace {

/// What to write for an argument of Keras that nothing is like; empty for others.
std::string instead_of(std::string_view word) {
  if (word.ends_with("regularizer"))
    return ": there are no regularizers: add the term to the loss, or give the optimizer "
           "weight_decay";
  if (word.ends_with("constraint"))
    return ": there are no constraints: assign the variable what it may be behind an update";
  return {};
}

} // namespace

void refuse_call(const std::string &function, const Names &names, std::size_t given,
                 const std::vector<PyObject *> &words) {
  if (given > names.positional && !names.others) refuse_count(function, names, given);
  std::vector<bool> taken(names.list.size());
  std::fill_n(taken.begin(), std::min(given, names.positional), true);
  for (PyObject *word : words) {
    const std::optional<std::size_t> at = find(names.list, word);
    if (!at && names.keywords) continue;
    if (!at) {
      // Lone surrogates are shown as Python writes them.
      const nb::object bytes =
          checked(PyUnicode_AsEncodedString(word, "utf-8", "backslashreplace"));
      const std::string text = PyBytes_AS_STRING(bytes.ptr());
      const std::string near = nearest(text, names.list), instead = instead_of(text);
      raise_type_error(function + "() got an unexpected argument '" + text + "'" +
                       (!instead.empty() ? instead
                        : !near.empty()  ? "; did you mean '" + near + "'?"
                                         : listed(names.list)));
    }
    if (taken[*at])
      raise_type_error(function + "() got the argument '" + names.list[*at] + "' twice");
    taken[*at] = true;
  }
  const auto missing = static_cast<std::size_t>(std::ranges::find(taken, false) - taken.begin());
  raise_type_error(function + "() is missing the argument '" + names.list[missing] + "'");
}

Signature::Signature(const char *name, std::initializer_list<Param> params, const char *result)
    : Signature(name, std::vector<Param>(params), result) {}

Signature::Signature(const char *name, std::vector<Param> all, const char *result)
    : name(name), result(result) {
  bool by_keyword = false;
  for (const Param &param : all) {
    if (param.name[0] == '*') {
      by_keyword = true;
      others = param.name[1] != '\0';
      if (others) rest = {param.name + 1, param.stub};
      continue;
    }
    if (!by_keyword) ++positional;
    if (param.otherwise == nullptr && required == names.size()) ++required;
    names.push_back(param.name);
    params.push_back(param);
  }
}

Signature::Signature(const char *name, std::initializer_list<const char *> list, std::size_t,
                     std::size_t positional, std::size_t required)
    : name(name), names(list), params(list.begin(), list.end()), result("Tensor"),
      positional(positional), required(required) {}

std::optional<std::size_t> Signature::find(PyObject *word) const {
  if (interned_.empty())
    for (const char *one : names) interned_.push_back(PyUnicode_InternFromString(one));
  for (std::size_t i = 0; i < interned_.size(); ++i)
    if (interned_[i] == word) return i;
  return python::find(names, word); // of one that is not interned
}

bool Signature::bind_keywords(PyObject *const *given, PyObject *words, PyObject **values) const {
  const Py_ssize_t count = PyTuple_GET_SIZE(words);
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject *word = PyTuple_GET_ITEM(words, k);
    const std::optional<std::size_t> at = find(word);
    if (!at) {
      if (keywords || is_left_by_numpy(word, given[k])) continue;
      return false;
    }
    if (values[*at] != nullptr) return false;
    values[*at] = given[k];
  }
  return true;
}

void Signature::refuse(const std::string &function, PyObject *const *args, std::size_t given,
                       PyObject *words) const {
  std::vector<PyObject *> list;
  for (Py_ssize_t k = 0; words != nullptr && k < PyTuple_GET_SIZE(words); ++k)
    if (PyObject *word = PyTuple_GET_ITEM(words, k);
        !is_left_by_numpy(word, args[given + static_cast<std::size_t>(k)]))
      list.push_back(word);
  refuse_call(function, view(), given, list);
}

std::vector<const Signature *> &documented_signatures() {
  static auto &all = *new std::vector<const Signature *>();
  return all;
}

std::string Signature::text() const {
  std::string text = "(";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : ", ";
    if (i == positional) text += "*" + std::string(others ? rest.name : "") + ", ";
    text += names[i];
    if (params[i].otherwise != nullptr) text += std::string("=") + params[i].otherwise;
  }
  if (others && positional == names.size())
    text += (text == "(" ? "*" : ", *") + std::string(rest.name);
  if (keywords) text += text == "(" ? "**kwargs" : ", **kwargs";
  return text + ")";
}

std::string Signature::stub(const char *self) const {
  std::string text = "(";
  const auto add = [&](const std::string &part) { text += (text == "(" ? "" : ", ") + part; };
  const std::string star = std::string("*") + rest.name + ": " + rest.stub;
  if (self != nullptr) add(self);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == positional) add(others ? star : "*");
    add(std::string(names[i]) + ": " + params[i].stub);
    if (params[i].otherwise != nullptr) text += std::string(" = ") + params[i].otherwise;
  }
  if (others && positional == names.size()) add(star);
  if (keywords) add("**kwargs: Any");
  return text + ") -> " + result;
}

const char *Signature::documented(const char *documentation, const char *self) const {
  const std::string_view given = documentation;
  if (given.find("\n--\n\n") != std::string_view::npos) return documentation;
  documentation_ = documentation;
  std::string_view word = name;
  word.remove_prefix(word.rfind('.') + 1);
  std::string form = text();
  if (self != nullptr) form.insert(1, std::string(self) + (form == "()" ? "" : ", "));
  return kept(std::string(word) + form + "\n--\n\n" + std::string(given));
}

void bind_arguments(const char *function, std::span<const char *const> names,
                    std::size_t positional, std::size_t required, PyObject *args,
                    PyObject *keywords, PyObject **values) {
  const auto given = static_cast<std::size_t>(PyTuple_GET_SIZE(args));
  bool binds = given <= positional;
  for (std::size_t i = 0; binds && i < given; ++i)
    values[i] = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i));
  std::vector<PyObject *> words;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; keywords != nullptr && PyDict_Next(keywords, &at, &key, &value) != 0;) {
    words.push_back(key);
    const std::optional<std::size_t> found = find(names, key);
    binds = binds && found && values[*found] == nullptr;
    if (binds) values[*found] = value;
  }
  for (std::size_t i = 0; binds && i < required; ++i) binds = values[i] != nullptr;
  if (!binds) refuse_call(function, {names, positional, required}, given, words);
}

void add_functions(nb::module_ &module, PyMethodDef *table) {
  const nb::str owner("weft");
  for (; table->ml_name != nullptr; ++table) {
    const char *const dot = std::strchr(table->ml_name, '.');
    if (dot == nullptr) {
      module.attr(table->ml_name) = checked(PyCFunction_NewEx(table, nullptr, owner.ptr()));
      continue;
    }
    const std::string of(table->ml_name, dot);
    table->ml_name = dot + 1;
    const nb::str family(("weft." + of).c_str());
    add_to_family(of.c_str(), dot + 1, checked(PyCFunction_NewEx(table, nullptr, family.ptr())));
  }
}

} // namespace weft::python
