// Makes plans of Fourier transforms and keeps the most recently used ones.

#include "Kernels/FftPlan.h"

#include "Kernels/Fft.h"
#include "Kernels/FftKernels.h"
#include "Kernels/FftRoots.h"
#include "Support/Fork.h"

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <map>
#include <mutex>

namespace weft::kernels {
namespace {

constexpr std::array kOddRadices = {3, 5, 7, 11, 13};

/// The longest line whose passes work in a core's own cache.
template <class T>
constexpr std::int64_t kLongest = sizeof(T) == 4 ? 1 << 15 : 1 << 14;

/// The radices of the passes in their order; empty if others would be needed.
std::vector<int> radices_of(std::int64_t size) {
  std::vector<int> radices;
  int twos = 0;
  for (; size % 2 == 0; size /= 2) ++twos;
  // By eights, first of all as they bring vectors together soonest, and no two where a pair of
  // fours does it.
  int fours = twos % 3 == 2 ? 1 : twos % 3 == 1 && twos > 4 ? 2 : 0;
  radices.assign(static_cast<std::size_t>((twos - 2 * fours) / 3), 8);
  twos -= 2 * fours + 3 * static_cast<int>(radices.size());
  radices.insert(radices.end(), static_cast<std::size_t>(fours), 4);
  if (twos == 1) radices.push_back(2);
  for (const int radix : kOddRadices)
    for (; size % radix == 0; size /= radix) radices.push_back(radix);
  if (size > 1) radices.clear();
  return radices;
}

bool has_passes(std::int64_t size) { return size == 1 || !radices_of(size).empty(); }

/// About what the passes cost.
double cost(std::int64_t size) {
  double each = 0;
  for (const int radix : radices_of(size))
    each += radix == 8 ? 16 : radix == 4 ? 12 : radix == 2 ? 9 : 9 + 2.5 * radix;
  return each * static_cast<double>(size);
}

/// The length of a circular convolution that holds `least` elements, the cheapest one.
std::int64_t convolution_size(std::int64_t least) {
  std::int64_t best = 8;
  while (best < least) best *= 2;
  double best_cost = cost(best);
  for (std::int64_t sevens = 1; sevens < 2 * least; sevens *= 7)
    for (std::int64_t fives = sevens; fives < 2 * least; fives *= 5)
      for (std::int64_t threes = fives; threes < 2 * least; threes *= 3) {
        std::int64_t size = 8 * threes;
        while (size < least) size *= 2;
        if (const double its = cost(size); its < best_cost) {
          best = size;
          best_cost = its;
        }
      }
  return best;
}

/// The divisor of `size` next to its root, where both dimensions had better be whole vectors.
std::int64_t first_dimension(std::int64_t size) {
  std::int64_t best = 1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (std::int64_t d = 1; d * d <= size; ++d) {
    if (size % d != 0) continue;
    for (const std::int64_t first : {d, size / d}) {
      const std::int64_t second = size / first;
      double its = static_cast<double>(std::max(first, second));
      if (first % 16 != 0) its *= 1.3;
      if (second % 16 != 0) its *= 1.3;
      if (its < best_cost) {
        best = first;
        best_cost = its;
      }
    }
  }
  return best;
}

template <class T>
void append(std::vector<T> &table, const RootsOfUnity::Root &root) {
  table.push_back(static_cast<T>(root.re));
  table.push_back(static_cast<T>(root.im));
}

template <class T>
void plan_passes(FftPlan<T> &plan) {
  std::vector<T> &table = plan.table;
  const auto here = [&] { return static_cast<std::int64_t>(table.size()); };
  std::int64_t before = 1, rest = plan.size;
  for (const int radix : radices_of(plan.size)) {
    typename FftPlan<T>::Pass pass = {radix, rest / radix, before, here(), -1, 0};
    const RootsOfUnity roots(rest);
    for (std::int64_t p = 0; p < pass.blocks; ++p)
      for (int j = 1; j < radix; ++j) append(table, roots(p * j));
    if (before < kFftMostLanes<T>) {
      pass.adjacent = here();
      for (int j = 1; j < radix; ++j)
        for (const bool imaginary : {false, true})
          for (std::int64_t p = 0; p < pass.blocks; ++p) {
            const RootsOfUnity::Root root = roots(p * j);
            table.insert(table.end(), static_cast<std::size_t>(before),
                         static_cast<T>(imaginary ? root.im : root.re));
          }
    }
    pass.roots = here();
    const RootsOfUnity of_radix(radix);
    for (int k = 1; k <= (radix - 1) / 2; ++k) table.push_back(static_cast<T>(of_radix(k).re));
    for (int k = 1; k <= (radix - 1) / 2; ++k) table.push_back(static_cast<T>(-of_radix(k).im));
    plan.passes.push_back(pass);
    before *= radix;
    rest /= radix;
  }
}

template <class T>
void plan_split(FftPlan<T> &plan) {
  plan.kind = FftPlan<T>::Kind::split;
  const std::int64_t rows = first_dimension(plan.size), columns = plan.size / rows;
  plan.first = fft_plan<T>(rows);
  plan.second = fft_plan<T>(columns);
  const RootsOfUnity roots(plan.size);
  for (std::int64_t row = 0; row < rows; ++row)
    for (const bool imaginary : {false, true})
      for (std::int64_t column = 0; column < kFftFine<T>; ++column) {
        const RootsOfUnity::Root root = roots(row * column);
        plan.fine.push_back(static_cast<T>(imaginary ? root.im : root.re));
      }
  for (std::int64_t column = 0; column < columns; column += kFftFine<T>)
    for (std::int64_t row = 0; row < rows; ++row) append(plan.coarse, roots(row * column));
}

/// exp(-i pi k^2 / size) for k < size.
std::vector<RootsOfUnity::Root> chirp_of(std::int64_t size) {
  const RootsOfUnity roots(2 * size);
  std::vector<RootsOfUnity::Root> chirp;
  chirp.reserve(static_cast<std::size_t>(size));
  std::int64_t square = 0; // of k, modulo 2 size
  for (std::int64_t k = 0; k < size; ++k) {
    chirp.push_back(roots(square));
    square = (square + 2 * k + 1) % (2 * size);
  }
  return chirp;
}

template <class T>
void plan_chirp(FftPlan<T> &plan) {
  plan.kind = FftPlan<T>::Kind::chirp;
  const std::int64_t length = convolution_size(2 * plan.size - 1);
  plan.first = fft_plan<T>(length);
  const std::vector<RootsOfUnity::Root> chirp = chirp_of(plan.size);
  for (const RootsOfUnity::Root &root : chirp) append(plan.fine, root);
  // The other factor of the convolution is transformed in f64 and carries what the way back and
  // forth multiplies by.
  std::vector<double> conjugate(static_cast<std::size_t>(2 * length), 0.0), spectrum = conjugate;
  for (std::int64_t k = 0; k < plan.size; ++k)
    for (const std::int64_t at : {k, (length - k) % length}) {
      conjugate[static_cast<std::size_t>(2 * at)] =
          static_cast<double>(chirp[static_cast<std::size_t>(k)].re);
      conjugate[static_cast<std::size_t>(2 * at + 1)] =
          static_cast<double>(-chirp[static_cast<std::size_t>(k)].im);
    }
  const std::int64_t stride = 2;
  fft(DType::f64, {.kind = FftKind::complex,
                   .inverse = false,
                   .scale = 1 / static_cast<double>(length),
                   .size = length,
                   .rank = 1,
                   .sizes = &length,
                   .axis = 0,
                   .x = {conjugate.data(), &stride, conjugate.data() + 1, &stride},
                   .result = {spectrum.data(), &stride, spectrum.data() + 1, &stride}});
  plan.coarse.assign(spectrum.begin(), spectrum.end());
}

template <class T>
std::shared_ptr<const FftPlan<T>> new_plan(std::int64_t size, bool real) {
  auto plan = std::make_shared<FftPlan<T>>();
  plan->size = size;
  if (real) {
    plan->kind = FftPlan<T>::Kind::real;
    plan->first = fft_plan<T>(size / 2);
    const RootsOfUnity roots(size);
    for (std::int64_t k = 0; 4 * k <= size; ++k) append(plan->table, roots(k));
  } else if (!has_passes(size)) {
    plan_chirp(*plan);
  } else if (size > kLongest<T>) {
    plan_split(*plan);
  } else {
    plan_passes(*plan);
  }
  return plan;
}

/// The most recently used plans of one dtype.
template <class T>
class Plans {
public:
  std::shared_ptr<const FftPlan<T>> get(std::int64_t size, bool real) {
    const Key key = {size, real};
    if (auto found = find(key)) return found;
    // Not under the lock: a plan may need others. Of two threads that make the same the first wins.
    return insert(key, new_plan<T>(size, real));
  }

private:
  using Key = std::pair<std::int64_t, bool>;
  using Plan = std::shared_ptr<const FftPlan<T>>;
  using Recent = std::list<std::pair<Key, Plan>>;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  struct Kept {
    Recent recent; ///< the last used one first
    std::map<Key, typename Recent::iterator> by_key;
    std::size_t bytes = 0;
  };

  /// The lock, and what is kept while nobody else changes it.
  class Locked {
  public:
    explicit Locked(Plans &plans) : plans_(plans), lock_(plans.mutex_) {
      // A child whose parent was at it leaves the parent's alone.
      if (plans_.mutex_.renewed() && plans_.changing_) plans_.kept_ = new Kept;
      plans_.changing_ = true;
    }
    ~Locked() { plans_.changing_ = false; }
    Kept *operator->() const { return plans_.kept_; }

    Plan find(const Key &key) const {
      Kept &kept = *plans_.kept_;
      const auto found = kept.by_key.find(key);
      if (found == kept.by_key.end()) return nullptr;
      kept.recent.splice(kept.recent.begin(), kept.recent, found->second);
      return found->second->second;
    }

  private:
    Plans &plans_;
    const std::lock_guard<forks::Mutex<std::mutex>> lock_;
  };

  Plan find(const Key &key) { return Locked(*this).find(key); }

  Plan insert(const Key &key, const Plan &plan) {
    Recent dropped; // freed without the lock
    const Locked kept(*this);
    if (Plan found = kept.find(key)) return found;
    kept->recent.emplace_front(key, plan);
    kept->by_key[key] = kept->recent.begin();
    kept->bytes += plan->bytes();
    while (kept->bytes > kMostBytes && kept->recent.size() > 1) {
      const auto last = std::prev(kept->recent.end());
      kept->bytes -= last->second->bytes();
      kept->by_key.erase(last->first);
      dropped.splice(dropped.end(), kept->recent, last);
    }
    return plan;
  }

  forks::Mutex<std::mutex> mutex_;
  Kept *kept_ = new Kept;
  bool changing_ = false;
};

template <class T>
Plans<T> &plans() {
  static auto *all = new Plans<T>; // never destroyed: threads may transform until the end
  return *all;
}

} // namespace

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(std::int64_t size) {
  return plans<T>().get(size, false);
}
template <class T>
std::shared_ptr<const FftPlan<T>> fft_real_plan(std::int64_t size) {
  return plans<T>().get(size, true);
}

template std::shared_ptr<const FftPlan<float>> fft_plan<float>(std::int64_t);
template std::shared_ptr<const FftPlan<double>> fft_plan<double>(std::int64_t);
template std::shared_ptr<const FftPlan<float>> fft_real_plan<float>(std::int64_t);
template std::shared_ptr<const FftPlan<double>> fft_real_plan<double>(std::int64_t);

} // namespace weft::kernels
