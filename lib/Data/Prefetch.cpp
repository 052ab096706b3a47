// Threads that make elements ahead of the loop and hand them out in order.
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "Data/Stage.h"
#include "Support/Fault.h"
#include "Support/Fork.h"
#include "Support/Threads.h"

namespace weft::data::detail {

namespace {

/// What the loop and the threads share.
class Workshop {
public:
  Workshop(std::unique_ptr<Cursor> input, int workers, std::size_t capacity)
      : input_(std::move(input)), capacity_(capacity) {
    try {
      for (int i = 0; i < workers; ++i)
        threads_.emplace_back([this, alone = workers > 1] { work(alone); });
    } catch (const std::system_error &error) {
      if (threads_.empty())
        raise(ErrorKind::state,
              "prefetch: the system makes no thread: " + std::string(error.what()));
      // Those that there are do all of the work.
    }
  }

  ~Workshop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    room_.notify_all();
    for (std::thread &thread : threads_) thread.join();
  }
  Workshop(const Workshop &) = delete;
  Workshop &operator=(const Workshop &) = delete;

  /// The next element once it is computed; rethrows what was thrown while that was done.
  bool next(Lazy &element) {
    Slot first;
    {
      std::unique_lock lock(mutex_);
      made_.wait(lock, [&] { return slots_.empty() ? ended_ : slots_.front().done; });
      if (slots_.empty()) return false;
      first = std::move(slots_.front());
      slots_.pop_front();
      ++handed_out_;
    }
    room_.notify_one();
    if (first.error) std::rethrow_exception(first.error);
    element = Lazy(std::move(first.item), std::move(first.origin));
    return true;
  }

private:
  struct Slot {
    bool done = false;
    Item item;
    std::string origin;
    std::exception_ptr error;
  };

  void work(bool alone) {
    std::optional<threads::SerialLoops> serial;
    if (alone) serial.emplace();
    Lazy element;
    for (std::size_t number = 0; pull(element, number);) {
      Slot slot;
      try {
        slot.origin = element.origin();
        slot.item = element.make();
      } catch (...) {
        slot.error = std::current_exception();
      }
      element = Lazy();
      deliver(number, std::move(slot));
    }
  }

  /// Takes the next element of the input, one thread after the other, and the slot for it.
  bool pull(Lazy &element, std::size_t &number) {
    const std::lock_guard pulling(pulling_);
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return stopped_ || slots_.size() < capacity_; });
      if (stopped_ || ended_) return false;
    }
    Slot failed;
    bool more = false;
    try {
      more = input_->next(element);
    } catch (...) {
      failed = {.done = true, .item = {}, .origin = {}, .error = std::current_exception()};
    }
    {
      const std::lock_guard lock(mutex_);
      ended_ = !more;
      if (more || failed.error) {
        number = handed_out_ + slots_.size();
        slots_.push_back(std::move(failed));
      }
    }
    if (!more) made_.notify_all();
    return more;
  }

  void deliver(std::size_t number, Slot slot) {
    slot.done = true;
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = number == handed_out_;
      slots_[number - handed_out_] = std::move(slot);
    }
    if (first) made_.notify_one();
  }

  std::unique_ptr<Cursor> input_;
  std::size_t capacity_;
  std::mutex pulling_; ///< whose holder is at the input
  std::mutex mutex_;   ///< of what follows
  std::condition_variable room_, made_;
  std::deque<Slot> slots_; ///< of elements that were pulled and not handed out
  std::size_t handed_out_ = 0;
  bool ended_ = false, stopped_ = false;
  std::vector<std::thread> threads_;
};

class AheadCursor final : public Cursor {
public:
  AheadCursor(std::unique_ptr<Cursor> input, int workers, std::int64_t count)
      : input_(std::move(input)), workers_(workers), count_(count) {}
  ~AheadCursor() override {
    // In a child the threads are gone, and whoever waits for them waits for ever.
    if (generation_ == forks::generation()) return;
    [[maybe_unused]] const Workshop *const lost = workshop_.release();
  }
  AheadCursor(const AheadCursor &) = delete;
  AheadCursor &operator=(const AheadCursor &) = delete;

  bool next(Lazy &element) override {
    if (input_) {
      generation_ = forks::generation();
      workshop_ =
          std::make_unique<Workshop>(std::move(input_), workers_, static_cast<std::size_t>(count_));
    }
    if (generation_ != forks::generation())
      raise(ErrorKind::state, "prefetch: the process has forked within the loop, and its threads "
                              "are not in the child: start a loop there");
    return workshop_ && workshop_->next(element);
  }
  std::int64_t skip(std::int64_t count) override {
    return input_ ? input_->skip(count) : Cursor::skip(count);
  }

private:
  std::unique_ptr<Cursor> input_; ///< until threads are started
  int workers_;
  std::int64_t count_;
  std::unique_ptr<Workshop> workshop_;
  std::uint32_t generation_ = 0;
};

class Prefetch final : public Stage {
public:
  Prefetch(StagePointer input, int workers, std::int64_t count)
      : Stage({std::move(input)}), workers_(workers), count_(count) {}
  std::string describe() const override { return ""; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    if (epoch.for_types) return start_input(epoch);
    return std::make_unique<AheadCursor>(start_input(epoch), workers_, count_);
  }

private:
  int workers_;
  std::int64_t count_;
};

} // namespace

StagePointer make_ahead(StagePointer input, int workers, std::int64_t count) {
  return std::make_shared<Prefetch>(std::move(input), workers, count);
}

} // namespace weft::data::detail
