// Keys, and distributions in terms of ops: maps of uniform numbers, and of what is drawn by
// rejection.
#include "Ops/Composites/Parts.h"

#include <cmath>
#include <numbers>
#include <string>

#include "Ops/Draws.h"

namespace weft::composites {

namespace {

using random::detail::advanced;
using random::detail::state_of_key;

std::string named(const char *function) { return std::string("random.") + function + ": "; }

} // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor random_split(const Tensor &key, Size num) {
  if (num.is_number() && num.number() < 0)
    raise(ErrorKind::shape, named("split") + std::to_string(num.number()) + " keys are asked for");
  return random::detail::keys_of(state_of_key("random.split", key), {num, 2});
}

Tensor random_fold_in(const Tensor &key, const Tensor &data) {
  if (data.rank() != 0)
    raise(ErrorKind::shape, named("fold_in") + "data has the shape " + to_string(shape_of(data)) +
                                ": it is a scalar");
  return random::detail::key_with(state_of_key("random.fold_in", key), data);
}

namespace {

/// A condition on a parameter: an error of this call where it is not traced, and of the program's
/// call otherwise.
void need(const char *function, const Tensor &condition, const char *what) {
  check(condition, named(function) + what);
}

/// What a parameter is in a result of those sizes.
Tensor fitted(const char *function, const Tensor &parameter, const std::optional<Sizes> &shape) {
  if (!shape || parameter.rank() == 0) return parameter;
  const Shape wanted(shape->numbers()), given = shape_of(parameter);
  const bool fits = [&] {
    if (given.rank() > wanted.rank()) return false;
    for (std::int64_t i = 1; i <= given.rank(); ++i) {
      const std::int64_t one = given[given.rank() - i], other = wanted[wanted.rank() - i];
      if (one != 1 && one != unknown && other >= 0 && one != other) return false;
    }
    return true;
  }();
  if (!fits)
    raise(ErrorKind::shape, named(function) + "a parameter of the shape " + to_string(given) +
                                " does not broadcast to the shape " + to_string(wanted));
  return broadcast(parameter, *shape);
}

/// The parameters of a call as they are in its result, and the sizes of that.
class Drawing {
public:
  Drawing(const char *function, std::vector<Tensor> parameters, const std::optional<Sizes> &shape)
      : function_(function), parameters_(std::move(parameters)) {
    if (shape) {
      for (std::size_t i = 0; i < shape->size(); ++i)
        if (const Size size = (*shape)[i]; size.is_number() && size.number() < 0)
          raise(ErrorKind::shape, named(function) + "a tensor cannot have the size " +
                                      std::to_string(size.number()) + " in axis " +
                                      std::to_string(i));
      for (Tensor &parameter : parameters_) parameter = fitted(function, parameter, shape);
      sizes_ = *shape;
    } else {
      if (parameters_.size() > 1) parameters_ = composites::broadcast_arrays(parameters_);
      sizes_ = detail::sizes_of(parameters_[0]);
    }
  }

  const Tensor &operator[](std::size_t i) const { return parameters_[i]; }
  const Sizes &sizes() const { return sizes_; }
  DType dtype() const { return parameters_[0].dtype(); }

  /// Takes streams of the key, after all checks.
  void begin(const Tensor &key, std::int64_t streams = 1) {
    state_ = random::detail::take("random." + std::string(function_), key, streams);
  }
  Tensor state(std::int64_t stream = 0) const {
    return stream == 0 ? state_ : advanced(state_, stream);
  }
  /// Numbers between 0 and 1, neither of which is among them, as far from one as from the other.
  Tensor between(std::int64_t stream = 0) const {
    return random::detail::open_interval(state(stream), sizes_, dtype());
  }
  /// Logarithms of numbers of gamma distributions.
  Tensor log_gamma(const Tensor &a, std::int64_t stream = 0) const {
    return draw_log_gamma(broadcast(a, sizes_), state(stream));
  }

private:
  const char *function_;
  std::vector<Tensor> parameters_;
  Sizes sizes_;
  Tensor state_;
};

/// Of distributions of a positive parameter alone.
Drawing of_positive(const char *function, const char *what, const Tensor &x,
                    const std::optional<Sizes> &shape, const Tensor &key) {
  need(function, x > 0, what);
  Drawing drawing(function, {x}, shape);
  drawing.begin(key);
  return drawing;
}

Drawing with_location(const char *function, const Tensor &loc, const Tensor &scale,
                      const std::optional<Sizes> &shape, const Tensor &key) {
  need(function, scale > 0, "scale is not positive");
  Drawing drawing(function, {loc, scale}, shape);
  drawing.begin(key);
  return drawing;
}

} // namespace

Tensor random_exponential(const Tensor &scale, const Tensor &key,
                          const random::ExponentialOptions &options) {
  const Drawing drawing =
      of_positive("exponential", "scale is not positive", scale, options.shape, key);
  return negate(log(drawing.between())) * drawing[0];
}

Tensor random_rayleigh(const Tensor &scale, const Tensor &key,
                       const random::RayleighOptions &options) {
  const Drawing drawing =
      of_positive("rayleigh", "scale is not positive", scale, options.shape, key);
  return sqrt(log(drawing.between()) * -2) * drawing[0];
}

Tensor random_pareto(const Tensor &a, const Tensor &key, const random::ParetoOptions &options) {
  const Drawing drawing = of_positive("pareto", "a is not positive", a, options.shape, key);
  return exp(negate(log(drawing.between())) / drawing[0]);
}

Tensor random_weibull(const Tensor &a, const Tensor &key, const random::WeibullOptions &options) {
  const Drawing drawing = of_positive("weibull", "a is not positive", a, options.shape, key);
  return exp(log(negate(log(drawing.between()))) / drawing[0]);
}

Tensor random_laplace(const Tensor &loc, const Tensor &scale, const Tensor &key,
                      const random::LaplaceOptions &options) {
  const Drawing drawing = with_location("laplace", loc, scale, options.shape, key);
  const Tensor side = drawing.between() - 0.5;
  return drawing[0] - drawing[1] * real_sign(side) * log1p(abs(side) * -2);
}

Tensor random_logistic(const Tensor &loc, const Tensor &scale, const Tensor &key,
                       const random::LogisticOptions &options) {
  const Drawing drawing = with_location("logistic", loc, scale, options.shape, key);
  const Tensor unit = drawing.between();
  return drawing[0] + drawing[1] * (log(unit) - log1p(negate(unit)));
}

Tensor random_gumbel(const Tensor &loc, const Tensor &scale, const Tensor &key,
                     const random::GumbelOptions &options) {
  const Drawing drawing = with_location("gumbel", loc, scale, options.shape, key);
  return drawing[0] - drawing[1] * log(negate(log(drawing.between())));
}

Tensor random_cauchy(const Tensor &loc, const Tensor &scale, const Tensor &key,
                     const random::CauchyOptions &options) {
  const Drawing drawing = with_location("cauchy", loc, scale, options.shape, key);
  const Tensor half = drawing.between() - 0.5;
  return drawing[0] + drawing[1] * (sinpi(half) / cospi(half));
}

Tensor random_lognormal(const Tensor &loc, const Tensor &scale, const Tensor &key,
                        const random::LognormalOptions &options) {
  const Drawing drawing = with_location("lognormal", loc, scale, options.shape, key);
  return exp(drawing[0] + drawing[1] * ndtri(drawing.between()));
}

Tensor random_geometric(const Tensor &p, const Tensor &key,
                        const random::GeometricOptions &options) {
  need("geometric", logical_and(p > 0, p <= 1), "p is not above 0, to 1");
  Drawing drawing("geometric", {p}, options.shape);
  drawing.begin(key);
  const Tensor before = floor(log(drawing.between()) / log1p(negate(drawing[0])));
  return cast(before + 1, DType::i64); // ends at the largest number
}

Tensor random_loggamma(const Tensor &a, const Tensor &key, const random::LoggammaOptions &options) {
  const Drawing drawing = of_positive("loggamma", "a is not positive", a, options.shape, key);
  return drawing.log_gamma(drawing[0]);
}

Tensor random_gamma(const Tensor &a, const Tensor &key, const random::GammaOptions &options) {
  const Drawing drawing = of_positive("gamma", "a is not positive", a, options.shape, key);
  return exp(drawing.log_gamma(drawing[0]));
}

Tensor random_chisquare(const Tensor &df, const Tensor &key,
                        const random::ChisquareOptions &options) {
  const Drawing drawing = of_positive("chisquare", "df is not positive", df, options.shape, key);
  return exp(drawing.log_gamma(drawing[0] / 2)) * 2;
}

Tensor random_student_t(const Tensor &df, const Tensor &key,
                        const random::StudentTOptions &options) {
  need("student_t", df > 0, "df is not positive");
  Drawing drawing("student_t", {df}, options.shape);
  drawing.begin(key, 2);
  // The normal number by the root of the mean of df squares.
  const Tensor half = drawing[0] / 2;
  return ndtri(drawing.between(1)) * exp((log(half) - drawing.log_gamma(half)) / 2);
}

Tensor random_beta(const Tensor &a, const Tensor &b, const Tensor &key,
                   const random::BetaOptions &options) {
  need("beta", a > 0, "a is not positive");
  need("beta", b > 0, "b is not positive");
  Drawing drawing("beta", {a, b}, options.shape);
  drawing.begin(key, 2);
  return logistic(drawing.log_gamma(drawing[0]) - drawing.log_gamma(drawing[1], 1));
}

namespace {

/// The shape of vectors, whose batch may be given, of that size.
std::optional<Sizes> with_last(const std::optional<Sizes> &batch, const Size &size) {
  if (!batch) return std::nullopt;
  Sizes sizes = *batch;
  sizes.push_back(size);
  return sizes;
}

void need_vectors(const char *function, const char *name, const Tensor &x) {
  if (x.rank() == 0)
    raise(ErrorKind::shape, named(function) + name + " is a scalar: vectors are wanted");
}

/// The size of the last axis, which must be known.
std::int64_t known_last(const char *function, const char *name, const Tensor &x) {
  need_vectors(function, name, x);
  const std::int64_t size = detail::size_for_call(x, x.rank() - 1);
  if (size == unknown)
    raise(ErrorKind::shape, named(function) + "the size of the last axis of " + name +
                                " is not known, which decides what is computed");
  return size;
}

void need_trials(const char *function, const Tensor &n) {
  constexpr double kMost = 0x1p53;
  need(function, logical_and(logical_and(n >= 0, n <= kMost), floor(n) == n),
       "n is no whole number from 0 to 2^53");
}

} // namespace

Tensor random_dirichlet(const Tensor &alpha, const Tensor &key,
                        const random::DirichletOptions &options) {
  need_vectors("dirichlet", "alpha", alpha);
  const Drawing drawing =
      of_positive("dirichlet", "alpha is not positive", alpha,
                  with_last(options.shape, size_along(alpha, alpha.rank() - 1)), key);
  // The shares of the numbers in their sum.
  const Tensor logarithms = drawing.log_gamma(drawing[0]);
  return exp(logarithms - logsumexp(logarithms, {.axes = Ints{-1}, .keepdims = true}));
}

Tensor random_poisson(const Tensor &lam, const Tensor &key, const random::PoissonOptions &options) {
  constexpr double kMost = 0x1p60;
  need("poisson", logical_and(lam >= 0, lam <= kMost), "lam is negative, or above 2^60");
  Drawing drawing("poisson", {lam}, options.shape);
  drawing.begin(key);
  return draw_poisson(broadcast(drawing[0], drawing.sizes()), drawing.state());
}

Tensor random_binomial(const Tensor &n, const Tensor &p, const Tensor &key,
                       const random::BinomialOptions &options) {
  need_trials("binomial", n);
  need("binomial", logical_and(p >= 0, p <= 1), "p is not from 0 to 1");
  Drawing drawing("binomial", {n, p}, options.shape);
  drawing.begin(key);
  return draw_binomial(broadcast(drawing[0], drawing.sizes()),
                       broadcast(drawing[1], drawing.sizes()), drawing.state());
}

Tensor random_multinomial(const Tensor &n, const Tensor &pvals, const Tensor &key,
                          const random::MultinomialOptions &options) {
  const std::int64_t count = known_last("multinomial", "pvals", pvals);
  need_trials("multinomial", n);
  need("multinomial", pvals >= 0, "a probability is negative");
  const Tensor total = sum(pvals, {.axes = Ints{-1}});
  need("multinomial", abs(total - 1) <= 1e-5, "the sum of the probabilities is not 1");
  Drawing drawing("multinomial", {n, total}, options.shape);
  const Sizes whole = *with_last(std::optional(drawing.sizes()), count);
  drawing.begin(key, count);
  return draw_multinomial(broadcast(drawing[0], drawing.sizes()), broadcast(pvals, whole),
                          drawing.state());
}

Tensor random_multivariate_normal(const Tensor &mean, const Tensor &cov, const Tensor &key,
                                  const random::MultivariateNormalOptions &options) {
  need_vectors("multivariate_normal", "mean", mean);
  const Size size = pinned_size(mean, mean.rank() - 1);
  std::vector<Tensor> open;
  const std::string text = named("multivariate_normal") + "cov has the shape " +
                           written(cov, open) + ": matrices with " + written(size, open) +
                           " rows and columns are wanted";
  if (cov.rank() < 2) refuse_shape(text);
  const Size columns = pinned_size(cov, cov.rank() - 1);
  if (!size.is_number() || !columns.is_number())
    detail::check_sizes(equal(size.tensor(), columns.tensor()), text, open);
  else if (size.number() != columns.number()) refuse_shape(text);
  // Rows of the matrices have their batches.
  Drawing drawing("multivariate_normal", {mean, sum(cov, {.axes = Ints{-1}})},
                  with_last(options.shape, size));
  const Tensor triangle = linalg::cholesky(cov);
  drawing.begin(key);
  const Tensor standard = ndtri(drawing.between());
  return drawing[0] + sum(triangle * with_axis(standard, standard.rank() - 1), {.axes = Ints{-1}});
}

Tensor random_shuffle(const Tensor &x, const Tensor &key) {
  if (x.rank() == 0)
    raise(ErrorKind::shape,
          named("shuffle") + "x is a scalar, so there is nothing to put in order");
  const Tensor state = random::detail::take("random.shuffle", key, 1);
  return gather(x, draw_permutation(state, {size_along(x, 0)}, DType::i64));
}

Tensor random_choice(const Tensor &from, const Tensor &given, const Tensor &key,
                     const random::ChoiceOptions &options) {
  Tensor a = from;
  if (a.rank() == 0 && is_integer(a.dtype()) && !a.traced()) { // NumPy's way to say so many
    const auto count = a.item<std::int64_t>();
    a = arange(std::max<std::int64_t>(count, 0), a.dtype());
  }
  if (a.rank() == 0)
    raise(ErrorKind::shape, named("choice") + "a is a scalar" +
                                (a.traced() ? " of a trace: arange of how many there are is wanted"
                                            : ", so there is nothing to choose from"));
  const std::int64_t size = detail::size_for_call(a, 0);
  const Sizes shape = options.shape.value_or(Sizes{});
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    count = shape[i].is_number() && count != unknown ? count * shape[i].number() : unknown;
  if (size == unknown || count == unknown)
    raise(ErrorKind::shape, named("choice") + "how many slices a has, and how many are chosen, "
                                              "must be known");
  if (count < 0) raise(ErrorKind::shape, named("choice") + "a size of the shape is negative");
  if (count > 0 && (size == 0 || (!options.replace && count > size)))
    raise(ErrorKind::value, named("choice") + std::to_string(count) + " of " +
                                std::to_string(size) + " slices are to be chosen" +
                                (options.replace ? "" : " without replacement"));
  const Tensor p = given.defined() && given.dtype() != DType::f64 ? cast(given, DType::f32) : given;
  if (p.defined() && (p.rank() != 1 || detail::size_for_call(p, 0) != size))
    raise(ErrorKind::shape, named("choice") + "p has the shape " + to_string(shape_of(p)) +
                                ": a number for each of " + std::to_string(size) +
                                " slices is wanted");
  if (p.defined())
    need("choice", logical_and(p >= 0, isfinite(p)), "a number of p is negative or not finite");
  if (p.defined() && count > 0) {
    const std::int64_t least = options.replace ? 1 : count;
    need("choice", sum(cast(p > 0, DType::i64)) >= least,
         options.replace ? "no number of p is positive"
                         : "fewer numbers of p are positive than slices are to be chosen");
  }
  const Tensor state = random::detail::take("random.choice", key, 1);
  Tensor chosen;
  if (!options.replace && p.defined()) { // by Gumbel: the largest of logarithms with his noise
    const Tensor unit = random::detail::open_interval(state, {size}, p.dtype());
    chosen = top_k(log(p) - log(negate(log(unit))), count).indices;
  } else if (!options.replace) {
    chosen = between(draw_permutation(state, {size}, DType::i64), 0, 0, count);
  } else if (p.defined() && size > 0) {
    const Tensor sums = cumsum(p, {.axis = 0});
    const Tensor unit = random::detail::open_interval(state, {count}, p.dtype());
    chosen =
        minimum(search_sorted(sums, unit * along(sums, 0, size - 1), {.right = true}), size - 1);
  } else {
    const Tensor unit = draw_uniform(state, {count}, DType::f64);
    chosen = cast(floor(unit * static_cast<double>(size)), DType::i64);
  }
  return gather(a, reshape(chosen, shape));
}

} // namespace weft::composites
