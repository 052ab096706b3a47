// Where the loops over a data set are: what checkpoints save, and what counters count.
#pragma once

#include <chrono>
#include <mutex>

#include "Data/Stage.h"

namespace weft::data::detail {

/// The position of a data set, which all of its handles have in common. From any thread.
class Progress final : public Stateful {
public:
  explicit Progress(StagePointer stage) : stage_(std::move(stage)) {}

  std::string saved_state() const override;
  void check_state(std::string_view text) const override;
  void restore_state(std::string_view text) override;

  /// Where a loop starts that starts now.
  struct Start {
    std::uint64_t loop = 0; ///< its number
    Epoch epoch;
    std::int64_t position = 0;
  };
  Start start_loop();
  /// The epoch that a loop would start with; starts none.
  Epoch next_epoch() const;
  /// The loop of that number was handed an element, for which it has waited.
  void count(std::uint64_t loop, std::int64_t bytes, std::chrono::steady_clock::time_point asked,
             std::chrono::steady_clock::time_point had);
  /// It came to the end.
  void end(std::uint64_t loop);
  DatasetStats stats() const;

private:
  struct State {
    std::uint64_t epoch = 0;
    std::int64_t position = 0;
    std::optional<std::uint64_t> seed; ///< if a stage wants one and it was drawn
    bool restored = false;             ///< and no loop has started since
    bool begun = false;                ///< a loop has started this epoch
  };
  State parse(std::string_view text) const;
  std::uint64_t seed() const;

  StagePointer stage_;
  mutable std::mutex mutex_;
  mutable State state_;
  std::uint64_t loops_ = 0;
  std::int64_t elements_ = 0, bytes_ = 0;
  std::chrono::steady_clock::duration waited_{0};
  std::optional<std::chrono::steady_clock::time_point> first_asked_, last_had_;
};

} // namespace weft::data::detail
