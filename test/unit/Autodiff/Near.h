// What tests of derivatives share: elements near those expected.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <weft/ops.h>

namespace weft {

/// The elements, of any dtype, are these but for `tolerance` of 1 plus their size.
inline void expect_near(const Tensor &found, const std::vector<double> &expected,
                        double tolerance = 1e-12) {
  const std::vector<double> values = found.astype(f64).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
}

} // namespace weft
