// Histories, bars, reports and profiles of Python.
#include "Histories.h"
#include "Define.h"
#include "Foreign.h"
#include "Runs.h"
#include "Snapshots.h"
#include "Text.h"

#include <sstream>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <weft/profile.h>
#include <weft/train/progress.h>
#include <weft/train/report.h>

namespace weft::python {

template <>
inline constexpr bool checks_init<Profile> = true;

train::Goal goal_of(const std::string &name) {
  if (name == "lowest") return train::Goal::lowest;
  if (name == "highest") return train::Goal::highest;
  throw ValueError("the goal is '" + name + "': it is 'lowest' or 'highest'");
}

namespace {

constexpr std::source_location kNowhere;

std::vector<double> values_of(const BoundHistory &self, const std::string &name) {
  std::vector<double> values;
  for (const train::History::Point &point : self.history.series(name, kNowhere))
    values.push_back(point.value);
  return values;
}

nb::list items_of(const BoundHistory &self) {
  nb::list items;
  for (const std::string &name : self.history.names())
    items.append(nb::make_tuple(kept_text(name), values_of(self, name)));
  return items;
}

void define_history(nb::module_ &module) {
  ClassOf<BoundHistory, Visitable>(
      module, "internal_History",
      "Series of numbers by name, each a list of steps and values: `history['loss']`. Checkpoints "
      "save and restore it.")
      .def(nb::init<>())
      .def(
          "add(name, step, value)",
          [](BoundHistory &self, const std::string &name, std::int64_t step, nb::handle value) {
            const nb::object number = checked(PyNumber_Float(value.ptr()));
            self.history.add(name, step, PyFloat_AS_DOUBLE(number.ptr()), kNowhere);
          },
          "Adds a number to a series, at a step behind its last one.")
      .def(
          "names", [](const BoundHistory &self) { return self.history.names(); },
          "The names, in the order of their first values.")
      .def(
          "keys", [](const BoundHistory &self) { return self.history.names(); },
          "The names, in the order of their first values.")
      .def<values_of>("numbers(name)", "The values of a series.")
      .def(
          "values",
          [](const BoundHistory &self) {
            std::vector<std::vector<double>> all;
            for (const std::string &name : self.history.names())
              all.push_back(values_of(self, name));
            return all;
          },
          "The values of all series.")
      .def<items_of>("items", Returns{"list[tuple[str, list[float]]]"}, "Names and values.")
      .def_prop_ro(
          "history",
          [](const BoundHistory &self) { return to_dict(items_of(self), {"History", "history"}); },
          Returns{"dict[str, list[float]]"}, "The values by name, as Keras has them.")
      .def(
          "steps(name)",
          [](const BoundHistory &self, const std::string &name) {
            std::vector<std::int64_t> steps;
            for (const train::History::Point &point : self.history.series(name, kNowhere))
              steps.push_back(point.step);
            return steps;
          },
          "The steps of a series.")
      .def("__getitem__(name)",
           [](const BoundHistory &self, const std::string &name) {
             if (self.history.contains(name)) return values_of(self, name);
             std::string known;
             for (const std::string &each : self.history.names())
               known += (known.empty() ? "" : ", ") + each;
             PyErr_SetObject(
                 PyExc_KeyError,
                 kept_text("there is no series '" + name + "': there are " + known).ptr());
             throw nb::python_error();
           })
      .def(
          "__contains__",
          [](const BoundHistory &self, nb::handle name) {
            return nb::isinstance<nb::str>(name) &&
                   self.history.contains(nb::cast<std::string>(name));
          },
          Arg("name").none())
      .def(
          "contains(name)",
          [](const BoundHistory &self, const std::string &name) {
            return self.history.contains(name);
          },
          "Whether there is such a series.")
      .def(
          "__iter__",
          [](const BoundHistory &self) {
            return nb::object(nb::cast(self.history.names()).attr("__iter__")());
          },
          Returns{"Iterator[str]"})
      .def("__len__", [](const BoundHistory &self) { return self.history.names().size(); })
      .def("__repr__",
           [](const BoundHistory &self) {
             std::ostringstream out;
             out << self.history;
             return out.str();
           })
      .def(
          "last(name)",
          [](const BoundHistory &self, const std::string &name) {
            return self.history.last(name, kNowhere);
          },
          "The last value of a series.")
      .def(
          "best",
          [](const BoundHistory &self, const std::string &name, const std::string &goal) {
            const train::History::Point best = self.history.best(name, goal_of(goal), kNowhere);
            return std::pair(best.step, best.value);
          },
          Arg("name"), Arg("goal") = "lowest",
          R"(The first of the best values, with its step; `goal` is 'lowest' or 'highest'. NaN is
never best.

Raises:
    OutOfRangeError: if there is no such series, or all values are NaN
)")
      .def(
          "drop_after(step)",
          [](BoundHistory &self, std::int64_t step) { self.history.drop_after(step); },
          "Drops what is behind a step.")
      .def(
          "plot",
          [](const BoundHistory &self, const nb::args &names, int width, int height, bool log_scale,
             bool ascii) {
            return self.history.plot(
                nb::cast<std::vector<std::string>>(names),
                {.width = width, .height = height, .log_scale = log_scale, .ascii = ascii},
                kNowhere);
          },
          Arg("*names").as("str"), keyword_only, Arg("width") = 0, Arg("height") = 12,
          Arg("log_scale") = false, Arg("ascii") = false,
          R"(A plot of these series, by default of all, as lines of text for a terminal.

Args:
    width: in characters; 0 is that of the terminal, 80 if there is none
    height: of the part with points, in lines
    log_scale: the logarithms are plotted
)")
      .def(
          "save_csv(path)",
          [](const BoundHistory &self, const Path &path) {
            self.history.save_csv(path.bytes, kNowhere);
          },
          "Writes a CSV file: a column for the step and one for each series.")
      .def(
          "load_csv(path)",
          [](BoundHistory &self, const Path &path) {
            self.history = train::History::load_csv(path.bytes, kNowhere);
          },
          "Takes what `save_csv` wrote in place of what there was.");
  // A history as an object of a subclass.
  define(module, "internal_as_history(type, history)",
         [](const nb::object &type, const BoundHistory &history) {
           const nb::object made = type();
           nb::cast<BoundHistory &>(made).history = history.history;
           return made;
         });
}

void define_bars(nb::module_ &module) {
  ClassOf<train::ProgressBar>(module, "internal_ProgressBar")
      .def(
          "__init__",
          [](train::ProgressBar *self, const std::string &label, std::optional<std::int64_t> total,
             const std::string &unit, int descriptor) {
            new (self) train::ProgressBar({.label = label,
                                           .total = total,
                                           .unit = unit,
                                           .descriptor = descriptor,
                                           .where = kNowhere});
          },
          Arg("label"), Arg("total").none(), Arg("unit"), Arg("descriptor"))
      .def("advance(steps)",
           [](const train::ProgressBar &self, std::int64_t steps) { self.advance(steps); })
      .def("show(name, value)", [](const train::ProgressBar &self, const std::string &name,
                                   double value) { self.show(name, value); })
      .def("hide", [](const train::ProgressBar &self) { self.hide(); })
      .def("finish", [](const train::ProgressBar &self) { self.finish(); })
      .def("steps", [](const train::ProgressBar &self) { return self.steps(); })
      .def("rate", [](const train::ProgressBar &self) { return self.rate(); })
      .def("line(width)",
           [](const train::ProgressBar &self, int width) { return self.line(width); });
}

//===----------------------------------------------------------------------===//
// Reports and profiles
//===----------------------------------------------------------------------===//

void write_report(const Path &path, const BoundHistory &history, nb::handle title,
                  nb::handle configuration, nb::handle model,
                  const std::optional<nb::handle_t<BoundHistory>> &resources, nb::handle times,
                  nb::handle confusion, const nb::sequence &classes, const nb::sequence &pictures,
                  nb::handle pictures_title, nb::handle tables,
                  const std::optional<nb::handle_t<Profile>> &profile) {
  train::ReportOptions options{.title = text_of(title), .model = text_of(model)};
  const auto entries = [](nb::handle table, const char *name, const auto &add) {
    const nb::dict dict = table.is_none() ? nb::dict() : to_dict(table, {"write_report", name});
    for (const auto &[key, value] : python::items_of(dict.ptr())) add(text_of(key), value);
  };
  entries(configuration, "configuration", [&](const std::string &name, nb::handle value) {
    options.configuration.emplace_back(name, text_of(value));
  });
  entries(times, "times", [&](const std::string &name, nb::handle value) {
    options.times.emplace_back(name, to_number(value.ptr(), {"write_report", "times"}));
  });
  if (resources) options.resources = nb::cast<BoundHistory &>(*resources).history;
  if (!confusion.is_none())
    options.confusion = to_tensor(confusion.ptr(), {"write_report", "confusion"});
  for (const nb::handle name : classes) options.classes.push_back(text_of(name));
  for (const nb::handle picture : pictures) {
    const bool named = PyTuple_Check(picture.ptr()) != 0;
    const nb::object image = named ? nb::object(picture[0]) : nb::borrow(picture);
    options.pictures.push_back({to_tensor(image.ptr(), {"write_report", "a picture"}),
                                named ? text_of(nb::object(picture[1])) : std::string()});
  }
  options.pictures_title = text_of(pictures_title);
  entries(tables, "tables", [&](const std::string &name, nb::handle rows) {
    train::ReportTable table{name, {}};
    for (const nb::handle row : rows) {
      std::vector<std::string> cells;
      for (const nb::handle cell : row) cells.push_back(text_of(cell));
      table.rows.push_back(std::move(cells));
    }
    options.tables.push_back(std::move(table));
  });
  if (profile) options.profile = &nb::cast<Profile &>(*profile);
  without_lock([&] { train::write_report(path.bytes, history.history, options, kNowhere); });
}

nb::list entries_of(const Profile &self) {
  const nb::object type = nb::module_::import_("weft.train").attr("ProfileEntry");
  nb::list list;
  for (const ProfileEntry &entry : without_lock([&] { return self.entries(); })) {
    const bool known = entry.location.known();
    list.append(type(entry.kind, entry.name,
                     known ? nb::object(kept_text(entry.location.file)) : nb::object(nb::none()),
                     known ? nb::object(nb::int_(entry.location.line)) : nb::object(nb::none()),
                     entry.count, entry.total_ms, entry.self_ms));
  }
  return list;
}

/// Starts a profile in an object.
void start(Profile *self, const std::optional<Path> &path, bool inside_functions,
           std::int64_t max_events) {
  const ProfileOptions options{.inside_functions = inside_functions, .max_events = max_events};
  if (path) new (self) Profile(trace_profile(path->bytes, options, kNowhere));
  else new (self) Profile(options, kNowhere);
}

void define_profiles(nb::module_ &train) {
  constexpr std::int64_t kMostEvents = 1'000'000;
  ClassOf<Profile> type(
      train, "Profile", nb::is_weak_referenceable(),
      R"(Notes what the process does, on all threads, until `stop` or the end of its `with`. There is
one at a time.

    >>> with wf.train.Profile() as profile:
    ...     x = wf.exp(wf.ones(1000))
    >>> profile.events > 0
    True

Args:
    path: where events are written, too, as JSON for https://ui.perfetto.dev
    inside_functions: whether calls of compiled functions are seen from inside
    max_events: how many events are written at most

Raises:
    StateError: if there is one already
)");
  publish(train, type);
  type.def<start>("__init__", Arg("path") = nb::none(), keyword_only,
                  Arg("inside_functions") = true, Arg("max_events") = kMostEvents)
      .def(
          "stop", [](Profile &self) { without_lock([&] { self.stop(kNowhere); }); },
          R"(Ends it.

Raises:
    IOError: if the file could not be written as a whole
)")
      .def_prop_ro("entries", &entries_of, Returns{"list[ProfileEntry]"},
                   "What has taken time, the largest `self_ms` first.")
      .def_prop_ro(
          "memory", [](const Profile &self) { return self.memory(); },
          "Bytes of tensors over time: seconds since the start, and bytes.")
      .def_prop_ro(
          "seconds", [](const Profile &self) { return self.seconds(); },
          "From the start to the end, or to now.")
      .def_prop_ro(
          "events", [](const Profile &self) { return self.events(); },
          "How many events were noted.")
      .def(
          "text",
          [](const Profile &self, std::int64_t rows) {
            return without_lock([&] { return self.text(rows); });
          },
          Arg("rows") = 20, "A table of the first entries.")
      .def(
          "__enter__", [](nb::object self) { return self; }, Returns{"Self"})
      .def("__exit__",
           [](Profile &self, const nb::args &) { without_lock([&] { self.stop(kNowhere); }); })
      .def("__repr__",
           [](const Profile &self) { return without_lock([&] { return self.text(20); }); });
  define(
      train, "trace_profile",
      [](nb::handle path, bool inside_functions, std::int64_t max_events) {
        nb::kwargs options;
        options["inside_functions"] = inside_functions;
        options["max_events"] = max_events;
        return nb::object(nb::type<Profile>()(path, **options));
      },
      Arg("path").as("Path"), keyword_only, Arg("inside_functions") = true,
      Arg("max_events") = kMostEvents, Returns{"Profile"},
      R"(A `Profile` whose events are written to `path`, which is good at any moment.

    >>> import json
    >>> with wf.train.trace_profile("profile.json"):
    ...     x = wf.exp(wf.ones(1000))
    >>> with open("profile.json") as file:
    ...     len(json.load(file)) > 0
    True
)");
}

void define_reports(nb::module_ &train) {
  define<write_report>(
      train, "write_report", Arg("path"), Arg("history"), keyword_only,
      Arg("title").as("str") = "Training run",
      Arg("configuration").as("Mapping[str, Any] | None") = nb::none(), Arg("model").as("str") = "",
      Arg("resources").as("History | None") = nb::none(),
      Arg("times").as("Mapping[str, float] | None") = nb::none(), Arg("confusion") = nb::none(),
      Arg("classes").as("Sequence[str]") = nb::tuple(), Arg("pictures") = nb::tuple(),
      Arg("pictures_title").as("str") = "Worst samples",
      Arg("tables").as("Mapping[str, Sequence[Sequence[Any]]] | None") = nb::none(),
      Arg("profile").as("Profile | None") = nb::none(),
      R"(Writes one HTML file about a run that needs nothing else: the curves of its history, and what
else is given.

    >>> history = wf.train.History()
    >>> history.add("loss", 1, 0.5)
    >>> wf.train.write_report("report.html", history, title="One epoch")
    >>> with open("report.html") as file:
    ...     "One epoch" in file.read()
    True

Args:
    configuration: what the run was made with
    model: text that is shown as it is, such as a summary
    resources: seconds, MiB or what else was measured, by its own step
    times: seconds of the parts of the run
    confusion: how often a label (row) was taken for a class (column)
    classes: their names
    pictures: images, or pairs of an image and a caption
    tables: rows by title, the first of which is the head
    profile: where the time went

Raises:
    IOError: if it cannot be written
)");
  define(
      train, "versions",
      [] {
        nb::dict all;
        for (const auto &[name, text] : train::versions()) all[name.c_str()] = text;
        return all;
      },
      Returns{"dict[str, str]"},
      R"(What a run's numbers depend on besides its program: Weft's version, the compiler that built
it, the processor, threads, the system.

    >>> wf.train.versions()["Weft"] == wf.__version__
    True
)");
}

} // namespace

void define_histories(nb::module_ &module) {
  define_history(module);
  define_bars(module);
  nb::module_ train = family("train");
  define_profiles(train);
  define_reports(train);
}

} // namespace weft::python
