// Small models that the tests of serving run.
#pragma once

#include "Model.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace serve {

/// y = 2 x on rows of `width`, with an entry for each of these batches, and a record of what it was
/// run with. While the gate is closed, runs wait.
struct Doubler {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = true;
  int running = 0, most_running = 0;
  std::vector<std::int64_t> batches; ///< the sizes, in order
  std::vector<float> firsts;         ///< the first element of each row, in order

  Model model(std::initializer_list<std::int64_t> sizes,
              std::initializer_list<std::int64_t> widths = {1}) {
    Model model{.name = "doubler", .entries = {}, .run = {}};
    for (const std::int64_t width : widths)
      for (const std::int64_t size : sizes)
        model.entries.push_back(
            {{weft::spec(weft::f32, {size, width})}, {weft::spec(weft::f32, {size, width})}});
    model.run = [this](std::span<const weft::Tensor> inputs) { return run(inputs[0]); };
    return model;
  }

  void close() { set(false); }
  void let_through() { set(true); }
  /// Returns when so many runs are at the gate.
  void wait_for_running(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return running == count; });
  }

private:
  void set(bool value) {
    const std::lock_guard lock(mutex);
    open = value;
    changed.notify_all();
  }
  std::vector<weft::Tensor> run(const weft::Tensor &input) {
    {
      std::unique_lock lock(mutex);
      ++running;
      most_running = std::max(most_running, running);
      batches.push_back(input.size(0));
      const weft::Tensor column = input[{weft::all, 0}];
      for (const float first : column.to_vector<float>()) firsts.push_back(first);
      changed.notify_all();
      changed.wait(lock, [&] { return open; });
      --running;
    }
    return {input * 2};
  }
};

} // namespace serve
