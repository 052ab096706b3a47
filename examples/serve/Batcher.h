// Runs requests that wait at the same time as one batch.
#pragma once

#include "Model.h"
#include "RequestError.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace serve {

struct BatcherOptions {
  /// The most rows of a batch.
  std::int64_t max_batch = 32;
  /// How long the oldest request waits for others to share its batch. 0: a worker that is free
  /// takes all that waits, at once.
  std::chrono::microseconds max_queue_delay{0};
  /// The most requests that wait; one more is refused at once.
  std::size_t max_queue = 256;
  /// How long a request may wait for its batch to begin.
  std::chrono::milliseconds queue_timeout{1000};
  /// Batches that run at the same time.
  int parallel_batches = 1;
};

/// What is known of a batch that was run.
struct BatchRecord {
  std::int64_t rows = 0;   ///< of requests
  std::int64_t padded = 0; ///< rows that fill it up to the size of an entry
  double seconds = 0;      ///< that the model took
};

/// A queue of requests and the threads that run them. A thread that is free takes all that waits,
/// so batches grow with the load by themselves. Requests of other shapes or dtypes are never in one
/// batch; those of the same are answered in the order of their arrival.
///
/// The threads that ask could run batches themselves and spare a request two switches of threads,
/// but each of them would come to have the memory that kernels keep for a thread.
class Batcher {
public:
  using Observer = std::function<void(const BatchRecord &)>;

  /// Starts the threads. `observe` is called by them, after each batch. Throws weft::ValueError for
  /// a model or options that make no sense.
  Batcher(Model model, const BatcherOptions &options, Observer observe = {});
  ~Batcher() { stop(); }
  Batcher(const Batcher &) = delete;
  Batcher &operator=(const Batcher &) = delete;

  /// The outputs for inputs that have the same number of rows, 1 or more; waits for them. May be
  /// called by any number of threads. Throws RequestError: 400 for inputs that the model does not
  /// take, 503 for a full queue and when it is stopping, 504 when no batch began in time; and what
  /// the model throws for these inputs.
  std::vector<weft::Tensor> run(const std::vector<weft::Tensor> &inputs);

  /// Refuses requests from now on and returns when those that wait are answered.
  void stop();

  const Model &model() const { return model_; }
  const BatcherOptions &options() const { return options_; }
  /// Requests that wait.
  std::size_t waiting() const;
  /// The most rows that a request of inputs of these types may have: `max_batch`, or less where the
  /// entries are smaller. 0 if no entry takes them. The first axes do not matter.
  std::int64_t most_rows(const std::vector<weft::TensorType> &types) const;

private:
  using Clock = std::chrono::steady_clock;
  struct Request;

  void check(const std::vector<weft::Tensor> &inputs) const;
  std::int64_t size_for(const std::vector<weft::TensorType> &types, std::int64_t rows) const;
  void work();
  void wait_for_more(std::unique_lock<std::mutex> &lock);
  std::int64_t rows_like_first() const;
  std::vector<Request *> take_batch();
  void answer(const std::vector<Request *> &batch);
  void run_batch(const std::vector<Request *> &batch);

  const Model model_;
  const BatcherOptions options_;
  const Observer observe_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Request *> queue_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

} // namespace serve
