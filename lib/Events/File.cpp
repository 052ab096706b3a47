// Writes event files on a thread of their own.
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
  if (error) throw IOError(folder + ": the folder cannot be made: " + error.message());
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
  if (descriptor_ < 0) throw IOError(path_ + ": cannot be made: " + std::strerror(errno));
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
