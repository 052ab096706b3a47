// Random numbers of distributions that are drawn by rejection: the attempts of a part's elements
// are done side by side, those that fail again with the next numbers of theirs.
#include "Kernels/Rejection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "Kernels/KernelTable.h"
#include "Kernels/Random.h"
#include "Support/Threads.h"

namespace weft::kernels {

namespace {

/// Elements that are done side by side, which stay in the first cache.
constexpr int kPart = 512;
using Numbers = std::array<double, kPart>;

/// After so many attempts, of which one in five fails at most, the last is kept.
constexpr int kAttempts = 64;

/// x = op(x) of the first elements, by the kernels of the ops.
void apply(OpCode op, int count, Numbers &x) {
  void *const buffers[] = {x.data(), x.data()};
  const std::int64_t dims[] = {count};
  kernel_table().elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(DType::f64)][0](
      buffers, dims);
}

double between(std::int64_t word) {
  return (static_cast<double>(static_cast<std::uint64_t>(word) >> 12) + 0.5) * 0x1p-52;
}

/// Elements of a part that are still to be done: their numbers within it.
class Pending {
public:
  explicit Pending(int count) : count_(count) {
    for (int i = 0; i < count; ++i) elements_[static_cast<std::size_t>(i)] = i;
  }
  int count() const { return count_; }
  int operator[](int i) const { return elements_[static_cast<std::size_t>(i)]; }
  void clear() { count_ = 0; }
  /// Of at most as many elements as were read since `clear`.
  void push(int element) { elements_[static_cast<std::size_t>(count_++)] = element; }

private:
  std::array<int, kPart> elements_;
  int count_;
};

/// The stream of attempts at each element.
class Attempts {
public:
  /// `first` is the number of the part's first element.
  Attempts(const RandomStream &stream, std::int64_t first) : stream_(stream), first_(first) {}

  /// Both numbers of attempt `number`, of each pending element.
  void draw(int number, const Pending &pending, Numbers &u, Numbers &v) const {
    const int count = pending.count();
    const RandomStream stream{stream_.seed,
                              stream_.number + (static_cast<std::uint64_t>(number) << 48)};
    std::array<std::int64_t, 2 * kPart> words;
    // Neighbours at once: at first all of them.
    for (int begin = 0; begin < count;) {
      int end = begin + 1;
      while (end < count && pending[end] == pending[end - 1] + 1) ++end;
      draw_uniform(DType::i64, stream, 2 * (first_ + pending[begin]), 2 * (end - begin),
                   words.data() + 2 * begin);
      begin = end;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      u[i] = between(words[2 * i]);
      v[i] = between(words[2 * i + 1]);
    }
  }

private:
  RandomStream stream_;
  std::int64_t first_;
};

/// Calls `compute` with the first element and the number of elements of each part.
template <class Compute>
void for_parts(std::int64_t size, const Compute &compute) {
  threads::parallel_for_noexcept(
      0, (size + kPart - 1) / kPart, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part) {
          const std::int64_t first = part * kPart;
          compute(first, static_cast<int>(std::min<std::int64_t>(kPart, size - first)));
        }
      });
}

/// The elements of a part.
Numbers part_of(const double *x, std::int64_t first, int count) {
  Numbers part;
  std::copy_n(x + first, count, part.begin());
  return part;
}

/// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), of a + 1 where a
/// is below 1.
void log_gammas(const Attempts &attempts, int count, const Numbers &a, Numbers &result) {
  Numbers d, log_d;
  Pending pending(count), boosted(0);
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  pending.clear();
  for (int i = 0; i < count; ++i) {
    const bool is_small = a[at(i)] < 1;
    log_d[at(i)] = d[at(i)] = (is_small ? a[at(i)] + 1 : a[at(i)]) - 1.0 / 3;
    if (!(a[at(i)] > 0) || a[at(i)] == std::numeric_limits<double>::infinity()) {
      result[at(i)] = a[at(i)] > 0 ? a[at(i)] : std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    pending.push(i);
    if (is_small) boosted.push(i);
  }
  apply(OpCode::log, count, log_d);
  Numbers z, v, log_v, log_cube;
  for (int attempt = 0; attempt < kAttempts && pending.count() > 0; ++attempt) {
    attempts.draw(attempt, pending, z, log_v);
    const int left = pending.count();
    apply(OpCode::ndtri, left, z);
    apply(OpCode::log, left, log_v);
    for (int i = 0; i < left; ++i) {
      v[at(i)] = 1 + z[at(i)] / std::sqrt(9 * d[at(pending[i])]);
      log_cube[at(i)] = std::max(v[at(i)], std::numeric_limits<double>::min());
    }
    apply(OpCode::log, left, log_cube);
    pending.clear();
    for (int i = 0; i < left; ++i) {
      const int element = pending[i];
      const double cube = v[at(i)] * v[at(i)] * v[at(i)], log_of = 3 * log_cube[at(i)];
      result[at(element)] = log_d[at(element)] + log_of;
      const bool accepted = v[at(i)] > 0 && log_v[at(i)] < 0.5 * z[at(i)] * z[at(i)] +
                                                               d[at(element)] * (1 - cube + log_of);
      if (!accepted) pending.push(element);
    }
  }
  if (boosted.count() == 0) return;
  attempts.draw(kAttempts, boosted, z, v);
  apply(OpCode::log, boosted.count(), z);
  for (int i = 0; i < boosted.count(); ++i) result[at(boosted[i])] += z[at(i)] / a[at(boosted[i])];
}

/// How many sums of terms are below u; `next(k, term)` gives the term behind.
template <class Next>
double terms_below(double u, double term, const Next &next) {
  double k = 0, sum = term;
  while (u > sum && k < kAttempts) {
    term = next(k, term);
    sum += term;
    k += 1;
  }
  return k;
}

/// Attempts of transformed rejection (Hormann): a candidate of each element, of which most are
/// accepted at once, and the others, together, by logarithms.
template <class Candidate, class Slow>
void transformed_rejection(const Attempts &attempts, Pending &pending, Numbers &result,
                           const Candidate &candidate, const Slow &slow) {
  Numbers u, v, k, height;
  for (int attempt = 0; attempt < kAttempts && pending.count() > 0; ++attempt) {
    attempts.draw(attempt, pending, u, v);
    const int left = pending.count();
    Pending doubtful(0);
    pending.clear();
    for (int i = 0; i < left; ++i) {
      const int element = pending[i];
      const auto [number, scale, verdict] =
          candidate(element, u[static_cast<std::size_t>(i)], v[static_cast<std::size_t>(i)]);
      if (number >= 0) result[static_cast<std::size_t>(element)] = number;
      if (verdict > 0) continue;
      if (verdict < 0) {
        pending.push(element);
        continue;
      }
      const auto at = static_cast<std::size_t>(doubtful.count());
      k[at] = number;
      height[at] = v[static_cast<std::size_t>(i)] * scale;
      doubtful.push(element);
    }
    apply(OpCode::log, doubtful.count(), height);
    slow(doubtful, k, height, pending);
  }
}

struct Verdict {
  double number; ///< negative of none
  double scale;  ///< what v is multiplied by to be compared
  int verdict;   ///< accepted above 0, refused below 0
};

/// By Hormann, "The transformed rejection method for generating Poisson random variables" (1993).
void poissons(const Attempts &attempts, int count, const Numbers &rates, Numbers &result) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  Numbers first_terms, log_rates, rate;
  Pending pending(count), few(0);
  pending.clear();
  for (int i = 0; i < count; ++i) {
    rate[at(i)] = rates[at(i)] > 0 ? std::min(rates[at(i)], 0x1p60) : 0;
    first_terms[at(i)] = -rate[at(i)];
    log_rates[at(i)] = rate[at(i)];
    result[at(i)] = std::floor(rate[at(i)]);
    if (rate[at(i)] >= 10) pending.push(i);
    else few.push(i);
  }
  if (few.count() > 0) {
    apply(OpCode::exp, count, first_terms);
    Numbers u, v;
    attempts.draw(0, few, u, v);
    for (int i = 0; i < few.count(); ++i) {
      const double mean = rate[at(few[i])];
      result[at(few[i])] =
          terms_below(u[at(i)], first_terms[at(few[i])],
                      [&](double k, double term) { return term * mean / (k + 1); });
    }
  }
  if (pending.count() == 0) return;
  apply(OpCode::log, count, log_rates);
  const auto candidate = [&](int element, double u, double v) -> Verdict {
    const double mean = rate[at(element)], b = 0.931 + 2.53 * std::sqrt(mean);
    const double a = -0.059 + 0.02483 * b, side = u - 0.5, us = 0.5 - std::abs(side);
    const double k = std::floor((2 * a / us + b) * side + mean + 0.43);
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return {k, 0, 1};
    if (k < 0 || (us < 0.013 && v > us)) return {k, 0, -1};
    return {k, (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b), 0};
  };
  const auto slow = [&](const Pending &doubtful, const Numbers &k, const Numbers &height,
                        Pending &again) {
    Numbers factorials;
    for (int i = 0; i < doubtful.count(); ++i) factorials[at(i)] = k[at(i)] + 1;
    apply(OpCode::lgamma, doubtful.count(), factorials);
    for (int i = 0; i < doubtful.count(); ++i) {
      const int element = doubtful[i];
      if (!(height[at(i)] <=
            k[at(i)] * log_rates[at(element)] - rate[at(element)] - factorials[at(i)]))
        again.push(element);
    }
  };
  transformed_rejection(attempts, pending, result, candidate, slow);
}

/// By Hormann, "The generation of binomial random variates" (1993).
void binomials(const Attempts &attempts, int count, const Numbers &trials, const Numbers &chances,
               Numbers &result) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  Numbers n, p, log_odds, log_q, modes, others;
  Pending pending(count), few(0);
  pending.clear();
  for (int i = 0; i < count; ++i) {
    const double chance = std::min(chances[at(i)] > 0 ? chances[at(i)] : 0, 1.0);
    n[at(i)] = trials[at(i)] > 0 ? trials[at(i)] : 0;
    p[at(i)] = std::min(chance, 1 - chance);
    log_odds[at(i)] = p[at(i)] / (1 - p[at(i)]);
    log_q[at(i)] = -p[at(i)];
    result[at(i)] = std::floor(n[at(i)] * p[at(i)]);
    if (n[at(i)] * p[at(i)] >= 10) pending.push(i);
    else few.push(i);
  }
  if (few.count() > 0) {
    apply(OpCode::log1p, count, log_q);
    Numbers first_terms, u, v;
    for (int i = 0; i < few.count(); ++i) first_terms[at(i)] = n[at(few[i])] * log_q[at(few[i])];
    apply(OpCode::exp, few.count(), first_terms);
    attempts.draw(0, few, u, v);
    for (int i = 0; i < few.count(); ++i) {
      const double all = n[at(few[i])], odds = log_odds[at(few[i])];
      result[at(few[i])] = std::min(
          terms_below(u[at(i)], first_terms[at(i)],
                      [&](double k, double term) { return term * odds * (all - k) / (k + 1); }),
          all);
    }
  }
  if (pending.count() > 0) {
    for (int i = 0; i < count; ++i) {
      modes[at(i)] = std::floor((n[at(i)] + 1) * p[at(i)]) + 1;
      others[at(i)] = n[at(i)] - modes[at(i)] + 2;
    }
    Numbers peak = modes, peak_of_others = others;
    apply(OpCode::log, count, log_odds);
    apply(OpCode::lgamma, count, peak);
    apply(OpCode::lgamma, count, peak_of_others);
    const auto candidate = [&](int element, double u, double v) -> Verdict {
      const double all = n[at(element)], chance = p[at(element)];
      const double spread = std::sqrt(all * chance * (1 - chance)), b = 1.15 + 2.53 * spread;
      const double a = -0.0873 + 0.0248 * b + 0.01 * chance;
      const double side = u - 0.5, us = 0.5 - std::abs(side);
      const double k = std::floor((2 * a / us + b) * side + all * chance + 0.5);
      if (k < 0 || k > all) return {-1, 0, -1};
      if (us >= 0.07 && v <= 0.92 - 4.2 / b) return {k, 0, 1};
      return {k, (2.83 + 5.1 / b) * spread / (a / (us * us) + b), 0};
    };
    const auto slow = [&](const Pending &doubtful, const Numbers &k, const Numbers &height,
                          Pending &again) {
      Numbers some, rest;
      for (int i = 0; i < doubtful.count(); ++i) {
        some[at(i)] = k[at(i)] + 1;
        rest[at(i)] = n[at(doubtful[i])] - k[at(i)] + 1;
      }
      apply(OpCode::lgamma, doubtful.count(), some);
      apply(OpCode::lgamma, doubtful.count(), rest);
      for (int i = 0; i < doubtful.count(); ++i) {
        const int element = doubtful[i];
        const double most = peak[at(element)] + peak_of_others[at(element)];
        if (!(height[at(i)] <= most - some[at(i)] - rest[at(i)] +
                                   (k[at(i)] + 1 - modes[at(element)]) * log_odds[at(element)]))
          again.push(element);
      }
    };
    transformed_rejection(attempts, pending, result, candidate, slow);
  }
  for (int i = 0; i < count; ++i)
    if (chances[at(i)] > 0.5) result[at(i)] = n[at(i)] - result[at(i)];
}

} // namespace

void draw_log_gamma(const RandomStream &stream, const double *a, std::int64_t size,
                    double *to) noexcept {
  for_parts(size, [&](std::int64_t first, int count) {
    Numbers numbers;
    log_gammas(Attempts(stream, first), count, part_of(a, first, count), numbers);
    std::copy_n(numbers.begin(), count, to + first);
  });
}

void draw_poisson(const RandomStream &stream, const double *rate, std::int64_t size,
                  double *to) noexcept {
  for_parts(size, [&](std::int64_t first, int count) {
    Numbers numbers;
    poissons(Attempts(stream, first), count, part_of(rate, first, count), numbers);
    std::copy_n(numbers.begin(), count, to + first);
  });
}

void draw_binomial(const RandomStream &stream, const double *n, const double *p, std::int64_t size,
                   double *to) noexcept {
  for_parts(size, [&](std::int64_t first, int count) {
    Numbers numbers;
    binomials(Attempts(stream, first), count, part_of(n, first, count), part_of(p, first, count),
              numbers);
    std::copy_n(numbers.begin(), count, to + first);
  });
}

} // namespace weft::kernels
