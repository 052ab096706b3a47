// Builds the messages of event files, and writes the files on a thread of their own.
#include "Events/File.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "IO/Records.h"
#include "Support/Fork.h"
#include "Support/Log.h"
#include <weft/error.h>

namespace weft::events::detail {

namespace {

using protobuf::Message;

// DataType and DataClass of TensorFlow's messages.
enum Types : std::uint8_t { kFloat = 1, kDouble = 2, kString = 7 };
enum Classes : std::uint8_t { kScalar = 1, kTensor = 2, kBlobs = 3 };

Message shape_of(std::span<const std::int64_t> sizes) {
  Message shape;
  for (const std::int64_t size : sizes) shape.message(2, Message().integer(1, size));
  return shape;
}

Message tensor(Types type, std::span<const std::int64_t> sizes) {
  return Message().integer(1, type).message(2, shape_of(sizes));
}

Message event(const Stamp &stamp) {
  return Message().number(1, stamp.wall_time).integer(2, stamp.step);
}

/// An event of one value.
std::string value_event(const Stamp &stamp, std::string_view tag, std::string_view plugin,
                        std::string_view content, Classes kind, const Message &tensor) {
  Message data = Message().bytes(1, plugin);
  if (!content.empty()) data.bytes(2, content);
  Message metadata = Message().message(1, data);
  // hparams has no class.
  if (plugin != "hparams") metadata.integer(4, kind);
  const Message value = Message().bytes(1, tag).message(9, metadata).message(8, tensor);
  return event(stamp).message(5, Message().message(1, value)).text();
}

/// google.protobuf.Value.
Message value_of(const Hyperparameter &parameter) {
  Message value;
  std::visit(
      [&](const auto &v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) value.integer(4, v ? 1 : 0);
        else if constexpr (std::is_same_v<T, std::string>) value.bytes(3, v);
        else value.number(2, static_cast<double>(v));
      },
      parameter);
  return value;
}

/// DataType of HParamInfo: string, bool, float64.
std::int64_t type_of(const Hyperparameter &parameter) {
  if (std::holds_alternative<std::string>(parameter)) return 1;
  return std::holds_alternative<bool>(parameter) ? 2 : 3;
}

std::string hparams_event(double wall_time, std::string_view tag, std::uint32_t field,
                          const Message &message) {
  const std::int64_t none[] = {0};
  // Version 0, which is not written, and one of the three.
  return value_event({wall_time, 0}, tag, "hparams", Message().message(field, message).text(),
                     kTensor, tensor(kFloat, none));
}

} // namespace

std::string version_event(double wall_time) {
  return Message()
      .number(1, wall_time)
      .bytes(3, "brain.Event:2")
      .message(10, Message().bytes(1, "weft.events"))
      .text();
}

std::string start_event(const Stamp &stamp) {
  return event(stamp).message(7, Message().integer(1, 1)).text();
}

std::string scalar_event(const Stamp &stamp, std::string_view tag, float value) {
  const std::string bytes(reinterpret_cast<const char *>(&value), sizeof value);
  return value_event(stamp, tag, "scalars", {}, kScalar, tensor(kFloat, {}).bytes(4, bytes));
}

std::string histogram_event(const Stamp &stamp, std::string_view tag,
                            std::span<const double> buckets) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(buckets.size() / 3), 3};
  const std::string_view bytes(reinterpret_cast<const char *>(buckets.data()),
                               buckets.size_bytes());
  return value_event(stamp, tag, "histograms", {}, kTensor, tensor(kDouble, sizes).bytes(4, bytes));
}

std::string strings_event(const Stamp &stamp, std::string_view tag, std::string_view plugin,
                          const std::vector<std::string> &strings) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(strings.size())};
  Message list = tensor(kString, std::span(sizes).first(plugin == "text" ? 0 : 1));
  for (const std::string &text : strings) list.bytes(8, text);
  return value_event(stamp, tag, plugin, {}, plugin == "text" ? kTensor : kBlobs, list);
}

std::vector<std::string> hyperparameter_events(double wall_time,
                                               const std::map<std::string, Hyperparameter> &values,
                                               const std::vector<std::string> &metrics) {
  Message experiment, session;
  for (const auto &[name, value] : values) {
    experiment.message(4, Message().bytes(1, name).integer(4, type_of(value)));
    session.message(1, Message().bytes(1, name).message(2, value_of(value)));
  }
  for (const std::string &tag : metrics)
    experiment.message(5, Message().message(1, Message().bytes(2, tag)));
  session.number(5, wall_time);
  return {hparams_event(wall_time, "_hparams_/experiment", 2, experiment),
          hparams_event(wall_time, "_hparams_/session_start_info", 3, session)};
}

std::string graph_event(double wall_time, const Graph &graph) {
  Message definition;
  for (const GraphNode &node : graph.nodes) {
    Message entry = Message().bytes(1, node.name).bytes(2, node.op);
    for (const std::string &input : node.inputs) entry.bytes(3, input);
    const auto attribute = [&](std::string_view name, const Message &value) {
      entry.message(5, Message().bytes(1, name).message(2, value));
    };
    if (!node.types.empty()) {
      // AttrValue::ListValue, of whose members shapes are number 7.
      Message shapes;
      std::string types;
      for (const TensorType &type : node.types) {
        shapes.message(7, shape_of(std::vector(type.shape.begin(), type.shape.end())));
        types += (types.empty() ? "" : ", ") + to_string(type);
      }
      attribute("_output_shapes", Message().message(1, shapes));
      attribute("types", Message().bytes(2, types));
    }
    if (node.location.known()) attribute("line", Message().bytes(2, to_string(node.location)));
    definition.message(1, entry);
  }
  definition.message(4, Message().integer(1, 1)); // written by which version of a producer
  return Message().number(1, wall_time).bytes(4, definition.text()).text();
}

std::string finished_event(double wall_time, Status status) {
  const Message end =
      Message().integer(1, status == Status::succeeded ? 1 : 2).number(2, wall_time);
  return hparams_event(wall_time, "_hparams_/session_end_info", 4, end);
}

namespace {

/// So much is written before its time.
constexpr std::size_t kMany = std::size_t{1} << 20;

std::string host() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || *name == 0) return "localhost";
  return name;
}

constexpr std::string_view kStart = "events.out.tfevents.";

/// The largest number of seconds in the names of a folder's files.
std::int64_t newest_in(const std::string &folder) {
  std::int64_t newest = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::int64_t seconds = 0;
    // Ten digits are enough until 2286; a name with more is not of a clock.
    if (name.starts_with(kStart) && name.find('.', kStart.size()) == kStart.size() + 10 &&
        std::from_chars(name.data() + kStart.size(), name.data() + kStart.size() + 10, seconds)
                .ec == std::errc())
      newest = std::max(newest, seconds);
  }
  return newest;
}

/// A name that sorts by time, as TensorBoard reads the files of a folder.
std::string fresh_name(std::int64_t since_1970) {
  static std::atomic<unsigned> count{0};
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%010lld", static_cast<long long>(since_1970));
  return std::string(kStart) + seconds + "." + host() + "." + std::to_string(getpid()) + "." +
         std::to_string(count++) + ".v2";
}

} // namespace

File::File(const std::string &folder, double flush_seconds)
    : patience_(flush_seconds), generation_(forks::generation()) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IOError(folder + ": the folder cannot be created: " + error.message());
  start_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (const std::int64_t newest = newest_in(folder); static_cast<double>(newest) > start_)
    start_ = static_cast<double>(newest + 1);
  // Another container's process may have this number, and its name.
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    path_ =
        (std::filesystem::path(folder) / fresh_name(static_cast<std::int64_t>(start_))).string();
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw IOError(path_ + ": cannot be created: " + std::strerror(errno));
  // The thread has no signals: the program's own go to its other threads, and a file that grows
  // too large is an error of `write`.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string fault;
  try {
    thread_ = std::make_unique<std::thread>([this] { run(); });
  } catch (const std::system_error &error) {
    fault = error.code().message();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (thread_ != nullptr) return;
  ::close(descriptor_);
  throw IOError(path_ + ": the thread that writes it cannot be started: " + fault);
}

File::~File() {
  if (generation_ != forks::generation()) {
    // The thread is the parent's, and what waits is written there.
    ::close(descriptor_);
    [[maybe_unused]] const std::thread *const left = thread_.release(); // not joined or destroyed
    return;
  }
  try {
    close();
  } catch (const Error &error) {
    warn_line(error.message());
  }
}

std::unique_lock<std::mutex> File::locked() {
  // In a child the lock may be held for ever.
  if (generation_ != forks::generation())
    throw StateError(path_ + ": is written by the process that this one was forked from: make "
                             "another events::Writer here");
  return std::unique_lock(mutex_);
}

void File::check() const {
  if (failure_) std::rethrow_exception(failure_);
  if (closed_) throw StateError(path_ + ": is closed");
}

void File::add(std::string_view record) {
  std::string framed = framed_record(record);
  const std::unique_lock lock = locked();
  check();
  waiting_ += framed;
  // The thread waits for the first record, and then for its time.
  if (waiting_.size() == framed.size() || waiting_.size() >= kMany) wake_.notify_one();
}

bool File::first_of(const std::string &tag) {
  const std::unique_lock lock = locked();
  return known_.insert(tag).second;
}

void File::flush() {
  std::unique_lock lock = locked();
  check();
  hurry_ = true;
  wake_.notify_one();
  written_.wait(lock, [&] { return (waiting_.empty() && !busy_) || failure_; });
  if (failure_) std::rethrow_exception(failure_);
}

void File::close() {
  {
    const std::unique_lock lock = locked();
    if (closed_) return;
    closed_ = end_ = true;
    wake_.notify_one();
  }
  thread_->join();
  const bool unclosed = ::close(descriptor_) != 0;
  if (failure_) std::rethrow_exception(failure_);
  if (unclosed) throw IOError(path_ + ": cannot be written: " + std::strerror(errno));
}

void File::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return !waiting_.empty() || end_ || hurry_; });
    wake_.wait_for(lock, patience_, [&] { return hurry_ || end_ || waiting_.size() >= kMany; });
    hurry_ = false;
    busy_ = true;
    const std::string bytes = std::exchange(waiting_, {});
    lock.unlock();
    std::exception_ptr failure;
    try {
      write(bytes);
    } catch (const IOError &) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    if (failure && !failure_) failure_ = failure;
    written_.notify_all();
    if (failure_ || (end_ && waiting_.empty())) return;
  }
}

void File::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      throw IOError(path_ + ": cannot be written: " + std::strerror(count == 0 ? ENOSPC : errno));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

} // namespace weft::events::detail
