// Reductions by a thread of their own, while the thread that gives the tensors computes the next.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "Distributed/Buckets.h"

namespace weft::distributed {

/// Sums of tensors over replicas, as `reduce_in_buckets` has them, in rounds: tensors come one by
/// one, and go in buckets of `bucket_bytes`, each as soon as it is full. All ranks give the same
/// tensors in the same order. The exchanges are in no order with those of the group.
///
/// Where one of them fails, it does on all ranks, and those that would come behind it are dropped.
class BackgroundReduction {
public:
  BackgroundReduction(const Caller &caller, const Group &group, std::int64_t replicas,
                      std::size_t bucket_bytes);
  /// Returns when the thread has done what it was given.
  ~BackgroundReduction();
  BackgroundReduction(const BackgroundReduction &) = delete;
  BackgroundReduction &operator=(const BackgroundReduction &) = delete;

  /// Begins a round; `what` is said where ranks do not do the same. If `part_of` is not empty, a
  /// rank gets its part of each tensor alone, by its number.
  void begin(std::string what, PartOf part_of = {});
  /// A tensor of each of this rank's replicas, on the host. No round has a number twice.
  void add(std::size_t number, std::vector<Tensor> leaves);
  /// No more come in this round: buckets that are not full go as well.
  void close();
  /// Waits until all that was given is done. Throws what an interrupt does.
  void wait();
  /// The sums of the round, on the host, by their numbers. Throws what failed, on all ranks the
  /// same.
  std::map<std::size_t, Tensor> take();

  /// Tells the others that this rank breaks off, for an error that they quote, behind what it has
  /// given. They do the same, or wait for what this rank would have given.
  void refuse(const std::string &error) noexcept;

private:
  struct Bucket {
    std::vector<std::size_t> numbers;
    std::vector<std::vector<Tensor>> leaves; ///< one list for each replica
    std::size_t bytes = 0;
    std::string what;
    PartOf part_of;
  };
  void send(Bucket bucket);
  void work(const std::string &place);
  void finish() noexcept;
  /// Whether this is a child of a fork, without the thread: calls of the group throw here.
  bool is_gone() const;
  std::map<std::size_t, Tensor> reduce(const Bucket &bucket) const;

  const Caller caller_;
  const Group group_; ///< that of the background
  const std::int64_t replicas_;
  const std::size_t bucket_bytes_;
  std::string what_;
  PartOf part_of_;
  std::map<DType, Bucket> open_; ///< not full yet
  std::thread thread_;
  std::uint32_t generation_ = 0; ///< of forks: that of the thread
  std::mutex mutex_;
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
  std::deque<Bucket> queue_;
  bool works_ = false, ends_ = false;
  std::exception_ptr failed_;
  std::map<std::size_t, Tensor> sums_;
};

} // namespace weft::distributed
