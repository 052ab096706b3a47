// Inputs of the reference values of Keras, and the comparison with them, eager and traced.
#pragma once

#include "../../Testing.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <weft/weft.h>

namespace weft {

using Doubles = std::vector<double>;

// As in the scripts.

inline Tensor wave(const Shape &shape, double phase) {
  std::int64_t size = 1;
  for (const std::int64_t dim : shape) size *= dim;
  Doubles values;
  for (std::int64_t i = 0; i < size; ++i)
    values.push_back(0.5 * std::sin(0.7 * static_cast<double>(i) + phase));
  return reshape(tensor(values), shape);
}
inline Tensor shares(const Shape &shape, double phase) {
  const Tensor x = wave(shape, phase) + 0.6;
  return x / sum(x, {.axes = Ints{-1}, .keepdims = true});
}
inline Tensor bits(const Shape &shape, double phase) {
  return (wave(shape, phase) > 0).astype(f64);
}
inline Tensor labels(const Shape &shape, std::int64_t classes) {
  return iota(i32, {ones(shape).size()}).reshape(shape) * 7 % 11 % classes;
}

/// Keras computes functions such as tanh in f32, whatever the dtype.
inline void expect_as_in(const std::map<std::string, Doubles> &reference, const std::string &name,
                         const Doubles &found) {
  const Doubles &expected = reference.at(name);
  ASSERT_EQ(found.size(), expected.size()) << name;
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], 1e-6 * (1 + std::abs(expected[i])))
        << name << ", number " << i;
}

} // namespace weft
