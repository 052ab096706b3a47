// Turns of replicas of one rank.
#include "Train/ReplicaTurns.h"

#include <algorithm>
#include <utility>

#include "Runtime/OnDevice.h"
#include <weft/detail/distributed_place.h>
#include <weft/error.h>

namespace weft::train::detail {

ReplicaTurns::ReplicaTurns(std::size_t count, std::int64_t first,
                           std::function<void(std::size_t)> compute, Sum sum, Idle idle)
    : count_(count), first_(first), compute_(std::move(compute)), sum_(std::move(sum)),
      idle_(std::move(idle)), place_(distributed::detail::Place::current()) {}

ReplicaTurns::~ReplicaTurns() {
  for (std::thread &thread : threads_) thread.join();
}

void ReplicaTurns::compute(std::size_t replica) {
  alone_ = replica != 0;
  if (alone_) return compute_(replica);
  turn_ = 0;
  ended_.assign(count_, false);
  given_.assign(count_, {});
  failure_ = nullptr;
  run(0);
  finish();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ReplicaTurns::run(std::size_t replica) {
  try {
    compute_(replica);
  } catch (...) { // what ended it, which `finish` throws, or what that one's failure came to here
    fail(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  ended_[replica] = true;
  if (failure_ == nullptr && (replica != 0 || !threads_.empty())) pass(replica);
  changed_.notify_all();
}

void ReplicaTurns::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (failure_ == nullptr) failure_ = std::move(error);
  changed_.notify_all();
}

void ReplicaTurns::finish() {
  idle_([&] {
    std::unique_lock lock(mutex_);
    // Until then those that run may begin others.
    if (!threads_.empty())
      changed_.wait(lock, [&] {
        return failure_ != nullptr || std::ranges::find(ended_, false) == ended_.end();
      });
    std::vector<std::thread> threads = std::exchange(threads_, {});
    lock.unlock();
    for (std::thread &thread : threads) thread.join();
  });
}

void ReplicaTurns::wait_for_turn(std::size_t replica) {
  idle_([&] {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == replica || failure_ != nullptr; });
  });
  check_failure();
}

void ReplicaTurns::check_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_ != nullptr)
    throw StateError("fit: a replica that waited for the others has ended with one of them");
}

void ReplicaTurns::pass(std::size_t replica) {
  turn_ = replica + 1 == count_ ? 0 : replica + 1;
  if (turn_ == threads_.size() + 1)
    threads_.emplace_back([this, next = turn_] {
      const distributed::detail::Place place(place_);
      run(next);
    });
  const bool some_ended = std::ranges::find(ended_, true) != ended_.end(),
             all_ended = std::ranges::find(ended_, false) == ended_.end();
  if (turn_ == 0 && some_ended && !all_ended)
    failure_ = std::make_exception_ptr(
        StateError("fit: some replicas of this rank have come to a synchronized layer and others "
                   "to their end"));
  changed_.notify_all();
}

Tensor ReplicaTurns::sum(std::int64_t number, const std::string &where, const Tensor &own) {
  const auto replica = static_cast<std::size_t>(number - first_);
  if (alone_)
    throw StateError("fit: replica " + std::to_string(number) + " has come to " + where +
                     " and the first of this rank has not");
  check_failure(); // of one whose user's code went on behind it
  if (replica == 0) where_ = where;
  else if (where != where_)
    throw StateError("fit: replicas of this rank have come to different layers: " + where_ +
                     " and " + where);
  met_ = true;
  given_[replica] = own;
  if (replica + 1 == count_) total_ = sum_(where, given_);
  if (count_ > 1) {
    {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) pass(replica);
    }
    wait_for_turn(replica);
  }
  return weft::detail::moved(total_, own.device());
}

} // namespace weft::train::detail
