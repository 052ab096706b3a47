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

void hyperparameters(const BoundWriter &self, const nb::dict &values,
                     const std::vector<std::string> &metrics) {
  std::map<std::string, events::Hyperparameter> all;
  for (const auto &[key, value] : items_of(values.ptr())) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    all.emplace(name, hyperparameter(name, value));
  }
  without_lock([&] { self.writer->hyperparameters(all, metrics, kNowhere); });
}

nb::list read(const std::string &path) {
  nb::list list;
  for (const events::Event &event : without_lock([&] { return events::read(path, kNowhere); })) {
    nb::list bytes;
    for (const std::string &each : event.bytes) bytes.append(nb::bytes(each.data(), each.size()));
    const nb::object numbers =
        event.numbers.defined() ? checked(wrap(event.numbers)) : nb::object(nb::none());
    list.append(nb::make_tuple(event.wall_time, event.step, kept_text(event.tag),
                               kept_text(event.plugin), numbers, bytes));
  }
  return list;
}

} // namespace

void define_events(nb::module_ &module) {
  ClassOf<BoundWriter>(module, "internal_EventWriter", nb::is_final())
      .def(
          "__init__",
          [](BoundWriter *self, const std::string &folder, double flush_seconds,
             std::optional<std::int64_t> resumed_at) {
            Writer writer = without_lock([&] {
              return Writer(
                  folder,
                  {.flush_seconds = flush_seconds, .resumed_at = resumed_at, .where = kNowhere});
            });
            new (self) BoundWriter(std::move(writer));
          },
          Arg("folder"), Arg("flush_seconds"), Arg("resumed_at").none())
      .def("scalar(tag, value, step)",
           [](const BoundWriter &self, const std::string &tag, nb::handle value, nb::handle step) {
             self.writer->scalar(tag, operand(value, "scalar", "value"), step_of(step, "scalar"));
           })
      .def("histogram(tag, values, step, buckets)",
           [](const BoundWriter &self, const std::string &tag, nb::handle values, nb::handle step,
              std::int64_t buckets) {
             self.writer->histogram(tag, operand(values, "histogram", "values"),
                                    step_of(step, "histogram"), {.buckets = buckets});
           })
      .def("image(tag, pictures, step, at_most)",
           [](const BoundWriter &self, const std::string &tag, nb::handle pictures, nb::handle step,
              std::int64_t at_most) {
             self.writer->image(tag, operand(pictures, "image", "pictures"), step_of(step, "image"),
                                {.at_most = at_most});
           })
      .def("text(tag, markdown, step)",
           [](const BoundWriter &self, const std::string &tag, const std::string &markdown,
              nb::handle step) { self.writer->text(tag, markdown, step_of(step, "text")); })
      .def<hyperparameters>("hyperparameters(values, metrics)")
      .def("finished(succeeded)",
           [](const BoundWriter &self, bool succeeded) {
             self.writer->finished(succeeded ? events::Status::succeeded : events::Status::failed,
                                   kNowhere);
           })
      .def("within(prefix)",
           [](const BoundWriter &self, const std::string &prefix) {
             return new BoundWriter(self.writer->within(prefix));
           })
      .def("flush",
           [](const BoundWriter &self) { without_lock([&] { self.writer->flush(kNowhere); }); })
      .def("close",
           [](const BoundWriter &self) { without_lock([&] { self.writer->close(kNowhere); }); })
      .def("graph(function)",
           [](const BoundWriter &self, nb::handle function, nb::args args, nb::kwargs keywords) {
             const Graph graph = graph_of(function, args, keywords);
             without_lock([&] { self.writer->graph(graph, kNowhere); });
           })
      .def_prop_ro("path", [](const BoundWriter &self) { return self.writer->path(); });
  define<read>(module, "internal_read_events(path)");
  define(module, "internal_read_scalars(folder)", [](const std::string &folder) {
    return without_lock([&] { return events::read_scalars(folder, kNowhere); });
  });
}

} // namespace weft::python
