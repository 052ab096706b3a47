// First values of variables: by their fans, orthogonal, constant.
#include <weft/nn/initializers.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "Support/Messages.h"
#include <weft/ops.h>
#include <weft/random.h>

namespace weft::nn::initializers {

namespace {

using Seed = std::optional<std::uint64_t>;

random::Generator generator_of(const Seed &seed) {
  return seed ? random::Generator(*seed) : random::process_generator();
}

struct Fans {
  double inputs, outputs;
};

Fans fans_of(const Shape &shape) {
  if (shape.empty()) return {1, 1};
  if (shape.size() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double window = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) window *= static_cast<double>(shape[i]);
  return {window * static_cast<double>(shape[shape.size() - 2]),
          window * static_cast<double>(shape.back())};
}

enum class Fan : std::uint8_t { inputs, mean };

/// Numbers of variance scale / fan.
VariableInitializer scaled(const char *name, double scale, Fan fan, bool normal) {
  return Named{
      name, {}, [=](const Shape &shape, DType dtype, const Seed &seed) {
        const random::Generator generator = generator_of(seed);
        const Fans fans = fans_of(shape);
        const double by = fan == Fan::inputs ? fans.inputs : (fans.inputs + fans.outputs) / 2;
        const double variance = scale / std::max(by, 1.);
        // The deviation of a normal distribution that is cut off at two of its deviations.
        constexpr double truncated = 0.87962566103423978;
        if (normal)
          return generator.truncated_normal(
              shape, {.mean = 0, .stddev = std::sqrt(variance) / truncated, .dtype = dtype});
        const double limit = std::sqrt(3 * variance);
        return generator.uniform(shape, {.low = -limit, .high = limit, .dtype = dtype});
      }};
}

void check_finite(const char *initializer, const char *what, double value, bool may_be_negative) {
  if (std::isfinite(value) && (may_be_negative || value >= 0)) return;
  throw ValueError(std::string(initializer) + ": " + what + " is " + number_text(value) +
                   ", but must be finite" + (may_be_negative ? "" : " and not negative"));
}

/// The rows of a matrix (count, size), count <= size, made orthonormal by modified Gram-Schmidt,
/// twice, which leaves no more than rounding (Giraud et al. 2005).
void orthonormalize(std::vector<double> &rows, std::int64_t count, std::int64_t size) {
  const auto row = [&](std::int64_t i) { return rows.data() + i * size; };
  for (std::int64_t i = 0; i < count; ++i) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t j = 0; j < i; ++j) {
        double product = 0;
        for (std::int64_t k = 0; k < size; ++k) product += row(i)[k] * row(j)[k];
        for (std::int64_t k = 0; k < size; ++k) row(i)[k] -= product * row(j)[k];
      }
    double norm = 0;
    for (std::int64_t k = 0; k < size; ++k) norm += row(i)[k] * row(i)[k];
    norm = std::sqrt(norm);
    for (std::int64_t k = 0; k < size; ++k) row(i)[k] /= norm;
  }
}

} // namespace

VariableInitializer glorot_uniform() { return scaled("glorot_uniform", 1, Fan::mean, false); }
VariableInitializer glorot_normal() { return scaled("glorot_normal", 1, Fan::mean, true); }
VariableInitializer he_uniform() { return scaled("he_uniform", 2, Fan::inputs, false); }
VariableInitializer he_normal() { return scaled("he_normal", 2, Fan::inputs, true); }
VariableInitializer lecun_uniform() { return scaled("lecun_uniform", 1, Fan::inputs, false); }
VariableInitializer lecun_normal() { return scaled("lecun_normal", 1, Fan::inputs, true); }

VariableInitializer orthogonal(double gain) {
  check_finite("orthogonal", "gain", gain, true);
  return Named{"orthogonal", {gain}, [=](const Shape &shape, DType dtype, const Seed &seed) {
                 const random::Generator generator = generator_of(seed);
                 if (shape.size() < 2)
                   throw ShapeError(
                       "orthogonal: a variable needs two axes or more, but the shape is " +
                       to_string(shape));
                 std::int64_t rows = 1;
                 for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
                 const std::int64_t columns = shape.back();
                 const std::int64_t count = std::min(rows, columns), size = std::max(rows, columns);
                 // Gram-Schmidt leaves the directions uniformly distributed, with the signs that
                 // QR's have when R has a positive diagonal.
                 const Tensor drawn = generator.normal({count, size}, {.dtype = DType::f64});
                 std::vector<double> numbers = drawn.to_vector<double>();
                 orthonormalize(numbers, count, size);
                 Tensor matrix = reshape(tensor(numbers), {count, size}) * gain;
                 if (rows > columns) matrix = transpose(matrix, {1, 0});
                 return reshape(matrix, shape).astype(dtype);
               }};
}

VariableInitializer uniform(double low, double high) {
  check_finite("uniform", "low", low, true);
  check_finite("uniform", "high", high, true);
  if (!(low < high))
    throw ValueError("uniform: low is " + number_text(low) + ", but must be below high, " +
                     number_text(high));
  return Named{"uniform", {low, high}, [=](const Shape &shape, DType dtype, const Seed &seed) {
                 const random::Generator generator = generator_of(seed);
                 return generator.uniform(shape, {.low = low, .high = high, .dtype = dtype});
               }};
}

VariableInitializer normal(double stddev, double mean) {
  check_finite("normal", "stddev", stddev, false);
  check_finite("normal", "mean", mean, true);
  return Named{"normal", {stddev, mean}, [=](const Shape &shape, DType dtype, const Seed &seed) {
                 const random::Generator generator = generator_of(seed);
                 return generator.normal(shape, {.mean = mean, .stddev = stddev, .dtype = dtype});
               }};
}

VariableInitializer truncated_normal(double stddev, double mean) {
  check_finite("truncated_normal", "stddev", stddev, false);
  check_finite("truncated_normal", "mean", mean, true);
  return Named{
      "truncated_normal", {stddev, mean}, [=](const Shape &shape, DType dtype, const Seed &seed) {
        const random::Generator generator = generator_of(seed);
        return generator.truncated_normal(shape, {.mean = mean, .stddev = stddev, .dtype = dtype});
      }};
}

namespace {

VariableInitializer filled(const char *name, std::vector<double> numbers, double value) {
  return Named{name, std::move(numbers), [=](const Shape &shape, DType dtype, const Seed &) {
                 return full(shape, value, dtype);
               }};
}

} // namespace

VariableInitializer constant(double value) { return filled("constant", {value}, value); }
VariableInitializer zeros() { return filled("zeros", {}, 0); }
VariableInitializer ones() { return filled("ones", {}, 1); }

} // namespace weft::nn::initializers
