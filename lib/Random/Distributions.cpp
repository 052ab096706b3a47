// The distributions, each a map of uniform numbers by public ops, so that eager and compiled
// results agree as those ops do. The most used ones take a shorter way to the same bits where
// nobody records the ops.
#include "Random/Source.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "OpDefs/ShapeFunctions.h"
#include "Ops/DeviceOps.h"
#include "Ops/Draws.h"
#include "Ops/Eager.h"
#include "Ops/EagerDistributions.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include "Support/Messages.h"
#include <weft/composites.h>
#include <weft/dtype_info.h>

namespace weft::random {

Extent like(const Operand &x) {
  const CompositeCall site("random::like", x.where());
  return {weft::detail::sizes_of(x.materialize()), x.where()};
}

namespace detail {

namespace {

/// The value at x of the polynomial with these coefficients, the highest power's first.
Tensor polynomial(const Tensor &x, std::span<const double> coefficients) {
  Tensor value = x * coefficients[0] + coefficients[1];
  for (const double coefficient : coefficients.subspan(2)) value = value * x + coefficient;
  return value;
}

/// The numerators and denominators in the middle, where |q| <= 0.425, and beside it.
struct Approximation {
  std::span<const double> middle_above, middle_below, side_above, side_below;
};

constexpr double kMiddleAbove7[] = {59.109374720, 159.29113202, 50.434271938, 3.3871327179};
constexpr double kMiddleBelow7[] = {67.187563600, 78.757757664, 17.895169469, 1};
constexpr double kSideAbove7[] = {0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777};
constexpr double kSideBelow7[] = {0.12021132975, 0.73700164250, 1};

constexpr double kMiddleAbove16[] = {
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
constexpr double kMiddleBelow16[] = {
    5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1};
constexpr double kSideAbove16[] = {7.7454501427834140764e-4, .0227238449892691845833,
                                   .24178072517745061177,    1.27045825245236838258,
                                   3.64784832476320460504,   5.7694972214606914055,
                                   4.6303378461565452959,    1.42343711074968357734};
constexpr double kSideBelow16[] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                                   .0151986665636164571966,   .14810397642748007459,
                                   .68976733498510000455,     1.6763848301838038494,
                                   2.05319162663775882187,    1};

constexpr Approximation k7Digits{kMiddleAbove7, kMiddleBelow7, kSideAbove7, kSideBelow7};
constexpr Approximation k16Digits{kMiddleAbove16, kMiddleBelow16, kSideAbove16, kSideBelow16};

/// The number below which a normal one is with the probability 1/2 + q, for |q| up to 1/2 - 0.0227,
/// about two standard deviations, as a quotient of polynomials. By Wichura, "Algorithm AS 241"
/// (1988): to 7 digits in f32, to 16 in f64.
Tensor normal_quantile(const Tensor &q) {
  const Approximation &fit = q.dtype() == DType::f32 ? k7Digits : k16Digits;
  const Tensor r = 0.180625 - q * q;
  const Tensor middle = q * (polynomial(r, fit.middle_above) / polynomial(r, fit.middle_below));
  const Tensor s = sqrt(negate(log(0.5 - abs(q)))) - 1.6;
  const Tensor side =
      real_sign(q) * (polynomial(s, fit.side_above) / polynomial(s, fit.side_below));
  return select(abs(q) <= 0.425, middle, side);
}

std::string named(const char *function) { return std::string("random::") + function; }

void need_floating(const char *function, DType dtype) {
  if (!is_floating(dtype))
    throw DTypeError(named(function) + ": the dtype must be floating, but it is " +
                     std::string(name_of(dtype)));
}

void need_integer(const char *function, DType dtype) {
  if (!is_integer(dtype))
    throw DTypeError(named(function) + ": the dtype must be an integer, but it is " +
                     std::string(name_of(dtype)));
}

/// A number as the dtype holds it.
double rounded(double value, DType dtype) {
  if (std::abs(value) > finfo(dtype).max)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return visit_dtype(dtype, [&]<class T>() -> double {
    if constexpr (is_complex_number<T>) return value;
    else return static_cast<double>(static_cast<T>(value));
  });
}

/// The largest number of the dtype below one that it holds.
double before(double value, DType dtype) {
  const Tensor bounds[] = {Operand(value).materialize(dtype),
                           Operand(-finfo(dtype).max).materialize(dtype)};
  return execute_eager(OpCode::nextafter, bounds, {}).item<double>();
}

/// Numbers of [0, 1), as many of them as the dtype has between 1/2 and 1, and as many again.
Tensor unit_of(const Tensor &state, const Sizes &sizes, DType dtype) {
  const DType compute = dtype_info(dtype).compute;
  if (compute == dtype) return draw_uniform(state, sizes, dtype);
  // Rounded to the nearest some would be 1.
  const double steps = 2 / finfo(dtype).eps;
  return cast(floor(draw_uniform(state, sizes, compute) * steps) / steps, dtype);
}

/// `reach` is how many standard deviations the numbers go to either side.
void check_normal(const char *function, const Normal &parameters, double reach) {
  need_floating(function, parameters.dtype);
  if (!std::isfinite(parameters.mean) || !std::isfinite(parameters.stddev) || parameters.stddev < 0)
    throw ValueError(named(function) + ": the mean is " + number_text(parameters.mean) +
                     " and the standard deviation " + number_text(parameters.stddev) +
                     ": both must be finite, the latter not negative");
  const double farthest = std::abs(parameters.mean) + reach * parameters.stddev;
  if (!std::isfinite(rounded(farthest, parameters.dtype)))
    throw ValueError(named(function) + ": numbers of mean " + number_text(parameters.mean) +
                     " and standard deviation " + number_text(parameters.stddev) +
                     " are too large for the dtype " + std::string(name_of(parameters.dtype)));
}

void check_uniform(const Uniform &range) {
  need_floating("uniform", range.dtype);
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low >= range.high)
    throw ValueError("random::uniform: low must be below high and both finite");
  const std::string what = "random::uniform: the range [" + number_text(range.low) + ", " +
                           number_text(range.high) + ")";
  const std::string name(name_of(range.dtype));
  const double low = rounded(range.low, range.dtype), high = rounded(range.high, range.dtype);
  if (!std::isfinite(low) || !std::isfinite(high))
    throw ValueError(what + " has bounds that are too large for the dtype " + name);
  if (!std::isfinite(rounded(range.high - range.low, range.dtype)))
    throw ValueError(what + " is wider than the largest number of the dtype " + name);
  if (low == high) throw ValueError(what + " is empty: its bounds are the same number in " + name);
}

/// The shape that sizes give a tensor, unknown where a trace computes them.
Shape shape_of(const Sizes &sizes) {
  Shape shape(sizes.numbers());
  for (std::int64_t &size : shape)
    if (size == weft::detail::kDynamic) size = unknown;
  return shape;
}

/// The sizes, after a check of those that are numbers.
const Sizes &checked_sizes(const char *function, const Extent &extent, DType dtype) {
  const Sizes &sizes = extent.sizes();
  const Interpreter *interpreter = Interpreter::current();
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const Size size = sizes[axis];
    if (!size.is_number() || size.number() >= 0) continue;
    if (size.number() == unknown && interpreter != nullptr && interpreter->traces())
      throw ShapeError(named(function) + ": this trace does not know the size of axis " +
                       std::to_string(axis) + ": for the shape of a tensor x use random::like(x)");
    throw ShapeError(named(function) + ": a tensor cannot have the size " +
                     std::to_string(size.number()) + " in axis " + std::to_string(axis));
  }
  if (const auto count = element_count(shape_of(sizes), item_size(dtype)); !count)
    raise(count.fault().kind, named(function) + ": " + count.fault().message);
  return sizes;
}

/// x * scale + offset, and x itself of what changes nothing.
Tensor scaled(Tensor x, double scale, double offset) {
  if (scale != 1) x = x * scale;
  if (offset != 0) x = x + offset;
  return x;
}

} // namespace

Tensor uniform(Source &source, const Extent &shape, const Uniform &range) {
  check_uniform(range);
  const Sizes &sizes = checked_sizes("uniform", shape, range.dtype);
  const Tensor state = source.take(1);
  if (range.low == 0 && range.high == 1) return unit_of(state, sizes, range.dtype);
  // Rounding may reach the end of the range, which does not belong to it.
  const double high = rounded(range.high, range.dtype), low = rounded(range.low, range.dtype);
  const double last = before(high, range.dtype), width = range.high - range.low;
  const DType compute = dtype_info(range.dtype).compute;
  const auto narrowed = [&](Tensor drawn) {
    return compute == range.dtype ? drawn : minimum(cast(drawn, range.dtype), last);
  };
  if (eager::in_one_pass(sizes))
    return narrowed(eager::uniform_in_one_pass(state, Shape(sizes.numbers()), compute, low, width,
                                               compute == range.dtype ? last : high));
  const Tensor drawn = low + draw_uniform(state, sizes, compute) * width;
  return narrowed(minimum(drawn, compute == range.dtype ? last : high));
}

Tensor normal(Source &source, const Extent &shape, const Normal &parameters) {
  // The largest of f64 are 8.6 standard deviations away.
  check_normal("normal", parameters, parameters.dtype == DType::f32 ? 6 : 9);
  if (const DType compute = dtype_info(parameters.dtype).compute; compute != parameters.dtype)
    return cast(normal(source, shape, {parameters.mean, parameters.stddev, compute}),
                parameters.dtype);
  const Sizes &sizes = checked_sizes("normal", shape, parameters.dtype);
  const Tensor state = source.take(2);
  if (eager::in_one_pass(sizes))
    return eager::normal_in_one_pass(state, Shape(sizes.numbers()), parameters.dtype,
                                     parameters.mean, parameters.stddev);
  const Tensor radius = 1 - draw_uniform(state, sizes, parameters.dtype); // never 0
  const Tensor angle = draw_uniform(advanced(state, 1), sizes, parameters.dtype);
  const Tensor standard = sqrt(log(radius) * -2) * cos(angle * (2 * std::numbers::pi));
  return scaled(standard, parameters.stddev, parameters.mean);
}

Tensor truncated_normal(Source &source, const Extent &shape, const Normal &parameters) {
  check_normal("truncated_normal", parameters, 2);
  if (const DType compute = dtype_info(parameters.dtype).compute; compute != parameters.dtype)
    return cast(truncated_normal(source, shape, {parameters.mean, parameters.stddev, compute}),
                parameters.dtype);
  const Sizes &sizes = checked_sizes("truncated_normal", shape, parameters.dtype);
  const Tensor unit = draw_uniform(source.take(1), sizes, parameters.dtype);
  // What of the distribution lies within two standard deviations: erf(sqrt(2)).
  constexpr double kMass = 0.95449973610364158560;
  const Tensor standard = minimum(maximum(normal_quantile((unit - 0.5) * kMass), -2), 2);
  return scaled(standard, parameters.stddev, parameters.mean);
}

Tensor bernoulli(Source &source, const Extent &shape, const Operand &probability) {
  if (!probability.weak() && !is_floating(probability.dtype()))
    throw DTypeError("random::bernoulli: the probability must be floating, but it is " +
                     std::string(name_of(probability.dtype())));
  const Sizes &sizes = checked_sizes("bernoulli", shape, DType::f64);
  const Tensor p =
      probability.weak() ? probability.materialize(DType::f32) : probability.materialize();
  // Shapes first, as in a trace, which sees them before any value.
  const TensorType compared[] = {{p.dtype(), shape_of(sizes)}, weft::detail::type_of(p)};
  if (const Result<TensorType> type = infer({OpCode::less, compared, {}}); !type)
    raise(type.fault().kind, "less: " + type.fault().message);
  if (!probability.weak())
    check(logical_and(p >= 0, p <= 1), "random::bernoulli: a probability is not from 0 to 1", p);
  else if (const auto value = p.item<float>(); !(value >= 0 && value <= 1))
    throw ValueError("random::bernoulli: the probability " + number_text(value) +
                     " is not from 0 to 1");
  const DType compute = dtype_info(p.dtype()).compute;
  DeviceOfOperands beside;
  beside.follow(p.rank() == 0 ? nullptr : p.impl());
  return draw_uniform(source.take(1), sizes, compute) < cast(p, compute);
}

/// The sizes of noise for draws of `shape` from logits of these sizes, of which the shape's last
/// are all but the axis.
static Sizes sizes_of_draws(const Sizes &logits, std::int64_t axis, const Sizes &shape) {
  const auto rank = static_cast<std::int64_t>(logits.size());
  if (axis < -rank || axis >= rank) return logits; // which argmax says
  const std::size_t along = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  Sizes batch;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (i != along) batch.push_back(logits[i]);
  bool fits = shape.size() >= batch.size();
  const std::size_t more = fits ? shape.size() - batch.size() : 0;
  const auto known = [](const Size &size) { return size.is_number() && size.number() != unknown; };
  for (std::size_t i = 0; fits && i < batch.size(); ++i) {
    const Size wanted = shape[more + i];
    fits = !known(wanted) || !known(batch[i]) || wanted.number() == batch[i].number();
  }
  if (!fits)
    throw ShapeError("random::categorical: the shape is " + to_string(shape_of(shape)) +
                     ", but logits without the axis have the shape " + to_string(shape_of(batch)) +
                     ", which must be its end");
  Sizes sizes;
  for (std::size_t i = 0; i < more; ++i) sizes.push_back(shape[i]);
  for (std::size_t i = 0; i < logits.size(); ++i) sizes.push_back(logits[i]);
  return sizes;
}

Tensor categorical(Source &source, const Operand &given, std::int64_t axis,
                   const std::optional<Sizes> &shape) {
  need_floating("categorical", given.dtype());
  const Tensor logits = cast(given, dtype_info(given.dtype()).compute);
  Sizes sizes = weft::detail::sizes_of(logits);
  if (shape) sizes = sizes_of_draws(sizes, axis, *shape);
  const std::int64_t from_the_end = shape && axis >= 0 ? axis - logits.rank() : axis;
  DeviceOfOperands beside;
  beside.follow(logits);
  // By Gumbel: the largest of logits with noise of his distribution. None is infinite.
  const double least = logits.dtype() == DType::f32 ? std::numeric_limits<float>::min()
                                                    : std::numeric_limits<double>::min();
  const Tensor unit = maximum(draw_uniform(source.take(1), sizes, logits.dtype()), least);
  return argmax(logits - log(negate(log(unit))), {.axis = from_the_end});
}

Tensor randint(Source &source, const Extent &shape, std::int64_t low, std::int64_t high,
               DType dtype) {
  need_integer("randint", dtype);
  const auto range = [&] { return "[" + std::to_string(low) + ", " + std::to_string(high) + ")"; };
  if (low >= high) throw ValueError("random::randint: the range " + range() + " is empty");
  const bool fits = visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return std::in_range<T>(low) && std::in_range<T>(high - 1);
    return false;
  });
  if (!fits)
    throw ValueError("random::randint: the range " + range() + " does not fit the dtype " +
                     std::string(name_of(dtype)));
  std::int64_t width = 0;
  if (__builtin_sub_overflow(high, low, &width) || width > std::int64_t{1} << 53)
    throw ValueError("random::randint: the range " + range() + " has more than 2^53 numbers");
  const Sizes &sizes = checked_sizes("randint", shape, dtype);
  const Tensor state = source.take(1);
  if (eager::in_one_pass(sizes)) {
    const DType drawn = dtype_info(dtype).compute;
    const Tensor numbers =
        eager::randint_in_one_pass(state, Shape(sizes.numbers()), low, width, drawn);
    return drawn == dtype ? numbers : cast(numbers, dtype);
  }
  // The product is exact or rounded below the width.
  const Tensor unit = draw_uniform(state, sizes, DType::f64);
  const Tensor above = cast(floor(unit * static_cast<double>(width)), DType::i64);
  return cast(above + low, dtype);
}

Tensor permutation(Source &source, const Size &n, DType dtype) {
  need_integer("permutation", dtype);
  if (n.is_number() && n.number() < 0)
    throw ValueError("random::permutation: n is " + std::to_string(n.number()));
  const int bits = dtype_info(dtype).bits - (is_unsigned(dtype) ? 0 : 1);
  if (n.is_number() && bits < 63 && n.number() > std::int64_t{1} << bits)
    throw ValueError("random::permutation: " + std::to_string(n.number()) +
                     " numbers do not fit the dtype " + std::string(name_of(dtype)));
  const Sizes sizes{n};
  checked_sizes("permutation", sizes, dtype);
  const DType drawn = dtype_info(dtype).compute;
  const Tensor numbers = draw_permutation(source.take(1), sizes, drawn);
  return drawn == dtype ? numbers : cast(numbers, dtype);
}

Tensor shuffle(Source &source, const Operand &x) {
  const Tensor rows = x.materialize();
  if (rows.rank() == 0)
    throw ShapeError("random::shuffle: x is a scalar, so there is nothing to put in order");
  const Sizes count{weft::detail::sizes_of(rows)[0]};
  DeviceOfOperands beside;
  beside.follow(rows);
  return gather(rows, draw_permutation(source.take(1), count, DType::i64));
}

} // namespace detail
} // namespace weft::random
