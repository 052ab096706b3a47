// Functions of rows, and activations, by their kernels: they give the bits that their ops give,
// alone and as gradients of tapes.
#include "../Testing.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

/// A function of x and of what else it takes, which are rows of x's last axis or labels.
struct RowFunction {
  std::string name;
  std::function<Tensor(const Tensors &x)> call;
  std::size_t rows = 0; ///< operands that are a row
  bool labels = false;
};

const std::vector<RowFunction> &functions() {
  static const std::vector<RowFunction> all{
      {"softmax", [](const Tensors &x) { return nn::softmax(x[0]); }},
      {"log_softmax", [](const Tensors &x) { return nn::log_softmax(x[0]); }},
      {"layer_norm", [](const Tensors &x) { return nn::layer_norm(x[0], x[1], x[2]); }, 2},
      {"rms_norm", [](const Tensors &x) { return nn::rms_norm(x[0], x[1]); }, 1},
      {"batch_norm", [](const Tensors &x) { return nn::batch_norm(x[0], x[1], x[2]); }, 2},
      {"logsumexp", [](const Tensors &x) { return logsumexp(x[0], {.axes = Ints{-1}}); }},
      {"var", [](const Tensors &x) { return var(x[0], {.axes = -1, .correction = 1}); }},
      {"std", [](const Tensors &x) { return stddev(x[0], {.axes = -1, .keepdims = true}); }},
      {"norm", [](const Tensors &x) { return norm(x[0], {.axes = -1}); }},
      {"norm of all", [](const Tensors &x) { return norm(reshape(x[0], {-1}), {.ord = 2}); }},
      {"cross entropy",
       [](const Tensors &x) {
         return losses::sparse_categorical_cross_entropy(
             x[1], x[0], {.from_logits = true, .reduction = losses::Reduction::none});
       },
       0, true},
      {"gelu", [](const Tensors &x) { return gelu(x[0]); }},
      {"mish", [](const Tensors &x) { return mish(x[0]); }},
  };
  return all;
}

const std::vector<Shape> kShapes = {{1, 1},     {3, 1},      {5, 7},     {64, 10},
                                    {3, 4, 33}, {1000},      {17, 1000}, {3, 20000},
                                    {20000, 3}, {2, 140000}, {70000, 5}};

Tensors operands_of(const RowFunction &function, const Shape &shape, DType dtype) {
  const std::int64_t size = shape.back();
  Tensors x{random::normal(shape, {.seed = 1}).astype(dtype)};
  for (std::size_t i = 0; i < function.rows; ++i)
    x.push_back(random::normal({size}, {.seed = 2 + i}).astype(dtype));
  if (function.labels)
    x.push_back(
        random::randint(Shape(std::span(shape).first(shape.size() - 1)), 0, size, {.seed = 9}));
  return x;
}

void expect_same(const Tensor &got, const Tensor &wanted, const std::string &what) {
  ASSERT_EQ(got.defined(), wanted.defined()) << what;
  if (!got.defined()) return;
  ASSERT_EQ(got.type(), wanted.type()) << what;
  const std::vector<double> a = got.to_vector<double>(), b = wanted.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::memcmp(&a[i], &b[i], sizeof(double)) == 0;
    ASSERT_TRUE(same || (std::isnan(a[i]) && std::isnan(b[i])))
        << what << " at " << i << ": " << a[i] << " instead of " << b[i];
  }
}

/// The ops one by one: somebody could record them.
Tensor op_by_op(const RowFunction &function, const Tensors &x) {
  GradientTape tape({.watch_accessed_variables = false});
  return function.call(x);
}

/// The value and the cotangents of all operands that have some.
Tensors pulled(const RowFunction &function, const Tensors &x) {
  GradientTape tape({.watch_accessed_variables = false});
  for (std::size_t i = 0; i < 1 + function.rows; ++i) tape.watch(x[i]);
  const Tensor y = function.call(x);
  GradientOptions options;
  options.output_gradients.push_back(random::normal(y.shape(), {.seed = 7}).astype(y.dtype()));
  Tensors results = tape.gradient(
      y, Tensors(x.begin(), x.begin() + 1 + static_cast<int>(function.rows)), options);
  results.push_back(y);
  return results;
}

/// The same, where a tape around it could record what the derivative does.
Tensors pulled_op_by_op(const RowFunction &function, const Tensors &x) {
  GradientTape tape({.watch_accessed_variables = false});
  return pulled(function, x);
}

template <class Check>
void for_each_call(const Check &check) {
  for (const RowFunction &function : functions())
    for (const DType dtype : {f32, f64})
      for (const Shape &shape : kShapes) {
        if (function.name == "batch_norm" && shape.size() == 1) continue;
        check(function, operands_of(function, shape, dtype),
              function.name + " of " + to_string(TensorType{dtype, shape}));
      }
}

TEST(Rows, GiveTheBitsOfTheirOps) {
  for_each_call([](const RowFunction &function, const Tensors &x, const std::string &what) {
    expect_same(function.call(x), op_by_op(function, x), what);
  });
}

TEST(Rows, PullTheBitsOfTheirOps) {
  for_each_call([](const RowFunction &function, const Tensors &x, const std::string &what) {
    const Tensors got = pulled(function, x), wanted = pulled_op_by_op(function, x);
    for (std::size_t i = 0; i < got.size(); ++i)
      expect_same(got[i], wanted[i], what + ", gradient " + std::to_string(i));
  });
}

TEST(Rows, SpecialNumbersGiveTheBitsOfTheirOps) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor x = tensor({{1., 2., 3., 4.},
                           {inf, 1., 2., -inf},
                           {-inf, -inf, -inf, -inf},
                           {nan, 0., 1., 2.},
                           {0., -0., 0., -0.},
                           {1e300, -1e300, 1e-310, 0.},
                           {700., -700., 710., 5.},
                           {inf, inf, 1., nan}});
  for (const RowFunction &function : functions())
    for (const DType dtype : {f32, f64}) {
      Tensors all{x.astype(dtype)};
      for (std::size_t i = 0; i < function.rows; ++i)
        all.push_back(tensor({1., -2., 0., 0.5}).astype(dtype));
      if (function.labels) all.push_back(tensor({0, 1, 2, 3, 0, 1, 2, 3}));
      const std::string what = function.name + " of " + std::string(name_of(dtype));
      expect_same(function.call(all), op_by_op(function, all), what);
      const Tensors got = pulled(function, all), wanted = pulled_op_by_op(function, all);
      for (std::size_t i = 0; i < got.size(); ++i)
        expect_same(got[i], wanted[i], what + ", gradient " + std::to_string(i));
    }
}

TEST(Rows, CompiledGivesTheSameBits) {
  for (const RowFunction &function : functions()) {
    const Tensors x = operands_of(function, {17, 100}, f32);
    const auto compiled = weft::function([&](const Tensors &of) { return function.call(of); });
    expect_same(function.call(x), compiled(x), function.name);
  }
}

// Views, rows of nothing, and no rows.
TEST(Rows, ShapesOfAllKinds) {
  for (const RowFunction &function : functions()) {
    if (function.labels || function.rows != 0) continue;
    const Tensor wide = random::normal({6, 9}, {.seed = 3});
    for (const Tensor &x : {transpose(wide, {1, 0}), zeros({0, 4}), wide[Slice{1, 5, 2}]})
      expect_same(function.call({x}), op_by_op(function, {x}),
                  function.name + " of " + to_string(x.type()));
  }
  EXPECT_EQ(nn::softmax(zeros({3, 0})).shape(), Shape({3, 0}));
}

TEST(Rows, SecondDerivatives) {
  for (const RowFunction &function : functions()) {
    const Tensors x = operands_of(function, {4, 5}, f64);
    const auto second = [&](const Tensors &of) {
      GradientTape outer({.watch_accessed_variables = false});
      outer.watch(of[0]);
      Tensor slope;
      {
        GradientTape inner({.watch_accessed_variables = false});
        inner.watch(of[0]);
        const Tensor y = sum(square(function.call(of)));
        slope = inner.gradient(y, of[0]);
      }
      return outer.gradient(sum(square(slope)), of[0]);
    };
    const std::vector<double> eager = second(x).to_vector<double>(),
                              compiled = weft::function(second)(x).to_vector<double>();
    for (std::size_t i = 0; i < eager.size(); ++i)
      EXPECT_NEAR(eager[i], compiled[i], 1e-9 * (1 + std::abs(compiled[i])))
          << function.name << " at " << i;
  }
}

// One tensor as two operands has the sum of both derivatives.
TEST(Rows, OneTensorAsSeveralOperands) {
  const Tensor x = random::normal({3, 4}, {.seed = 1}), row = tensor({1.f, 2.f, 3.f, 4.f});
  const auto slope = [&] {
    GradientTape tape;
    tape.watch(row);
    return tape.gradient(sum(square(nn::layer_norm(x, row, row))), row);
  };
  const Tensor got = slope();
  GradientTape around({.watch_accessed_variables = false});
  expect_same(got, slope(), "layer_norm of one row twice");
}

TEST(Rows, RefuseWhatDoesNotFit) {
  EXPECT_THROW(nn::layer_norm(zeros({2, 3}), ones({4}), ones({4})), ShapeError);
  EXPECT_THROW(nn::layer_norm(1.0, ones({4}), ones({4})), ShapeError);
  EXPECT_THROW(nn::rms_norm(zeros({2, 3}, i32), ones({3})), DTypeError);
  EXPECT_THROW(nn::batch_norm(tensor({1, 2}), ones({2}), ones({2})), DTypeError);
  EXPECT_THROW(losses::softmax_cross_entropy(tensor({0, 3}), zeros({2, 3})), IndexError);
  EXPECT_THROW(losses::softmax_cross_entropy(tensor({0, -1}), zeros({2, 3})), IndexError);
}

} // namespace
} // namespace weft
