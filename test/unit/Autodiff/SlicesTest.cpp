// Gradients of gather, which stay slices until someone needs the whole tensor.
#include "../Testing.h"

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;

Doubles numbers(const Tensor &t) { return t.to_vector<double>(); }
std::vector<std::int32_t> indices_of(const Tensor &t) {
  return t.astype(i32).to_vector<std::int32_t>();
}

const Tensor table = reshape(arange(15, DType::f64), {5, 3});

TEST(Slices, G19_OfOneGather) {
  GradientTape tape({.persistent = true});
  tape.watch(table);
  const Tensor rows = gather(table, tensor({0, 0, 4}));
  const Tensor weights = tensor({{1., 2., 3.}, {10., 20., 30.}, {5., 6., 7.}});
  const Tensor target = sum(rows * weights);
  const auto [gradient] = tape.sliced_gradient(target, {table});
  const auto &slices = std::get<IndexedSlices>(gradient);
  EXPECT_EQ(indices_of(slices.indices), (std::vector<std::int32_t>{0, 0, 4}));
  EXPECT_EQ(numbers(slices.values), numbers(weights));
  EXPECT_EQ(slices.dense_shape, (Shape{5, 3}));
  const Doubles whole = {11, 22, 33, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 7};
  EXPECT_EQ(numbers(slices.dense()), whole);
  EXPECT_EQ(numbers(tape.gradient(target, {table})[0]), whole);
}

TEST(Slices, SeveralGathersAreOneListOfSlices) {
  const Variable words(table, "words");
  GradientTape tape({.persistent = true});
  const Tensor first = gather(words, tensor({1, 3}));
  const Tensor second = gather(words, tensor<std::int64_t>(3)); // a scalar index, of another dtype
  const Tensor target = sum(first) + sum(second * 2.);
  const auto [gradient] = tape.sliced_gradient(target, {words});
  const auto &slices = std::get<IndexedSlices>(gradient);
  EXPECT_EQ(slices.values.shape(), (Shape{3, 3}));
  const Doubles whole = {0, 0, 0, 1, 1, 1, 0, 0, 0, 3, 3, 3, 0, 0, 0};
  EXPECT_EQ(numbers(slices.dense()), whole);
  EXPECT_EQ(numbers(tape.gradient(target, {words})[0]), whole);
}

TEST(Slices, OfMatricesOfIndices) {
  GradientTape tape;
  tape.watch(table);
  const Tensor target = sum(gather(table, tensor({{0, 1}, {1, 2}})));
  const auto [gradient] = tape.sliced_gradient(target, {table});
  const auto &slices = std::get<IndexedSlices>(gradient);
  EXPECT_EQ(indices_of(slices.indices), (std::vector<std::int32_t>{0, 1, 1, 2}));
  EXPECT_EQ(slices.values.shape(), (Shape{4, 3}));
}

// More slices than rows are no saving; another use of the tensor, another axis, or an op between
// need the whole.
TEST(Slices, AreDenseWhereTheWholeIsNeeded) {
  const auto dense = [](const auto &f, const Doubles &expected) {
    GradientTape tape;
    tape.watch(table);
    const auto [gradient] = tape.sliced_gradient(f(), {table});
    ASSERT_TRUE(std::holds_alternative<Tensor>(gradient));
    EXPECT_EQ(numbers(std::get<Tensor>(gradient)), expected);
  };
  const Tensor index = tensor({1});
  dense([&] { return sum(gather(table, index)) + sum(table); },
        {1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  dense([&] { return sum(gather(table, index, {.axis = 1})); },
        {0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0});
  dense([&] { return sum(gather(table * 2., index)); },
        {0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  dense(
      [&] {
        Tensor total = zeros({}, f64);
        for (int i = 0; i < 6; ++i) total = total + sum(gather(table, tensor({i % 2})));
        return total;
      },
      {3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(Slices, UnconnectedSourcesAndErrorsAreAsOfGradient) {
  const Tensor other = tensor({1., 2.});
  GradientTape tape({.persistent = true});
  tape.watch(table);
  tape.watch(other);
  const Tensor target = sum(gather(table, tensor({2})));
  EXPECT_FALSE(std::get<Tensor>(tape.sliced_gradient(target, {other})[0]).defined());
  EXPECT_EQ(numbers(std::get<Tensor>(
                tape.sliced_gradient(target, {other}, {.unconnected = Unconnected::zero})[0])),
            (Doubles{0, 0}));
  EXPECT_THROWS(tape.sliced_gradient(target, {table}, {.output_gradients = {target, target}}),
                ValueError, "GradientTape: there are 2 output gradients for 1 targets");
  GradientTape once;
  once.watch(table);
  const Tensor y = sum(gather(table, tensor({2})));
  (void)once.sliced_gradient(y, {table});
  EXPECT_THROWS(once.sliced_gradient(y, {table}), StateError,
                "GradientTape: gradient was already called on this tape, which is not "
                "persistent; make it with {.persistent = true}, or reset it");
}

TEST(Slices, HigherOrdersAndJacobians) {
  const auto f = [](const Tensor &x) {
    const Tensor rows = gather(x, tensor({4, 4, 0}));
    return sum(rows * rows * rows);
  };
  const Doubles first = numbers(grad(f)(table));
  const auto by_hand = [](const Tensor &x) {
    return sum(x * x * x * reshape(tensor({1., 0., 0., 0., 2.}), {5, 1}));
  };
  EXPECT_EQ(first, numbers(grad(by_hand)(table)));
  EXPECT_EQ(numbers(hessian(f)(table)), numbers(hessian(by_hand)(table)));
}

TEST(Slices, StepsChangeTheirRowsEagerAndCompiled) {
  const auto train = [](bool sliced, bool compiled, auto make) {
    const Variable words(table, "words"), weights(tensor({1., -1., 2.}), "weights");
    const std::vector<Variable> parameters = {words, weights};
    const auto optimizer = make(parameters);
    const auto step = [&](const Tensor &indices) {
      GradientTape tape;
      const Tensor loss = sum(matmul(gather(words, indices), weights));
      if (sliced) optimizer.apply_sliced_gradients(tape.sliced_gradient(loss, parameters));
      else optimizer.apply_gradients(tape.gradient(loss, parameters));
    };
    const auto traced = function(step);
    for (int i = 0; i < 3; ++i)
      if (compiled) traced(tensor({i, i, 4}));
      else step(tensor({i, i, 4}));
    return std::pair(numbers(words.value()), numbers(weights.value()));
  };
  const auto sgd = [](const auto &p) { return optimizers::SGD(p, {.learning_rate = 0.5}); };
  const auto adam = [](const auto &p) { return optimizers::Adam(p); };
  const auto expected = train(false, false, sgd), by_adam = train(false, false, adam);
  for (const bool compiled : {false, true}) {
    EXPECT_EQ(train(true, compiled, sgd), expected) << compiled;
    const auto found = train(true, compiled, adam);
    for (std::size_t i = 0; i < found.first.size(); ++i)
      EXPECT_NEAR(found.first[i], by_adam.first[i], 1e-14);
  }
}

} // namespace
} // namespace weft
