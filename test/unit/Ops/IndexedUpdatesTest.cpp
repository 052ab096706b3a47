// Updates of elements: x.at(..).set and its siblings, elements of variables, and compound
// assignment.
#include "../Testing.h"

#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include <weft/detail/binding.h>
#include <weft/weft.h>

namespace weft {
namespace {

using Key = std::vector<Index>;

/// x with the elements at the positions that `x[key]` has replaced, one by one: the oracle.
std::vector<double> replaced(const Tensor &x, const Key &key, const Tensor &value) {
  const Tensor numbers = arange(x.size(), DType::i64).reshape(x.shape());
  const Tensor at = detail::index_tensor(numbers, key);
  std::vector<double> result = x.to_vector<double>();
  const auto positions = at.to_vector<std::int64_t>();
  const auto values = broadcast(value, at.shape()).to_vector<double>();
  for (std::size_t i = 0; i < positions.size(); ++i)
    result[static_cast<std::size_t>(positions[i])] = values[i];
  return result;
}

TEST(IndexedUpdates, AllEntriesOfAnIndex) {
  const Tensor x = arange(60).reshape({3, 5, 4}).astype(DType::f64);
  const Index entries[] = {0,
                           -1,
                           all,
                           newaxis,
                           slice(1, {}),
                           slice({}, -1),
                           slice(-2, {}),
                           slice(1, 2),
                           slice(2, 2),
                           slice(2, 1),
                           slice({}, {}, 2),
                           slice(1, {}, 2),
                           slice({}, {}, -1),
                           slice(2, 0, -2)};
  std::vector<Key> keys;
  for (const Index &first : entries) {
    keys.push_back({first});
    keys.push_back({ellipsis, first});
    for (const Index &second : entries) {
      keys.push_back({first, second});
      keys.push_back({first, ellipsis, second});
    }
    keys.push_back({first, slice({}, {}, 3), slice(1, 3)});
  }
  int checked = 0;
  for (const Key &key : keys) {
    const Shape shape = detail::index_tensor(x, key).shape();
    const Tensor value =
        -1 - arange(zeros(shape).size(), DType::i32).reshape(shape).astype(DType::f64);
    const TensorAt at(x, key);
    EXPECT_EQ(at.set(value).to_vector<double>(), replaced(x, key, value)) << checked;
    EXPECT_EQ(at.set(7).to_vector<double>(), replaced(x, key, tensor(7.0))) << checked;
    EXPECT_EQ(at.add(0.5).to_vector<double>(), replaced(x, key, at.get() + 0.5)) << checked;
    if (++checked % 9 != 0) continue; // compiling takes its time
    const auto compiled =
        function([&](const Tensor &y, const Tensor &v) { return TensorAt(y, key).set(v); });
    EXPECT_EQ(compiled(x, value).to_vector<double>(), replaced(x, key, value)) << checked;
    ++checked;
  }
  EXPECT_GT(checked, 400);
}

TEST(IndexedUpdates, ElementsKeepTheirBits) {
  const Tensor x = tensor({-0.0, std::nan(""), 1.0, std::numeric_limits<double>::infinity()});
  const auto after = x.at(slice({}, {}, 3)).set(tensor({-0.0, -0.0})).to_vector<double>();
  EXPECT_TRUE(std::signbit(after[0]) && after[0] == 0 && std::isnan(after[1]) && after[2] == 1);
  EXPECT_TRUE(std::signbit(after[3]) && after[3] == 0);
  EXPECT_EQ(tensor({true, false, false}).at(slice({}, {}, 2)).set(true).to_vector<bool>(),
            (std::vector<bool>{true, false, true}));
}

TEST(IndexedUpdates, OpenSizes) {
  const auto last = function([](const Tensor &x) { return x.at({-1, slice(1, {})}).set(9); },
                             {.signature = {spec(DType::f32, {unknown, unknown})}});
  const auto middle = function([](const Tensor &x) { return x.at(slice(1, 3)).multiply(2); },
                               {.signature = {spec(DType::f32, {unknown, unknown})}});
  for (const std::int64_t n : {1, 2, 5}) {
    const Tensor x = ones({n, 3});
    EXPECT_EQ(last(x).to_vector<float>(), x.at({-1, slice(1, {})}).set(9).to_vector<float>());
    EXPECT_EQ(middle(x).to_vector<float>(), x.at(slice(1, 3)).multiply(2).to_vector<float>());
  }
}

TEST(IndexedUpdates, Gradients) {
  const Tensor x = tensor({1.0, 2.0, 3.0, 4.0}), y = tensor({5.0, 6.0});
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const Tensor z = sum(square(x.at(slice({}, {}, 3)).set(y)) * tensor({1.0, 10.0, 100.0, 1000.0}));
  const auto [dx, dy] = tape.gradient(z, {x, y});
  EXPECT_EQ(dx.to_vector<double>(), (std::vector<double>{0, 40, 600, 0}));
  EXPECT_EQ(dy.to_vector<double>(), (std::vector<double>{10, 12000}));
}

TEST(IndexedUpdates, Variables) {
  const Variable v(zeros({4, 2}), "v");
  v[3].assign(1);
  v[{all, 1}].assign_add(tensor({1.f, 2.f, 3.f, 4.f}));
  v[slice(0, 2)].assign_sub(1);
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{-1, 0, -1, 1, 0, 3, 1, 5}));
  EXPECT_EQ(Tensor(v[{3, 1}]).item<float>(), 5);
  const auto compiled = function([&] { v[0].assign(7); });
  compiled();
  EXPECT_EQ(v[0].value().to_vector<float>(), (std::vector<float>{7, 7}));
}

TEST(IndexedUpdates, Errors) {
  const Tensor x = ones({2, 3});
  EXPECT_THROWS(x.at(2).set(1), IndexError,
                "set: index: 2 is out of range for axis 0 of a tensor of shape (2, 3)");
  EXPECT_THROWS(arange(3).at(0).set(1.5), DTypeError,
                "set: the value is floating, and the tensor i32");
  EXPECT_THROWS(x.at(0).set(tensor({1.0, 2.0, 3.0})), DTypeError,
                "set: the value is f64, and the tensor f32: convert it by astype");
  EXPECT_THROW(x.at(0).set(ones({2})), ShapeError);
  EXPECT_THROW(x.at(0).set(ones({2, 3})), ShapeError);
  const Variable v(ones({2}), "v");
  EXPECT_THROW(v[5].assign(1), IndexError);
}

TEST(CompoundAssignment, TheHandleTakesTheNewTensor) {
  Tensor x = tensor({1.f, 2.f});
  const Tensor before = x;
  x += 1;
  x *= x;
  x -= 0.5;
  x /= 2;
  x %= 2;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.75f, 0.25f}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
  Tensor mask = tensor({true, false});
  mask &= true;
  mask |= tensor({false, false});
  mask ^= true;
  EXPECT_EQ(mask.to_vector<bool>(), (std::vector<bool>{false, true}));
}

TEST(CompoundAssignment, VariablesTakeTheNewValue) {
  const Variable v(tensor({1.f, 2.f}), "v"), same = v;
  v += 1;
  v *= v;
  v -= tensor({1.f, 3.f});
  v /= 2;
  EXPECT_EQ(same.value().to_vector<float>(), (std::vector<float>{1.5f, 3}));
  EXPECT_THROWS(v += tensor({1.0, 2.0}), DTypeError,
                "assign_add: the variable 'v' is f32(2,), but the value is f64(2,)");
  const auto twice = function([&] { v += v; });
  twice();
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{3, 6}));
}

TEST(CompoundAssignment, ElementsOfVariablesAreOperands) {
  const Variable v(tensor({{1.f, 2.f}, {3.f, 4.f}}), "v");
  EXPECT_EQ((v[0] + 1).to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ((2 * v[{all, 1}]).to_vector<float>(), (std::vector<float>{4, 8}));
  EXPECT_EQ((-v[{1, 0}]).item<float>(), -3);
  EXPECT_EQ(sum(v[1]).item<float>(), 7);
  EXPECT_EQ(concatenate({v[0], v[1]}).shape(), (Shape{4}));
  v[0] += 1;
  v[0] *= v[1];
  v[1] -= 2;
  v[1] /= 2;
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{6, 12, 0.5f, 1}));
  v[0] = v[1]; // the elements, and not the name for them
  v[{1, 1}] = 8;
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{0.5f, 1, 0.5f, 8}));
  v[1] = {1.f, 2.f};
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{0.5f, 1, 1, 2}));
  const std::uint32_t line = __LINE__ + 2;
  try {
    v[5] + 1;
    ADD_FAILURE() << "there is no such row";
  } catch (const IndexError &error) {
    EXPECT_EQ(error.location().line, line);
  }
}

TEST(Spans, OfElementsThatMayChange) {
  std::vector<float> buffer{1, 2, 3};
  EXPECT_EQ(tensor(std::span(buffer), {3, 1}).shape(), (Shape{3, 1}));
  EXPECT_EQ(tensor(std::span(buffer)).to_vector<float>(), buffer);
  EXPECT_EQ(tensor(std::span<const float>(buffer), {3}).to_vector<float>(), buffer);
  EXPECT_EQ(tensor(std::array{1.f, 2.f, 3.f}).to_vector<float>(), buffer);
  EXPECT_EQ(tensor(std::array{1.f, 2.f, 3.f}, {1, 3}).shape(), (Shape{1, 3}));
}

TEST(Printing, ScalarsAreBare) {
  std::ostringstream out;
  out << tensor(0.5f) << ' ' << tensor(3) << ' ' << tensor(true) << ' ' << tensor({1});
  EXPECT_EQ(out.str(), "0.5 3 true tensor([1], shape=(1,), dtype=i32)");
}

} // namespace
} // namespace weft
