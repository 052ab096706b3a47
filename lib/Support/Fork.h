// What keeps a child usable that was forked while other threads worked: those are gone in it, and
// with them whoever would have opened the locks that they held.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace weft::forks {

/// How many forks lie between the first process and this one.
std::uint32_t generation() noexcept;

/// Held for a moment only, around what must not be renewed while it is: in a child too.
void lock_renewals();
void unlock_renewals();

/// While one lives, forks by other threads wait: for work that leaves what a child could not go on
/// with. That must not wait itself for a thread that may fork, and takes its locks after this one.
/// They nest.
class Delay {
public:
  Delay();
  ~Delay();
  Delay(const Delay &) = delete;
  Delay &operator=(const Delay &) = delete;
};

/// A mutex that is free in a child, whoever held it in the parent. What it guards must be good at
/// any moment, or be looked after: `renewed` says whether this is the first time that a child holds
/// it.
template <class Base>
class Mutex {
public:
  Mutex() : generation_(generation()) {}
  Mutex(const Mutex &) = delete;
  Mutex &operator=(const Mutex &) = delete;

  void lock() {
    if (generation_.load(std::memory_order_acquire) != generation()) renew();
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }
  /// Asked with the lock held; true once.
  bool renewed() {
    const bool renewed = renewed_;
    renewed_ = false;
    return renewed;
  }

private:
  __attribute__((noinline)) void renew() {
    lock_renewals();
    if (generation_.load(std::memory_order_relaxed) != generation()) {
      new (&mutex_) Base; // never destroyed: it may be held, as far as it knows
      renewed_ = true;
      generation_.store(generation(), std::memory_order_release);
    }
    unlock_renewals();
  }

  Base mutex_;
  std::atomic<std::uint32_t> generation_;
  bool renewed_ = false;
};

/// A shared_ptr that threads load and store. (libstdc++'s atomic one has a lock inside, which stays
/// closed in a child for ever.)
template <class T>
class SharedPointer {
public:
  std::shared_ptr<T> load() const {
    const std::lock_guard lock(mutex_);
    check();
    return pointer_;
  }
  /// What it was before is freed without the lock.
  void store(std::shared_ptr<T> fresh) {
    const std::lock_guard lock(mutex_);
    check();
    writing_ = true;
    pointer_.swap(fresh);
    writing_ = false;
  }

private:
  /// Drops what a thread that is gone had not finished to write.
  void check() const {
    if (!mutex_.renewed() || !writing_) return;
    new (&pointer_) std::shared_ptr<T>;
    writing_ = false;
  }

  /// Held for a few instructions.
  class Spin {
  public:
    void lock() {
      while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { held_.clear(std::memory_order_release); }

  private:
    std::atomic_flag held_;
  };

  mutable Mutex<Spin> mutex_;
  mutable std::shared_ptr<T> pointer_;
  mutable bool writing_ = false;
};

} // namespace weft::forks
