// Functions made of ops that have one kernel: it gives the bits that the ops give, for all of the
// table, on numbers of all sizes and on special ones in all combinations.
#include "Ops/Fused.h"
#include "NN/FusedCall.h"
#include "Ops/FusedTable.h"
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include <weft/weft.h>

namespace weft {
namespace {

struct Function {
  const char *name;
  std::size_t operands;
  std::vector<DType> dtypes;
  std::function<Tensor(std::span<const Tensor>)> call;
};

const std::vector<Function> &functions() {
  static const std::vector<Function> all{
#define WEFT_FUSED(name, operands, call, ...)                                                      \
  {#name, operands, {__VA_ARGS__}, [](std::span<const Tensor> x) -> Tensor { return call; }},
#include "Ops/Fused.def"
  };
  return all;
}

/// The ops one by one: somebody could record them.
Tensor op_by_op(const Function &function, std::span<const Tensor> x) {
  GradientTape tape({.watch_accessed_variables = false});
  return function.call(x);
}

template <class T>
std::vector<T> specials() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return {0,
            T(-0.0),
            1,
            -1,
            T(0.5),
            T(-0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(0.3),
            T(-7.25),
            3,
            6,
            T(1e-3),
            T(1e5),
            T(-1e10),
            T(88.5),
            T(-104),
            T(710),
            Limits::min(),
            -Limits::min(),
            Limits::denorm_min(),
            -Limits::denorm_min(),
            Limits::min() / 3,
            Limits::max(),
            Limits::lowest(),
            Limits::epsilon(),
            1 + Limits::epsilon(),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN()};
  else if constexpr (std::is_same_v<T, bool>) return {false, true};
  else
    return {T(0),
            T(1),
            T(-1),
            T(2),
            T(-2),
            T(3),
            T(-3),
            T(7),
            T(-7),
            T(100),
            T(12345),
            Limits::max(),
            T(-8),
            T(10),
            Limits::max() - T(1),
            Limits::min(),
            Limits::min() + T(1),
            T(-12345)};
}

/// The specials in all combinations of so many operands.
template <class T>
std::vector<Tensor> combinations(std::size_t operands) {
  const std::vector<T> values = specials<T>();
  std::size_t count = 1;
  for (std::size_t i = 0; i < operands; ++i) count *= values.size();
  std::vector<Tensor> tensors;
  for (std::size_t i = 0, step = 1; i < operands; ++i, step *= values.size()) {
    Tensor x = zeros({static_cast<std::int64_t>(count)}, dtype_of<T>);
    for (std::size_t k = 0; k < count; ++k)
      static_cast<T *>(static_cast<void *>(x.impl()->data))[k] = values[k / step % values.size()];
    tensors.push_back(x);
  }
  return tensors;
}

/// Numbers of all sizes.
template <class T>
Tensor numbers(Shape shape, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Tensor x = zeros(shape, dtype_of<T>);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double size = std::exp2(static_cast<double>(generator() % 24) - 12);
    static_cast<T *>(static_cast<void *>(x.impl()->data))[i] =
        static_cast<T>(normal(generator) * size);
  }
  return x;
}

/// Equal bits, where all NaN are one.
void expect_same(const Tensor &got, const Tensor &wanted, const std::string &what) {
  ASSERT_EQ(got.type(), wanted.type()) << what;
  const std::size_t item = item_size(got.dtype());
  const std::byte *a = got.impl()->data, *b = wanted.impl()->data;
  const auto number = [&](const std::byte *at) {
    if (got.dtype() == f32) return static_cast<double>(*reinterpret_cast<const float *>(at));
    return got.dtype() == f64 ? *reinterpret_cast<const double *>(at) : 0;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(got.size()); ++i, a += item, b += item) {
    if (std::memcmp(a, b, item) == 0) continue;
    ASSERT_TRUE(std::isnan(number(a)) && std::isnan(number(b)))
        << what << " at " << i << ": " << number(a) << " instead of " << number(b);
  }
}

template <class Check>
void for_each_kernel(const Check &check) {
  for (const Function &function : functions())
    for (const DType dtype : function.dtypes) {
      const std::string what = std::string(function.name) + " of " + std::string(name_of(dtype));
      visit_dtype(dtype, [&]<class T>() {
        if constexpr (std::is_arithmetic_v<T>) check.template operator()<T>(function, what);
        else ADD_FAILURE() << what << ", which is computed in another dtype";
      });
    }
}

TEST(Fused, GivesTheBitsOfItsOps) {
  for_each_kernel([]<class T>(const Function &function, const std::string &what) {
    const std::vector<Tensor> special = combinations<T>(function.operands);
    expect_same(function.call(special), op_by_op(function, special), what + ", special numbers");
    std::vector<Tensor> random;
    for (unsigned i = 0; i < function.operands; ++i) random.push_back(numbers<T>({20011}, i));
    expect_same(function.call(random), op_by_op(function, random), what + ", numbers");
  });
}

// Each operand as one number, as a row, as a column, as a view whose elements are not in order.
TEST(Fused, BroadcastsAsItsOps) {
  for_each_kernel([]<class T>(const Function &function, const std::string &what) {
    const Tensor forms[] = {numbers<T>({37, 50}, 1),
                            numbers<T>({}, 2),
                            numbers<T>({50}, 3),
                            numbers<T>({37, 1}, 4),
                            transpose(numbers<T>({50, 37}, 5), {1, 0}),
                            numbers<T>({1, 1}, 6)};
    std::size_t count = 1;
    for (std::size_t i = 0; i < function.operands; ++i) count *= std::size(forms);
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<Tensor> x;
      for (std::size_t i = 0, rest = k; i < function.operands; ++i, rest /= std::size(forms))
        x.push_back(forms[rest % std::size(forms)]);
      Tensor wanted;
      try {
        wanted = op_by_op(function, x);
      } catch (const ShapeError &) { // a cotangent is of the result's shape
        EXPECT_THROW(function.call(x), ShapeError) << what;
        continue;
      }
      expect_same(function.call(x), wanted, what + ", forms " + std::to_string(k));
    }
  });
}

TEST(Fused, SmallAndEmpty) {
  for_each_kernel([]<class T>(const Function &function, const std::string &what) {
    for (const Shape &shape : {Shape{}, Shape{0}, Shape{3, 0, 2}, Shape{1}, Shape{5}}) {
      std::vector<Tensor> x;
      for (unsigned i = 0; i < function.operands; ++i) x.push_back(numbers<T>(shape, i));
      expect_same(function.call(x), op_by_op(function, x), what + " " + to_string(shape));
    }
  });
}

TEST(Fused, HasKernels) {
  int kernels = 0;
  for (const auto &row : fused_table().facts)
    for (const FusedFacts &facts : row) kernels += facts.exist();
  if (host_cpu_level() < CpuLevel::v3) EXPECT_EQ(kernels, 0);
  else EXPECT_GT(kernels, 60);
}

// Who records sees the ops.
TEST(Fused, OpsAreSeenByWhoRecords) {
  const Tensor x = tensor({0.25f, 0.5f});
  EXPECT_TRUE(call::fuses({&x, 1}));
  GradientTape tape;
  EXPECT_FALSE(call::fuses({&x, 1}));
  tape.watch(x);
  EXPECT_TRUE(tape.gradient(atan(x), x).defined());
}

TEST(Fused, ErrorsAreThoseOfItsOps) {
  const Tensor a = zeros({2}), b = zeros({3});
  EXPECT_THROW(hypot(a, b), ShapeError);
  EXPECT_THROW(clip(a, b, 1), ShapeError);
  EXPECT_THROW(hypot(Tensor(), b), StateError);
}

} // namespace
} // namespace weft
