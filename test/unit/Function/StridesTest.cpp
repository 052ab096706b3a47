// Loops over elements that do not lie one behind the other give what eager ops give, bit for bit.
#include "../Testing.h"

#include <vector>

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

/// Ways to walk through a matrix other than along its rows, each with a body small enough to be
/// repeated in a tile and one that is not.
std::vector<Tensor> walks(const Tensor &x) {
  const auto large = [](const Tensor &v) {
    return v.dtype() == boolean ? logical_xor(logical_not(v), logical_and(v, v))
                                : ((v * v + v) * v - v) * v + 1;
  };
  const Tensor t = transpose(x, {1, 0});
  std::vector<Tensor> views = {
      t,
      reverse(x, {.axes = Ints{1}}),
      reverse(x, {.axes = Ints{0, 1}}),
      reverse(t, {.axes = Ints{1}}),
      reverse(t, {.axes = Ints{0}}),
      x[{all, slice({}, {}, 2)}],
      x[{all, slice(1, {}, 3)}],
      x[{slice({}, {}, 2), slice({}, {}, 9)}],
      t[{all, slice({}, {}, 2)}],
      x[{slice({}, {}, -3), slice({}, {}, -2)}],
  };
  std::vector<Tensor> results;
  for (const Tensor &view : views) {
    results.push_back(x.dtype() == boolean ? logical_not(view) : -view);
    results.push_back(large(view));
  }
  // A tile with an operand that is transposed and one that is not.
  results.push_back(select(t == transpose(x, {1, 0}), large(t), t));
  results.push_back(concatenate({x, reverse(x, {.axes = Ints{1}})}, {.axis = 1}));
  const Tensor rows = reverse(arange(static_cast<int>(x.size(0)), i64), {.axes = Ints{0}});
  results.push_back(gather(x, rows, {.axis = 0}));
  results.push_back(large(gather(t, rows, {.axis = 1})));
  return results;
}

Tensor matrix(DType dtype, const Shape &shape) {
  const Tensor x = random::uniform(shape, {.seed = 3, .low = -50, .high = 50});
  return dtype == boolean ? x > 0 : x.astype(dtype);
}

TEST(Strides, EveryWalkGivesTheBitsOfEagerOps) {
  // Around the sides of tiles, of 4, 8 and 16 elements, and of vectors of bytes.
  const std::vector<Shape> shapes = {{1, 1},   {3, 5},   {16, 16},  {17, 33},
                                     {32, 48}, {40, 19}, {70, 130}, {600, 300}};
  for (const DType dtype : {boolean, i32, i64, f32, f64})
    for (const Shape &shape : shapes) {
      if (!long_tests() && shape[0] > 500 && dtype != f32) continue;
      const Tensor x = matrix(dtype, shape);
      const std::vector<Tensor> eager = walks(x);
      const auto compiled = function(walks);
      const auto open = function(
          [](const Tensor &v) {
            const Tensor t = transpose(v, {1, 0});
            return std::vector<Tensor>{t == t, reverse(t, {.axes = Ints{1}}), select(t == t, t, t)};
          },
          {.signature = {spec(dtype, {unknown, unknown})}});
      const std::vector<Tensor> got = compiled(x);
      ASSERT_EQ(got.size(), eager.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].type(), eager[i].type()) << i;
        EXPECT_EQ(got[i].to_vector<double>(), eager[i].to_vector<double>())
            << "result " << i << " of " << to_string(x.type());
      }
      const Tensor t = transpose(x, {1, 0});
      const std::vector<Tensor> of_unknown = open(x);
      EXPECT_EQ(of_unknown[1].to_vector<double>(),
                reverse(t, {.axes = Ints{1}}).to_vector<double>())
          << to_string(x.type());
      EXPECT_EQ(of_unknown[2].to_vector<double>(), t.to_vector<double>()) << to_string(x.type());
    }
}

TEST(Strides, PermutedAxes) {
  const Tensor x = random::normal({9, 20, 35, 6}, {.seed = 2});
  for (const Ints &order :
       {Ints{0, 2, 3, 1}, Ints{0, 3, 1, 2}, Ints{3, 2, 1, 0}, Ints{1, 0, 3, 2}, Ints{2, 0, 1, 3}}) {
    const auto f = function([&](const Tensor &v) { return transpose(v, order) * 2 + 1; });
    EXPECT_EQ(f(x).to_vector<float>(), (transpose(x, order) * 2 + 1).to_vector<float>());
  }
}

// A division of integers beside other ops goes lane by lane, and no lane past the end divides.
TEST(Strides, BodiesWithDivisions) {
  const auto compute = [](const Tensor &x, const Tensor &y) {
    return exp(((x / y) * 2 - x % y).astype(f32) / 100) + sin(x.astype(f32));
  };
  for (const int size : {1, 15, 16, 19, 1000}) {
    const Tensor x = arange(size, i32), y = x + 1;
    const auto f = function(compute);
    EXPECT_EQ(f(x, y).to_vector<float>(), compute(x, y).to_vector<float>()) << size;
  }
}

} // namespace
} // namespace weft
