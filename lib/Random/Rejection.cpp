// Rejection by ops: loops over attempts at all elements, until each is accepted. Eager calls that
// nobody records take a kernel with the same steps (lib/Kernels/Rejection.cpp).
#include "Random/Rejection.h"

#include <array>
#include <limits>

#include "Ops/Draws.h"
#include "Ops/EagerDistributions.h"
#include "Ops/Interpreter.h"
#include <weft/composites.h>
#include <weft/control_flow.h>
#include <weft/custom_gradient.h>

namespace weft::random::detail {

namespace {

constexpr std::int64_t kAttempts = 64;

/// Both numbers of an attempt at each element.
std::array<Tensor, 2> numbers_of(const Tensor &state, const Tensor &attempt, const Sizes &sizes) {
  const Tensor stream = state + iota(DType::i64, {2}) * (attempt * (std::int64_t{1} << 48));
  Sizes pairs = sizes;
  pairs.push_back(2);
  const Tensor both = open_interval(stream, pairs, DType::f64);
  return {both[{ellipsis, 0}], both[{ellipsis, 1}]};
}

/// What a candidate is, and whether it is accepted.
struct Candidate {
  Tensor numbers, accepted;
};

/// Attempts until all that are pending are accepted: the numbers, `before` where none was.
template <class Attempt>
Tensor until_accepted(const Tensor &state, const Tensor &pending, const Tensor &before,
                      const Attempt &attempt_at) {
  const Sizes sizes = weft::detail::sizes_of(before);
  const auto [attempts, left, found] =
      while_loop([](const Tensor &attempt, const Tensor &left,
                    const Tensor &) { return logical_and(attempt < kAttempts, any(left)); },
                 [&](const Tensor &attempt, const Tensor &left, const Tensor &found) {
                   const auto [u, v] = numbers_of(state, attempt, sizes);
                   const Candidate candidate = attempt_at(u, v);
                   return std::tuple(attempt + std::int64_t{1},
                                     logical_and(left, logical_not(candidate.accepted)),
                                     select(left, candidate.numbers, found));
                 },
                 tensor(std::int64_t{0}), pending, before);
  return found;
}

/// How many terms, the first of which is given, are below u together where `counted`;
/// `next(k, term)` is the one behind.
template <class Next>
Tensor terms_below(const Tensor &u, const Tensor &first, const Tensor &counted, const Next &next) {
  const auto [k, term, sum, active, count] = while_loop(
      [](const Tensor &k, const Tensor &, const Tensor &, const Tensor &active, const Tensor &) {
        return logical_and(k < static_cast<double>(kAttempts), any(active));
      },
      [&](const Tensor &k, const Tensor &term, const Tensor &sum, const Tensor &active,
          const Tensor &count) {
        const Tensor behind = next(k, term), more = sum + behind;
        return std::tuple(k + 1.0, behind, more, logical_and(active, u > more),
                          select(active, count + 1.0, count));
      },
      tensor(0.0), first, first, logical_and(counted, u > first), u * 0.0);
  return count;
}

/// Whether eager tensors are computed at once, without their ops.
bool at_once(const Tensor &x) { return eager::in_one_pass(weft::detail::sizes_of(x)); }

Tensor wide(const Tensor &x) { return cast(stop_gradient(x), DType::f64); }

Tensor log_gammas(const Tensor &state, const Tensor &a) {
  if (at_once(a)) return eager::log_gamma_in_one_pass(state, a);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor is_small = a < 1, positive = a > 0;
  const Tensor d = select(is_small, a + 1, a) - 1.0 / 3, log_d = log(d);
  const auto attempt_at = [&](const Tensor &u, const Tensor &v) {
    const Tensor z = ndtri(u), root = 1 + z / sqrt(9 * d);
    const Tensor log_of = 3 * log(maximum(root, std::numeric_limits<double>::min()));
    const Tensor bound = 0.5 * z * z + d * (1 - root * root * root + log_of);
    return Candidate{log_d + log_of, logical_and(root > 0, log(v) < bound)};
  };
  const Tensor none = select(positive, a, std::numeric_limits<double>::quiet_NaN());
  const Tensor found =
      until_accepted(state, logical_and(positive, a < kInfinity), none, attempt_at);
  const auto [boost, unused] = numbers_of(state, tensor(kAttempts), weft::detail::sizes_of(a));
  return select(logical_and(is_small, positive), found + log(boost) / a, found);
}

/// The derivative of the logarithm y of a number x of a gamma distribution by its parameter a, at a
/// fixed share P of the distribution: -(dP/da) / (x dP/dx). (Figurnov, Mohamed and Mnih, "Implicit
/// reparameterization gradients", 2018.) Of small x it is what the series of P begins with; of
/// large a, where P is a difference of large numbers, Wilson and Hilferty's: the third root z of x
/// / a is nearly normal.
Tensor log_gamma_slope(const Tensor &a, const Tensor &y) {
  const Tensor large = a > 1e6, small = y < -37;
  const Tensor ordinary = select(large, 1, a), x = exp(select(small, 0, y));
  const Tensor density = exp(ordinary * log(x) - x - lgamma(ordinary));
  const Tensor of_share = negate(gammainc_da(ordinary, x) / density);
  const Tensor of_small = (digamma(a) + 1 / a - y) / a;
  const Tensor ninth = 1 / (9 * a), z = exp((y - log(a)) / 3);
  const Tensor of_z = (ninth - (z - 1 + ninth) / 2) / a;
  return select(large, 1 / a + 3 * of_z / z, select(small, of_small, of_share));
}

} // namespace

Tensor draw_log_gamma(const Tensor &state, const Tensor &a) {
  const DType dtype = a.dtype();
  if (Interpreter::current() == nullptr) return cast(log_gammas(state, wide(a)), dtype);
  const auto drawn = custom_gradient(
      [&](const Tensor &parameter) {
        const Tensor wide_parameter = wide(parameter), y = log_gammas(state, wide_parameter);
        return Pullback{cast(y, dtype), [wide_parameter, y, dtype](const Tensor &cotangent) {
                          return cotangent * cast(log_gamma_slope(wide_parameter, y), dtype);
                        }};
      },
      {.name = "random.loggamma"});
  return drawn(a);
}

Tensor draw_poisson(const Tensor &state, const Tensor &given) {
  const Tensor rate = wide(given);
  if (at_once(rate)) return cast(eager::poisson_in_one_pass(state, rate), DType::i64);
  const Tensor mean = select(rate > 0, minimum(rate, 0x1p60), 0), few = mean < 10;
  const auto [u, unused] = numbers_of(state, tensor(std::int64_t{0}), weft::detail::sizes_of(mean));
  const Tensor of_few =
      terms_below(u, exp(negate(mean)), few,
                  [&](const Tensor &k, const Tensor &term) { return term * mean / (k + 1.0); });
  const Tensor b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const Tensor log_mean = log(mean);
  const auto attempt_at = [&](const Tensor &u, const Tensor &v) {
    const Tensor side = u - 0.5, us = 0.5 - abs(side);
    const Tensor k = floor((2 * a / us + b) * side + mean + 0.43);
    const Tensor sure = logical_and(us >= 0.07, v <= 0.9277 - 3.6224 / (b - 2));
    const Tensor refused = logical_or(k < 0, logical_and(us<0.013, v> us));
    const Tensor height = log(v * ((1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b)));
    const Tensor fits = height <= k * log_mean - mean - lgamma(k + 1);
    return Candidate{select(k < 0, floor(mean), k),
                     logical_or(sure, logical_and(logical_not(refused), fits))};
  };
  return cast(until_accepted(state, logical_not(few), of_few, attempt_at), DType::i64);
}

Tensor draw_binomial(const Tensor &state, const Tensor &trials, const Tensor &chances) {
  const Tensor given_n = wide(trials), given_p = wide(chances);
  if (at_once(given_n) && at_once(given_p))
    return cast(eager::binomial_in_one_pass(state, given_n, given_p), DType::i64);
  const Tensor n = select(given_n > 0, given_n, 0);
  const Tensor chance = minimum(select(given_p > 0, given_p, 0), 1.0);
  const Tensor p = minimum(chance, 1 - chance), odds = p / (1 - p), few = n * p < 10;
  const auto [u, unused] = numbers_of(state, tensor(std::int64_t{0}), weft::detail::sizes_of(n));
  const Tensor counted =
      terms_below(u, exp(n * log1p(negate(p))), few, [&](const Tensor &k, const Tensor &term) {
        return term * odds * (n - k) / (k + 1.0);
      });
  const Tensor mode = floor((n + 1) * p) + 1, other = n - mode + 2, log_odds = log(odds);
  const Tensor most = lgamma(mode) + lgamma(other), spread = sqrt(n * p * (1 - p));
  const Tensor b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const auto attempt_at = [&](const Tensor &u, const Tensor &v) {
    const Tensor side = u - 0.5, us = 0.5 - abs(side);
    const Tensor k = floor((2 * a / us + b) * side + n * p + 0.5);
    const Tensor inside = logical_and(k >= 0, k <= n);
    const Tensor sure = logical_and(us >= 0.07, v <= 0.92 - 4.2 / b);
    const Tensor height = log(v * ((2.83 + 5.1 / b) * spread / (a / (us * us) + b)));
    const Tensor fits =
        height <= most - lgamma(k + 1) - lgamma(n - k + 1) + (k + 1 - mode) * log_odds;
    return Candidate{select(inside, k, floor(n * p)), logical_and(inside, logical_or(sure, fits))};
  };
  const Tensor found = until_accepted(state, logical_not(few), minimum(counted, n), attempt_at);
  return cast(select(given_p > 0.5, n - found, found), DType::i64);
}

} // namespace weft::random::detail
