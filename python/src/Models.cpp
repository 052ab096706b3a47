// What is asked of all variables of a model of Python: lists of them, seeds, summaries, weights in
// files.
#include "Define.h"
#include "Restores.h"
#include "Saved.h"
#include "Snapshots.h"
#include "Text.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <nanobind/stl/vector.h>
#include <weft/checkpoint.h>
#include <weft/nn/summary.h>
#include <weft/train/fit.h>

namespace weft::python {

namespace {

using nn::NamedVariable;

/// The variables of a model, without the state of optimizers in it. Throws TypeError for an object
/// that can be none.
std::vector<NamedVariable> named_variables(nb::handle model) {
  return nn::named_variables(PythonParts(model, Optimizers::left));
}

/// What comes before the name of a variable in its path: that of its layer.
std::string_view layer_in(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return path.substr(0, dot == std::string_view::npos ? 0 : dot);
}

/// Those of layers that are built: of one that is not, some have a shape before the first call, as
/// a bias does, and would be all that an optimizer is given of it.
std::vector<NamedVariable> built_variables(nb::handle model) {
  std::vector<NamedVariable> all = named_variables(model);
  std::set<std::string, std::less<>> unbuilt;
  for (const NamedVariable &entry : all)
    if (!entry.variable.initialized()) unbuilt.emplace(layer_in(entry.path));
  std::erase_if(all,
                [&](const NamedVariable &entry) { return unbuilt.contains(layer_in(entry.path)); });
  return all;
}

/// Of those in built layers the ones that are trained, or the others, or both, as a list.
nb::list variables(nb::handle model, bool trainable, bool others) {
  nb::list list;
  for (const NamedVariable &entry : built_variables(model))
    if (entry.variable.trainable() ? trainable : others) list.append(checked(wrap(entry.variable)));
  return list;
}

nb::dict variables_by_path(nb::handle model) {
  nb::dict dict;
  for (const NamedVariable &entry : built_variables(model))
    dict[kept_text(entry.path)] = checked(wrap(entry.variable));
  return dict;
}

/// Whether it has variables, all of them with values.
bool is_built(nb::handle model) {
  const std::vector<NamedVariable> all = named_variables(model);
  for (const NamedVariable &entry : all)
    if (!entry.variable.initialized()) return false;
  return !all.empty();
}

std::int64_t parameter_count(nb::handle model) {
  return nn::parameter_count(PythonParts(model, Optimizers::left));
}

void seed(nb::handle model, std::uint64_t seed) {
  nn::seed(PythonParts(model, Optimizers::left), seed);
}

void assign(nb::handle to, nb::handle from) {
  nn::assign(PythonParts(to, Optimizers::left), PythonParts(from, Optimizers::left));
}

/// Of (shape, dtype) pairs, in which None is any size.
std::vector<TensorType> types_of(nb::handle types) {
  std::vector<TensorType> list;
  for (const nb::handle entry : types) {
    const nb::object shape = entry[0], dtype = entry[1];
    Shape sizes;
    for (const nb::handle size : shape)
      sizes.push_back(size.is_none() ? unknown : to_integer(size.ptr(), {"build", "input_shape"}));
    list.push_back({to_dtype(dtype.ptr(), {"build", "dtype"}), sizes});
  }
  return list;
}

/// Calls `call` on traced tensors of these types: the model gets its variables, and the table of
/// its layers is given.
std::string summary(nb::handle model, nb::handle types, nb::handle call) {
  return nn::summary(PythonParts(model, Optimizers::left), types_of(types),
                     [&](const std::vector<Tensor> &inputs) {
                       nb::list tensors;
                       for (const Tensor &input : inputs) tensors.append(checked(wrap(input)));
                       static_cast<void>(
                           checked(PyObject_Call(call.ptr(), nb::tuple(tensors).ptr(), nullptr)));
                     });
}

//===----------------------------------------------------------------------===//
// Weights in files
//===----------------------------------------------------------------------===//

std::string path_of(nb::handle path, const char *function) {
  PyObject *found = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &found) == 0) {
    nb::python_error error;
    if (!error.matches(PyExc_TypeError)) throw std::move(error);
    throw DTypeError(std::string(function) + ": path is " + shown_value(path) +
                     ": a path as a text is wanted");
  }
  const nb::object bytes = nb::steal(found);
  return {PyBytes_AS_STRING(found), static_cast<std::size_t>(PyBytes_GET_SIZE(found))};
}

void save(nb::handle path, nb::handle model) {
  const std::string file = path_of(path, "save_weights");
  restore_attached();
  const std::vector<NamedVariable> all = named_variables(model);
  const Unlocked others_run(true);
  weft::detail::save_weights(file, all, {});
}

WeightNames names_of(nb::handle names) {
  if (names.is_none()) return {};
  if (PyDict_Check(names.ptr()) != 0) {
    std::map<std::string, std::string> table;
    for (const auto &[path, name] : items_of(names.ptr())) table[text_of(path)] = text_of(name);
    return {std::move(table)};
  }
  if (PyCallable_Check(names.ptr()) == 0)
    raise_type_error("load_weights: names is a dict from paths to names, or a function of a path");
  return {[names](const std::string &path) -> std::string {
    const Locked locked;
    const nb::str text(path.c_str());
    const nb::object name = checked(PyObject_CallOneArg(names.ptr(), text.ptr()));
    return text_of(name);
  }};
}

BoundStatus load(nb::handle path, nb::handle model, nb::handle names, bool strict, bool widen) {
  const std::string file = path_of(path, "load_weights");
  LoadWeightsOptions options{.names = names_of(names), .strict = strict, .widen = widen};
  std::vector<NamedVariable> all = named_variables(model);
  const Unlocked others_run(true);
  return BoundStatus(weft::detail::load_weights(file, std::move(all), options, {}));
}

/// What did not match, each kind with its first paths.
nb::object shown(const BoundStatus &status) {
  constexpr std::size_t kMost = 3;
  std::string text = "RestoreStatus(";
  const auto add = [&](const char *name, const std::vector<std::string> &paths) {
    text += std::string(text.back() == '(' ? "" : ", ") + name + "=[";
    for (std::size_t i = 0; i < std::min(paths.size(), kMost); ++i)
      text += std::string(i == 0 ? "'" : ", '") + paths[i] + "'";
    if (paths.size() > kMost) text += ", and " + std::to_string(paths.size() - kMost) + " more";
    text += "]";
  };
  add("missing", status.missing());
  add("unused", status.unused());
  add("waiting", status.waiting());
  return shown_text(text + ")");
}

int traverse_status(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<BoundStatus>(self)->saved.ptr());
  return 0;
}
int clear_status(PyObject *self) {
  if (!nb::inst_ready(self)) return 0;
  auto *status = nb::inst_ptr<BoundStatus>(self);
  status->cleared = true;
  const nb::object dropped = std::move(status->saved);
  return 0;
}
PyType_Slot status_slots[] = {{Py_tp_traverse, reinterpret_cast<void *>(traverse_status)},
                              {Py_tp_clear, reinterpret_cast<void *>(clear_status)},
                              {0, nullptr}};

/// An assert_ method, which gives its object.
template <RestoreStatus &(RestoreStatus::*check)(std::source_location)>
nb::object asserted(nb::handle_t<BoundStatus> self) {
  BoundStatus &status = nb::cast<BoundStatus &>(self);
  if (status.cleared)
    throw StateError("RestoreStatus: what was restored was collected, and the status with it");
  (status.*check)({});
  return nb::borrow(self);
}

void define_restore_status(nb::module_ &module) {
  ClassOf<BoundStatus>(
      module, "RestoreStatus", nb::is_weak_referenceable(), nb::type_slots(status_slots),
      "What a restore found, and what it could not do. One that goes while something did not match "
      "warns in the log, unless an assert_ method or expect_partial was called."
      "\n\nExample:\n"
      "    >>> v = wf.Variable(1.0)\n"
      "    >>> path = wf.Checkpoint(v=v).save('run1')\n"
      "    >>> status = wf.Checkpoint(v=v).restore(path).assert_consumed()\n"
      "    >>> status.missing(), status.unused()\n"
      "    ([], [])\n")
      .def<asserted<&RestoreStatus::assert_consumed>>(
          "assert_consumed", Returns{"Self"},
          "Raises AssertionError, which lists them, if something in the file was not used, or "
          "waits for a variable to be made, or something here is not in the file. Gives itself.")
      .def<asserted<&RestoreStatus::assert_existing_objects_matched>>(
          "assert_existing_objects_matched", Returns{"Self"},
          "Raises AssertionError if something here that has a value is not in the file.")
      .def<asserted<&RestoreStatus::assert_nontrivial_match>>(
          "assert_nontrivial_match", Returns{"Self"}, "Raises AssertionError if nothing matched.")
      .def(
          "expect_partial",
          [](nb::handle_t<BoundStatus> self) {
            nb::cast<BoundStatus &>(self).expect_partial();
            return nb::borrow(self);
          },
          Returns{"Self"}, "Says that not all will match, so that there is nothing to warn of.")
      .def<&RestoreStatus::missing>("missing", "Paths here that have values, but none in the file.")
      .def<&RestoreStatus::unused>("unused", "Paths of the file that nothing here has.")
      .def<shown>("__repr__")
      .def<&RestoreStatus::waiting>("waiting",
                                    "Paths whose values wait for their variables to be made.")
      .attr("__module__") = "weft";
}

} // namespace

bool may_train(nb::handle model) {
  return std::ranges::any_of(named_variables(model),
                             [](const NamedVariable &entry) { return entry.variable.trainable(); });
}

nb::list trainable_variables(nb::handle model) {
  return variables(model, /*trainable=*/true, /*others=*/false);
}

/// The GPU that it is trained on, or nothing.
static std::string device_of(nb::handle model) {
  const Device device = train::detail::device_of(named_variables(model));
  return device == Device() ? "" : to_string(device);
}

void define_models(nb::module_ &module) {
  define_restore_status(module);
  define<variables>(module, "internal_variables(model, trainable, others)",
                    Returns{"list[Variable]"});
  define<variables_by_path>(module, "internal_named_variables(model)",
                            Returns{"dict[str, Variable]"});
  define<is_built>(module, "internal_is_built(model)");
  define<device_of>(module, "internal_device_of(model)");
  define<may_train>(module, "internal_may_train(model)");
  define<parameter_count>(module, "internal_parameter_count(model)");
  define<seed>(module, "internal_seed(model, seed)");
  define<assign>(module, "internal_assign(to, source)");
  define<summary>(module, "internal_summary(model, types, call)", Returns{"str"});
  define<save>(module, "save_weights(path, model)",
               "Writes the variables of a model by their paths, as a safetensors file."
               "\n\nExample:\n"
               "    >>> model = wf.nn.Dense(1).build((None, 2))\n"
               "    >>> wf.save_weights('dense.safetensors', model)\n"
               "    >>> sorted(wf.io.load_safetensors('dense.safetensors'))\n"
               "    ['bias', 'kernel']\n");
  define<load>(module, "load_weights", Arg("path"), Arg("model"),
               Arg("names").as("Mapping[str, str] | Callable[[str], str] | None") = nb::none(),
               Arg("strict") = true, Arg("widen") = false,
               "Gives the variables of a model the values of a safetensors file. Those without a "
               "shape yet take theirs when they are made.\n\n"
               "names: what weights are called in the file, a dict from paths or a function of a "
               "path\nstrict: whether it is an IOError if the file has not just these weights\n"
               "widen: whether F16 and BF16 are read as float32\n\n"
               "Gives a RestoreStatus."
               "\n\nExample:\n"
               "    >>> model = wf.nn.Dense(1).build((None, 2))\n"
               "    >>> wf.save_weights('dense.safetensors', model)\n"
               "    >>> other = wf.nn.Dense(1).build((None, 2))\n"
               "    >>> status = wf.load_weights('dense.safetensors', other)\n"
               "    >>> bool(wf.all(other.kernel == model.kernel))\n"
               "    True\n");
}

} // namespace weft::python
