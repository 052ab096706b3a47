// Holds the eager ops to the tables of correctly rounded results, special values included.
#include "MathTables.h"

#include <gtest/gtest.h>

#include <weft/ops.h>

#include <cmath>

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
    {"exp", exp},        {"expm1", expm1},      {"log", log},          {"log1p", log1p},
    {"log2", log2},      {"log10", log10},      {"tanh", tanh, 2},     {"erf", erf},
    {"sin", sin},        {"cos", cos},          {"rsqrt", rsqrt},      {"erfc", erfc, 2},
    {"erfcx", erfcx, 2}, {"erfinv", erfinv, 4}, {"ndtr", ndtr, 4},     {"log_ndtr", log_ndtr, 4},
    {"ndtri", ndtri, 4}, {"gamma", gamma, 3},   {"lgamma", lgamma, 4}, {"digamma", digamma, 4},
    {"i0", i0, 4},       {"i0e", i0e, 3},       {"i1", i1, 4},         {"i1e", i1e, 3},
    {"sinpi", sinpi},    {"cospi", cospi},      {"sinc", sinc, 2},     {"tan", tan},
    {"atan", atan},      {"asin", asin},        {"acos", acos},        {"sinh", sinh},
    {"cosh", cosh},      {"asinh", asinh},      {"acosh", acosh},      {"atanh", atanh},
    {"cbrt", cbrt},
};

/// Powers whose logarithm is a whole number, up to the last that the dtype holds.
template <class T>
void expect_exact_logarithms(Tensor (*logarithm)(const Operand &), double base, int first,
                             int last) {
  std::vector<T> powers, exponents;
  for (int n = first; n <= last; ++n) {
    powers.push_back(static_cast<T>(std::pow(base, n)));
    exponents.push_back(static_cast<T>(n));
  }
  const Tensor x = tensor(powers, {static_cast<std::int64_t>(powers.size())});
  EXPECT_EQ(logarithm(x).to_vector<T>(), exponents) << "base " << base;
}

TEST(LogarithmsOfPowers, AreWhole) {
  expect_exact_logarithms<float>(log2, 2, -149, 127);
  expect_exact_logarithms<double>(log2, 2, -1074, 1023);
  expect_exact_logarithms<float>(log10, 10, 0, 10);
  expect_exact_logarithms<double>(log10, 10, 0, 22);
}

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

/// The same of two arguments.
struct BinaryFunction {
  const char *table;
  Tensor (*op)(const Operand &, const Operand &);
  std::uint64_t steps = 1;
};
const BinaryFunction kBinaryFunctions[] = {
    {"pow", power},       {"zeta", zeta, 4},          {"hypot", hypot},
    {"atan2", atan2},     {"gammainc", gammainc, 16}, {"gammaincc", gammaincc, 16},
    {"betaln", betaln, 4}};

class MathAccuracyOfTwo : public testing::TestWithParam<BinaryFunction> {
protected:
  template <class T>
  void check() {
    const BinaryFunction &function = GetParam();
    const Table<T> table = read_table<T>(function.table);
    const Tensor result = function.op(column(table.x), column(table.y));
    expect_near(function.table, table, result.template to_vector<T>(), function.steps);
  }
};

TEST_P(MathAccuracyOfTwo, F32) { check<float>(); }
TEST_P(MathAccuracyOfTwo, F64) { check<double>(); }

INSTANTIATE_TEST_SUITE_P(All, MathAccuracyOfTwo, testing::ValuesIn(kBinaryFunctions),
                         [](const auto &info) { return std::string(info.param.table); });

} // namespace
} // namespace weft
