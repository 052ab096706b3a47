// Ctrl-C in compiled loops: a thread that has them look up now and then, and what they do then.
#include "Interrupts.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <unistd.h>

#include <weft/detail/interrupts.h>

namespace weft::python {

namespace {

// Python runs handlers of signals in its main thread alone.
std::thread::id main_thread;

/// Runs the handlers of signals that came meanwhile; one that raises, as that of Ctrl-C does, ends
/// the call.
void check_signals() {
  if (std::this_thread::get_id() != main_thread) return;
  const Locked locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Requests an interrupt every now and then while calls are under way.
class Ticker {
public:
  void begin() {
    running_.fetch_add(1);
    if (!sleeps_.load() && process_ == getpid()) return;
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) {
      // The thread is not there in a child of fork.
      process_ = getpid();
      std::thread([this] { run(); }).detach();
    }
    sleeps_ = false;
    wake_.notify_one();
  }
  void end() { running_.fetch_sub(1); }

private:
  static constexpr auto kPeriod = std::chrono::milliseconds(50);
  /// After so many turns without a call the thread sleeps until there is one.
  static constexpr int kIdle = 20;

  void run() {
    for (int idle = 0;;) {
      std::this_thread::sleep_for(kPeriod);
      if (running_.load() > 0) {
        idle = 0;
        detail::request_interrupt();
      } else if (++idle >= kIdle) {
        std::unique_lock lock(mutex_);
        sleeps_ = true;
        wake_.wait(lock, [&] { return !sleeps_.load() || running_.load() > 0; });
        sleeps_ = false;
        idle = 0;
      }
    }
  }

  std::atomic<int> running_ = 0;
  std::atomic<bool> sleeps_ = false;
  std::atomic<pid_t> process_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
};

Ticker &ticker() {
  static auto &only = *new Ticker;
  return only;
}

} // namespace

Interruptible::Interruptible() : counts_(std::this_thread::get_id() == main_thread) {
  if (counts_) ticker().begin();
}
Interruptible::~Interruptible() {
  if (counts_) ticker().end();
}

void define_interrupts(nb::module_ &) {
  main_thread = std::this_thread::get_id();
  detail::set_interrupt_handler(check_signals);
}

} // namespace weft::python
