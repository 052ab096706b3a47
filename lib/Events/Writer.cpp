// Event writers: what is added becomes messages of the file.
#include <weft/events.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "Data/Images.h"
#include "Events/File.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include "Support/Messages.h"
#include <weft/data/images.h>
#include <weft/host_call.h>
#include <weft/ops.h>

namespace weft::events {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A step, as a whole scalar.
Tensor step_of(const char *what, const Operand &step) {
  if (step.undefined()) throw StateError(std::string(what) + ": the step is undefined");
  const Tensor value = step.materialize();
  const TensorType type = weft::detail::type_of(value);
  if (type.dtype != DType::i32 && type.dtype != DType::i64)
    throw DTypeError(std::string(what) + ": the step must be a whole number, but is " +
                     to_string(type));
  if (!type.shape.empty())
    throw ShapeError(std::string(what) + ": the step must be a scalar, but is " + to_string(type));
  return value;
}

std::int64_t number_of(const Tensor &step) {
  return step.dtype() == DType::i32 ? step.item<std::int32_t>() : step.item<std::int64_t>();
}

/// Rows of left, right and count for the finite ones of `values`; the last bucket is closed. If all
/// are the same, they are in the last bucket (tensorboard/plugins/histogram/summary_v2.py).
std::vector<double> histogram_of(const std::vector<double> &values, std::int64_t buckets) {
  std::vector<double> rows(static_cast<std::size_t>(3 * buckets));
  double least = HUGE_VAL, largest = -HUGE_VAL;
  for (const double value : values)
    if (std::isfinite(value)) {
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
  if (least > largest) return rows;
  const double width =
      largest / static_cast<double>(buckets) - least / static_cast<double>(buckets);
  const auto edge = [&](std::int64_t i) {
    return i == buckets ? largest : least + width * static_cast<double>(i);
  };
  for (std::int64_t i = 0; i < buckets; ++i) {
    rows[static_cast<std::size_t>(3 * i)] = edge(i);
    rows[static_cast<std::size_t>(3 * i + 1)] = edge(i + 1);
  }
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    // Of a width near 0 or ends far apart the quotients are not finite: then it is the last.
    const double position = value / width - least / width;
    std::int64_t bucket = buckets - 1;
    if (width > 0 && position < static_cast<double>(bucket))
      bucket = std::max<std::int64_t>(0, static_cast<std::int64_t>(position));
    ++rows[static_cast<std::size_t>(3 * bucket + 2)];
  }
  return rows;
}

} // namespace

Writer::Writer(const std::string &folder, const WriterOptions &options) {
  const CallSite site(options.where);
  check_path("events::Writer", folder);
  if (!(options.flush_seconds >= 0 && options.flush_seconds <= 86'400))
    throw ValueError("events::Writer: flush_seconds is " + number_text(options.flush_seconds) +
                     ", but must be between 0 and 86400, a day");
  if (options.resumed_at && *options.resumed_at < 0)
    throw ValueError("events::Writer: resumed_at is " + std::to_string(*options.resumed_at) +
                     ", but must be at least 0");
  file_ = std::make_shared<detail::File>(folder, options.flush_seconds);
  file_->add(detail::version_event(file_->start()));
  if (options.resumed_at) file_->add(detail::start_event({file_->start(), *options.resumed_at}));
}

std::string Writer::tagged(const char *what, std::string_view tag) const {
  if (tag.empty()) throw ValueError(std::string(what) + ": the tag is empty");
  return prefix_ + std::string(tag);
}

void Writer::scalar(std::string_view tag, const Operand &value, const Operand &step) const {
  const CallSite site(value.where());
  const std::string name = tagged("events::scalar", tag);
  const Tensor number = value.materialize();
  const TensorType type = weft::detail::type_of(number);
  if (!type.shape.empty())
    throw ShapeError("events::scalar: '" + name + "' must be a scalar, but is " + to_string(type));
  host_call(
      [file = file_, name](const Tensor &number, const Tensor &step) {
        file->add(detail::scalar_event({now(), number_of(step)}, name,
                                       number.astype(DType::f32).item<float>()));
      },
      {.name = "events::scalar", .where = value.where()}, number, step_of("events::scalar", step));
}

void Writer::histogram(std::string_view tag, const Operand &values, const Operand &step,
                       const HistogramOptions &options) const {
  const CallSite site(values.where());
  const std::string name = tagged("events::histogram", tag);
  constexpr std::int64_t most = 1 << 20;
  if (options.buckets < 1 || options.buckets > most)
    throw ValueError("events::histogram: buckets is " + std::to_string(options.buckets) +
                     ", but must be between 1 and 2^20");
  host_call(
      [file = file_, name, buckets = options.buckets](const Tensor &values, const Tensor &step) {
        const std::vector<double> all = values.astype(DType::f64).to_vector<double>();
        const auto finite = std::count_if(all.begin(), all.end(),
                                          [](double value) { return std::isfinite(value); });
        const auto rest = all.size() - static_cast<std::size_t>(finite);
        if (rest > 0 && file->first_of(name))
          warn_line("events::histogram: " + std::to_string(rest) + " of the " +
                    std::to_string(all.size()) + " elements of '" + name +
                    "' are not finite and left out");
        file->add(
            detail::histogram_event({now(), number_of(step)}, name, histogram_of(all, buckets)));
      },
      {.name = "events::histogram", .where = values.where()}, values.materialize(),
      step_of("events::histogram", step));
}

void Writer::image(std::string_view tag, const Operand &pictures, const Operand &step,
                   const ImageOptions &options) const {
  const CallSite site(pictures.where());
  const std::string name = tagged("events::image", tag);
  const Tensor given = pictures.materialize();
  const TensorType type = weft::detail::type_of(given);
  const std::size_t rank = type.shape.size();
  const std::int64_t channels = rank == 2 ? 1 : type.shape.empty() ? 0 : type.shape.back();
  if (rank < 2 || rank > 4 ||
      (channels != 1 && channels != 3 && channels != 4 && channels != unknown))
    throw ShapeError("events::image: '" + name +
                     "' must be (height, width), (height, width, channels) or (count, height, "
                     "width, channels) of 1, 3 or 4 channels, but is " +
                     to_string(type));
  if (options.at_most < 1)
    throw ValueError("events::image: at_most is " + std::to_string(options.at_most) +
                     ", but must be at least 1");
  host_call(
      [file = file_, name, most = options.at_most](const Tensor &given, const Tensor &step) {
        Tensor all = data::drawable(given);
        if (all.rank() == 2) all = all[{ellipsis, newaxis}];
        if (all.rank() == 3) all = all[newaxis];
        std::vector<std::string> strings = {std::to_string(all.size(2)),
                                            std::to_string(all.size(1))};
        for (std::int64_t i = 0; i < std::min<std::int64_t>(most, all.size(0)); ++i)
          strings.push_back(data::encode_png(all[i]));
        file->add(detail::strings_event({now(), number_of(step)}, name, "images", strings));
      },
      {.name = "events::image", .where = pictures.where()}, given, step_of("events::image", step));
}

void Writer::text(std::string_view tag, std::string_view markdown, const Operand &step) const {
  const CallSite site(step.where());
  const std::string name = tagged("events::text", tag);
  host_call(
      [file = file_, name, all = std::vector{std::string(markdown)}](const Tensor &step) {
        file->add(detail::strings_event({now(), number_of(step)}, name, "text", all));
      },
      {.name = "events::text", .where = step.where()}, step_of("events::text", step));
}

void Writer::hyperparameters(const std::map<std::string, Hyperparameter> &values,
                             const std::vector<std::string> &metrics,
                             std::source_location where) const {
  const CallSite site(where);
  for (const auto &[name, value] : values)
    static_cast<void>(tagged("events::hyperparameters", name));
  for (const std::string &event : detail::hyperparameter_events(now(), values, metrics))
    file_->add(event);
}

void Writer::graph(const Graph &graph, std::source_location where) const {
  const CallSite site(where);
  file_->add(detail::graph_event(now(), graph));
}

void Writer::finished(Status status, std::source_location where) const {
  const CallSite site(where);
  file_->add(detail::finished_event(now(), status));
}

Writer Writer::within(std::string_view prefix) const {
  Writer inner = *this;
  if (!prefix.empty()) inner.prefix_ += std::string(prefix) + "/";
  return inner;
}

void Writer::flush(std::source_location where) const {
  const CallSite site(where);
  file_->flush();
}

void Writer::close(std::source_location where) const {
  const CallSite site(where);
  file_->close();
}

const std::string &Writer::path() const { return file_->path(); }

} // namespace weft::events
