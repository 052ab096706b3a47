// Replicas of one rank that take turns: one runs until it comes to what all do together.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/detail/synchronized.h>

namespace weft::train::detail {

/// Computes replicas of which each may wait for the others in the middle: then the next one runs
/// until it comes there, on a thread of its own, and the first one goes on when the last has come.
/// One runs at a time, in the order of their numbers, so what they do is the same each time.
class ReplicaTurns final : public weft::detail::ReplicaMeeting {
public:
  using Sum = std::function<Tensor(const std::string &where, const std::vector<Tensor> &)>;
  using Idle = std::function<void(const std::function<void()> &)>;

  /// `compute(i)` computes replica `i` of this rank, and the number of the first one is `first`.
  /// `sum` adds up what each of them gives with what those of other ranks do. `idle` calls what
  /// waits, without locks that other replicas need.
  ReplicaTurns(std::size_t count, std::int64_t first, std::function<void(std::size_t)> compute,
               Sum sum, Idle idle);
  ~ReplicaTurns() override;
  ReplicaTurns(const ReplicaTurns &) = delete;
  ReplicaTurns &operator=(const ReplicaTurns &) = delete;

  /// Computes one replica; the first one, and all others with it if it meets them. Throws what one
  /// of them throws.
  void compute(std::size_t replica);
  /// Whether they have met: the last compute(0) was of all of them.
  bool met() const { return met_; }

  Tensor sum(std::int64_t replica, const std::string &where, const Tensor &own) override;

private:
  void run(std::size_t replica);
  void wait_for_turn(std::size_t replica);
  /// Has the next one run, with the lock held; behind the last begins another round.
  void pass(std::size_t replica);
  void fail(std::exception_ptr error);
  /// Throws StateError if a replica has failed.
  void check_failure();
  void finish();

  const std::size_t count_;
  const std::int64_t first_;
  const std::function<void(std::size_t)> compute_;
  const Sum sum_;
  const Idle idle_;
  const std::string place_; ///< of the thread that began
  bool met_ = false;
  bool alone_ = false; ///< one is computed that is not the first: nobody can be met

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;
  std::vector<bool> ended_;
  std::exception_ptr failure_; ///< the first one
  std::vector<Tensor> given_;
  std::string where_; ///< the layer that the first one has come to
  Tensor total_;
  std::vector<std::thread> threads_; ///< of all replicas behind the first that have begun
};

} // namespace weft::train::detail
