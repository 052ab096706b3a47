// The loop of fit with the functions of Python that it calls, and the callbacks of the library.
#include "Define.h"
#include "Histories.h"
#include "Optimizers.h"
#include "Runs.h"
#include "Saved.h"
#include "Tapes.h"
#include "Text.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <weft/detail/distributed_place.h>
#include <weft/train/fit.h>

namespace weft::python {

namespace {

using train::Callback;
using train::Run;

constexpr std::source_location kNowhere;

/// The mean of the losses of batches, weighted by how many samples they have.
struct LossMean final : Visitable {
  void visit(StructureVisitor &visitor) override {
    detail::VirtualVisitor each(visitor);
    visit_structure(mean, each);
  }
  metrics::Mean mean;
};

/// A run as callbacks of Python see it, as long as it goes on.
struct BoundRun {
  using Initialized = void; // see Initialized.h
  Run *run = nullptr;

  Run &now() const {
    if (run == nullptr) throw StateError("the run is over: its history is what fit returned");
    return *run;
  }
};

/// A callback that is an object of Python with some of the methods, or a function of the run that
/// is called after each epoch.
class PythonCallback final : public Callback {
public:
  explicit PythonCallback(nb::object target)
      : is_function_(PyCallable_Check(target.ptr()) != 0 && !hears(target)),
        target_(keep(std::move(target))), run_(keep(nb::cast(BoundRun()))) {}
  ~PythonCallback() override {
    const Entered entered;
    bound().run = nullptr;
  }
  PythonCallback(const PythonCallback &) = delete;
  PythonCallback &operator=(const PythonCallback &) = delete;

  void begin(Run &run) override { tell("begin", run); }
  void epoch_begin(Run &run) override { tell("epoch_begin", run); }
  void step_end(Run &run) override { tell("step_end", run); }
  void epoch_end(Run &run) override {
    if (is_function_)
      in_python([&] {
        bound().run = &run;
        static_cast<void>(checked(PyObject_CallOneArg(target_.get(), run_.get())));
      });
    else tell("epoch_end", run);
  }
  void end(Run &run) override { tell("end", run); }

  /// Whether it has one of the methods.
  static bool hears(const nb::object &target) {
    return std::ranges::any_of(std::array{"begin", "epoch_begin", "step_end", "epoch_end", "end"},
                               [&](const char *event) { return nb::hasattr(target, event); });
  }

private:
  BoundRun &bound() const { return nb::cast<BoundRun &>(nb::handle(run_.get())); }
  void tell(const char *event, Run &run) {
    in_python([&] {
      const nb::handle target(target_.get());
      if (!nb::hasattr(target, event)) return;
      bound().run = &run;
      const nb::object method = target.attr(event);
      static_cast<void>(checked(PyObject_CallOneArg(method.ptr(), run_.get())));
    });
  }

  bool is_function_;
  std::shared_ptr<PyObject> target_, run_;
};

/// "KeyError: 'x'", and "train.py:41", where it was raised: in code of the user, if any is on the
/// way.
std::pair<std::string, std::string> words_of_error(const nb::python_error &error) {
  const nb::module_ traceback = nb::module_::import_("traceback");
  std::string words, place;
  for (const nb::handle line : traceback.attr("format_exception_only")(error.type(), error.value()))
    words += nb::cast<std::string>(line);
  while (!words.empty() && words.back() == '\n') words.pop_back();
  if (!error.traceback().is_valid()) return {words, place};
  const std::string own = package_folder();
  for (const nb::handle frame : traceback.attr("extract_tb")(error.traceback())) {
    const auto file = nb::cast<std::string>(frame.attr("filename"));
    if (!place.empty() && !own.empty() && file.starts_with(own)) continue;
    place = file.substr(file.rfind('/') + 1) + ":" +
            nb::cast<std::string>(nb::str(nb::object(frame.attr("lineno"))));
  }
  return {words, place};
}

/// What the loop calls for its batches, with the functions of Python.
train::detail::FitParts fit_parts(const nb::object &calls) {
  const auto method = [&](const char *name) { return keep(calls.attr(name)); };
  const auto call = [](const std::shared_ptr<PyObject> &function) {
    return checked(PyObject_CallNoArgs(function.get()));
  };
  train::detail::FitParts parts;
  parts.start = [start = method("start"), call] {
    in_python([&] { static_cast<void>(call(start)); });
  };
  parts.step = [step = method("step"), call]() -> Tensor {
    return in_python([&] {
      const nb::object loss = call(step);
      return loss.is_none() ? Tensor() : to_tensor(loss.ptr(), {"fit", "the loss"});
    });
  };
  if (!nb::object(calls.attr("validation")).is_none())
    parts.validate = [validate = method("validate"), call] {
      return in_python([&] { return nb::cast<bool>(call(validate)); });
    };
  const auto to_list = [](const std::vector<Tensor> &tensors) {
    nb::list list;
    for (const Tensor &tensor : tensors)
      list.append(tensor.defined() ? checked(wrap(tensor)) : nb::object(nb::none()));
    return list;
  };
  const auto from_list = [](nb::handle list, const char *what) {
    std::vector<Tensor> tensors;
    for (const nb::handle each : list)
      tensors.push_back(each.is_none() ? Tensor() : to_tensor(each.ptr(), {"fit", what}));
    return tensors;
  };
  const auto next = [&](const char *name) {
    return [next = method(name), call, from_list]() -> std::optional<std::vector<Tensor>> {
      return in_python([&]() -> std::optional<std::vector<Tensor>> {
        const nb::object rows = call(next);
        if (rows.is_none()) return std::nullopt;
        return from_list(rows, "a batch");
      });
    };
  };
  train::detail::ReplicaParts &replicas = parts.replicas;
  replicas.next = next("next");
  replicas.gradients = [gradients = method("gradients"), to_list,
                        from_list](const std::vector<Tensor> &rows, const Tensor &weight) {
    return in_python([&] {
      return from_list(nb::handle(gradients.get())(to_list(rows), checked(wrap(weight))),
                       "a gradient");
    });
  };
  replicas.update = [update = method("update"), to_list](const std::vector<Tensor> &gradients) {
    in_python([&] { nb::handle(update.get())(to_list(gradients)); });
  };
  replicas.start_tests = [start = method("start_tests"), call] {
    in_python([&] { static_cast<void>(call(start)); });
  };
  replicas.compiled = nb::cast<bool>(nb::object(calls.attr("compiled")));
  replicas.idle = [](const std::function<void()> &wait) { without_lock(wait); };
  replicas.next_test = next("next_test");
  replicas.test = [test = method("test"), to_list](const std::vector<Tensor> &rows) {
    in_python([&] { nb::handle(test.get())(to_list(rows)); });
  };
  parts.error = [] {
    try {
      throw;
    } catch (const nb::python_error &error) {
      return in_python([&] { return words_of_error(error); });
    } catch (...) { // its words are known in C++
      return std::pair<std::string, std::string>();
    }
  };
  parts.numbers = [numbers = method("numbers"), call] {
    return in_python([&] {
      std::vector<std::pair<std::string, Tensor>> list;
      for (const nb::handle pair : call(numbers)) {
        const nb::object name = pair[0], value = pair[1];
        list.emplace_back(nb::cast<std::string>(name), to_tensor(value.ptr(), {"fit", "a metric"}));
      }
      return list;
    });
  };
  return parts;
}

using Shared = std::tuple<std::optional<std::int64_t>, nb::object, double, std::optional<bool>,
                          nb::object, std::vector<std::string>>;
using Folder =
    std::tuple<std::string, std::int64_t, std::optional<std::int64_t>, std::optional<double>>;

BoundHistory fit(const nb::object &calls, nb::handle model, const SavedParts &saved,
                 const std::vector<std::string> &metrics, std::int64_t epochs,
                 const nb::sequence &callbacks, const std::optional<Shared> &shared,
                 const std::optional<Folder> &checkpoints, bool progress,
                 std::optional<std::int64_t> size) {
  train::detail::FitParts parts = fit_parts(calls);
  parts.checkpoint = saved.parts();
  parts.size = size;
  parts.replicas.all_variables = [model] {
    return in_python([&] { return nn::named_variables(PythonParts(model, Optimizers::left)); });
  };
  parts.replicas.variables = [model] {
    return in_python([&] {
      return weft::detail::trained(nn::named_variables(PythonParts(model, Optimizers::left)));
    });
  };
  train::Callbacks all;
  for (const nb::handle callback : callbacks)
    if (nb::isinstance<Callback>(callback)) {
      if (!nb::inst_ready(callback)) refuse_half_made(callback.ptr());
      all.push_back(nb::cast<std::shared_ptr<Callback>>(callback));
    } else if (PythonCallback::hears(nb::borrow(callback)) || PyCallable_Check(callback.ptr()) != 0)
      all.push_back(std::make_shared<PythonCallback>(nb::borrow(callback)));
    else
      throw DTypeError(std::string("fit: a ") + Py_TYPE(callback.ptr())->tp_name +
                       " is no callback: a function of the run is one, and an object with a "
                       "method begin, epoch_begin, step_end, epoch_end or end");
  std::optional<train::FitCheckpoints> folder;
  if (checkpoints) {
    const auto &[path, keep, every_steps, every_seconds] = *checkpoints;
    folder = {
        .folder = path, .keep = keep, .every_steps = every_steps, .every_seconds = every_seconds};
  }
  Run run;
  run.variables = nn::named_variables(PythonParts(model, Optimizers::left));
  train::Parallel parallel{.replicas = 0};
  if (shared) {
    static constexpr const char *states[] = {"none", "optimizer", "gradients", "weights"};
    const auto &[replicas, group, bucket_mib, overlap, shard_state, devices] = *shared;
    parallel = {.replicas = replicas,
                .group = group_of(group, "fit"),
                .bucket_mib = bucket_mib,
                .overlap = overlap,
                .shard_state = static_cast<train::ShardState>(
                    word_of(shard_state, states, {"fit", "shard_state"})),
                .devices = {devices.begin(), devices.end()}};
  }
  const nb::object optimizer = calls.attr("optimizer");
  const bool is_own = nb::isinstance<OptimizerObject>(optimizer);
  const std::optional<optimizers::Optimizer> bound =
      is_own ? optimizer_in(optimizer.ptr()).made : std::nullopt;
  if (is_own && parallel.shard_state >= train::ShardState::gradients && has_own_updates(optimizer))
    throw ValueError(
        std::string(
            "fit: shard_state = 'gradients' or 'weights' gives an update its rank's part of "
            "the gradients alone, and ") +
        Py_TYPE(optimizer.ptr())->tp_name +
        " has an apply_gradients of its own, which may want them whole: use "
        "shard_state = 'optimizer'");
  const train::detail::FitSettings settings{epochs,   metrics,  all, folder,
                                            parallel, progress, {},  bound ? &*bound : nullptr};
  const distributed::detail::Place place(place_of_user());
  return BoundHistory(
      without_lock([&] { return train::detail::fit(std::move(run), parts, settings); }));
}

/// The gradients of the loss of a replica by variables, of which some are None.
nb::list replica_gradients(nb::handle tape, const Tensor &loss, const nb::list &variables) {
  std::vector<nn::NamedVariable> all;
  for (const nb::handle each : variables) all.push_back({"", variable_in(each.ptr())});
  nb::list list;
  for (const Tensor &gradient : train::detail::replica_gradients(tape_in(tape), loss, all))
    list.append(gradient.defined() ? checked(wrap(gradient)) : nb::object(nb::none()));
  return list;
}

void define_run(nb::module_ &module) {
  ClassOf<BoundRun> type(
      module, "Run", nb::is_final(),
      "Where a run is, as callbacks see it: `epoch` of `epochs`, `step`, the last `loss`, and the "
      "`history` so far, to which `add(name, value)` adds. `stop = True` ends it behind what is "
      "being done; `pause = True` has `fit` return for now, and with checkpoints another call goes "
      "on there."
      "\n\nExample:\n"
      "    >>> def until_second(run):\n"
      "    ...     run.stop = run.epoch == 2\n"
      "    >>> model, data = wf.Sequential([wf.nn.Dense(1)]), [(wf.ones((2, 1)), wf.ones((2, "
      "1)))]\n"
      "    >>> history = model.fit(\n"
      "    ...     data, optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error,\n"
      "    ...     epochs=9, callbacks=[until_second], progress=False,\n"
      "    ... )\n"
      "    >>> history.steps('loss')\n"
      "    [1, 2]\n");
  publish(module, type);
  type.def_prop_ro(
          "epochs", [](const BoundRun &self) { return self.now().epochs; },
          "How many epochs the run has.")
      .def_prop_ro(
          "epoch", [](const BoundRun &self) { return self.now().epoch; },
          "The number of this epoch, from 1 on.")
      .def_prop_ro(
          "step", [](const BoundRun &self) { return self.now().step; }, "Updates so far.")
      .def_prop_ro(
          "leads", [](const BoundRun &self) { return self.now().leads; },
          "Whether this process speaks for the run, as rank 0 of several does: shows, prints and "
          "writes.")
      .def_prop_ro(
          "loss",
          [](const BoundRun &self) -> nb::object {
            const Tensor &loss = self.now().loss;
            return loss.defined() ? checked(wrap(loss)) : nb::object(nb::none());
          },
          "That of the last batch; None before the first.")
      .def_prop_ro(
          "history",
          [](const BoundRun &self) {
            const nb::object type = nb::module_::import_("weft._histories").attr("History");
            const BoundHistory history(self.now().history);
            return nb::module_::import_("weft._weft").attr("internal_as_history")(type, history);
          },
          Returns{"Any"}, "A copy of the history so far, a History as `fit` returns.")
      .def(
          "add(name, value)",
          [](const BoundRun &self, const std::string &name, nb::handle value) {
            const nb::object number = checked(PyNumber_Float(value.ptr()));
            self.now().history.add(name, self.now().epoch, PyFloat_AS_DOUBLE(number.ptr()),
                                   kNowhere);
          },
          "Adds a number of this epoch to the history.")
      .def_prop_rw(
          "stop", [](const BoundRun &self) { return self.now().stop; },
          [](const BoundRun &self, bool stop) { self.now().stop = stop; },
          "Ends the run behind what is being done.")
      .def_prop_rw(
          "pause", [](const BoundRun &self) { return self.now().pause; },
          [](const BoundRun &self, bool pause) { self.now().pause = pause; },
          "Has `fit` return for now.");
}

void define_callbacks(nb::module_ &train) {
  const ClassOf<Callback> type(
      train, "Callback", nb::is_final(),
      "A callback of the library: what `early_stopping`, `event_files` and `csv_log` give."
      "\n\nExample:\n"
      "    >>> isinstance(wf.train.csv_log('log.csv'), wf.train.Callback)\n"
      "    True\n");
  publish(train, type);
  define(
      train, "early_stopping",
      [](const std::string &monitor, const std::string &goal, std::int64_t patience,
         double min_delta, nb::handle restore_best) {
        return train::early_stopping(
            {.monitor = monitor,
             .goal = goal_of(goal),
             .patience = patience,
             .min_delta = min_delta,
             .restore_best = to<bool>(restore_best.ptr(), {"early_stopping", "restore_best"})},
            kNowhere);
      },
      Arg("monitor") = "val_loss", keyword_only, Arg("goal") = "lowest", Arg("patience") = 5,
      Arg("min_delta") = 0, Arg("restore_best").none().as("builtins.bool") = true,
      Returns{"Callback"},
      R"(Stops a run when a series gets no better.

    >>> model, data = wf.Sequential([wf.nn.Dense(1)]), [(wf.ones((2, 1)), wf.ones((2, 1)))]
    >>> history = model.fit(
    ...     data, optimizer=wf.optimizers.SGD(0.0), loss=wf.losses.mean_squared_error,
    ...     epochs=9, callbacks=[wf.train.early_stopping("loss", patience=2)], progress=False,
    ... )
    >>> history.steps("loss")
    [1, 2, 3]

Args:
    monitor: a series of the history
    goal: 'lowest' or 'highest'
    patience: how many epochs may pass without a better value
    min_delta: by how much a value must be better to count
    restore_best: whether the model ends with the weights of the best epoch

Raises:
    ValueError: for a patience below 1 or a negative delta; at the end of the first epoch
        OutOfRangeError if there is no such series
)");
  define(
      train, "event_files",
      [](const Path &folder, std::int64_t every_steps) {
        return train::event_files(folder.bytes, every_steps, kNowhere);
      },
      Arg("folder"), Arg("every_steps") = 100, Returns{"Callback"},
      R"(Writes an event file for TensorBoard: the numbers of each epoch, and the loss of every
`every_steps` steps as "step/loss".

    >>> model, data = wf.Sequential([wf.nn.Dense(1)]), [(wf.ones((2, 1)), wf.ones((2, 1)))]
    >>> history = model.fit(
    ...     data, optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error,
    ...     epochs=2, callbacks=[wf.train.event_files("events")], progress=False,
    ... )
    >>> [step for step, loss in wf.summary.read_scalars("events")["loss"]]
    [1, 2]
)");
  define(
      train, "csv_log(path)", [](const Path &path) { return train::csv_log(path.bytes, kNowhere); },
      Returns{"Callback"},
      R"(Writes the history as a CSV file after each epoch.

    >>> model, data = wf.Sequential([wf.nn.Dense(1)]), [(wf.ones((2, 1)), wf.ones((2, 1)))]
    >>> history = model.fit(
    ...     data, optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error,
    ...     epochs=2, callbacks=[wf.train.csv_log("log.csv")], progress=False,
    ... )
    >>> [line.split(",")[0] for line in wf.data.lines("log.csv")]
    ['step', '1', '2']
)");
}

} // namespace

void define_training(nb::module_ &module) {
  nb::module_ train = family("train");
  define_run(train);
  define_callbacks(train);
  ClassOf<LossMean, Visitable>(module, "internal_LossMean", nb::is_final())
      .def(nb::init<>())
      .def("note(loss, predictions)",
           [](const LossMean &self, nb::handle loss, nb::handle predictions) {
             train::detail::note_loss(self.mean, to_tensor(loss.ptr(), {"fit", "the loss"}),
                                      to_tensor(predictions.ptr(), {"fit", "the predictions"}));
           })
      .def("result", [](const LossMean &self) { return self.mean.result(); })
      .def("reset", [](const LossMean &self) { self.mean.reset(); });
  define<replica_gradients>(module, "internal_replica_gradients(tape, loss, variables)");
  define<fit>(module, "internal_fit", Arg("calls"), Arg("model"), Arg("saved"), Arg("metrics"),
              Arg("epochs"), Arg("callbacks"), Arg("parallel").none(), Arg("checkpoints").none(),
              Arg("progress"), Arg("size").none());
}

} // namespace weft::python
