// Counts the forks that lead to this process.
#include "Support/Fork.h"

#include <condition_variable>

#include <pthread.h>

namespace weft::forks {

namespace {

std::atomic<std::uint32_t> count{0};
alignas(std::mutex) unsigned char renewals[sizeof(std::mutex)];

std::mutex &mutex() { return *std::launder(reinterpret_cast<std::mutex *>(&renewals)); }

[[maybe_unused]] const bool registered = [] {
  new (&renewals) std::mutex;
  pthread_atfork(nullptr, nullptr, [] {
    new (&renewals) std::mutex; // the parent's may have been held
    count.fetch_add(1);
  });
  return true;
}();

/// Between work that forks wait for, and forks.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int working = 0; ///< threads with a Delay
  bool forking = false;
};
alignas(Gate) unsigned char gate_bytes[sizeof(Gate)];
Gate &gate() { return *std::launder(reinterpret_cast<Gate *>(&gate_bytes)); }

thread_local constinit int delays = 0;

void begin_fork() {
  std::unique_lock lock(gate().mutex);
  gate().changed.wait(lock, [] { return !gate().forking; });
  gate().forking = true; // nobody begins, or the fork could wait for ever
  const int own = delays == 0 ? 0 : 1;
  gate().changed.wait(lock, [&] { return gate().working == own; });
}

void end_fork() {
  const std::lock_guard lock(gate().mutex);
  gate().forking = false;
  gate().changed.notify_all();
}

void begin_child() {
  new (&gate_bytes) Gate;
  gate().working = delays == 0 ? 0 : 1;
}

} // namespace

Delay::Delay() {
  // Registered late, so that it comes before what the work needs is locked for the fork: memory.
  [[maybe_unused]] static const bool registered = [] {
    new (&gate_bytes) Gate;
    pthread_atfork(begin_fork, end_fork, begin_child);
    return true;
  }();
  if (delays++ != 0) return;
  std::unique_lock lock(gate().mutex);
  gate().changed.wait(lock, [] { return !gate().forking; });
  ++gate().working;
}

Delay::~Delay() {
  if (--delays != 0) return;
  const std::lock_guard lock(gate().mutex);
  --gate().working;
  gate().changed.notify_all();
}

std::uint32_t generation() noexcept { return count.load(std::memory_order_relaxed); }
void lock_renewals() { mutex().lock(); }
void unlock_renewals() { mutex().unlock(); }

} // namespace weft::forks
