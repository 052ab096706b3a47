// States that draws are of: of generators, of keys, and of a function that runs twice, whose second
// run is given what the first one drew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "Ops/Interpreter.h"
#include <weft/size.h>
#include <weft/variable.h>

namespace weft::random::detail {

/// The state of that generator for so many streams, after which it stands behind them.
Tensor take(const Variable &generator, std::int64_t streams);

/// The state of the generator of functions without one of their own.
const Variable &process_state();

/// The state of a key, i64(2,). Throws ShapeError, in the function's name, unless it is one.
Tensor state_of_key(const std::string &function, const Tensor &key);

/// The state of the key's first stream or, without a key, of the process's generator, which moves
/// on by so many streams.
Tensor take(const std::string &function, const Tensor &key, std::int64_t streams);

/// The state of the stream `number` streams further on.
Tensor advanced(const Tensor &state, std::int64_t number);

/// Keys that a key, or the stream of a generator, gives, by words that no draw of it has.
Tensor keys_of(const Tensor &state, const Sizes &sizes);
/// The key of a key and a number.
Tensor key_with(const Tensor &state, const Tensor &number);

/// Numbers of a floating dtype between 0 and 1, neither of which is among them, as far from one as
/// from the other: with n of one bit less than the dtype has, n + 1/2 by as many as there are of n.
Tensor open_interval(const Tensor &state, const Sizes &sizes, DType dtype);

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

/// While it lives, what this thread draws, at once and in traces, is of streams of one replica: of
/// the keys that the generators' states and the replica's number have. Generators move on as ever.
/// First values of variables, which replicas have in common, are drawn of the states themselves.
class ReplicaStreams {
public:
  /// `number` is a scalar, which draws read; one of another replica may be assigned to it.
  explicit ReplicaStreams(const Variable &number)
      : number_(number), outer_(std::exchange(innermost_, this)) {}
  ~ReplicaStreams() { innermost_ = outer_; }
  ReplicaStreams(const ReplicaStreams &) = delete;
  ReplicaStreams &operator=(const ReplicaStreams &) = delete;

  /// What is drawn of, where a generator is at `state`.
  static Tensor own(const Variable &generator, const Tensor &state);

  /// While it lives, draws are of the states themselves.
  class Off {
  public:
    Off() : outer_(std::exchange(innermost_, nullptr)) {}
    ~Off() { innermost_ = outer_; }
    Off(const Off &) = delete;
    Off &operator=(const Off &) = delete;

  private:
    ReplicaStreams *const outer_;
  };
  /// The same for first values of variables. What they take is not counted in the replica's own
  /// draws, as another replica of this process finds the variables made.
  class FirstValues {
  public:
    FirstValues();
    ~FirstValues();
    FirstValues(const FirstValues &) = delete;
    FirstValues &operator=(const FirstValues &) = delete;

  private:
    ReplicaStreams *const outer_;
    std::int64_t before_ = 0;
  };

private:
  const Variable number_;
  std::int64_t first_values_ = 0; ///< streams of the process's generator
  ReplicaStreams *const outer_;
  static thread_local constinit ReplicaStreams *innermost_
      __attribute__((tls_model("initial-exec")));
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
