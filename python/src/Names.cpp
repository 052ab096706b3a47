// Names of functions and classes as users write them, searched in the modules of the package.
#include "Names.h"
#include "Snapshots.h"
#include "Text.h"

#include <tuple>

namespace weft::python {

namespace {

bool is_of_package(std::string_view module) {
  return module == "weft" || module.starts_with("weft.");
}

bool is_public(std::string_view name) {
  return !name.starts_with('_') && name.find("._") == std::string_view::npos &&
         !name.starts_with("internal_");
}

/// "weft.data.Dataset.batch" for "Dataset.batch" in those globals; empty if it is not public.
std::string name_of_code(std::string_view qualified, nb::handle globals) {
  const std::size_t dot = qualified.find('.');
  const std::string first(qualified.substr(0, dot));
  const std::string_view rest =
      dot == std::string_view::npos ? std::string_view() : qualified.substr(dot);
  const bool is_init = rest == ".__init__" || rest == ".__new__";
  const bool hidden = rest.find("<locals>") != std::string_view::npos || rest.starts_with("._");
  PyObject *object = PyDict_GetItemString(globals.ptr(), first.c_str());
  if (object == nullptr || (hidden && !is_init)) return {};
  const std::string name = public_name(object);
  return name.empty() || is_init ? name : name + std::string(rest);
}

} // namespace

std::string public_name(nb::handle object) {
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

std::string public_class_name(PyTypeObject *type) {
  for (const nb::handle base : nb::borrow(type->tp_mro)) {
    if (base.is(reinterpret_cast<PyObject *>(&PyBaseObject_Type))) break;
    if (std::string name = public_name(base); !name.empty()) return name;
  }
  return {};
}

std::string public_caller() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
  for (; frame.is_valid() && !frame.is_none(); frame = frame.attr("f_back")) {
    const nb::object globals = frame.attr("f_globals");
    PyObject *module = PyDict_GetItemString(globals.ptr(), "__name__");
    if (module == nullptr || !is_of_package(text_of(nb::handle(module)))) break;
    const nb::object qualified = frame.attr("f_code").attr("co_qualname");
    std::string name = name_of_code(text_of(qualified), globals);
    if (!name.empty()) return name;
  }
  return {};
}

std::string public_function_name(nb::handle function) {
  if (PyType_Check(function.ptr()) != 0) {
    const std::string name = public_name(function);
    return name.empty() ? text_of(nb::object(function.attr("__name__"))) : name;
  }
  std::string name = name_of_code(text_of(nb::object(function.attr("__qualname__"))),
                                  nb::object(function.attr("__globals__")));
  return name.empty() ? text_of(nb::object(function.attr("__name__"))) : name;
}

std::string last_word(const std::string &name) { return name.substr(name.rfind('.') + 1); }

} // namespace weft::python
