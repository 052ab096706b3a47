// The file behind an event writer, and the thread that writes it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace weft::events::detail {

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
  /// When it was made, in seconds since 1970; behind every file that the folder had, also if the
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
