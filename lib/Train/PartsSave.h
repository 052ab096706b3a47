// Checkpoints that all ranks of a run write parts of, while training goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "Checkpoint/Checkpoint.h"
#include "Support/ThreadWithoutSignals.h"
#include "Train/Replicas.h"

namespace weft::train::detail {

class PartsSave {
public:
  PartsSave(Replicas &replicas, const FitCheckpoints &options)
      : replicas_(replicas), options_(options) {}
  ~PartsSave() { join(); }
  PartsSave(const PartsSave &) = delete;
  PartsSave &operator=(const PartsSave &) = delete;

  /// Takes the state and begins to write this rank's part of it, after the checkpoint before has
  /// ended. All ranks do it.
  void begin(const Checkpoint &what, std::int64_t step);
  /// Whether this rank is not done with its part.
  bool writes() const { return under_way_ && !written_.load(std::memory_order_acquire); }
  /// Has what is under way be a checkpoint, when all parts are there. All ranks do it. Throws what
  /// a rank's writing threw.
  void finish();

private:
  void join() {
    if (writer_.joinable()) join_unless_gone(writer_, generation_);
  }

  Replicas &replicas_;
  const FitCheckpoints &options_;
  std::optional<FolderOfParts> folder_; ///< rank 0's
  bool under_way_ = false;              ///< on all ranks
  std::thread writer_;
  std::uint32_t generation_ = 0; ///< of forks: that of the thread
  std::atomic<bool> written_ = false;
  std::string digest_;         ///< the writer's, until it is joined
  std::exception_ptr failure_; ///< as well
};

} // namespace weft::train::detail
