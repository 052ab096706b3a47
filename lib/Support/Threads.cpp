// The intra-op thread pool: ranges handed to libgomp's team, and the thread count behind them.

#include "Support/Threads.h"

#include "Support/Profile.h"
#include "Support/SerialLoops.h"

#include <weft/error.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>

// The part of libgomp's ABI that GCC emits for `#pragma omp parallel`, and two of OpenMP's calls.
extern "C" {
void GOMP_parallel(void (*body)(void *), void *data, unsigned num_threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_in_parallel();
}

// The thread sanitizer does not see how libgomp, which is not built with it, begins and ends a
// region.
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define WEFT_TSAN_RELEASE(address) __tsan_release(address)
#define WEFT_TSAN_ACQUIRE(address) __tsan_acquire(address)
#else
#define WEFT_TSAN_RELEASE(address) ((void)0)
#define WEFT_TSAN_ACQUIRE(address) ((void)0)
#endif

namespace weft::threads {
namespace {

constexpr int kMostThreads = 1024;

/// 0 until the first use or `set_num_threads`.
std::atomic<int> thread_count{0};

/// Whether there was a region; and whether that was before a fork, so that the workers are gone.
std::atomic<bool> pool_used{false}, pool_lost{false};
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { pool_lost.store(pool_used.load()); });

/// CPUs that this process may run on. The mask is asked for in growing sizes because the kernel
/// refuses one that is smaller than its own.
int available_cpus() noexcept {
  for (int cpus = 1024; cpus <= (1 << 20); cpus *= 4) {
    cpu_set_t *mask = CPU_ALLOC(cpus);
    if (!mask) break;
    const size_t size = CPU_ALLOC_SIZE(cpus);
    const bool ok = sched_getaffinity(0, size, mask) == 0;
    const int count = ok ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return std::min(count, kMostThreads);
  }
  return 1;
}

/// The value of WEFT_NUM_THREADS, empty when it is not set.
std::string_view requested_threads() noexcept {
  const char *text = std::getenv("WEFT_NUM_THREADS");
  return text ? text : "";
}

/// A thread count as a number, 0 when it is not valid.
int read_count(std::string_view text) noexcept {
  int value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && stop == text.data() + text.size();
  return whole && value >= 1 && value <= kMostThreads ? value : 0;
}

/// Makes `count` the thread count unless there is one by now, which is returned then.
int settle(int count) noexcept {
  int expected = 0;
  return thread_count.compare_exchange_strong(expected, count) ? count : expected;
}

/// One range function as the team runs it. `call` must not throw.
struct Region {
  void (*call)(void *closure, int64_t begin, int64_t end);
  void *closure;
  int64_t begin;
  int64_t length;
  int ranges;
  profile::Label label; ///< what it is a part of, for profiles

  int64_t start_of(int range) const {
    const int64_t base = length / ranges, extra = length % ranges;
    return begin + base * range + std::min<int64_t>(range, extra);
  }
};

/// The team that this thread has had: how many members were asked for, how many there are, and the
/// regions after which a team that is too small is looked at again.
struct Team {
  int asked = 1;
  int members = 1;
  int patience = 0;
};
thread_local constinit Team team;

constexpr int kPatience = 10'000;

/// How many threads, of `wanted`, can be made beside those there are: as many are made, live at the
/// same time, and end.
int spare_threads(int wanted) noexcept {
  std::mutex gate;
  pthread_t made[kMostThreads];
  int count = 0;
  {
    const std::lock_guard closed(gate);
    const auto wait = [](void *at) -> void * {
      const std::lock_guard passing(*static_cast<std::mutex *>(at));
      return nullptr;
    };
    while (count < wanted && pthread_create(&made[count], nullptr, wait, &gate) == 0) ++count;
  }
  for (int i = 0; i < count; ++i) pthread_join(made[i], nullptr);
  return count;
}

/// The size of a team that libgomp can start on this thread, at most `threads`: where a thread
/// cannot be made, by a limit on processes or for want of memory, libgomp ends the process. It
/// keeps the team of its last region, so there is something to find out when that has to grow.
int possible_team(int threads) noexcept {
  if (threads == team.asked && (team.members == threads || --team.patience > 0)) [[likely]]
    return team.members;
  team.asked = threads;
  team.patience = kPatience;
  if (threads > team.members) team.members += spare_threads(threads - team.members);
  else team.members = threads;
  return team.members;
}

/// What each member of the team runs. The team may be smaller than asked for, so members stride.
void run_member(void *data) {
  WEFT_TSAN_ACQUIRE(data);
  const Region &region = *static_cast<const Region *>(data);
  const int members = omp_get_num_threads();
  // The caller's part is in the event of the op that it is of.
  std::optional<profile::Scope> part;
  if (profile::on() && omp_get_thread_num() != 0) part.emplace(profile::Kind::part, region.label);
  for (int range = omp_get_thread_num(); range < region.ranges; range += members)
    region.call(region.closure, region.start_of(range), region.start_of(range + 1));
  WEFT_TSAN_RELEASE(data);
}

/// Runs the loop on the team. The team always has all `threads` members, also when fewer ranges
/// than that are wanted: libgomp ends and restarts threads when a team's size changes, and that
/// costs far more than members without work.
void run_region(int64_t begin, int64_t end, int64_t grain, int threads,
                void (*call)(void *, int64_t, int64_t), void *closure) {
  threads = possible_team(threads);
  if (threads == 1) return call(closure, begin, end);
  pool_used.store(true, std::memory_order_relaxed);
  const int64_t length = end - begin;
  const int ranges = static_cast<int>(std::min<int64_t>(threads, length / grain));
  Region region{call, closure, begin, length, ranges, {}};
  if (profile::on()) region.label = profile::innermost();
  WEFT_TSAN_RELEASE(&region);
  GOMP_parallel(run_member, &region, static_cast<unsigned>(threads), 0);
  WEFT_TSAN_ACQUIRE(&region);
}

/// A body whose exception is kept for the caller.
struct Guarded {
  FunctionRef<void(int64_t, int64_t)> body;
  std::mutex mutex;
  std::exception_ptr first;

  static void call(void *closure, int64_t begin, int64_t end) {
    auto &self = *static_cast<Guarded *>(closure);
    try {
      self.body(begin, end);
    } catch (...) {
      const std::lock_guard lock(self.mutex);
      if (!self.first) self.first = std::current_exception();
    }
  }
};

/// How many SerialLoops live on this thread.
thread_local constinit int serial = 0;

/// True when a loop of `length` is to run on the caller alone. Looks at the pool last.
bool runs_alone(int64_t length, int64_t grain, int threads) noexcept {
  return threads == 1 || length / grain < 2 || serial != 0 ||
         pool_lost.load(std::memory_order_relaxed) || omp_in_parallel();
}

} // namespace

SerialLoops::SerialLoops() noexcept { ++serial; }
SerialLoops::~SerialLoops() { --serial; }

int parse_num_threads(std::string_view text) {
  if (const int count = read_count(text)) return count;
  throw ValueError("WEFT_NUM_THREADS is '" + std::string(text) +
                   "' but must be a whole number from 1 to " + std::to_string(kMostThreads));
}

int max_threads() {
  if (const int count = thread_count.load(std::memory_order_relaxed)) return count;
  const std::string_view requested = requested_threads();
  return settle(requested.empty() ? available_cpus() : parse_num_threads(requested));
}

int max_threads_or_default() noexcept {
  if (const int count = thread_count.load(std::memory_order_relaxed)) return count;
  // A bad value is not settled: `max_threads` still gets to report it.
  const std::string_view requested = requested_threads();
  const int count = read_count(requested);
  if (count == 0 && !requested.empty()) return available_cpus();
  return settle(count ? count : available_cpus());
}

void set_num_threads(int count) {
  if (count < 1 || count > kMostThreads)
    throw ValueError("set_num_threads: the count is " + std::to_string(count) +
                     " but must be from 1 to " + std::to_string(kMostThreads));
  thread_count.store(count, std::memory_order_relaxed);
}

bool in_parallel_region() noexcept { return omp_in_parallel() != 0; }

void parallel_for(int64_t begin, int64_t end, int64_t grain,
                  FunctionRef<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  if (end - begin <= grain) return body(begin, end);
  const int threads = max_threads();
  if (runs_alone(end - begin, grain, threads)) return body(begin, end);
  Guarded guarded{body, {}, {}};
  run_region(begin, end, grain, threads, Guarded::call, &guarded);
  if (guarded.first) std::rethrow_exception(guarded.first);
}

void parallel_for_noexcept(int64_t begin, int64_t end, int64_t grain,
                           FunctionRef<void(int64_t, int64_t)> body) noexcept {
  weft_rt_parallel_for(
      begin, end, grain,
      [](void *closure, int64_t from, int64_t to) {
        (*static_cast<FunctionRef<void(int64_t, int64_t)> *>(closure))(from, to);
      },
      &body);
}

} // namespace weft::threads

extern "C" void weft_rt_parallel_for(int64_t begin, int64_t end, int64_t grain,
                                     void (*body)(void *closure, int64_t begin, int64_t end),
                                     void *closure) {
  using namespace weft::threads;
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  if (end - begin <= grain) return body(closure, begin, end);
  const int threads = max_threads_or_default();
  if (runs_alone(end - begin, grain, threads)) return body(closure, begin, end);
  run_region(begin, end, grain, threads, body, closure);
}
