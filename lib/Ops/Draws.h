// Draws of a function that runs twice: what its first run drew is given again to the second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "Ops/Interpreter.h"
#include <weft/variable.h>

namespace weft::random::detail {

/// The state of that generator for so many streams, after which it stands behind them.
Tensor take(const Variable &generator, std::int64_t streams);

/// Asked before the generators of this thread for as long as it lives, the innermost first, by what
/// runs on the interpreter `layer`. First values of variables, which are drawn once, do not.
class Taker {
public:
  explicit Taker(const Interpreter &layer) : layer_(layer), outer_(innermost_) {
    innermost_ = this;
  }
  virtual ~Taker() { innermost_ = outer_; }
  Taker(const Taker &) = delete;
  Taker &operator=(const Taker &) = delete;

  virtual Tensor take(const Variable &generator, std::int64_t streams) = 0;

  /// Whom to ask here, or null.
  static Taker *current() {
    Taker *taker = innermost_;
    while (taker != nullptr && !taker->layer_.is_active()) taker = taker->outer_;
    return taker;
  }

private:
  const Interpreter &layer_;
  Taker *const outer_;
  static thread_local constinit Taker *innermost_ __attribute__((tls_model("initial-exec")));
};

/// What a function drew.
struct Draws {
  std::vector<Tensor> states;
  std::vector<std::int64_t> streams; ///< for each state
};

/// Gives the states of a first run again, in their order; no generator moves on.
class Replay final : public Taker {
public:
  /// `name` is for messages. All must live as long as this.
  Replay(const Interpreter &layer, const std::string &name, std::span<const Tensor> states,
         std::span<const std::int64_t> streams)
      : Taker(layer), name_(name), states_(states), streams_(streams) {}

  /// Throws StateError if the first run drew nothing more, or something else.
  Tensor take(const Variable &generator, std::int64_t streams) override;
  /// Throws StateError if the first run drew more.
  void check_done() const;

private:
  const std::string &name_;
  const std::span<const Tensor> states_;
  const std::span<const std::int64_t> streams_;
  std::size_t next_ = 0;
};

} // namespace weft::random::detail
