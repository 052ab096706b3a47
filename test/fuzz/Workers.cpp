// Forks workers, reads what they give from pipes, and ends those that take too long.
#include "Workers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <new>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weft::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

/// A worker does no more pieces than this, so that what a process collects stays small.
constexpr std::size_t kPieces = 100;

struct Range {
  std::size_t begin, end;
};

/// Memory that a worker shares with us.
struct Stage {
  char name[128] = "";
};
Stage *stage_of_this_process = nullptr;

struct Worker {
  pid_t pid;
  int pipe;
  Stage *stage;
  Range range; ///< what it has still to do
  std::string buffer;
  Clock::time_point deadline;
};

void limit_memory(std::size_t bytes) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return; // They reserve more than any limit.
#endif
#endif
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

void write_all(int file, const char *data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1); // Nobody listens any more.
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

[[noreturn]] void work_in_child(int file, Range range, const Limits &limits,
                                const std::function<std::string(std::size_t)> &work) {
  limit_memory(limits.bytes);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const std::string text = work(i);
    const std::uint64_t size = text.size();
    write_all(file, reinterpret_cast<const char *>(&size), sizeof size);
    write_all(file, text.data(), text.size());
  }
  _exit(0);
}

class Pool {
public:
  Pool(const Limits &limits, const std::function<std::string(std::size_t)> &work,
       const std::function<bool(std::size_t, std::string, std::string)> &done)
      : limits_(limits), work_(work), done_(done) {}
  ~Pool() {
    for (Worker &worker : workers_) {
      kill(worker.pid, SIGKILL);
      end(worker);
    }
  }
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  void run(std::size_t count, int jobs) {
    const std::size_t piece =
        std::clamp<std::size_t>(count / (static_cast<std::size_t>(jobs) * 3), 1, kPieces);
    for (std::size_t at = 0; at < count; at += piece)
      waiting_.push_back({at, std::min(count, at + piece)});
    while (goes_on_ && (!workers_.empty() || !waiting_.empty())) {
      while (workers_.size() < static_cast<std::size_t>(jobs) && !waiting_.empty()) start();
      listen();
    }
  }

private:
  void start() {
    const Range range = waiting_.front();
    waiting_.pop_front();
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    void *shared =
        mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    auto *stage = new (shared) Stage;
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
      close(ends[0]);
      stage_of_this_process = stage;
      work_in_child(ends[1], range, limits_, work_);
    }
    close(ends[1]);
    workers_.push_back({pid, ends[0], stage, range, "", later()});
  }

  Clock::time_point later() const {
    return Clock::now() +
           std::chrono::milliseconds(static_cast<std::int64_t>(limits_.seconds * 1000));
  }

  void listen() {
    std::vector<pollfd> files;
    for (const Worker &worker : workers_) files.push_back({worker.pipe, POLLIN, 0});
    poll(files.data(), files.size(), 200);
    for (std::size_t i = files.size(); i-- > 0 && goes_on_;) {
      bool ended = false;
      if (files[i].revents != 0) ended = !receive(workers_[i]);
      else if (Clock::now() > workers_[i].deadline) {
        kill(workers_[i].pid, SIGKILL);
        ended = true;
        late_ = true;
      }
      if (ended) finish(i);
    }
  }

  /// Takes what there is; false at the end.
  bool receive(Worker &worker) {
    char data[1 << 16];
    const ssize_t size = read(worker.pipe, data, sizeof data);
    if (size < 0 && errno == EINTR) return true;
    if (size <= 0) return false;
    worker.buffer.append(data, static_cast<std::size_t>(size));
    std::uint64_t length = 0;
    while (worker.buffer.size() >= sizeof length) {
      std::memcpy(&length, worker.buffer.data(), sizeof length);
      if (worker.buffer.size() < sizeof length + length) break;
      std::string text = worker.buffer.substr(sizeof length, length);
      worker.buffer.erase(0, sizeof length + length);
      worker.deadline = later();
      goes_on_ = goes_on_ && done_(worker.range.begin++, std::move(text), "");
    }
    return true;
  }

  static int end(Worker &worker) {
    close(worker.pipe);
    munmap(worker.stage, sizeof(Stage));
    int status = 0;
    while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  void finish(std::size_t i) {
    Worker worker = std::move(workers_[i]);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string stage = worker.stage->name;
    const int status = end(worker);
    const bool late = std::exchange(late_, false);
    if (worker.range.begin == worker.range.end) return;
    const std::size_t at = worker.range.begin++;
    if (worker.range.begin < worker.range.end) waiting_.push_front(worker.range);
    std::string fault = "exit status " + std::to_string(WEXITSTATUS(status));
    if (late) fault = "no end within " + std::to_string(static_cast<int>(limits_.seconds)) + " s";
    else if (WIFSIGNALED(status))
      fault =
          "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
    goes_on_ = goes_on_ && done_(at, "", stage.empty() ? fault : fault + " in " + stage);
  }

  const Limits &limits_;
  const std::function<std::string(std::size_t)> &work_;
  const std::function<bool(std::size_t, std::string, std::string)> &done_;
  std::deque<Range> waiting_;
  std::vector<Worker> workers_;
  bool goes_on_ = true, late_ = false;
};

} // namespace

void note_stage(const std::string &stage) {
  if (stage_of_this_process == nullptr) return;
  std::snprintf(stage_of_this_process->name, sizeof stage_of_this_process->name, "%s",
                stage.c_str());
}

void run_apart(std::size_t count, int jobs, const Limits &limits,
               const std::function<std::string(std::size_t)> &work,
               const std::function<bool(std::size_t, std::string, std::string)> &done) {
  Pool(limits, work, done).run(count, jobs);
}

} // namespace weft::fuzz
