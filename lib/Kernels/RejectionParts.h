// Distributions that are drawn by rejection, for a part of a tensor: the attempts of its elements
// are done side by side, those that fail again with the next numbers of theirs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "Kernels/KernelTable.h"
#include "Kernels/Random.h"
#include "Kernels/RejectionKernels.h"

namespace weft::kernels::rejection {

/// Elements that are done side by side, which stay in the first cache.
constexpr int kPart = 512;
using Numbers = std::array<double, kPart>;

/// After so many attempts, of which one in five fails at most, the last is kept.
constexpr int kAttempts = 64;

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// x = op(x) of the first elements, by the kernels of the ops.
inline void apply(OpCode op, int count, Numbers &x) {
  void *const buffers[] = {x.data(), x.data()};
  const std::int64_t dims[] = {count};
  kernel_table().elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(DType::f64)][0](
      buffers, dims);
}

/// The loops of that level (at most the host's).
const RejectionLevel &level_table(CpuLevel level);

inline const RejectionLevel &level() {
  static const RejectionLevel &level = level_table(CpuLevel::v4);
  return level;
}

/// Some elements of a part, ascending: their numbers within it.
class Places {
public:
  int count() const { return count_; }
  int operator[](int i) const { return elements_[at(i)]; }
  const int *data() const { return elements_.data(); }
  int *data() { return elements_.data(); }
  void clear() { count_ = 0; }
  /// Of at most as many elements as were read since `clear`.
  void push(int element) { elements_[at(count_++)] = element; }
  void resize(int count) { count_ = count; }
  void fill(int count) {
    clear();
    for (int i = 0; i < count; ++i) push(i);
  }
  /// Those below `end`.
  Places below(int end) const {
    Places some;
    for (int i = 0; i < count_ && elements_[at(i)] < end; ++i) some.push(elements_[at(i)]);
    return some;
  }
  /// The numbers of these elements, next to each other.
  void gather(const Numbers &all, Numbers &some) const {
    for (int i = 0; i < count_; ++i) some[at(i)] = all[at(elements_[at(i)])];
  }

private:
  std::array<int, kPart> elements_;
  int count_ = 0;
};

/// The stream of attempts at each element of a part.
class Attempts {
public:
  /// `first` is the number of the part's first element.
  Attempts(const RandomStream &stream, std::int64_t first)
      : stream_(stream), first_(static_cast<std::uint64_t>(first)) {}

  /// Both numbers of attempt `number`, of each of these elements.
  void draw(int number, const Places &places, Numbers &u, Numbers &v) const {
    draw_pairs({stream_.seed, stream_.number + (static_cast<std::uint64_t>(number) << 48)}, first_,
               places.count(), places.data(), u.data(), v.data());
  }

private:
  RandomStream stream_;
  std::uint64_t first_;
};

// Each distribution is given its parameters, then told how many there are, and draws once or more
// for them, or for the first of them.

/// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), of a + 1 where a
/// is below 1.
class LogGammas {
public:
  std::array<Numbers, 1> parameters;

  void prepare(int count) {
    const Numbers &a = parameters[0];
    level().gamma_parameters(count, a.data(), d_.data(), log_d_.data(), scale_.data());
    apply(OpCode::log, count, log_d_);
    small_.clear();
    others_.clear();
    for (int i = 0; i < count; ++i) {
      const bool drawn = a[at(i)] > 0 && a[at(i)] < std::numeric_limits<double>::infinity();
      if (!drawn) others_.push(i);
      else if (a[at(i)] < 1) small_.push(i);
    }
  }

  void draw(const Attempts &attempts, int count, Numbers &result) const {
    Places pending;
    pending.fill(count);
    attempt(attempts, 0, pending, {d_.data(), log_d_.data(), scale_.data()}, result);
    for (int number = 1; number < kAttempts && pending.count() > 0; ++number) {
      const Places places = pending;
      Numbers d, log_d, scale, logarithm;
      places.gather(d_, d);
      places.gather(log_d_, log_d);
      places.gather(scale_, scale);
      attempt(attempts, number, pending, {d.data(), log_d.data(), scale.data()}, logarithm);
      for (int i = 0; i < places.count(); ++i) result[at(places[i])] = logarithm[at(i)];
    }
    boost(attempts, small_.below(count), result);
    for (int i = 0; i < others_.count() && others_[i] < count; ++i) {
      const double a = parameters[0][at(others_[i])];
      result[at(others_[i])] = a > 0 ? a : std::numeric_limits<double>::quiet_NaN();
    }
  }

private:
  /// One attempt at the pending elements, whose parameters are given; then those are pending that
  /// it refused.
  static void attempt(const Attempts &attempts, int number, Places &pending,
                      const GammaParameters &of, Numbers &logarithm) {
    const int count = pending.count();
    Numbers z, log_v, root, log_root;
    attempts.draw(number, pending, z, log_v);
    apply(OpCode::ndtri, count, z);
    apply(OpCode::log, count, log_v);
    level().gamma_roots(count, z.data(), of.scale, root.data(), log_root.data());
    apply(OpCode::log, count, log_root);
    std::array<int, kPart> refused;
    const int left = level().gamma_candidates(count, of, z.data(), root.data(), log_root.data(),
                                              log_v.data(), logarithm.data(), refused.data());
    for (int i = 0; i < left; ++i) pending.data()[i] = pending[refused[at(i)]];
    pending.resize(left);
  }

  void boost(const Attempts &attempts, const Places &small, Numbers &result) const {
    if (small.count() == 0) return;
    Numbers u, unused, a, more;
    attempts.draw(kAttempts, small, u, unused);
    apply(OpCode::log, small.count(), u);
    small.gather(parameters[0], a);
    level().quotients(small.count(), u.data(), a.data(), more.data());
    for (int i = 0; i < small.count(); ++i) result[at(small[i])] += more[at(i)];
  }

  Numbers d_, log_d_, scale_;
  Places small_, others_;
};

/// Of each of these elements how many sums of terms, the first of which is given, are below the
/// first number of its first attempt; `next(element, k, term)` gives the term behind.
template <class Next>
void count_terms(const Attempts &attempts, const Places &places, const Numbers &first_terms,
                 Numbers &result, const Next &next) {
  if (places.count() == 0) return;
  Numbers u, unused;
  attempts.draw(0, places, u, unused);
  for (int i = 0; i < places.count(); ++i) {
    const int element = places[i];
    double k = 0, term = first_terms[at(element)], sum = term;
    while (u[at(i)] > sum && k < kAttempts) {
      term = next(element, k, term);
      sum += term;
      k += 1;
    }
    result[at(element)] = k;
  }
}

/// What a candidate is.
struct Verdict {
  double number; ///< negative of none
  double scale;  ///< what v is multiplied by to be compared
  int verdict;   ///< accepted above 0, refused below 0
};

/// Attempts of transformed rejection (Hormann): a candidate of each element, of which most are
/// accepted at once, and the others, together, by logarithms.
template <class Candidate, class Slow>
void transformed_rejection(const Attempts &attempts, Places pending, Numbers &result,
                           const Candidate &candidate, const Slow &slow) {
  Numbers u, v, k, height;
  for (int attempt = 0; attempt < kAttempts && pending.count() > 0; ++attempt) {
    attempts.draw(attempt, pending, u, v);
    const int left = pending.count();
    Places doubtful;
    pending.clear();
    for (int i = 0; i < left; ++i) {
      const int element = pending[i];
      const auto [number, scale, verdict] = candidate(element, u[at(i)], v[at(i)]);
      if (number >= 0) result[at(element)] = number;
      if (verdict > 0) continue;
      if (verdict < 0) {
        pending.push(element);
        continue;
      }
      k[at(doubtful.count())] = number;
      height[at(doubtful.count())] = v[at(i)] * scale;
      doubtful.push(element);
    }
    apply(OpCode::log, doubtful.count(), height);
    slow(doubtful, k, height, pending);
  }
}

/// By Hormann, "The transformed rejection method for generating Poisson random variables" (1993).
class Poissons {
public:
  std::array<Numbers, 1> parameters;

  void prepare(int count) {
    few_.clear();
    many_.clear();
    for (int i = 0; i < count; ++i) {
      const double given = parameters[0][at(i)], rate = given > 0 ? std::min(given, 0x1p60) : 0;
      rate_[at(i)] = log_rate_[at(i)] = rate;
      first_term_[at(i)] = -rate;
      if (rate >= 10) many_.push(i);
      else few_.push(i);
    }
    if (few_.count() > 0) apply(OpCode::exp, count, first_term_);
    if (many_.count() > 0) apply(OpCode::log, count, log_rate_);
  }

  void draw(const Attempts &attempts, int count, Numbers &result) const {
    const Places few = few_.below(count), many = many_.below(count);
    count_terms(attempts, few, first_term_, result, [&](int element, double k, double term) {
      return term * rate_[at(element)] / (k + 1);
    });
    for (int i = 0; i < many.count(); ++i) result[at(many[i])] = std::floor(rate_[at(many[i])]);
    const auto candidate = [&](int element, double u, double v) -> Verdict {
      const double mean = rate_[at(element)], b = 0.931 + 2.53 * std::sqrt(mean);
      const double a = -0.059 + 0.02483 * b, side = u - 0.5, us = 0.5 - std::abs(side);
      const double k = std::floor((2 * a / us + b) * side + mean + 0.43);
      if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return {k, 0, 1};
      if (k < 0 || (us < 0.013 && v > us)) return {k, 0, -1};
      return {k, (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b), 0};
    };
    const auto slow = [&](const Places &doubtful, const Numbers &k, const Numbers &height,
                          Places &again) {
      Numbers factorials;
      for (int i = 0; i < doubtful.count(); ++i) factorials[at(i)] = k[at(i)] + 1;
      apply(OpCode::lgamma, doubtful.count(), factorials);
      for (int i = 0; i < doubtful.count(); ++i) {
        const int element = doubtful[i];
        if (!(height[at(i)] <=
              k[at(i)] * log_rate_[at(element)] - rate_[at(element)] - factorials[at(i)]))
          again.push(element);
      }
    };
    transformed_rejection(attempts, many, result, candidate, slow);
  }

private:
  Numbers rate_, log_rate_, first_term_;
  Places few_, many_;
};

/// By Hormann, "The generation of binomial random variates" (1993).
class Binomials {
public:
  std::array<Numbers, 2> parameters;

  void prepare(int count) {
    few_.clear();
    many_.clear();
    for (int i = 0; i < count; ++i) {
      const double trials = parameters[0][at(i)], given = parameters[1][at(i)];
      const double chance = std::min(given > 0 ? given : 0, 1.0);
      const double n = trials > 0 ? trials : 0, p = std::min(chance, 1 - chance);
      n_[at(i)] = n;
      p_[at(i)] = p;
      odds_[at(i)] = log_odds_[at(i)] = p / (1 - p);
      first_term_[at(i)] = -p;
      const double mode = std::floor((n + 1) * p) + 1;
      mode_[at(i)] = peak_[at(i)] = mode;
      other_peak_[at(i)] = n - mode + 2;
      if (n * p >= 10) many_.push(i);
      else few_.push(i);
    }
    if (few_.count() > 0) {
      apply(OpCode::log1p, count, first_term_);
      for (int i = 0; i < count; ++i) first_term_[at(i)] *= n_[at(i)];
      apply(OpCode::exp, count, first_term_);
    }
    if (many_.count() > 0) {
      apply(OpCode::log, count, log_odds_);
      apply(OpCode::lgamma, count, peak_);
      apply(OpCode::lgamma, count, other_peak_);
    }
  }

  void draw(const Attempts &attempts, int count, Numbers &result) const {
    const Places few = few_.below(count), many = many_.below(count);
    count_terms(attempts, few, first_term_, result, [&](int element, double k, double term) {
      return term * odds_[at(element)] * (n_[at(element)] - k) / (k + 1);
    });
    for (int i = 0; i < few.count(); ++i)
      result[at(few[i])] = std::min(result[at(few[i])], n_[at(few[i])]);
    for (int i = 0; i < many.count(); ++i)
      result[at(many[i])] = std::floor(n_[at(many[i])] * p_[at(many[i])]);
    const auto candidate = [&](int element, double u, double v) -> Verdict {
      const double all = n_[at(element)], chance = p_[at(element)];
      const double spread = std::sqrt(all * chance * (1 - chance)), b = 1.15 + 2.53 * spread;
      const double a = -0.0873 + 0.0248 * b + 0.01 * chance;
      const double side = u - 0.5, us = 0.5 - std::abs(side);
      const double k = std::floor((2 * a / us + b) * side + all * chance + 0.5);
      if (k < 0 || k > all) return {-1, 0, -1};
      if (us >= 0.07 && v <= 0.92 - 4.2 / b) return {k, 0, 1};
      return {k, (2.83 + 5.1 / b) * spread / (a / (us * us) + b), 0};
    };
    const auto slow = [&](const Places &doubtful, const Numbers &k, const Numbers &height,
                          Places &again) {
      Numbers some, rest;
      for (int i = 0; i < doubtful.count(); ++i) {
        some[at(i)] = k[at(i)] + 1;
        rest[at(i)] = n_[at(doubtful[i])] - k[at(i)] + 1;
      }
      apply(OpCode::lgamma, doubtful.count(), some);
      apply(OpCode::lgamma, doubtful.count(), rest);
      for (int i = 0; i < doubtful.count(); ++i) {
        const int element = doubtful[i];
        const double most = peak_[at(element)] + other_peak_[at(element)];
        if (!(height[at(i)] <= most - some[at(i)] - rest[at(i)] +
                                   (k[at(i)] + 1 - mode_[at(element)]) * log_odds_[at(element)]))
          again.push(element);
      }
    };
    transformed_rejection(attempts, many, result, candidate, slow);
    for (int i = 0; i < count; ++i)
      if (parameters[1][at(i)] > 0.5) result[at(i)] = n_[at(i)] - result[at(i)];
  }

private:
  Numbers n_, p_, odds_, log_odds_, first_term_, mode_, peak_, other_peak_;
  Places few_, many_;
};

} // namespace weft::kernels::rejection
