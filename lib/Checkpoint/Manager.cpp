// The manager: saves on another thread, keeps some files, restores the newest that is whole.
#include <weft/checkpoint.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "Checkpoint/Checkpoint.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include "Support/Files.h"
#include "Support/Fork.h"
#include "Support/Log.h"
#include "Support/Messages.h"
#include "Support/ThreadWithoutSignals.h"

namespace weft {

namespace {

using Clock = std::chrono::steady_clock;

} // namespace

void yield_to_others() {
  constexpr int kNice = 10; // a tenth of the weight: with the least of all, saves may never end
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice); // a wish: it may fail
}

namespace detail {

struct ManagerState {
  ManagerState(std::string folder, const CheckpointManagerOptions &options)
      : folder(std::move(folder)), options(options) {}
  ManagerState(const ManagerState &) = delete;
  ManagerState &operator=(const ManagerState &) = delete;
  ~ManagerState() {
    join();
    if (failure == nullptr) return;
    try {
      rethrow();
    } catch (const std::exception &error) {
      warn_failed(error.what());
    }
  }

  /// Waits for the save that goes on, and throws what it threw, as the line that began it.
  void finish() {
    const std::lock_guard lock(mutex);
    finish_locked();
  }

  /// Starts to write, when a save that another thread has begun meanwhile has ended.
  void start(Snapshot taken, const SaveOptions &saved) {
    const std::lock_guard lock(mutex);
    finish_locked();
    write(std::move(taken));
    if (saved.step) last.step = *saved.step;
    last.time = Clock::now();
  }

  /// When the last save was.
  struct Last {
    std::int64_t step = 0;
    Clock::time_point time = Clock::now();
    bool operator==(const Last &) const = default;
  };

  /// Whether a save is due; then it counts as done, so that no other thread makes it too. `before`
  /// and `now` are for `give_back`.
  bool take_due(std::int64_t step, Last &before, Last &now) {
    const std::lock_guard lock(mutex);
    before = last;
    now = {step, Clock::now()};
    // The distance of two steps may not fit; of what is behind it does, unsigned.
    const bool by_steps =
        options.every_steps && step > last.step &&
        static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(last.step) >=
            static_cast<std::uint64_t>(*options.every_steps);
    if (!by_steps && !(options.every && now.time - last.time >= *options.every)) return false;
    last = now;
    return true;
  }
  /// Has a save be due again that failed, unless there was another.
  void give_back(const Last &before, const Last &now) {
    const std::lock_guard lock(mutex);
    if (last == now) last = before;
  }

  /// Has steps count from this one.
  void restart_at(std::int64_t step) {
    const std::lock_guard lock(mutex);
    last.step = step;
  }

  const std::string folder;
  const CheckpointManagerOptions options;

private:
  void finish_locked() {
    join();
    if (failure != nullptr) rethrow();
  }

  void write(Snapshot taken) {
    const auto snapshot = std::make_shared<Snapshot>(std::move(taken));
    const auto run = [this, snapshot] {
      if (options.background) yield_to_others();
      try {
        write_numbered(folder, std::move(*snapshot), options.background);
        remove_others(folder, options);
      } catch (...) {
        failure = std::current_exception();
      }
    };
    location = CallSite::location();
    if (options.background) {
      try {
        generation = forks::generation();
        writer = thread_without_signals(run);
        return;
        // NOLINTNEXTLINE(bugprone-empty-catch)
      } catch (const std::system_error &) {
        // The system makes no more threads: this one can write.
      }
    }
    run();
    finish_locked();
  }

  void join() {
    if (!writer.joinable()) return;
    if (!join_unless_gone(writer, generation)) failure = nullptr; // the parent's
  }

  [[noreturn]] void rethrow() {
    const std::exception_ptr thrown = std::exchange(failure, nullptr);
    try {
      std::rethrow_exception(thrown);
    } catch (const Error &error) {
      if (error.location().known()) throw;
      raise(error.kind(), std::string(error.message()), location);
    }
  }

  void warn_failed(const char *what) noexcept {
    try {
      warn_line("CheckpointManager: the last save failed: " + std::string(what));
    } catch (...) { // the user's sink, whose faults a destructor cannot hand on
      return;
    }
  }

  /// Of all below. Nothing is called with it held that is the user's, or waits for variables.
  forks::Mutex<std::mutex> mutex;
  Last last;
  std::thread writer;
  std::uint32_t generation = 0; ///< of the process that has the writer
  std::exception_ptr failure;   ///< the writer's until it is joined
  SourceLocation location;      ///< of the last save
};

} // namespace detail

std::vector<CheckpointInfo> whole_ones(const std::string &folder, bool warns) {
  std::vector<CheckpointInfo> infos;
  for (const NumberedFile &file : numbered_files(folder)) {
    try {
      infos.push_back(info_of(SafetensorsFile(file.path), file.number));
    } catch (const IOError &error) {
      // The save of another thread may have removed it.
      if (std::error_code unknown; warns && std::filesystem::exists(file.path, unknown))
        warn_line("CheckpointManager: passed over a broken file: " + std::string(error.message()));
    }
  }
  return infos;
}

namespace {

/// Those with a metric, best first, and the newer first of equal ones.
std::vector<CheckpointInfo> best_first(std::vector<CheckpointInfo> infos, bool largest_is_best) {
  std::erase_if(infos, [](const CheckpointInfo &info) { return !info.metric; });
  std::sort(infos.begin(), infos.end(), [&](const CheckpointInfo &a, const CheckpointInfo &b) {
    const double x = *a.metric, y = *b.metric;
    if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
    if (x != y && !std::isnan(x)) return largest_is_best ? x > y : x < y;
    return a.number > b.number;
  });
  return infos;
}

/// Restores the first of them that is not broken.
std::optional<CheckpointInfo> restore_first(const std::vector<CheckpointInfo> &infos,
                                            const Checkpoint &what, const RestoreOptions &options,
                                            const char *function) {
  for (const CheckpointInfo &info : infos) {
    try {
      auto state = std::make_shared<detail::RestoreState>();
      state->quiet = true; // either all fits or the user has said that it may not
      state->file.emplace(info.path);
      state->parts = what.parts();
      restore_parts(*state, {.function = function, .strict = !options.partial});
      if (options.status != nullptr) options.status->emplace(std::move(state));
      return info;
    } catch (const MisfitError &) {
      throw;
    } catch (const IOError &error) {
      warn_line(std::string(function) +
                ": passed over a broken file: " + std::string(error.message()));
    }
  }
  return std::nullopt;
}

} // namespace

void remove_others(const std::string &folder, const CheckpointManagerOptions &options) {
  if (options.keep == 0) return;
  const std::vector<CheckpointInfo> infos = whole_ones(folder, /*warns=*/false);
  std::set<std::string> kept;
  const auto newest = static_cast<std::size_t>(options.keep);
  for (std::size_t i = infos.size() - std::min(infos.size(), newest); i < infos.size(); ++i)
    kept.insert(infos[i].path);
  std::vector<CheckpointInfo> best = best_first(infos, options.largest_is_best);
  best.resize(std::min(best.size(), static_cast<std::size_t>(options.keep_best)));
  for (const CheckpointInfo &info : best) kept.insert(info.path);
  for (const CheckpointInfo &info : infos)
    if (!kept.contains(info.path)) remove_numbered(info.path);
}

CheckpointManager::CheckpointManager(const std::string &folder,
                                     const CheckpointManagerOptions &options,
                                     std::source_location where) {
  const CallSite site(where);
  check_path("CheckpointManager", folder);
  const auto check = [](const char *option, double value, bool fits, const char *wanted) {
    if (!fits)
      throw ValueError(std::string("CheckpointManager: ") + option + " is " + number_text(value) +
                       ", but must be " + wanted);
  };
  check("keep", static_cast<double>(options.keep), options.keep >= 0, "at least 0");
  check("keep_best", static_cast<double>(options.keep_best), options.keep_best >= 0, "at least 0");
  if (options.every_steps)
    check("every_steps", static_cast<double>(*options.every_steps), *options.every_steps >= 1,
          "at least 1");
  if (options.every)
    check("every", options.every->count(),
          options.every->count() > 0 && std::isfinite(options.every->count()),
          "a positive number of seconds");
  remove_leftovers(folder);
  state_ = std::make_unique<detail::ManagerState>(folder, options);
}

CheckpointManager::~CheckpointManager() = default;
CheckpointManager::CheckpointManager(CheckpointManager &&) noexcept = default;
CheckpointManager &CheckpointManager::operator=(CheckpointManager &&) noexcept = default;

const std::string &CheckpointManager::folder() const { return state_->folder; }

void CheckpointManager::save(const Checkpoint &what, const SaveOptions &options,
                             std::source_location where) {
  const CallSite site(where);
  state_->finish();
  state_->start(take_snapshot("CheckpointManager::save", what, options), options);
}

bool CheckpointManager::save_if_due(const Checkpoint &what, std::int64_t step, SaveOptions options,
                                    std::source_location where) {
  const CallSite site(where);
  const CheckpointManagerOptions &own = state_->options;
  if (!own.every_steps && !own.every)
    throw ValueError("save_if_due: nothing says when: give the manager every_steps or every");
  detail::ManagerState::Last before, now;
  if (!state_->take_due(step, before, now)) return false;
  if (!options.step) options.step = step;
  try {
    save(what, options);
  } catch (...) {
    state_->give_back(before, now);
    throw;
  }
  return true;
}

void CheckpointManager::wait(std::source_location where) {
  const CallSite site(where);
  state_->finish();
}

std::vector<CheckpointInfo> CheckpointManager::checkpoints(std::source_location where) {
  const CallSite site(where);
  state_->finish();
  return whole_ones(state_->folder, /*warns=*/true);
}

std::optional<CheckpointInfo> CheckpointManager::restore_latest(const Checkpoint &what,
                                                                const RestoreOptions &options,
                                                                std::source_location where) {
  const CallSite site(where);
  std::vector<CheckpointInfo> infos = checkpoints();
  std::reverse(infos.begin(), infos.end());
  const auto restored = restore_first(infos, what, options, "restore_latest");
  if (!restored && !numbered_files(folder()).empty())
    throw IOError(folder() + ": has checkpoints, but all of them are broken");
  if (restored && restored->step) state_->restart_at(*restored->step);
  return restored;
}

std::optional<CheckpointInfo> CheckpointManager::restore_best(const Checkpoint &what,
                                                              const RestoreOptions &options,
                                                              std::source_location where) {
  const CallSite site(where);
  const std::vector<CheckpointInfo> all = checkpoints();
  const std::vector<CheckpointInfo> infos = best_first(all, state_->options.largest_is_best);
  const auto restored = restore_first(infos, what, options, "restore_best");
  if (!restored && !infos.empty())
    throw IOError(folder() + ": has checkpoints with a metric, but all of them are broken");
  if (!restored && all.empty() && !numbered_files(folder()).empty())
    throw IOError(folder() + ": has checkpoints, but all of them are broken");
  return restored;
}

} // namespace weft
