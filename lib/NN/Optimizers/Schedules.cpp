// Schedules of learning rates, in f64.
#include <weft/schedules.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "Support/CallSite.h"
#include "Support/Messages.h"
#include <weft/ops.h>

namespace weft::optimizers {

namespace {

void check_steps(const char *schedule, std::int64_t steps) {
  if (steps < 1)
    throw ValueError(std::string(schedule) + ": steps is " + std::to_string(steps) +
                     ", but must be at least 1");
}

void check_finite(const char *schedule, std::initializer_list<double> numbers) {
  for (const double number : numbers)
    if (!std::isfinite(number))
      throw ValueError(std::string(schedule) + ": a number is not finite");
}

Tensor exact(const Tensor &step) { return cast(step, DType::f64); }

/// How far along `steps` a step is, at most 1.
Tensor share(const Tensor &step, double steps) { return minimum(exact(step) / steps, 1.); }

/// From `high` at 0 to `low` at 1 along half a cosine.
Tensor half_cosine(const Tensor &share, double high, double low) {
  return low + (high - low) * (0.5 * (1 + cos(share * std::numbers::pi)));
}

} // namespace

void LearningRate::throw_empty() {
  throw ValueError("the learning rate is a schedule that is empty: give it a function");
}

Tensor LearningRate::at(const Tensor &step) const {
  if (variable_) return Tensor(*variable_);
  return schedule_ ? schedule_(step) : full({}, rate_, DType::f64);
}

Schedule exponential_decay(double initial, const ExponentialDecay &options,
                           std::source_location where) {
  const CompositeCall site("exponential_decay", where);
  check_steps("exponential_decay", options.steps);
  check_finite("exponential_decay", {initial, options.rate});
  return [=](const Tensor &step) {
    Tensor times = exact(step) / static_cast<double>(options.steps);
    if (options.staircase) times = floor(times);
    return initial * power(options.rate, times);
  };
}

Schedule cosine_decay(double initial, const CosineDecay &options, std::source_location where) {
  const CompositeCall site("cosine_decay", where);
  check_steps("cosine_decay", options.steps);
  check_finite("cosine_decay", {initial, options.alpha, options.target});
  if (options.warmup < 0)
    throw ValueError("cosine_decay: warmup is " + std::to_string(options.warmup) +
                     ", but must not be negative");
  return [=](const Tensor &step) {
    const auto warmup = static_cast<double>(options.warmup);
    const double high = options.warmup > 0 ? options.target : initial;
    Tensor decayed = half_cosine(share(step - options.warmup, static_cast<double>(options.steps)),
                                 high, high * options.alpha);
    if (options.warmup == 0) return decayed;
    return select(step < options.warmup, initial + (high - initial) * (exact(step) / warmup),
                  decayed);
  };
}

Schedule warmup(double rate, std::int64_t steps, Schedule after, std::source_location where) {
  const CompositeCall site("warmup", where);
  check_steps("warmup", steps);
  check_finite("warmup", {rate});
  return [rate, steps, after = std::move(after)](const Tensor &step) {
    Tensor rising = rate * share(step, static_cast<double>(steps));
    if (!after) return rising;
    return select(step < steps, rising, cast(after(maximum(step - steps, 0)), DType::f64));
  };
}

Schedule piecewise_constant(std::vector<std::int64_t> boundaries, std::vector<double> values,
                            std::source_location where) {
  const CompositeCall site("piecewise_constant", where);
  if (values.size() != boundaries.size() + 1)
    throw ValueError("piecewise_constant: there are " + std::to_string(values.size()) +
                     " values for " + std::to_string(boundaries.size()) +
                     " boundaries, but must be one more than boundaries");
  if (std::adjacent_find(boundaries.begin(), boundaries.end(), std::greater_equal<>()) !=
      boundaries.end())
    throw ValueError("piecewise_constant: the boundaries must ascend");
  for (const double value : values) check_finite("piecewise_constant", {value});
  return [boundaries = std::move(boundaries), values = std::move(values)](const Tensor &step) {
    Tensor rate = full({}, values.back(), DType::f64);
    for (std::size_t i = boundaries.size(); i-- > 0;)
      rate = select(step <= boundaries[i], values[i], rate);
    return rate;
  };
}

Schedule polynomial_decay(double initial, const PolynomialDecay &options,
                          std::source_location where) {
  const CompositeCall site("polynomial_decay", where);
  check_steps("polynomial_decay", options.steps);
  check_finite("polynomial_decay", {initial, options.end, options.power});
  return [=](const Tensor &step) {
    return (initial - options.end) *
               power(1 - share(step, static_cast<double>(options.steps)), options.power) +
           options.end;
  };
}

Schedule inverse_time_decay(double initial, const InverseTimeDecay &options,
                            std::source_location where) {
  const CompositeCall site("inverse_time_decay", where);
  check_steps("inverse_time_decay", options.steps);
  check_finite("inverse_time_decay", {initial, options.rate});
  return [=](const Tensor &step) {
    return initial / (1 + options.rate * exact(step) / static_cast<double>(options.steps));
  };
}

Schedule one_cycle(double largest, const OneCycle &options, std::source_location where) {
  const CompositeCall site("one_cycle", where);
  check_steps("one_cycle", options.steps);
  check_finite("one_cycle", {largest, options.start_divisor, options.final_divisor});
  for (const double divisor : {options.start_divisor, options.final_divisor})
    if (!(divisor > 0))
      throw ValueError("one_cycle: a divisor is " + number_text(divisor) +
                       ", but both must be positive");
  const auto steps = static_cast<double>(options.steps);
  const double top = options.rising * steps - 1, last = steps - 1;
  if (!(options.rising > 0 && options.rising < 1 && top > 0 && last > top))
    throw ValueError("one_cycle: with " + std::to_string(options.steps) + " steps and rising " +
                     number_text(options.rising) + " there is no step to rise or to fall");
  const double first = largest / options.start_divisor, end = first / options.final_divisor;
  return [=](const Tensor &step) {
    const Tensor at = minimum(exact(step), last);
    return select(at <= top, half_cosine(at / top, first, largest),
                  half_cosine((at - top) / (last - top), largest, end));
  };
}

ReduceOnPlateau::ReduceOnPlateau(double rate, const Plateau &options, std::source_location where)
    : options_(options), rate_(full({}, rate, DType::f64), "learning_rate", /*trainable=*/false),
      progress_{options.largest_is_best ? -std::numeric_limits<double>::infinity()
                                        : std::numeric_limits<double>::infinity()} {
  const CompositeCall site("ReduceOnPlateau", where);
  if (!(rate >= 0 && std::isfinite(rate)))
    throw ValueError("ReduceOnPlateau: the rate is " + number_text(rate) +
                     ", but must be at least 0 and finite");
  if (!(options.factor > 0 && options.factor < 1))
    throw ValueError("ReduceOnPlateau: factor is " + number_text(options.factor) +
                     ", but must be between 0 and 1");
  if (options.patience < 0 || options.cooldown < 0 || !(options.min_delta >= 0) ||
      !(options.min_rate >= 0))
    throw ValueError("ReduceOnPlateau: patience, cooldown, min_delta and min_rate must not be "
                     "negative");
}

bool ReduceOnPlateau::update(double watched) {
  auto &[best, waited, cooling] = progress_;
  if (cooling > 0) {
    --cooling;
    waited = 0;
  }
  const bool better = options_.largest_is_best ? watched > best + options_.min_delta
                                               : watched < best - options_.min_delta;
  if (better) {
    best = watched;
    waited = 0;
    return false;
  }
  if (cooling > 0 || ++waited < options_.patience) return false;
  const double old = rate_.value().item<double>();
  waited = 0;
  if (old <= options_.min_rate) return false;
  rate_.assign(std::max(old * options_.factor, options_.min_rate));
  cooling = options_.cooldown;
  return true;
}

} // namespace weft::optimizers
