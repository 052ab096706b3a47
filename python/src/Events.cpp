// Event files of Python, for TensorBoard.
#include "Define.h"
#include "Foreign.h"
#include "Runs.h"
#include "Snapshots.h"
#include "Text.h"

#include <map>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <weft/events.h>

namespace weft::python {

namespace {

using events::Writer;

constexpr std::source_location kNowhere;

/// A writer, whose end waits for its thread.
struct BoundWriter {
  using Initialized = void; // see Initialized.h
  explicit BoundWriter(Writer of) : writer(std::in_place, std::move(of)) {}
  ~BoundWriter() {
    without_lock([&] { writer.reset(); });
  }
  BoundWriter(const BoundWriter &) = delete;
  BoundWriter &operator=(const BoundWriter &) = delete;

  std::optional<Writer> writer;
};

Tensor operand(nb::handle object, const char *function, const char *argument) {
  return to_tensor(object.ptr(), {function, argument});
}
/// Whole numbers of Python are of 64 bits here.
Tensor step_of(nb::handle step, const char *function) {
  const Place place{function, "step"};
  const bool weak = PyLong_CheckExact(step.ptr()) != 0;
  return to_tensor_of(step.ptr(), weak ? std::optional(DType::i64) : std::nullopt, place);
}

events::Hyperparameter hyperparameter(const std::string &name, nb::handle value) {
  if (PyBool_Check(value.ptr()) != 0) return value.ptr() == Py_True;
  if (PyLong_Check(value.ptr()) != 0) return to_integer(value.ptr(), {"hparams", name.c_str()});
  if (PyUnicode_Check(value.ptr()) != 0) return nb::cast<std::string>(value);
  if (PyFloat_Check(value.ptr()) != 0) return PyFloat_AsDouble(value.ptr());
  throw DTypeError("hparams: '" + name + "' is a " + Py_TYPE(value.ptr())->tp_name +
                   ": bools, numbers and texts are wanted");
}

void hyperparameters(const BoundWriter &self, nb::handle values,
                     const std::vector<std::string> &metrics) {
  std::map<std::string, events::Hyperparameter> all;
  const nb::dict dict = to_dict(values, {"hparams", "values"});
  for (const auto &[key, value] : items_of(dict.ptr())) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    all.emplace(name, hyperparameter(name, value));
  }
  without_lock([&] { self.writer->hyperparameters(all, metrics, kNowhere); });
}

/// The events of a file.
nb::list events_of(const Path &path) {
  const nb::object type = nb::module_::import_("weft.summary").attr("Event");
  nb::list list;
  for (const events::Event &event :
       without_lock([&] { return events::read(path.bytes, kNowhere); })) {
    nb::list bytes;
    for (const std::string &each : event.bytes) bytes.append(nb::bytes(each.data(), each.size()));
    const nb::object numbers =
        event.numbers.defined() ? checked(wrap(event.numbers)) : nb::object(nb::none());
    list.append(type(event.wall_time, event.step, kept_text(event.tag), kept_text(event.plugin),
                     numbers, bytes));
  }
  return list;
}

Writer writer_of(const Path &folder, double flush_seconds, std::optional<std::int64_t> resumed_at) {
  return without_lock([&] {
    return Writer(folder.bytes,
                  {.flush_seconds = flush_seconds, .resumed_at = resumed_at, .where = kNowhere});
  });
}

void define_writer(nb::module_ &summary) {
  ClassOf<BoundWriter> type(
      summary, "Writer", nb::is_weak_referenceable(),
      R"(Writes an event file of its own into a folder, which is made if it is not there.

Values may be traced: inside a traced function a call is an effect that keeps its order, and
writes each time the function runs. Nothing waits for the disk: a thread of the writer's own
writes, and what goes wrong there is an IOError of the next call. In a `with` statement it is
closed at the end. Tags may have slashes, which TensorBoard takes for groups.

All methods raise ValueError for an empty tag, ShapeError unless the step is a scalar,
DTypeError unless it is whole, and StateError after `close`.

    >>> with wf.summary.Writer("events") as writer:
    ...     for step in range(3):
    ...         writer.scalar("loss", 1 / (step + 1), step)
    >>> wf.summary.read_scalars("events")
    {'loss': [(0, 1.0), (1, 0.5), (2, 0.3333333432674408)]}
)");
  publish(summary, type);
  type.def(
          "__init__",
          [](BoundWriter *self, const Path &folder, double flush_seconds,
             std::optional<std::int64_t> resumed_at) {
            new (self) BoundWriter(writer_of(folder, flush_seconds, resumed_at));
          },
          Arg("folder"), keyword_only, Arg("flush_seconds") = 2, Arg("resumed_at") = nb::none(),
          R"(Args:
    flush_seconds: what is added reaches the file at the latest after so long
    resumed_at: the step of a run that is continued: readers drop what an earlier file in
        the folder has of this step and later ones
)")
      .def(
          "scalar(tag, value, step)",
          [](const BoundWriter &self, const std::string &tag, nb::handle value, nb::handle step) {
            self.writer->scalar(tag, operand(value, "scalar", "value"), step_of(step, "scalar"));
          },
          "A number, kept as float32.")
      .def(
          "histogram",
          [](const BoundWriter &self, const std::string &tag, nb::handle values, nb::handle step,
             std::int64_t buckets) {
            self.writer->histogram(tag, operand(values, "histogram", "values"),
                                   step_of(step, "histogram"), {.buckets = buckets});
          },
          Arg("tag"), Arg("values"), Arg("step"), keyword_only, Arg("buckets") = 30,
          "How the elements of a tensor are spread. Those that are not finite are left out.")
      .def(
          "image",
          [](const BoundWriter &self, const std::string &tag, nb::handle pictures, nb::handle step,
             std::int64_t at_most) {
            self.writer->image(tag, operand(pictures, "image", "pictures"), step_of(step, "image"),
                               {.at_most = at_most});
          },
          Arg("tag"), Arg("pictures"), Arg("step"), keyword_only, Arg("max_outputs") = 3,
          "Pictures: (height, width), (height, width, channels) or (count, height, width, "
          "channels); floating numbers from 0 to 1, or whole ones from 0 to 255.")
      .def(
          "text",
          [](const BoundWriter &self, const std::string &tag, nb::handle markdown,
             nb::handle step) { self.writer->text(tag, text_of(markdown), step_of(step, "text")); },
          Arg("tag"), Arg("markdown").none().as("str"), Arg("step"),
          "A text, which is shown as Markdown.")
      .def<hyperparameters>(
          "hparams", Arg("values").as("Mapping[str, Any]"), Arg("metrics") = nb::tuple(),
          "What the run was made with: bools, numbers and texts; and the tags of the scalars to "
          "judge it by.")
      .def(
          "finished",
          [](const BoundWriter &self, nb::handle succeeded) {
            self.writer->finished(to<bool>(succeeded.ptr(), {"finished", "succeeded"})
                                      ? events::Status::succeeded
                                      : events::Status::failed,
                                  kNowhere);
          },
          Arg("succeeded").none().as("builtins.bool") = true,
          "The end of a run that told its hyperparameters.")
      .def(
          "within(prefix)",
          [](const BoundWriter &self, const std::string &prefix) {
            return new BoundWriter(self.writer->within(prefix));
          },
          "The same writer with `prefix` and a slash in front of tags.")
      .def(
          "flush",
          [](const BoundWriter &self) { without_lock([&] { self.writer->flush(kNowhere); }); },
          "Returns when all is in the file.")
      .def(
          "close",
          [](const BoundWriter &self) { without_lock([&] { self.writer->close(kNowhere); }); },
          "The same, and the last of this writer.")
      .def(
          "__enter__", [](nb::object self) { return self; }, Returns{"Self"})
      .def("__exit__",
           [](const BoundWriter &self, const nb::args &) {
             without_lock([&] { self.writer->close(kNowhere); });
           })
      .def(
          "graph(function)",
          [](const BoundWriter &self, nb::handle function, nb::args args, nb::kwargs keywords) {
            const Graph graph = graph_of(function, args, keywords);
            without_lock([&] { self.writer->graph(graph, kNowhere); });
          },
          "What a `wf.function` does with these arguments. A file shows its last one.")
      .def_prop_ro(
          "path", [](const BoundWriter &self) { return self.writer->path(); }, "The file.");
}

} // namespace

void define_events() {
  nb::module_ summary = family("summary");
  define_writer(summary);
  define(
      summary, "create_file_writer",
      [](const Path &folder, double flush_seconds, std::optional<std::int64_t> resumed_at) {
        return new BoundWriter(writer_of(folder, flush_seconds, resumed_at));
      },
      Arg("folder"), keyword_only, Arg("flush_seconds") = 2, Arg("resumed_at") = nb::none(),
      R"(A `Writer` of a new event file in a folder.

    >>> with wf.summary.create_file_writer("events") as writer:
    ...     writer.scalar("loss", 0.5, step=1)
)");
  define<events_of>(summary, "read(path)", Returns{"list[Event]"},
                    R"(The events of a file of Weft, TensorFlow, PyTorch or others.

    >>> with wf.summary.create_file_writer("events") as writer:
    ...     writer.text("note", "begun", step=0)
    >>> [event.tag for event in wf.summary.read(writer.path)]
    ['note']

Raises:
    IOError: for a file that is missing or damaged
)");
  define(
      summary, "read_scalars(folder)",
      [](const Path &folder) {
        return without_lock([&] { return events::read_scalars(folder.bytes, kNowhere); });
      },
      R"(The scalars of all event files in a folder by tag, each (step, value) in the order of
steps.

    >>> with wf.summary.create_file_writer("events") as writer:
    ...     writer.scalar("loss", 0.5, step=1)
    >>> wf.summary.read_scalars("events")
    {'loss': [(1, 0.5)]}
)");
}

} // namespace weft::python
