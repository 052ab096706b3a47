// Making the world, and its end.
#include "Distributed/World.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <numeric>

#include <sched.h>

#include "Program/Ranks.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include "Support/Fork.h"
#include "Support/Log.h"
#include "Support/Messages.h"
#include <weft/detail/distributed_place.h>

namespace weft::distributed {

namespace {

std::mutex opening;
World *world = nullptr;
std::shared_ptr<detail::GroupState> &everybody() {
  static auto &only = *new std::shared_ptr<detail::GroupState>;
  return only;
}
std::atomic<bool> opened = false;
std::terminate_handler terminate_before = nullptr;

/// At the end of the process: nobody is left in a collective, and MPI is finalized where all ranks
/// come to their end.
void leave() {
  if (world == nullptr || world->engine == nullptr || world->generation != forks::generation())
    return;
  if (world->watch == nullptr) {
    world->engine->close();
    return;
  }
  const bool all = world->watch->leave([] {
    const std::unique_lock lock(world->lock, std::try_to_lock);
    if (lock.owns_lock()) world->engine->progress();
  });
  if (all) world->engine->close();
}

/// An exception that nobody catches: its message goes ahead.
void terminate() {
  std::string message = "it was terminated";
  if (const std::exception_ptr now = std::current_exception()) {
    try {
      std::rethrow_exception(now);
    } catch (const std::exception &error) {
      message = error.what();
    } catch (...) {
      message = "an exception of unknown type";
    }
  }
  distributed::abort(message);
  // abort() comes next, at which a launcher ends the others: they get the time to say why.
  if (world->watch != nullptr) world->watch->leave([] {});
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

int processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void open_mpi(World &made, const Launcher &launcher) {
  made.engine = &open_mpi_engine(mpi_libraries(launcher));
  made.engine_name = made.engine->name();
  if (launcher.size != 0 && launcher.size != made.engine->size())
    raise(ErrorKind::state, "init: the launcher says that there are " +
                                std::to_string(launcher.size) + " processes (" + launcher.variable +
                                "), and " + made.engine->name() + " says " +
                                std::to_string(made.engine->size()) +
                                ": they do not belong together; name the launcher's own library in "
                                "WEFT_MPI_LIBRARY, or start the program by that of the library");
  static_cast<void>(timeout()); // throws for an environment that asks for none
  if (made.engine->size() == 1) return;
  made.watch = std::make_unique<Watch>(*made.engine, "init");
  const auto &peers = made.watch->peers();
  const auto here = std::count_if(peers.begin(), peers.end(), [&](const PeerName &peer) {
    return peer.host == peers[static_cast<std::size_t>(made.engine->rank())].host;
  });
  made.may_spin = here <= processors();
}

} // namespace

const std::shared_ptr<detail::GroupState> &world_group(std::string_view engine) {
  auto &group = everybody();
  if (opened.load(std::memory_order_acquire) && engine == "auto") return group;
  if (engine != "auto" && engine != "single" && engine != "mpi")
    raise(ErrorKind::value, "init: there is no engine '" + shown(engine) +
                                "': \"auto\", \"single\" and \"mpi\" are known");
  const std::lock_guard lock(opening);
  const Launcher launcher = launcher_of_environment();
  if (world != nullptr) {
    const bool single = world->engine == nullptr;
    if (engine != "auto" && single != (engine == "single"))
      raise(ErrorKind::state, "init: the world is that of " + world->engine_name +
                                  " already, and a program has one world: ask for an engine "
                                  "before the first collective");
    return group;
  }
  auto made = std::make_unique<World>();
  made->generation = forks::generation();
  const bool mpi = engine == "mpi" || (engine == "auto" && launcher.kind != Launcher::Kind::none);
  if (mpi) open_mpi(*made, launcher);
  world = made.release();
  const int size = world->engine == nullptr ? 1 : world->engine->size();
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  group = std::make_shared<detail::GroupState>(
      *world, 0, std::move(ranks), world->engine == nullptr ? 0 : world->engine->rank());
  if (world->watch != nullptr) terminate_before = std::set_terminate(terminate);
  if (size > 1) {
    tell_ranks_by([](const std::string &words) noexcept {
      detail::refuse("call of a traced function", Group(), words);
    });
    break_ranks_by([](const std::string &words) noexcept { world->watch->fails(words); });
  }
  if (world->engine != nullptr && std::atexit(leave) != 0)
    warn_line("init: the end of the program cannot be noted");
  if (logging() && mpi)
    log_line("distributed: rank " + std::to_string(group->rank) + " of " + std::to_string(size) +
             ", by " + world->engine_name);
  opened.store(true, std::memory_order_release);
  return group;
}

Group init(std::string_view engine, std::source_location where) {
  const CompositeCall call("init", where);
  const auto &group = world_group(engine);
  if (group->world.generation != forks::generation() && group->world.engine != nullptr)
    raise(ErrorKind::state, "init: this process was forked from one that has a world of " +
                                group->world.engine_name +
                                ": start processes anew, or fork before init");
  return Group(group);
}

//===----------------------------------------------------------------------===//
// The deadline
//===----------------------------------------------------------------------===//

namespace {

bool is_timeout(double seconds) { return seconds > 0 && std::isfinite(seconds); }

std::atomic<double> &seconds_of_timeout() {
  static std::atomic<double> seconds = [] {
    const char *text = std::getenv("WEFT_DISTRIBUTED_TIMEOUT"); // NOLINT(concurrency-mt-unsafe)
    if (text == nullptr || *text == 0) return 60.0;
    double value = 0;
    const char *end = text + std::char_traits<char>::length(text);
    const auto read = std::from_chars(text, end, value);
    if (read.ec != std::errc() || read.ptr != end || !is_timeout(value))
      raise(ErrorKind::value, "WEFT_DISTRIBUTED_TIMEOUT is '" + shown(text) +
                                  "': a positive number of seconds is wanted");
    return value;
  }();
  return seconds;
}

} // namespace

double timeout() { return seconds_of_timeout(); }

void set_timeout(double seconds, std::source_location where) {
  const CompositeCall call("set_timeout", where);
  if (!is_timeout(seconds))
    raise(ErrorKind::value,
          "set_timeout: seconds is " + number_text(seconds) + ": a positive number is wanted");
  seconds_of_timeout() = seconds;
}

void abort(std::string_view message) {
  if (!opened.load(std::memory_order_acquire) || world->watch == nullptr ||
      world->generation != forks::generation())
    return;
  world->watch->fails(std::string(message));
}

} // namespace weft::distributed
