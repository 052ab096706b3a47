// Compiled results equal eager ones bit for bit where the two choose their own code.
#include "../Testing.h"

#include <cstring>
#include <functional>
#include <optional>

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

template <class F>
void expect_same_bits(const F &compute, const Tensor &x, const std::string &what) {
  const Tensor eager = compute(x);
  auto f = function(compute);
  const Tensor compiled = f(x);
  ASSERT_EQ(eager.type(), compiled.type()) << what;
  const std::vector<double> a = eager.to_vector<double>(), b = compiled.to_vector<double>();
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0)
      << what << ": " << to_string(eager) << " and " << to_string(compiled);
}

struct LongReduction {
  Shape shape;
  Ints axes;
};

/// Shapes around the size of a block, with few and many results, before and behind what is reduced.
const std::vector<LongReduction> kLongReductions = {
    {{131071}, {0}},       {{131072}, {0}},         {{131073}, {0}},
    {{1000003}, {0}},      {{300, 1000}, {0, 1}},   {{3, 200000}, {1}},
    {{9, 140000}, {1}},    {{50000, 7}, {0}},       {{4096, 64}, {0}},
    {{2, 5000, 33}, {1}},  {{70, 40, 100}, {0, 1}}, {{3, 5, 300, 1000}, {2, 3}},
    {{100, 8192}, {0}},    {{100, 8193}, {0}},      {{40, 20000}, {0}},
    {{200000, 1, 2}, {0}},
};

TEST(SameBits, LongReductions) {
  for (const auto &[shape, axes] : kLongReductions) {
    const Tensor x = random::normal(shape, {.seed = 5});
    const std::string what = to_string(x.type());
    expect_same_bits([&](const Tensor &v) { return sum(v, {.axes = axes}); }, x, "sum " + what);
    expect_same_bits([&](const Tensor &v) { return sum(v * v + 1, {.axes = axes}); }, x,
                     "sum of squares " + what);
  }
}

// Into how many partial results a sum goes follows from its own dtype, whatever it is computed of,
// and whatever else is reduced beside it.
TEST(SameBits, SumsBesideOtherDTypes) {
  for (const std::int64_t size : {58, 200, 1000}) {
    const std::string what = std::to_string(size);
    const Tensor integers = cast(random::randint({3, size}, 0, 9, {.seed = 8}), i64);
    const Tensor floats = random::normal({3, size}, {.seed = 9});
    const auto waves = [](const Tensor &x) { return cos(cast(x, f32) * 3); };
    expect_same_bits([&](const Tensor &x) { return sum(waves(x), {.axes = Ints{1}}); }, integers,
                     "f32 of i64 " + what);
    expect_same_bits([&](const Tensor &x) { return sum(cast(cos(x), f64), {.axes = Ints{1}}); },
                     floats, "f64 of f32 " + what);
    expect_same_bits(
        [&](const Tensor &x) {
          const Tensor narrow = sum(cos(x), {.axes = Ints{1}});
          return cast(narrow, f64) * 3 + sum(cast(cos(x), f64), {.axes = Ints{1}});
        },
        floats, "both " + what);
    expect_same_bits(
        [&](const Tensor &x) {
          return cast(sum(cos(x), {.axes = Ints{1}}), f64) + argmax(x, {.axis = 1}) +
                 sum(cast(x * 100, i64), {.axes = Ints{1}});
        },
        floats, "with integers " + what);
  }
}

// A compiled function has copies of arguments whose elements lie in steps.
TEST(SameBits, ProductsOfViewsInSteps) {
  const Tensor wide = random::normal({9, 18}, {.seed = 3}).astype(f64);
  const Tensor v = random::normal({9}, {.seed = 4}).astype(f64);
  const Tensor line = wide[0];
  for (const std::int64_t step : {2, -2}) {
    const std::string what = "step " + std::to_string(step);
    expect_same_bits([](const Tensor &x) { return matmul(x, x); }, line[slice({}, {}, step)], what);
    const Tensor steps = wide[{all, slice({}, {}, step)}];
    expect_same_bits([&](const Tensor &x) { return matmul(x, v); }, steps, what);
    expect_same_bits([&](const Tensor &x) { return matmul(v, x); }, steps, what);
    expect_same_bits([&](const Tensor &x) { return matmul(x, wide); }, steps, what);
  }
}

// Sums add in the order of what is summed, however it lies in memory, and is made in the loop
// itself.
TEST(SameBits, ReductionsOfWhatLiesOtherwise) {
  const Tensor wide = random::normal({40, 24}, {.seed = 4});
  using Compute = std::function<Tensor(const Tensor &)>;
  const std::vector<std::pair<std::string, Compute>> operands = {
      {"transposed", [](const Tensor &x) { return x.mT(); }},
      {"exp of transposed", [](const Tensor &x) { return exp(x.mT()); }},
      {"transposed exp", [](const Tensor &x) { return exp(x).mT(); }},
      {"every other column", [](const Tensor &x) { return x[{all, slice({}, {}, 2)}]; }},
      {"every third row", [](const Tensor &x) { return exp(x)[{slice({}, {}, 3)}]; }},
      {"some columns", [](const Tensor &x) { return x[{all, slice(1, 20)}]; }},
      {"a column", [](const Tensor &x) { return x[{all, slice(3, 4)}]; }},
      {"backwards", [](const Tensor &x) { return reverse(x); }},
      {"transposed and not",
       [](const Tensor &x) { return x[{slice(0, 24)}].mT() * x[{slice(0, 24)}]; }},
      {"with a row", [](const Tensor &x) { return (x + x[0]) * x; }},
      {"with a column", [](const Tensor &x) { return (x + x[{all, slice(0, 1)}]) * x; }},
      {"of a row and a column", [](const Tensor &x) { return x[{all, slice(0, 1)}] * x[0]; }},
      {"repeated rows", [](const Tensor &x) { return broadcast(x[0], {40, 24}); }},
      {"repeated columns",
       [](const Tensor &x) { return broadcast(x[{all, slice(0, 1)}], {40, 24}); }},
      {"joined", [](const Tensor &x) { return concatenate({x, x.mT()[{all, slice(0, 24)}]}); }},
  };
  for (const DType dtype : {f32, f64})
    for (const auto &[name, operand] : operands)
      for (const std::optional<Ints> &axes :
           {std::optional<Ints>(), std::optional(Ints{0}), std::optional(Ints{1})}) {
        const Tensor x = wide.astype(dtype);
        expect_same_bits([&](const Tensor &v) { return sum(operand(v), {.axes = axes}); }, x,
                         "sum of " + name);
        expect_same_bits([&](const Tensor &v) { return prod(operand(v) + 1.5, {.axes = axes}); }, x,
                         "prod of " + name);
      }
}

// Axes with others between them go one after the other, whatever the sizes of those.
TEST(SameBits, ReductionsOfAxesApart) {
  for (const Shape &shape : {Shape{3, 1, 4}, Shape{1, 3, 1, 4}, Shape{64, 1, 64}, Shape{2, 3, 4, 5},
                             Shape{40, 1, 3, 50}, Shape{2, 3, 4, 5, 6}})
    for (const DType dtype : {f32, f64}) {
      const Tensor x = random::uniform(shape, {.seed = 1, .low = 0.5, .high = 1.5, .dtype = dtype});
      for (unsigned set = 1; set < 1u << shape.size(); ++set) {
        Ints axes;
        for (std::int64_t axis = 0; axis < shape.rank(); ++axis)
          if (set >> axis & 1) axes.push_back(axis);
        const std::string what = to_string(x.type()) + " over " + to_string(Shape(axes));
        expect_same_bits([&](const Tensor &v) { return sum(v, {.axes = axes}); }, x, "sum " + what);
        if (shape.size() < 5)
          expect_same_bits([&](const Tensor &v) { return prod(v, {.axes = axes}); }, x,
                           "prod " + what);
      }
    }
}

// Loops over the same rows are one in compiled code; the order inside a row is that of eager ops.
TEST(SameBits, ProgramsByRows) {
  const auto normalized = [](const Tensor &x) {
    const Tensor d = x - mean(x, {.axes = Ints{1}, .keepdims = true});
    const Tensor y = d * rsqrt(mean(d * d, {.axes = Ints{1}, .keepdims = true}) + 1e-5);
    // Columns are summed behind the loop over rows, and what follows reads rows and columns.
    const Tensor columns = sum(y, {.axes = Ints{0}});
    return exp(y - max(y, {.axes = Ints{1}, .keepdims = true})) + columns + y;
  };
  for (const Shape &shape : {Shape{1000, 257}, Shape{37, 3000}, Shape{8, 20000}, Shape{4096, 64},
                             Shape{3, 50000}, Shape{2, 140000}, Shape{50001, 3}}) {
    const Tensor x = random::normal(shape, {.seed = 12});
    expect_same_bits(normalized, x, to_string(x.type()));
    expect_same_bits(normalized, x.astype(f64), to_string(x.type()) + " in f64");
    const auto f = function(normalized, {.signature = {spec(f32, {unknown, shape[1]})}});
    EXPECT_EQ(f(x).to_vector<float>(), normalized(x).to_vector<float>()) << to_string(x.type());
  }
}

/// As many unknown sizes as `shape` has.
TensorType unknown_like(const Tensor &x) {
  return spec(x.dtype(), Shape(static_cast<std::size_t>(x.rank()), unknown));
}

TEST(SameBits, LongReductionsOfUnknownSizes) {
  for (const auto &[shape, axes] : kLongReductions) {
    const Tensor x = random::normal(shape, {.seed = 5});
    const auto squares = [&](const Tensor &v) { return sum(v * v + 1, {.axes = axes}); };
    const auto f = function(squares, {.signature = {unknown_like(x)}});
    EXPECT_EQ(f(x).to_vector<float>(), squares(x).to_vector<float>()) << to_string(x.type());
  }
  // One trace for sizes that are cut and sizes that are not.
  const auto total = [](const Tensor &v) { return sum(v); };
  const auto f = function(total, {.signature = {spec(f32, {unknown})}});
  for (const std::int64_t size : {0, 1, 1000, 131071, 131072, 131073, 200000, 262144}) {
    const Tensor x = random::normal({size}, {.seed = 8});
    EXPECT_EQ(f(x).item<float>(), total(x).item<float>()) << size;
  }
  EXPECT_EQ(f.trace_count(), 1u);
}

TEST(SameBits, LongReductionsOfEveryKind) {
  for (const Ints &axes : {Ints{0}, Ints{1}, Ints{0, 1}}) {
    const Tensor x = random::normal({7, 140001}, {.seed = 7});
    expect_same_bits([&](const Tensor &v) { return mean(v, {.axes = axes}); }, x, "mean");
    expect_same_bits([&](const Tensor &v) { return max(v, {.axes = axes}); }, x, "max");
    expect_same_bits([&](const Tensor &v) { return min(v, {.axes = axes}); }, x, "min");
    expect_same_bits([&](const Tensor &v) { return prod(v * 1.2f, {.axes = axes}); }, x, "prod");
    expect_same_bits([&](const Tensor &v) { return any(v > 4.5, {.axes = axes}); }, x, "any");
    expect_same_bits([&](const Tensor &v) { return sum(v, {.axes = axes}); }, x.astype(f64),
                     "sum of f64");
    expect_same_bits([&](const Tensor &v) { return sum(v, {.axes = axes}); }, (x * 1e6).astype(i32),
                     "sum of i32");
  }
}

TEST(SameBits, LogisticTail) {
  expect_same_bits([](const Tensor &x) { return logistic(x); }, arange(4096) * 0.03f - 105.f,
                   "logistic");
}

} // namespace
} // namespace weft
