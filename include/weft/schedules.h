// Learning rates: numbers, variables, and schedules that follow from the number of updates.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/options.h>
#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft::optimizers {

/// What is asked before each update: the learning rate, given the number of updates so far, an i64
/// scalar. It is evaluated where the update is, so in a traced function it is part of the trace.
using Schedule = std::function<Tensor(const Tensor &step)>;

/// A number, a variable (which may be assigned between updates), or a schedule. Throws ValueError
/// for a schedule that is empty.
class LearningRate {
public:
  LearningRate(double rate) : rate_(rate) {}
  LearningRate(const Variable &rate) : variable_(rate) {}
  template <class F>
    requires(!std::is_arithmetic_v<F> && std::is_invocable_r_v<Tensor, F &, const Tensor &>)
  LearningRate(F schedule) : schedule_(std::move(schedule)) {
    if (schedule_ == nullptr) throw_empty();
  }

  /// Whether it is a number, which stays the same.
  bool is_number() const { return schedule_ == nullptr && !variable_; }
  /// The number; 0 if it is not one.
  double number() const { return rate_; }
  /// The variable; null if it is not one.
  const Variable *variable() const { return variable_ ? &*variable_ : nullptr; }
  Variable *variable() { return variable_ ? &*variable_ : nullptr; }
  /// The rate after that number of updates.
  Tensor at(const Tensor &step) const;

private:
  [[noreturn]] static void throw_empty();

  double rate_ = 0;
  std::optional<Variable> variable_;
  Schedule schedule_;
};

struct ExponentialDecay {
  std::int64_t steps; ///< after which the rate is `rate` times what it was
  double rate;
  bool staircase = false; ///< change at multiples of `steps` only
};
WEFT_OPTIONS(ExponentialDecay, steps, rate, staircase)
/// initial * rate^(step / steps). Throws ValueError if steps < 1 or a number is not finite.
Schedule exponential_decay(double initial, const ExponentialDecay &options,
                           std::source_location where = WEFT_HERE);

struct CosineDecay {
  std::int64_t steps;      ///< of the decay, behind those of the warm-up
  double alpha = 0;        ///< the last rate, as a share of the largest
  std::int64_t warmup = 0; ///< steps from `initial` to `target`
  double target = 0;       ///< the largest rate, where there is a warm-up
};
WEFT_OPTIONS(CosineDecay, steps, alpha, warmup, target)
/// Half a cosine from `initial` down to alpha times that (Loshchilov & Hutter 2017), behind a
/// straight line from `initial` to `target`, if there is a warm-up, from where the cosine starts
/// then. Throws ValueError if steps < 1, warmup < 0 or a number is not finite.
Schedule cosine_decay(double initial, const CosineDecay &options,
                      std::source_location where = WEFT_HERE);

/// From 0 to `rate` in a straight line over `steps` updates, then what `after` says of the updates
/// behind them; without it, `rate`. Throws ValueError if steps < 1.
Schedule warmup(double rate, std::int64_t steps, Schedule after = nullptr,
                std::source_location where = WEFT_HERE);

/// values[i] up to and including step boundaries[i], the last value after the last. Throws
/// ValueError unless boundaries ascend and there is one value more than there are of them.
Schedule piecewise_constant(std::vector<std::int64_t> boundaries, std::vector<double> values,
                            std::source_location where = WEFT_HERE);

struct PolynomialDecay {
  std::int64_t steps;
  double end = 1e-4; ///< the last rate
  double power = 1;
};
WEFT_OPTIONS(PolynomialDecay, steps, end, power)
/// (initial - end) (1 - step / steps)^power + end, and `end` from there on.
Schedule polynomial_decay(double initial, const PolynomialDecay &options,
                          std::source_location where = WEFT_HERE);

struct InverseTimeDecay {
  std::int64_t steps;
  double rate;
};
WEFT_OPTIONS(InverseTimeDecay, steps, rate)
/// initial / (1 + rate step / steps).
Schedule inverse_time_decay(double initial, const InverseTimeDecay &options,
                            std::source_location where = WEFT_HERE);

struct OneCycle {
  std::int64_t steps;
  double rising = 0.3;           ///< share of the steps
  double start_divisor = 25;     ///< the first rate is the largest by this
  double final_divisor = 10'000; ///< and the last the first by this
};
WEFT_OPTIONS(OneCycle, steps, rising, start_divisor, final_divisor)
/// Up to `largest` and down again by half cosines (Smith & Topin 2018), as PyTorch's OneCycleLR.
Schedule one_cycle(double largest, const OneCycle &options, std::source_location where = WEFT_HERE);

struct Plateau {
  double factor = 0.1;
  std::int64_t patience = 10;
  double min_delta = 1e-4; ///< what counts as better
  std::int64_t cooldown = 0;
  double min_rate = 0;
  bool largest_is_best = false;
};
WEFT_OPTIONS(Plateau, factor, patience, min_delta, cooldown, min_rate, largest_is_best)
/// A learning rate that falls when a loss no longer does: hand `rate()` to an optimizer and call
/// `update` with what is watched after each epoch. As Keras's ReduceLROnPlateau.
class ReduceOnPlateau {
public:
  /// Throws ValueError unless factor is below 1 and positive, and the numbers are not negative.
  explicit ReduceOnPlateau(double rate, const Plateau &options = {},
                           std::source_location where = WEFT_HERE);
  /// Where one is between two updates: the best value so far, after how many that was, and how
  /// many of its cooldown are left.
  struct Progress {
    double best = 0;
    std::int64_t waited = 0, cooling = 0;
  };
  /// Goes on from there, with a rate that others may have.
  ReduceOnPlateau(const Variable &rate, const Plateau &options, const Progress &progress)
      : options_(options), rate_(rate), progress_(progress) {}
  const Variable &rate() const { return rate_; }
  const Plateau &options() const { return options_; }
  const Progress &progress() const { return progress_; }
  /// Whether the rate has been lowered.
  bool update(double watched);

private:
  Plateau options_;
  Variable rate_;
  Progress progress_;
};

} // namespace weft::optimizers
