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

BoundStatus restore(nb::handle_t<SavedParts> object, const std::optional<Path> &path) {
  SavedParts &self = nb::cast<SavedParts &>(object);
  const Checkpoint checkpoint = self.checkpoint();
  const auto from = path ? std::optional(path->bytes) : std::nullopt;
  RestoreStatus status = without_lock([&] { return checkpoint.restore(from, kNowhere); });
  self.write_back();
  return BoundStatus(std::move(status), nb::borrow(object));
}

/// The class weft.Checkpoint.
struct BoundCheckpoint {
  using Initialized = void; // see Initialized.h
  /// The one structure, or those that have names.
  BoundCheckpoint(const nb::args &structure, const nb::kwargs &parts) {
    const bool whole = structure.size() == 1 && !structure[0].is_none();
    if (structure.size() > 1 || (whole && nb::len(parts) > 0))
      raise_type_error(
          "Checkpoint takes one structure, or parts by name: give the structure a name too");
    if (!whole && nb::len(parts) == 0)
      raise_type_error("Checkpoint: there is nothing to save: Checkpoint(model=model)");
    nb::dict all;
    if (whole) all[""] = structure[0];
    else all.update(parts);
    held.push_back(all);
  }
  nb::object parts() const { return nb::object(held.at(0).attr("copy")()); }
  /// As they are at this moment.
  nb::object saved() const { return nb::type<SavedParts>()(nb::tuple(held.at(0).attr("items")())); }

  std::vector<nb::object> held; ///< a dict of structures by their names
};

/// What `write` gives of the state at this moment.
template <class Write>
auto written(const BoundCheckpoint &self, const Write &write) {
  const nb::object saved = self.saved();
  restore_attached();
  const Checkpoint checkpoint = nb::cast<SavedParts &>(saved).checkpoint();
  return without_lock([&] { return write(checkpoint); });
}

/// Has values of a restore that are left wait for what is attached later.
void wait_for_rest(const nb::object &status, nb::handle of) {
  const nb::object wait = nb::module_::import_("weft._restores").attr("wait");
  wait(status, of, nb::cast<BoundCheckpoint &>(of).parts());
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
  std::vector<nb::object> held; ///< what it restored, to which parts may be attached later
};

/// A Checkpoint, or that of a structure.
nb::object checkpoint_of(nb::handle what) {
  if (nb::isinstance<BoundCheckpoint>(what)) return nb::borrow(what);
  return nb::type<BoundCheckpoint>()(what);
}

nb::object info_of(const std::optional<CheckpointInfo> &info) {
  if (!info) return nb::none();
  const double time = std::chrono::duration<double>(info->time.time_since_epoch()).count();
  const nb::object type = nb::module_::import_("weft.checkpoint").attr("CheckpointInfo");
  return type(info->path, info->number, info->metric, info->step, time);
}

template <auto member>
nb::object restored(BoundManager &self, nb::handle what, bool partial) {
  const nb::object checkpointed = checkpoint_of(what);
  std::vector<nb::object>{checkpointed}.swap(self.held);
  const nb::object object = nb::cast<BoundCheckpoint &>(checkpointed).saved();
  SavedParts &saved = nb::cast<SavedParts &>(object);
  const Checkpoint checkpoint = saved.checkpoint();
  std::optional<RestoreStatus> status;
  const auto info = without_lock([&] {
    const RestoreOptions options{.partial = partial, .status = &status};
    return ((*self.manager).*member)(checkpoint, options, kNowhere);
  });
  saved.write_back();
  if (status) wait_for_rest(nb::cast(BoundStatus(*std::move(status))), checkpointed);
  return info_of(info);
}

void define_checkpoint(nb::module_ &module) {
  ClassOf<BoundCheckpoint> type(
      module, "Checkpoint", nb::is_weak_referenceable(),
      nb::type_slots(held_slots<BoundCheckpoint>),
      R"(A structure, or several parts under names, as a file: every variable by its path
("model.blocks.1.w"), each once, the state of optimizers, data sets and generators.

    checkpoint = wf.Checkpoint(model=model, optimizer=adam, data=digits, run=run)
    path = checkpoint.save("run1")
    checkpoint.restore(wf.latest_checkpoint("run1"))

Numbers and texts are saved where a restore has somewhere to put them: those that are entries of
a dict or fields of a dataclass that is a part, as in `run = {"epoch": 0}`, and of the one
structure of a checkpoint also the attributes of a Module. Those deeper in are what a model is
made with, and stay as the program says.

Files are in the safetensors format, with digests. They appear as a whole or not at all.

    >>> w = wf.Variable([1.0, 2.0])
    >>> path = wf.Checkpoint(w=w).save("run1")
    >>> w = wf.Variable([0.0, 0.0])
    >>> status = wf.Checkpoint(w=w).restore(path)
    >>> w.numpy()
    array([1., 2.], dtype=float32)
)");
  publish(module, type);
  type.def(
          "__init__",
          [](BoundCheckpoint *self, const nb::args &structure, const nb::kwargs &parts) {
            new (self) BoundCheckpoint(structure, parts);
          },
          Arg("*structure"))
      .def("_parts_now", [](const BoundCheckpoint &self) { return self.parts(); })
      .def(
          "save(folder)",
          [](const BoundCheckpoint &self, const Path &folder) {
            return written(self,
                           [&](const Checkpoint &of) { return of.save(folder.bytes, kNowhere); });
          },
          R"(Writes the next numbered file of a folder, which is made if it is not there, and gives
its path: "run1/ckpt-1.safetensors".

Raises:
    IOError: if it cannot be written
    DTypeError: for a part that is a number or has nothing to save
    ValueError: if two parts have one path
    StateError: inside of a traced function
)")
      .def(
          "write(path)",
          [](const BoundCheckpoint &self, const Path &path) {
            written(self, [&](const Checkpoint &of) { of.write(path.bytes, kNowhere); });
          },
          "Writes a file of that name.")
      .def(
          "restore",
          [](nb::handle_t<BoundCheckpoint> self, const std::optional<Path> &path) {
            const nb::object saved = nb::cast<BoundCheckpoint &>(self).saved();
            const nb::object status = nb::cast(restore(nb::handle_t<SavedParts>(saved), path));
            if (path) wait_for_rest(status, self);
            return status;
          },
          Arg("path"), Returns{"RestoreStatus"},
          R"(Gives everything that is here and in the file its value from there; the rest stays as it
is. Values of layers without variables yet wait for their first call, and those of which
nothing has the path for what is attached to a Module, a list or a dict of the parts later:
that is given its value when it is attached, or first used. With None nothing is restored,
and the status says so if it is asked.

Raises:
    IOError: before anything is changed, if the file is not whole or has another dtype,
        shape or kind for something; it lists all of it
)");
}

void define_manager(nb::module_ &module) {
  constexpr const char *kInfo = "CheckpointInfo | None";
  ClassOf<BoundManager> type(
      module, "CheckpointManager", nb::is_weak_referenceable(),
      nb::type_slots(held_slots<BoundManager>),
      R"(Numbered checkpoints in a folder: saves them while training goes on, keeps some, and restores
the newest that is whole.

    manager = wf.CheckpointManager("run1", keep=3, every_steps=100)
    manager.restore_latest(checkpoint)
    for step in range(1000):
        ...
        manager.save_if_due(checkpoint, step)

    >>> w = wf.Variable(1.0)
    >>> manager = wf.CheckpointManager("run1", keep=2, background=False)
    >>> for step in range(3):
    ...     manager.save(wf.Checkpoint(w=w), step=step)
    >>> [info.step for info in manager.checkpoints()]
    [1, 2]
    >>> manager.restore_latest(wf.Checkpoint(w=w)).step
    2

Args:
    folder: made when it first saves
    keep: how many of the newest files stay; 0 keeps all
    keep_best: how many of those with the best metric stay besides
    largest_is_best: whether the largest metric is the best
    every_steps, every_seconds: when `save_if_due` saves: whichever is given and comes first
    background: whether files are written by another thread while the program goes on

Raises:
    ValueError: for options that make no sense
)");
  publish(module, type);
  type.def(
          "__init__",
          [](BoundManager *self, const Path &folder, std::int64_t keep, std::int64_t keep_best,
             nb::handle largest, std::optional<std::int64_t> every_steps,
             std::optional<double> every_seconds, nb::handle background) {
            constexpr const char *kName = "CheckpointManager";
            const bool largest_is_best = to<bool>(largest.ptr(), {kName, "largest_is_best"}),
                       in_background = to<bool>(background.ptr(), {kName, "background"});
            new (self)
                BoundManager(folder.bytes, options_of(keep, keep_best, largest_is_best, every_steps,
                                                      every_seconds, in_background));
          },
          Arg("folder"), keyword_only, Arg("keep") = 5, Arg("keep_best") = 0,
          Arg("largest_is_best").none().as("builtins.bool") = false,
          Arg("every_steps") = nb::none(), Arg("every_seconds") = nb::none(),
          Arg("background").none().as("builtins.bool") = true)
      .def(
          "save",
          [](BoundManager &self, nb::handle what, std::optional<double> metric,
             std::optional<std::int64_t> step) {
            const nb::object checkpoint = checkpoint_of(what);
            written(nb::cast<BoundCheckpoint &>(checkpoint), [&](const Checkpoint &of) {
              self.manager->save(of, {.metric = metric, .step = step}, kNowhere);
            });
          },
          Arg("what"), keyword_only, Arg("metric") = nb::none(), Arg("step") = nb::none(),
          R"(Saves the state of a Checkpoint, or of a structure that one may have, at this moment, then removes the files that are not to be kept. Returns
when the state is taken.

Raises:
    IOError: if it, or the save before, cannot be written
)")
      .def(
          "save_if_due",
          [](BoundManager &self, nb::handle what, std::int64_t step, std::optional<double> metric) {
            const nb::object checkpoint = checkpoint_of(what);
            return written(nb::cast<BoundCheckpoint &>(checkpoint), [&](const Checkpoint &of) {
              return self.manager->save_if_due(of, step, {.metric = metric}, kNowhere);
            });
          },
          Arg("what"), Arg("step"), keyword_only, Arg("metric") = nb::none(),
          "Saves if `every_steps` or `every_seconds` says so; whether it has.")
      .def(
          "wait", [](BoundManager &self) { without_lock([&] { self.manager->wait(kNowhere); }); },
          "Returns when what is being saved is there. Raises what the save raised.")
      .def<restored<&CheckpointManager::restore_latest>>(
          "restore_latest", Arg("what"), keyword_only, Arg("partial") = false, Returns{kInfo},
          R"(Restores the newest checkpoint; None if there is none. Broken files are passed over, and
the log warns of them.

Args:
    partial: lets the file have more than the structure, and the structure more than the
        file

Raises:
    IOError: before anything is changed, which lists what does not fit, or if all are broken
)")
      .def<restored<&CheckpointManager::restore_best>>(
          "restore_best", Arg("what"), keyword_only, Arg("partial") = false, Returns{kInfo},
          "The same for that with the best metric; None if none has one.")
      .def(
          "checkpoints",
          [](BoundManager &self) {
            const auto all = without_lock([&] { return self.manager->checkpoints(kNowhere); });
            nb::list list;
            for (const CheckpointInfo &info : all) list.append(info_of(info));
            return list;
          },
          Returns{"list[CheckpointInfo]"}, "Those that are there and whole, oldest first.")
      .def_prop_ro(
          "folder", [](const BoundManager &self) { return self.manager->folder(); },
          "Where they are.");
}

} // namespace

void define_checkpoints(nb::module_ &module) {
  ClassOf<SavedParts>(module, "internal_SavedParts", nb::is_final(), nb::type_slots(saved_slots))
      .def<make>("__init__(parts)")
      .def<restore>("restore", Arg("path"));
  nb::module_ checkpoint = family("checkpoint");
  define_checkpoint(checkpoint);
  define_manager(checkpoint);
  define(
      checkpoint, "latest_checkpoint(folder)",
      [](const Path &folder) {
        return without_lock([&] { return latest_checkpoint(folder.bytes, kNowhere); });
      },
      R"(The numbered file of the highest number in a folder whose header is whole; None if there is
none, or no folder.

    >>> wf.latest_checkpoint("no such folder") is None
    True
    >>> path = wf.Checkpoint(w=wf.Variable(1.0)).save("run1")
    >>> wf.latest_checkpoint("run1") == path
    True
)");
}

} // namespace weft::python
