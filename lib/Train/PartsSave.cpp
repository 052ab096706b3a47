// Saves in parts: a thread of each rank writes, and the ranks meet where they meet anyway.
#include "Train/PartsSave.h"

#include <memory>
#include <system_error>
#include <utility>

namespace weft::train::detail {

void PartsSave::begin(const Checkpoint &what, std::int64_t step) {
  finish();
  if (replicas_.leads()) folder_.emplace(options_.folder);
  const std::string path =
      replicas_.tell("a checkpoint's folder", folder_ ? folder_->path() : std::string()).front();
  const PartOf own{.number = replicas_.rank(), .parts = replicas_.ranks()};
  const auto snapshot = std::make_shared<Snapshot>(take_snapshot("fit", what, {.step = step}, own));
  const auto write = [this, snapshot, path, own](bool beside_others) {
    try {
      digest_ = write_part(path, std::move(*snapshot), own, beside_others);
    } catch (...) {
      failure_ = std::current_exception();
    }
    written_.store(true, std::memory_order_release);
  };
  written_ = false;
  under_way_ = true;
  try {
    generation_ = forks::generation();
    writer_ = thread_without_signals([write] {
      yield_to_others();
      write(true);
    });
  } catch (const std::system_error &) {
    write(false); // the system makes no more threads: this one can write
  }
}

void PartsSave::finish() {
  if (!std::exchange(under_way_, false)) return;
  join();
  if (failure_ != nullptr) {
    folder_.reset();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  const auto digests = replicas_.tell("a checkpoint's parts", digest_);
  if (!folder_) return;
  folder_->publish(digests);
  folder_.reset();
  remove_others(options_.folder, {.keep = options_.keep});
}

} // namespace weft::train::detail
