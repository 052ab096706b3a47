// The thread that reduces in the background, and what it is given.
#include "Distributed/Background.h"

#include <chrono>
#include <limits>
#include <utility>

#include "Distributed/World.h"
#include "Runtime/CallContext.h"
#include "Support/Fork.h"
#include "Support/ThreadWithoutSignals.h"
#include <weft/detail/distributed_place.h>

namespace weft::distributed {

BackgroundReduction::BackgroundReduction(const Caller &caller, const Group &group,
                                         std::int64_t replicas, std::size_t bucket_bytes)
    : caller_(caller),
      group_((group.state() != nullptr ? group.state() : world_group())->background()),
      replicas_(replicas), bucket_bytes_(bucket_bytes) {}

BackgroundReduction::~BackgroundReduction() { finish(); }

bool BackgroundReduction::is_gone() const {
  return thread_.joinable() && generation_ != forks::generation();
}

void BackgroundReduction::finish() noexcept {
  if (!thread_.joinable()) return;
  if (is_gone()) {
    join_unless_gone(thread_, generation_);
    // It waits for the thread when it is destroyed.
    [[maybe_unused]] const std::condition_variable *const lost = changed_.release();
    return;
  }
  group_.state()->hurry = true;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_->notify_all();
  join_unless_gone(thread_, generation_);
  group_.state()->hurry = false;
}

void BackgroundReduction::begin(std::string what, PartOf part_of) {
  what_ = std::move(what);
  part_of_ = std::move(part_of);
  open_.clear();
  if (is_gone()) return;
  const std::lock_guard lock(mutex_);
  sums_.clear();
}

void BackgroundReduction::add(std::size_t number, std::vector<Tensor> leaves) {
  const DType dtype = leaves.front().dtype();
  const std::size_t bytes = static_cast<std::size_t>(leaves.front().size()) * item_size(dtype);
  Bucket &bucket = open_[dtype];
  if (bucket.bytes != 0 && bucket.bytes + bytes > bucket_bytes_)
    send(std::exchange(bucket, Bucket()));
  bucket.leaves.resize(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) bucket.leaves[i].push_back(std::move(leaves[i]));
  bucket.numbers.push_back(number);
  bucket.bytes += bytes;
  if (bucket.bytes < bucket_bytes_) return;
  send(std::move(bucket));
  open_.erase(dtype);
}

void BackgroundReduction::close() {
  for (auto &[dtype, bucket] : open_)
    if (!bucket.numbers.empty()) send(std::move(bucket));
  open_.clear();
}

void BackgroundReduction::send(Bucket bucket) {
  if (is_gone()) return;
  bucket.what = what_;
  bucket.part_of = part_of_;
  if (!thread_.joinable()) {
    generation_ = forks::generation();
    thread_ = thread_without_signals([this, place = detail::Place::current()] { work(place); });
  }
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(bucket));
  }
  changed_->notify_all();
}

std::map<std::size_t, Tensor> BackgroundReduction::reduce(const Bucket &bucket) const {
  Lists list{Reduction::sum, bucket.leaves};
  if (bucket.part_of)
    list.part_of = [&](std::size_t tensor, int rank) {
      return bucket.part_of(bucket.numbers[tensor], rank);
    };
  std::vector<Tensor> sums =
      std::move(reduce_in_buckets(caller_, group_, replicas_, {&list, 1}, bucket.what,
                                  std::numeric_limits<std::size_t>::max() / 8)[0]);
  std::map<std::size_t, Tensor> all;
  for (std::size_t i = 0; i < sums.size(); ++i) all.emplace(bucket.numbers[i], std::move(sums[i]));
  return all;
}

void BackgroundReduction::work(const std::string &place) {
  const detail::Place here(place);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_->wait(lock, [this] { return ends_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Bucket bucket = std::move(queue_.front());
    queue_.pop_front();
    if (!failed_) {
      works_ = true;
      lock.unlock();
      std::map<std::size_t, Tensor> sums;
      std::exception_ptr failed;
      try {
        sums = reduce(bucket);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      works_ = false;
      failed_ = failed;
      sums_.merge(sums);
    }
    changed_->notify_all();
  }
}

void BackgroundReduction::wait() {
  group_.state()->hurry = true;
  struct Calm {
    detail::GroupState &group;
    ~Calm() { group.hurry = false; }
  } const calm{*group_.state()};
  std::unique_lock lock(mutex_);
  while (!changed_->wait_for(lock, std::chrono::milliseconds(20),
                             [this] { return queue_.empty() && !works_; }))
    if (weft_rt_interrupt_flag.load(std::memory_order_relaxed) != 0) {
      lock.unlock(); // what takes it may run for long
      weft::detail::handle_interrupt();
      lock.lock();
    }
}

std::map<std::size_t, Tensor> BackgroundReduction::take() {
  const std::lock_guard lock(mutex_);
  if (failed_) std::rethrow_exception(failed_);
  return std::exchange(sums_, {});
}

void BackgroundReduction::refuse(const std::string &error) noexcept {
  finish();
  if (!failed_) detail::refuse(caller_.function, group_, error);
}

} // namespace weft::distributed
