// The intra-op thread pool: chunks of loops that threads claim, and the thread count behind them.

#include "Support/Threads.h"

#include "Support/Profile.h"

#include <weft/error.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <immintrin.h>
#include <limits>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <string_view>

namespace weft::threads {
namespace {

constexpr int kMostThreads = 1024;

/// 0 until the first use or `set_num_threads`.
std::atomic<int> thread_count{0};

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
int initialize(int count) noexcept {
  int expected = 0;
  return thread_count.compare_exchange_strong(expected, count) ? count : expected;
}

/// One loop. It lives on its caller's stack until all of its chunks are done.
struct Region {
  void (*call)(void *closure, int64_t begin, int64_t end); ///< must not throw
  void *closure;
  int64_t begin;
  int64_t length;
  int64_t chunks;
  profile::Label label; ///< what it is a part of, for profiles

  int64_t start_of(int64_t chunk) const {
    const int64_t base = length / chunks, extra = length % chunks;
    return begin + base * chunk + std::min(chunk, extra);
  }
  void run(int64_t chunk) const { call(closure, start_of(chunk), start_of(chunk + 1)); }
};

/// Chunks for each thread: who comes late, or is not run by the system for a while, has so much
/// less to do.
constexpr int kChunksPerThread = 4;

/// The chunks that one thread begins with: those from `next` to `end` are nobody's yet.
struct alignas(64) Share {
  static constexpr std::uint64_t pack(std::uint32_t next, std::uint32_t end) {
    return std::uint64_t{end} << 32 | next;
  }

  /// Claims the first chunk that is nobody's; -1 if there is none.
  int64_t claim() noexcept {
    std::uint64_t seen = left.load(std::memory_order_relaxed);
    while (static_cast<std::uint32_t>(seen) < static_cast<std::uint32_t>(seen >> 32))
      // Acquires what the region's caller wrote before it dealt the chunks out.
      if (left.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed))
        return static_cast<std::uint32_t>(seen);
    return -1;
  }

  std::atomic<std::uint64_t> left;
};

/// Where regions are run, one at a time. It outlives them all, and so a thread may look for chunks
/// at any time: one that it claims is of a region that waits for it, and only then does it look at
/// that region. Nothing of a region is touched once its chunks are done.
struct Slot {
  std::atomic<bool> taken;
  std::atomic<const Region *> region;
  std::atomic<int> threads;           ///< that share the region, its caller included
  std::atomic<std::uint32_t> pending; ///< chunks that are not done
  Share shares[kMostThreads];

  /// What a thread did of a region: chunks, and the ticks of all and of the longest.
  struct Done {
    int64_t chunks = 0;
    std::uint64_t ticks = 0, longest = 0;

    void add(std::uint64_t chunk) {
      ++chunks;
      ticks += chunk;
      longest = std::max(longest, chunk);
    }
    /// What a chunk takes, without the longest: in that the thread may have been off its processor.
    std::uint64_t usual() const {
      return chunks > 1 ? (ticks - longest) / static_cast<std::uint64_t>(chunks - 1) : ticks;
    }
  };

  /// Runs chunks until none is left, thread `number`'s own first, which may be in its cache.
  Done work(int number, int members) noexcept {
    Done done;
    std::optional<profile::Scope> part;
    std::uint64_t before = __rdtsc();
    for (int i = 0; i < members; ++i) {
      const int from = number + i < members ? number + i : number + i - members;
      for (int64_t chunk; (chunk = shares[from].claim()) >= 0;) {
        const Region &of = *region.load(std::memory_order_relaxed);
        // The caller's part is in the event of the op that it is of.
        if (number != 0 && !part && profile::on()) part.emplace(profile::Kind::part, of.label);
        of.run(chunk);
        const std::uint64_t now = __rdtsc();
        done.add(now - before);
        before = now;
      }
    }
    part.reset();
    // The last look at the region, unless this is its caller.
    const auto count = static_cast<std::uint32_t>(done.chunks);
    if (count != 0 && pending.fetch_sub(count, std::memory_order_acq_rel) == count && number != 0)
      pending.notify_one();
    return done;
  }
};

/// Regions at a time; callers beyond that run their loops alone.
constexpr int kSlots = 8;
constinit Slot slots[kSlots];

/// What workers wait for: the number of regions so far.
struct alignas(64) Calls {
  std::atomic<std::uint32_t> count;
};
constinit Calls calls;

/// Workers that there are, of this process; whether somebody is at making more; the regions after
/// which that is tried again where it failed.
constinit std::atomic<int> workers{0};
constinit std::atomic<bool> hiring{false};
constinit std::atomic<int> patience{0};
constexpr int kPatience = 10'000;

/// The number of this worker, from 1 on; 0 of other threads. Whether this thread is in a region.
thread_local constinit int own_number = 0;
thread_local constinit bool inside = false;

/// Spins for some time, but no longer than the system lets this thread run: where others want the
/// processor, to spin is to take it from who has the work.
class Spin {
public:
  explicit Spin(std::uint64_t ticks) : begin_(__rdtsc()), last_(begin_), ticks_(ticks) {}

  /// False when there has been enough.
  bool again() noexcept {
    _mm_pause();
    const std::uint64_t now = __rdtsc();
    if (now - last_ > kAway) interrupted_ = true;
    last_ = now;
    return !interrupted_ && now - begin_ < ticks_;
  }
  bool interrupted() const noexcept { return interrupted_; }

private:
  /// Ticks between two looks that tell that another thread ran.
  static constexpr std::uint64_t kAway = 50'000;

  std::uint64_t begin_, last_, ticks_;
  bool interrupted_ = false;
};

/// Some 2 ms, 20 us, and 100 ms.
constexpr std::uint64_t kLongSpin = 5'000'000, kShortSpin = 50'000, kBusyFor = 250'000'000;

/// Runs chunks of whatever region there is, for ever.
void run_worker(int number) noexcept {
  own_number = number;
  inside = true;
  std::uint32_t seen = 0;
  std::uint64_t busy_until = 0;
  for (;;) {
    // Fewer threads may be wanted than there once were.
    for (int most; (most = thread_count.load(std::memory_order_relaxed)) != 0 && number >= most;)
      thread_count.wait(most, std::memory_order_relaxed);
    for (Slot &slot : slots) {
      const int members = slot.threads.load(std::memory_order_relaxed);
      if (number < members) slot.work(number, members);
    }
    const std::uint64_t now = __rdtsc();
    Spin spin(now < busy_until ? kShortSpin : kLongSpin);
    std::uint32_t count;
    while ((count = calls.count.load(std::memory_order_acquire)) == seen && spin.again()) {
    }
    if (spin.interrupted()) busy_until = __rdtsc() + kBusyFor;
    if (count == seen) calls.count.wait(seen, std::memory_order_acquire);
    seen = calls.count.load(std::memory_order_acquire);
  }
}

/// Makes workers until there are `wanted`, as far as the system has them; one thread at a time.
void hire(int wanted) noexcept {
  if (hiring.exchange(true, std::memory_order_acquire)) return;
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int count = workers.load(std::memory_order_relaxed);
  for (; count < wanted; ++count) {
    pthread_t thread;
    const auto start = [](void *number) -> void * {
      run_worker(static_cast<int>(reinterpret_cast<std::intptr_t>(number)));
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, start, reinterpret_cast<void *>(std::intptr_t{count} + 1)))
      break;
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  workers.store(count, std::memory_order_relaxed);
  patience.store(count < wanted ? kPatience : 0, std::memory_order_relaxed);
  hiring.store(false, std::memory_order_release);
}

/// In a child of fork there are no workers, and nobody is in a region but perhaps its one thread.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
  workers.store(0, std::memory_order_relaxed);
#if __has_feature(thread_sanitizer)
  patience.store(std::numeric_limits<int>::max()); // which ends children that make threads
#endif
  hiring.store(false, std::memory_order_relaxed);
  for (Slot &slot : slots) {
    slot.threads.store(0, std::memory_order_relaxed);
    slot.taken.store(false, std::memory_order_relaxed);
  }
});

/// How many threads, of `wanted`, can share a region.
int members_of(int wanted) noexcept {
  const int there = workers.load(std::memory_order_relaxed) + 1;
  if (there >= wanted) [[likely]]
    return wanted;
  if (patience.load(std::memory_order_relaxed) > 0) {
    patience.fetch_sub(1, std::memory_order_relaxed);
    return there;
  }
  hire(wanted - 1);
  return std::min(workers.load(std::memory_order_relaxed) + 1, wanted);
}

/// A slot that no region is run in; null if there is none.
Slot *take_slot() noexcept {
  for (Slot &slot : slots)
    if (!slot.taken.load(std::memory_order_relaxed) &&
        !slot.taken.exchange(true, std::memory_order_acquire))
      return &slot;
  return nullptr;
}

/// Whether sharing loops pays this thread: what others did for it beside the time that it spent on
/// waking them and waiting for them. It does not where workers are often taken off their processor
/// in the middle of a chunk: then this thread runs its loops alone for a while, and tries again.
class Account {
public:
  /// Whether the thread is to go alone for now.
  bool pauses() noexcept { return until_ != 0 && pauses_still(); }

  /// Notes what was won and what was lost with a region, in ticks.
  void note(std::uint64_t won, std::uint64_t lost) noexcept {
    balance_ = std::min(balance_ + static_cast<int64_t>(won - lost), kMostCredit);
    if (balance_ >= 0) [[likely]] {
      if (balance_ == kMostCredit) factor_ = kLeastFactor;
      return;
    }
    until_ = __rdtsc() + static_cast<std::uint64_t>(-balance_ * factor_);
    factor_ = std::min(2 * factor_, kMostFactor);
    balance_ = 0;
  }

private:
  bool pauses_still() noexcept {
    if (__rdtsc() < until_) return true;
    until_ = 0;
    return false;
  }

  /// Ticks: a pause that the system may make now and then without consequences, some 10 ms.
  static constexpr int64_t kMostCredit = 25'000'000;
  /// How much longer than what was lost the thread goes alone, so that it loses little.
  static constexpr int64_t kLeastFactor = 16, kMostFactor = 128;

  int64_t balance_ = 0, factor_ = kLeastFactor;
  std::uint64_t until_ = 0;
};
thread_local constinit Account account;

/// Runs the loop in chunks that the caller and the workers claim. It is over when all chunks are:
/// the caller takes those that nobody has begun, and waits for nobody who has none.
void run_region(int64_t begin, int64_t end, int64_t grain, int threads,
                void (*call)(void *, int64_t, int64_t), void *closure) {
  threads = account.pauses() ? 1 : members_of(threads);
  Slot *const slot = threads == 1 ? nullptr : take_slot();
  if (slot == nullptr) return call(closure, begin, end);
  const int64_t length = end - begin;
  // As many for each thread, where there are enough: three chunks would take two threads as long as
  // four.
  const int64_t each = std::min<int64_t>(kChunksPerThread, length / grain / threads);
  const int64_t chunks = each != 0 ? each * threads : length / grain;
  Region region{call, closure, begin, length, chunks, {}};
  if (profile::on()) region.label = profile::innermost();

  const std::uint64_t start = __rdtsc();
  slot->region.store(&region, std::memory_order_relaxed);
  slot->pending.store(static_cast<std::uint32_t>(chunks), std::memory_order_relaxed);
  slot->threads.store(threads, std::memory_order_relaxed);
  for (int i = 0; i < threads; ++i)
    slot->shares[i].left.store(Share::pack(static_cast<std::uint32_t>(chunks * i / threads),
                                           static_cast<std::uint32_t>(chunks * (i + 1) / threads)),
                               std::memory_order_release);
  calls.count.fetch_add(1);
  calls.count.notify_all();

  inside = true;
  const std::uint64_t begun = __rdtsc();
  const Slot::Done own = slot->work(0, threads);
  const std::uint64_t ended = __rdtsc();
  inside = false;
  std::uint32_t left;
  Spin spin(kShortSpin);
  while ((left = slot->pending.load(std::memory_order_acquire)) != 0 && spin.again()) {
  }
  for (; left != 0; left = slot->pending.load(std::memory_order_acquire))
    slot->pending.wait(left, std::memory_order_acquire);
  slot->taken.store(false, std::memory_order_release);
  // Without a chunk of its own the caller knows too little.
  if (own.chunks != 0)
    account.note(static_cast<std::uint64_t>(chunks - own.chunks) * own.usual(),
                 __rdtsc() - ended + begun - start);
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

/// True when a loop of `length` is to run on the caller alone.
bool runs_alone(int64_t length, int64_t grain, int threads) noexcept {
  return threads == 1 || length / grain < 2 || serial != 0 || inside;
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
  return initialize(requested.empty() ? available_cpus() : parse_num_threads(requested));
}

int max_threads_or_default() noexcept {
  if (const int count = thread_count.load(std::memory_order_relaxed)) return count;
  // A bad value does not initialize it: `max_threads` still gets to report it.
  const std::string_view requested = requested_threads();
  const int count = read_count(requested);
  if (count == 0 && !requested.empty()) return available_cpus();
  return initialize(count ? count : available_cpus());
}

bool in_parallel_region() noexcept { return inside; }

int worker_number() noexcept { return own_number; }

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

namespace weft {

int num_threads() { return threads::max_threads(); }

void set_num_threads(int count) {
  if (count < 1 || count > threads::kMostThreads)
    throw ValueError("set_num_threads: the count is " + std::to_string(count) +
                     " but must be from 1 to " + std::to_string(threads::kMostThreads));
  threads::thread_count.store(count, std::memory_order_relaxed);
  threads::thread_count.notify_all();
  threads::account = {}; // what was learnt of another count
}

} // namespace weft

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
