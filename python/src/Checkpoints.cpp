// Checkpoints of Python: files of models, optimizers, data sets and numbers, and their managers.
#include "Define.h"
#include "Kinds.h"
#include "Restores.h"
#include "Saved.h"
#include "Text.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

namespace weft::python {

namespace {

constexpr std::source_location kNowhere;

bool is_number(PyObject *object) {
  return PyBool_Check(object) != 0 || PyLong_CheckExact(object) != 0 ||
         PyFloat_CheckExact(object) != 0 || PyUnicode_CheckExact(object) != 0;
}

std::string kind_name(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

/// Finds whether a visit comes to anything.
struct AnyPart final : StructureVisitor {
  bool found = false;
  void tensor(Tensor &) override { found = true; }
  void variable(Variable &) override { found = true; }
  void literal(bool) override {}
  void literal(std::int64_t) override {}
  void literal(std::uint64_t) override {}
  void literal(double) override {}
  void literal(std::string_view) override {}
  void enter(Node, std::size_t) override { found = true; }
  void layer(nn::LayerName &) override { found = true; }
  void stateful(Stateful &) override { found = true; }
  void push(std::string_view) override {}
  void pop() override {}
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void SavedParts::add_number(const std::string &path, nb::handle owner, nb::handle key,
                            nb::handle value) {
  Value read;
  if (PyBool_Check(value.ptr()) != 0) read = value.ptr() == Py_True;
  else if (PyLong_CheckExact(value.ptr()) != 0)
    read = to_integer(value.ptr(), {"Checkpoint", path.c_str()});
  else if (PyFloat_CheckExact(value.ptr()) != 0) read = PyFloat_AS_DOUBLE(value.ptr());
  else read = nb::cast<std::string>(value);
  Number &number = numbers_.emplace_back(Number{nb::borrow(owner), nb::borrow(key), read, read});
  std::visit([&](auto &held) { parts_.emplace_back(path, held); }, number.value);
}

void SavedParts::add(const std::string &name, nb::handle object) {
  if (is_number(object.ptr()))
    throw DTypeError("Checkpoint: '" + name + "' is the " + kind_name(object) + " " +
                     shown_value(object) +
                     ", which a restore cannot change: hand over a Variable, or a dict or an "
                     "object that holds it");
  PythonParts &parts = structures_.emplace_back(object);
  AnyPart any;
  std::as_const(parts).weft_visit(any);
  const bool dict = PyDict_Check(object.ptr()) != 0;
  const bool record = kind_of(object.ptr()) == Kind::record;
  if (!any.found && is_visitable(object.ptr()) && visitable_in(object.ptr()).is_optimizer())
    throw StateError("Checkpoint: " + (name.empty() ? "the optimizer" : "'" + name + "'") +
                     " has nothing to save, for it has no variables yet: make it of a model, " +
                     kind_name(object) + "(model), or update once first");
  if (!any.found && !dict && !record)
    throw DTypeError("Checkpoint: " + (name.empty() ? "the structure" : "'" + name + "'") +
                     " is a " + kind_name(object) +
                     ", which has nothing to save: Modules, layers, variables, optimizers, data "
                     "sets, and lists, tuples, dicts and dataclasses of them have");
  if (name.empty()) parts_.push_back(CheckpointPart::whole(parts));
  else parts_.emplace_back(name, parts);
  const std::string prefix = name.empty() ? std::string() : name + ".";
  if (dict) {
    for (const auto &[key, value] : items_of(object.ptr()))
      if (is_number(value.ptr()) && PyUnicode_Check(key.ptr()) != 0)
        add_number(prefix + nb::cast<std::string>(key), object, key, value);
  } else if (record || name.empty()) {
    for (const auto &[key, value] : fields_of(object.ptr()))
      if (is_number(value.ptr()))
        add_number(prefix + nb::cast<std::string>(key), object, key, value);
  }
}

int SavedParts::traverse(visitproc visit, void *arg) const {
  for (const PythonParts &structure : structures_)
    if (const int stopped = structure.traverse(visit, arg); stopped != 0) return stopped;
  for (const Number &number : numbers_) {
    Py_VISIT(number.owner.ptr());
    Py_VISIT(number.key.ptr());
  }
  return 0;
}

void SavedParts::write_back() {
  for (PythonParts &structure : structures_) structure.write_back();
  for (Number &number : numbers_) {
    if (number.value == number.before) continue;
    const nb::object value =
        std::visit([](const auto &held) { return nb::object(nb::cast(held)); }, number.value);
    PyObject *owner = number.owner.ptr();
    const int failed = PyDict_Check(owner) != 0
                           ? PyObject_SetItem(owner, number.key.ptr(), value.ptr())
                           : PyObject_GenericSetAttr(owner, number.key.ptr(), value.ptr());
    if (failed != 0) throw nb::python_error();
    number.before = number.value;
  }
}

namespace {

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

/// `parts` are pairs of a name and an object.
void make(SavedParts *self, const nb::sequence &parts) {
  new (self) SavedParts;
  try {
    for (const nb::handle pair : parts)
      self->add(nb::cast<std::string>(nb::object(pair[0])), nb::object(pair[1]));
  } catch (...) {
    self->~SavedParts();
    throw;
  }
}

BoundStatus restore(nb::handle_t<SavedParts> object, const std::optional<std::string> &path) {
  SavedParts &self = nb::cast<SavedParts &>(object);
  const Checkpoint checkpoint = self.checkpoint();
  RestoreStatus status = without_lock([&] { return checkpoint.restore(path, kNowhere); });
  self.write_back();
  return BoundStatus(std::move(status), nb::borrow(object));
}

CheckpointManagerOptions options_of(std::int64_t keep, std::int64_t keep_best, bool largest,
                                    std::optional<std::int64_t> every_steps,
                                    std::optional<double> every_seconds, bool background) {
  CheckpointManagerOptions options{.keep = keep,
                                   .keep_best = keep_best,
                                   .largest_is_best = largest,
                                   .every_steps = every_steps,
                                   .background = background};
  if (every_seconds) options.every = std::chrono::duration<double>(*every_seconds);
  return options;
}

int traverse_saved(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<SavedParts>(self)->traverse(visit, arg) : 0;
}

// Without `tp_clear`: it is part of a cycle by a status, which has one.
PyType_Slot saved_slots[] = {{Py_tp_traverse, reinterpret_cast<void *>(traverse_saved)},
                             {0, nullptr}};

/// A manager, whose end may wait for a file.
struct BoundManager {
  using Initialized = void; // see Initialized.h
  BoundManager(const std::string &folder, const CheckpointManagerOptions &options)
      : manager(std::in_place, folder, options, kNowhere) {}
  ~BoundManager() {
    without_lock([&] { manager.reset(); });
  }
  BoundManager(const BoundManager &) = delete;
  BoundManager &operator=(const BoundManager &) = delete;

  std::optional<CheckpointManager> manager;
};

nb::object info_of(const std::optional<CheckpointInfo> &info) {
  if (!info) return nb::none();
  const double time = std::chrono::duration<double>(info->time.time_since_epoch()).count();
  return nb::make_tuple(info->path, info->number, info->metric, info->step, time);
}

template <auto member>
nb::object restored(BoundManager &self, SavedParts &what, bool partial) {
  const Checkpoint checkpoint = what.checkpoint();
  std::optional<RestoreStatus> status;
  const auto info = without_lock([&] {
    const RestoreOptions options{.partial = partial, .status = &status};
    return ((*self.manager).*member)(checkpoint, options, kNowhere);
  });
  what.write_back();
  return nb::make_tuple(info_of(info),
                        status ? nb::cast(BoundStatus(*std::move(status))) : nb::none());
}

void define_managers(nb::module_ &module) {
  ClassOf<BoundManager>(module, "internal_Manager", nb::is_final())
      .def(
          "__init__",
          [](BoundManager *self, const std::string &folder, std::int64_t keep,
             std::int64_t keep_best, bool largest, std::optional<std::int64_t> every_steps,
             std::optional<double> every_seconds, bool background) {
            new (self) BoundManager(folder, options_of(keep, keep_best, largest, every_steps,
                                                       every_seconds, background));
          },
          Arg("folder"), Arg("keep"), Arg("keep_best"), Arg("largest_is_best"),
          Arg("every_steps").none(), Arg("every_seconds").none(), Arg("background"))
      .def(
          "save",
          [](BoundManager &self, const SavedParts &what, std::optional<double> metric,
             std::optional<std::int64_t> step) {
            restore_attached();
            const Checkpoint checkpoint = what.checkpoint();
            without_lock([&] {
              self.manager->save(checkpoint, {.metric = metric, .step = step}, kNowhere);
            });
          },
          Arg("what"), Arg("metric").none(), Arg("step").none())
      .def(
          "save_if_due",
          [](BoundManager &self, const SavedParts &what, std::int64_t step,
             std::optional<double> metric) {
            restore_attached();
            const Checkpoint checkpoint = what.checkpoint();
            return without_lock([&] {
              return self.manager->save_if_due(checkpoint, step, {.metric = metric}, kNowhere);
            });
          },
          Arg("what"), Arg("step"), Arg("metric").none())
      .def("wait", [](BoundManager &self) { without_lock([&] { self.manager->wait(kNowhere); }); })
      .def<restored<&CheckpointManager::restore_latest>>("restore_latest(what, partial)")
      .def<restored<&CheckpointManager::restore_best>>("restore_best(what, partial)")
      .def("checkpoints",
           [](BoundManager &self) {
             const auto all = without_lock([&] { return self.manager->checkpoints(kNowhere); });
             nb::list list;
             for (const CheckpointInfo &info : all) list.append(info_of(info));
             return list;
           })
      .def_prop_ro("folder", [](const BoundManager &self) { return self.manager->folder(); });
}

} // namespace

void define_checkpoints(nb::module_ &module) {
  ClassOf<SavedParts>(module, "internal_SavedParts", nb::is_final(), nb::type_slots(saved_slots))
      .def<make>("__init__(parts)")
      .def("save(folder)",
           [](const SavedParts &self, const std::string &folder) {
             restore_attached();
             const Checkpoint checkpoint = self.checkpoint();
             return without_lock([&] { return checkpoint.save(folder, kNowhere); });
           })
      .def("write(path)",
           [](const SavedParts &self, const std::string &path) {
             restore_attached();
             const Checkpoint checkpoint = self.checkpoint();
             without_lock([&] { checkpoint.write(path, kNowhere); });
           })
      .def<restore>("restore", Arg("path").none());
  define_managers(module);
  define(module, "internal_latest_checkpoint(folder)", [](const std::string &folder) {
    return without_lock([&] { return latest_checkpoint(folder, kNowhere); });
  });
}

} // namespace weft::python
