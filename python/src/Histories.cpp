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
          "Adds a value at a step behind those that the series has.")
      .def(
          "names", [](const BoundHistory &self) { return self.history.names(); },
          "The names of the series, in the order of their first values.")
      .def<values_of>("numbers(name)", "The values of a series: `history[name]`.")
      .def(
          "steps(name)",
          [](const BoundHistory &self, const std::string &name) {
            std::vector<std::int64_t> steps;
            for (const train::History::Point &point : self.history.series(name, kNowhere))
              steps.push_back(point.step);
            return steps;
          },
          "The steps of the values of a series.")
      .def(
          "contains(name)",
          [](const BoundHistory &self, const std::string &name) {
            return self.history.contains(name);
          },
          "Whether there is such a series: `name in history`.")
      .def(
          "last(name)",
          [](const BoundHistory &self, const std::string &name) {
            return self.history.last(name, kNowhere);
          },
          "The value of a series at its last step.")
      .def("best(name, goal)",
           [](const BoundHistory &self, const std::string &name, const std::string &goal) {
             const train::History::Point best = self.history.best(name, goal_of(goal), kNowhere);
             return std::pair(best.step, best.value);
           })
      .def(
          "drop_after(step)",
          [](BoundHistory &self, std::int64_t step) { self.history.drop_after(step); },
          "Forgets all values at later steps.")
      .def(
          "drawn(names, width, height, log_scale, ascii)",
          [](const BoundHistory &self, const std::vector<std::string> &names, int width, int height,
             bool log_scale, bool ascii) {
            return self.history.plot(
                names, {.width = width, .height = height, .log_scale = log_scale, .ascii = ascii},
                kNowhere);
          },
          "What `plot` gives, of series by their names, none for all.")
      .def("save_csv(path)", [](const BoundHistory &self,
                                const std::string &path) { self.history.save_csv(path, kNowhere); })
      .def(
          "load_csv(path)",
          [](BoundHistory &self, const std::string &path) {
            self.history = train::History::load_csv(path, kNowhere);
          },
          "Takes what `save_csv` wrote in the stead of what there was.")
      .def("_take(other)",
           [](BoundHistory &self, nb::handle other) {
             self.history = nb::cast<BoundHistory &>(other).history;
           })
      .def(
          "table",
          [](const BoundHistory &self) {
            std::ostringstream out;
            out << self.history;
            return out.str();
          },
          "The values as a table of text, a line for each step.");
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

std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

/// `options` are those of the function write_report of Python.
void write_report(const std::string &path, const BoundHistory &history, const nb::dict &options) {
  train::ReportOptions made;
  const auto given = [&](const char *name) { return nb::object(options[name]); };
  made.title = text_of(given("title"));
  made.model = text_of(given("model"));
  for (const auto &[name, value] : items_of(given("configuration").ptr()))
    made.configuration.emplace_back(text_of(name), text_of(value));
  for (const auto &[name, value] : items_of(given("times").ptr()))
    made.times.emplace_back(text_of(name), nb::cast<double>(value));
  if (!given("resources").is_none())
    made.resources = nb::cast<BoundHistory &>(given("resources")).history;
  if (!given("confusion").is_none())
    made.confusion = to_tensor(given("confusion").ptr(), {"write_report", "confusion"});
  for (const nb::handle name : given("classes")) made.classes.push_back(text_of(name));
  for (const nb::handle pair : given("pictures")) {
    const nb::object image = pair[0], caption = pair[1];
    made.pictures.push_back(
        {to_tensor(image.ptr(), {"write_report", "a picture"}), text_of(caption)});
  }
  made.pictures_title = text_of(given("pictures_title"));
  for (const auto &[title, rows] : items_of(given("tables").ptr())) {
    train::ReportTable table{text_of(title), {}};
    for (const nb::handle row : rows) {
      std::vector<std::string> cells;
      for (const nb::handle cell : row) cells.push_back(text_of(cell));
      table.rows.push_back(std::move(cells));
    }
    made.tables.push_back(std::move(table));
  }
  if (!given("profile").is_none()) made.profile = nb::cast<Profile *>(given("profile"));
  without_lock([&] { train::write_report(path, history.history, made, kNowhere); });
}

nb::list entries_of(const Profile &self) {
  nb::list list;
  for (const ProfileEntry &entry : without_lock([&] { return self.entries(); }))
    list.append(nb::make_tuple(entry.kind, entry.name,
                               entry.location.known() ? nb::object(kept_text(entry.location.file))
                                                      : nb::object(nb::none()),
                               entry.location.known() ? nb::object(nb::int_(entry.location.line))
                                                      : nb::object(nb::none()),
                               entry.count, entry.total_ms, entry.self_ms));
  return list;
}

void define_profiles(nb::module_ &module) {
  ClassOf<Profile>(module, "internal_Profile", nb::is_final())
      .def(
          "__init__",
          [](Profile *self, const std::optional<std::string> &path, bool inside_functions,
             std::int64_t max_events) {
            const ProfileOptions options{.inside_functions = inside_functions,
                                         .max_events = max_events};
            if (path) new (self) Profile(trace_profile(*path, options, kNowhere));
            else new (self) Profile(options, kNowhere);
          },
          Arg("path").none(), Arg("inside_functions"), Arg("max_events"))
      .def("stop", [](Profile &self) { without_lock([&] { self.stop(kNowhere); }); })
      .def<entries_of>("entries")
      .def("memory", [](const Profile &self) { return self.memory(); })
      .def("seconds", [](const Profile &self) { return self.seconds(); })
      .def("events", [](const Profile &self) { return self.events(); })
      .def("text(rows)", [](const Profile &self, std::int64_t rows) {
        return without_lock([&] { return self.text(rows); });
      });
}

} // namespace

void define_histories(nb::module_ &module) {
  define_history(module);
  define_bars(module);
  define_profiles(module);
  define<write_report>(module, "internal_write_report(path, history, options)");
  define(module, "internal_versions", [] { return train::versions(); });
}

} // namespace weft::python
