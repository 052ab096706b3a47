// Event files: what a run writes while it goes on, for TensorBoard and for reports to show.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <weft/graph.h>
#include <weft/tensor.h>

namespace weft::events {

namespace detail {
class File;
}

struct WriterOptions {
  /// What is added reaches the file at the latest after so long.
  double flush_seconds = 2;
  /// If a run is continued: its step. Readers drop what an earlier file in the folder has of this
  /// step and later ones.
  std::optional<std::int64_t> resumed_at = std::nullopt;
  /// The user's line: that of these braces.
  std::source_location where = WEFT_HERE;
};

struct HistogramOptions {
  std::int64_t buckets = 30;
};

struct ImageOptions {
  /// How many of several pictures are written.
  std::int64_t at_most = 3;
};

/// The value of a hyperparameter.
using Hyperparameter = std::variant<bool, std::int64_t, double, std::string>;

/// How a run ended.
enum class Status : std::int32_t { succeeded, failed };

/// Writes an event file of its own into a folder, which is created if it is not there:
/// `events.out.tfevents.<seconds>.<host>.<process>.<number>.v2`. Copies are the same writer, calls
/// may come from any thread.
///
/// Values may be traced: inside a traced function a call is an effect that keeps its order, and
/// writes each time the compiled function runs. Nothing waits for the disk: a thread of the
/// writer's own writes, and what goes wrong there is an IOError, naming the file, of the next call.
/// The end of the last copy writes what is left, and puts what goes wrong into the log.
///
/// `step` is a whole number, a tensor or a variable. Tags may have slashes, which TensorBoard takes
/// for groups. All members throw ValueError for an empty tag, ShapeError unless the step is a
/// scalar, DTypeError unless it is whole, StateError after `close`, and in a process forked from
/// the writer's own.
class Writer {
public:
  /// Throws IOError if the folder or file cannot be created.
  explicit Writer(const std::string &folder, const WriterOptions &options = {});

  /// A number, kept as f32. Throws ShapeError for a tensor that is no scalar.
  void scalar(std::string_view tag, const Operand &value, const Operand &step) const;
  /// How the elements of a tensor are spread: counts in buckets of one width between the least and
  /// the largest. Elements that are not finite are left out; the log says so, once for a tag.
  /// Throws ValueError unless there is at least one bucket.
  void histogram(std::string_view tag, const Operand &values, const Operand &step,
                 const HistogramOptions &options = {}) const;
  /// Pictures, as PNG: (height, width), (height, width, channels) or (count, height, width,
  /// channels) of 1, 3 or 4 channels: floating numbers from 0 to 1, what is beyond is cut off and
  /// NaN is 0, or whole numbers from 0 to 255. Throws ShapeError for another shape, and in a traced
  /// function when it runs ValueError for a whole number that is outside.
  void image(std::string_view tag, const Operand &pictures, const Operand &step,
             const ImageOptions &options = {}) const;
  /// A text, which is shown as Markdown.
  void text(std::string_view tag, std::string_view markdown, const Operand &step) const;
  /// What a traced function does: `writer.graph(step.graph(x, y))`. A file shows its last one.
  void graph(const Graph &graph, std::source_location where = WEFT_HERE) const;
  /// What the run was configured with, and the tags of the scalars to judge it by.
  void hyperparameters(const std::map<std::string, Hyperparameter> &values,
                       const std::vector<std::string> &metrics = {},
                       std::source_location where = WEFT_HERE) const;
  /// The end of a run that told its hyperparameters.
  void finished(Status status = Status::succeeded, std::source_location where = WEFT_HERE) const;

  /// The same writer with `prefix` and a slash in front of tags: `writer.within("train")`.
  Writer within(std::string_view prefix) const;

  /// Returns when all is in the file.
  void flush(std::source_location where = WEFT_HERE) const;
  /// The same, and the last of this writer and its copies.
  void close(std::source_location where = WEFT_HERE) const;
  const std::string &path() const;

private:
  std::string tagged(const char *what, std::string_view tag) const;

  std::shared_ptr<detail::File> file_;
  std::string prefix_;
};

/// One value of an event file.
struct Event {
  double wall_time = 0; ///< seconds since 1970
  std::int64_t step = 0;
  std::string tag;
  /// "scalars", "histograms", "images", "text", "hparams"; "session" where a run goes on from a
  /// step.
  std::string plugin;
  Tensor numbers;                 ///< a scalar f32(), the buckets f64(n, 3): left, right, count
  std::vector<std::string> bytes; ///< a text; of images width, height, and PNG files
};

/// Reads an event file of Weft, TensorFlow, PyTorch or others; what it knows nothing of is passed
/// over. A last record that is cut off is left out, for the run may go on. Throws IOError for a
/// file that is missing or damaged.
std::vector<Event> read(const std::string &path, std::source_location where = WEFT_HERE);

/// The scalars of all event files in a folder, by tag, each (step, value) in the order of steps; of
/// a step that was written several times the last.
std::map<std::string, std::vector<std::pair<std::int64_t, double>>>
read_scalars(const std::string &folder, std::source_location where = WEFT_HERE);

} // namespace weft::events
