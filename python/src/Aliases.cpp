// Further names of functions.
#include "Aliases.h"
#include "Arguments.h"

#include <array>
#include <cstring>
#include <utility>

#include <weft/detail/named_call.h>

namespace weft::python {

namespace {

struct Alias {
  const char *alias = nullptr, *name = nullptr;
  PyObject *function = nullptr; ///< what is called
  std::string documentation;
  PyMethodDef row = {};
};

/// There is no object that a row of methods could go with, so each alias has a C function.
constexpr std::size_t kMost = 64;
std::array<Alias, kMost> &aliases() {
  static auto &all = *new std::array<Alias, kMost>();
  return all;
}

thread_local const Alias *called = nullptr;

template <std::size_t number>
PyObject *call_alias(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *words) {
  const Alias &alias = aliases()[number];
  const detail::NamedCall named(alias.alias);
  const Alias *const around = std::exchange(called, &alias);
  PyObject *const result =
      PyObject_Vectorcall(alias.function, args, static_cast<std::size_t>(count), words);
  called = around;
  return result;
}

template <std::size_t... numbers>
constexpr auto functions_of(std::index_sequence<numbers...>) {
  return std::array{call_alias<numbers>...};
}

} // namespace

void add_alias(nb::module_ &module, const char *name, const char *of) {
  static constexpr auto functions = functions_of(std::make_index_sequence<kMost>());
  static std::size_t count = 0;
  if (count == kMost) throw std::logic_error("there are more aliases than functions for them");
  Alias &alias = aliases()[count];
  const char *const dot = std::strchr(of, '.');
  nb::object function = dot == nullptr
                            ? nb::object(module.attr(of))
                            : nb::object(family(std::string(of, dot).c_str()).attr(dot + 1));
  alias = {name, of, function.release().ptr(), {}, {}};
  // The documentation begins with the call: "reverse(x, axis=None)".
  alias.documentation = reinterpret_cast<PyCFunctionObject *>(alias.function)->m_ml->ml_doc;
  if (alias.documentation.starts_with(std::string(of) + "("))
    alias.documentation.replace(0, std::string_view(of).size(), name);
  alias.row = {name, reinterpret_cast<PyCFunction>(functions[count]), METH_FASTCALL | METH_KEYWORDS,
               alias.documentation.c_str()};
  const nb::str owner("weft");
  module.attr(name) = checked(PyCFunction_NewEx(&alias.row, nullptr, owner.ptr()));
  if (!nb::hasattr(module, "_aliases")) module.attr("_aliases") = nb::dict();
  module.attr("_aliases")[name] = of;
  ++count;
}

std::string as_called(std::string_view message) {
  if (called == nullptr) return std::string(message);
  const std::string_view name = called->name, rest = message;
  const std::size_t at = message.starts_with("weft.") ? std::string_view("weft.").size() : 0;
  if (!rest.substr(at).starts_with(name)) return std::string(message);
  const std::string_view behind = rest.substr(at + name.size());
  if (!behind.starts_with(':') && !behind.starts_with('(')) return std::string(message);
  return std::string(rest.substr(0, at)) + called->alias + std::string(behind);
}

} // namespace weft::python
