// Event files from the inside: their messages (tensorboard/compat/proto) as Weft writes them, and
// the file behind an event writer with the thread that writes it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "IO/Protobuf.h"
#include <weft/events.h>

namespace weft::events::detail {

/// Where and when a value was added.
struct Stamp {
  double wall_time;
  std::int64_t step;
};

/// The first record of every file.
std::string version_event(double wall_time);
/// What makes readers drop what earlier files have from that step on.
std::string start_event(const Stamp &stamp);

std::string scalar_event(const Stamp &stamp, std::string_view tag, float value);
/// `buckets` are rows of left, right, count.
std::string histogram_event(const Stamp &stamp, std::string_view tag,
                            std::span<const double> buckets);
/// Strings: rank 0 for one, rank 1 for more.
std::string strings_event(const Stamp &stamp, std::string_view tag, std::string_view plugin,
                          const std::vector<std::string> &strings);
/// The hyperparameters and metrics that there are, and the values of this run: two events.
std::vector<std::string> hyperparameter_events(double wall_time,
                                               const std::map<std::string, Hyperparameter> &values,
                                               const std::vector<std::string> &metrics);
/// A GraphDef.
std::string graph_event(double wall_time, const Graph &graph);
std::string finished_event(double wall_time, Status status);

/// Records are added in memory; a thread writes them when `flush_seconds` are over, when there are
/// many, or when `flush` waits for it. Once something went wrong, all that follows throws it.
class File {
public:
  /// Makes the folder and the file. Throws IOError.
  File(const std::string &folder, double flush_seconds);
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  /// `record` is the bytes of a message.
  void add(std::string_view record);
  void flush();
  void close();
  const std::string &path() const { return path_; }
  /// When it was created, in seconds since 1970; behind every file that the folder had, also if the
  /// clock has been set back since, for readers take them by that.
  double start() const { return start_; }
  /// Whether this is the first time that it is asked about `tag`.
  bool first_of(const std::string &tag);

private:
  void run();
  void write(std::string_view bytes) const;
  /// Holds the mutex. Throws StateError in a child, whose thread is the parent's.
  std::unique_lock<std::mutex> locked();
  /// Throws what went wrong before, and StateError once it is closed.
  void check() const;

  std::string path_;
  double start_ = 0;
  int descriptor_ = -1;
  std::chrono::duration<double> patience_;
  const std::uint32_t generation_;

  std::mutex mutex_; ///< of what follows
  std::condition_variable wake_, written_;
  std::string waiting_;
  bool busy_ = false, hurry_ = false, end_ = false, closed_ = false;
  std::exception_ptr failure_;
  std::set<std::string> known_;
  std::unique_ptr<std::thread> thread_;
};

} // namespace weft::events::detail
