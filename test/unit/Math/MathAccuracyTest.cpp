// Holds the eager ops to the tables of correctly rounded results, special values included.
#include "MathTables.h"

#include <gtest/gtest.h>

#include <weft/ops.h>

namespace weft {
namespace {

using math_tables::read_table;
using math_tables::steps_between;
using math_tables::Table;

/// An op of one argument and how far from the correctly rounded result it may be.
struct Function {
  const char *table;
  Tensor (*op)(const Operand &);
  std::uint64_t steps = 1;
};
const Function kFunctions[] = {
    {"exp", exp}, {"expm1", expm1}, {"log", log}, {"log1p", log1p}, {"tanh", tanh, 2},
    {"erf", erf}, {"sin", sin},     {"cos", cos}, {"rsqrt", rsqrt},
};

template <class T>
void expect_near(const std::string &function, const Table<T> &table, const std::vector<T> &result,
                 std::uint64_t steps) {
  ASSERT_EQ(result.size(), table.result.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    EXPECT_LE(steps_between(result[i], table.result[i]), steps)
        << std::hexfloat << function << " of " << table.x[i] << ' '
        << (table.y.empty() ? T() : table.y[i]) << " is " << result[i] << ", should be "
        << table.result[i];
}

template <class T>
Tensor column(const std::vector<T> &values) {
  return tensor(values, {static_cast<std::int64_t>(values.size())});
}

class MathAccuracy : public testing::TestWithParam<Function> {
protected:
  template <class T>
  void check() {
    const Function &function = GetParam();
    const Table<T> table = read_table<T>(function.table);
    expect_near(function.table, table, function.op(column(table.x)).template to_vector<T>(),
                function.steps);
  }
};

TEST_P(MathAccuracy, F32) { check<float>(); }
TEST_P(MathAccuracy, F64) { check<double>(); }

INSTANTIATE_TEST_SUITE_P(All, MathAccuracy, testing::ValuesIn(kFunctions),
                         [](const auto &info) { return std::string(info.param.table); });

template <class T>
void expect_power_near() {
  const Table<T> table = read_table<T>("pow");
  const Tensor result = power(column(table.x), column(table.y));
  expect_near("power", table, result.template to_vector<T>(), 1);
}

TEST(MathAccuracyOfPower, F32) { expect_power_near<float>(); }
TEST(MathAccuracyOfPower, F64) { expect_power_near<double>(); }

} // namespace
} // namespace weft
