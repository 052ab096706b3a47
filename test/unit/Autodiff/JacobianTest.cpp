// Jacobians: every op on batches against the op member by member, closed forms, and what is
// refused.
#include "../Testing.h"

#include <cmath>
#include <memory>

#include "Autodiff/Batching.h"
#include "Samples.h"
#include <weft/weft.h>

namespace weft::test {
namespace {

using Doubles = std::vector<double>;

/// The call with some operands as batches of three: themselves, and changed a little.
Tensor run_batched(const Sample &sample, unsigned batched, bool member_by_member) {
  autodiff::Batcher batcher("test", 3);
  batcher.member_by_member = member_by_member;
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    const Tensor &operand = sample.operands[i];
    if ((batched >> i & 1) == 0) {
      operands.push_back(operand);
      continue;
    }
    Ints one(detail::type_of(operand).shape);
    one.insert(0, 1);
    const bool floating = is_floating(operand.dtype());
    const Tensor row = reshape(operand, one);
    operands.push_back(batcher.batch(
        concatenate({row, floating ? row * 0.9375 : row, floating ? row * 0.875 : row})));
  }
  push_interpreter(&batcher);
  const std::unique_ptr<Interpreter, void (*)(Interpreter *)> pop(&batcher, pop_interpreter);
  return batcher.members(dispatch_all(sample.op, operands, sample.attrs).front());
}

class Batches : public testing::TestWithParam<Sample> {};

// The rule of an op for many members is the op on each.
TEST_P(Batches, AreTheMembers) {
  const Sample &sample = GetParam();
  for (unsigned batched = 1; batched < 1U << sample.operands.size(); ++batched) {
    const Tensor expected = run_batched(sample, batched, true);
    const Tensor found = run_batched(sample, batched, false);
    ASSERT_EQ(found.type(), expected.type()) << "operands " << batched;
    const Doubles a = found.astype(f64).to_vector<double>(),
                  b = expected.astype(f64).to_vector<double>();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i])))
        ASSERT_NEAR(a[i], b[i], 1e-13 * (1 + std::abs(b[i]))) << "operands " << batched;
  }
}
INSTANTIATE_TEST_SUITE_P(Ops, Batches, testing::ValuesIn(differentiable_samples()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Degenerate, Batches, testing::ValuesIn(degenerate_samples()),
                         [](const auto &info) { return info.param.name; });

TEST(Jacobian, G11_OfADenseLayer) {
  const nn::Dense layer(10, 5, {.activation = weft::tanh});
  const Tensor x = values({7, 10}, -1, 1, 1).astype(f32);
  for (const bool vectorize : {true, false}) {
    GradientTape tape;
    const Tensor y = layer(x);
    const auto [by_kernel, by_bias] =
        tape.jacobian(y, {layer.kernel, *layer.bias}, {.vectorize = vectorize});
    EXPECT_EQ(by_kernel.shape(), (Shape{7, 5, 10, 5}));
    EXPECT_EQ(by_bias.shape(), (Shape{7, 5, 5}));
    // d y[i, j] / d kernel[k, j] = (1 - y^2) x[i, k], and 0 for another column.
    const Tensor slope = 1 - square(y);
    EXPECT_NEAR((by_kernel[{3, 2, 4, 2}].item<float>()), (slope[{3, 2}] * x[{3, 4}]).item<float>(),
                1e-6);
    EXPECT_EQ((by_kernel[{3, 2, 4, 1}].item<float>()), 0);
    EXPECT_NEAR((by_bias[{6, 4, 4}].item<float>()), (slope[{6, 4}].item<float>()), 1e-6);
  }
}

TEST(Jacobian, BatchJacobian) {
  const Tensor x = values({4, 3}, -1, 1, 2), w = values({3, 2}, -1, 1, 3);
  for (const bool vectorize : {true, false}) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const Tensor y = reshape(sin(matmul(x, w)), {4, 1, 2});
    const Tensor all = tape.jacobian(y, {x})[0];
    const Tensor each = tape.batch_jacobian(y, x, {.vectorize = vectorize});
    EXPECT_EQ(each.shape(), (Shape{4, 1, 2, 3}));
    for (int member = 0; member < 4; ++member)
      EXPECT_EQ((each[{member}].to_vector<double>()),
                (all[{member, weft::all, weft::all, member}].to_vector<double>()));
  }
}

TEST(Jacobian, Unconnected) {
  const Tensor x = tensor({1.0, 2.0}), z = tensor({3.0});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(z);
  const Tensor y = x * 2, nothing = reshape(x, {2})[{slice(0, 0)}];
  EXPECT_FALSE(tape.jacobian(y, {z})[0].defined());
  EXPECT_EQ(tape.jacobian(y, {z}, {.unconnected = Unconnected::zero})[0].to_vector<double>(),
            (Doubles{0, 0}));
  EXPECT_EQ(tape.jacobian(nothing, {x})[0].shape(), (Shape{0, 2}));
  EXPECT_FALSE(tape.batch_jacobian(y[{slice(0, 1)}], z).defined());
}

TEST(Jacobian, InsideATrace) {
  const auto f = [](const Tensor &x) {
    return jacobian([](const Tensor &t) { return t * sum(t); })(x);
  };
  const Tensor x = tensor({1.0, 2.0, 3.0});
  EXPECT_EQ(f(x).to_vector<double>(), (Doubles{7, 1, 1, 2, 8, 2, 3, 3, 9}));
  EXPECT_EQ(function(f)(x).to_vector<double>(), f(x).to_vector<double>());
  auto open = function(f, {.signature = {spec(f64, {unknown})}});
  EXPECT_THROWS(open(x), ShapeError,
                "jacobian: the target is f64(?,), but a jacobian needs all sizes to be "
                "known");
}

// A trace keeps control flow whole, and pulls once for each row.
TEST(Jacobian, OfControlFlowInsideATrace) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const auto expect = [&](const auto &f) {
    const auto rows = [&](const Tensor &t) { return jacobian(f)(t); };
    const auto curvature = [&](const Tensor &t) {
      return hessian([&](const Tensor &u) { return sum(f(u)); })(t);
    };
    EXPECT_EQ(function(rows)(x).template to_vector<double>(), rows(x).template to_vector<double>());
    const Doubles eager = curvature(x).template to_vector<double>();
    const Doubles compiled = function(curvature)(x).template to_vector<double>();
    ASSERT_EQ(compiled.size(), eager.size());
    for (std::size_t i = 0; i < eager.size(); ++i)
      EXPECT_NEAR(compiled[i], eager[i], 1e-12 * (1 + std::abs(eager[i])));
  };
  expect(
      [](const Tensor &t) { return cond(sum(t) > 0, [&] { return t * t; }, [&] { return t; }); });
  expect([](const Tensor &t) {
    return while_loop([](const Tensor &u) { return sum(u) < 100; },
                      [](const Tensor &u) { return u * u; }, t);
  });
  expect([](const Tensor &t) {
    return scan([](const Tensor &h, const Tensor &u) { return std::pair(h * u, h + u); },
                tensor(1.0), t)
        .second;
  });
}

// What a pullback makes of many cotangents at once is a sentence, not a lost tensor.
TEST(Jacobian, OfAPullbackWithControlFlowInsideATrace) {
  const auto chosen = custom_gradient([](const Tensor &t) {
    return Pullback{t * 2, [](const Tensor &dy) {
                      return cond(sum(dy) > 5, [&] { return dy; }, [&] { return dy * 2; });
                    }};
  });
  const auto f = function([&](const Tensor &t) { return jacobian(chosen)(t); });
  EXPECT_EQ(f(tensor({1.0, 2.0})).to_vector<double>(), (Doubles{2, 0, 0, 2}));
}

TEST(Jacobian, Refuses) {
  const Tensor x = tensor({1.0, 2.0});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * 2;
  EXPECT_THROWS(static_cast<void>(tape.jacobian(argmax(x), {x})), DTypeError,
                "jacobian: the target is i64(); only floating tensors have derivatives");
  EXPECT_THROWS(static_cast<void>(tape.jacobian(complex(y, y), {x})), DTypeError,
                "jacobian: the target is c128(2,); that of a complex one is two: of its real and "
                "its imaginary part");
  EXPECT_THROWS(static_cast<void>(tape.batch_jacobian(sum(y), x)), ShapeError,
                "batch_jacobian: the target is f64() and the source f64(2,), "
                "but both must have a first axis, of the members of the batch");
  EXPECT_THROWS(static_cast<void>(tape.batch_jacobian(concatenate({y, y}), x)), ShapeError,
                "batch_jacobian: the target is f64(4,) and the source f64(2,), "
                "but the first axes must have one size, that of the batch");
  const auto looks = custom_gradient([](const Tensor &t) {
    return Pullback{t * 2, [](const Tensor &dy) { return dy * dy.to_vector<double>()[0]; }};
  });
  const Tensor z = looks(x);
  EXPECT_THROW(static_cast<void>(tape.jacobian(z, {x})), StateError);
  EXPECT_EQ(tape.jacobian(z, {x}, {.vectorize = false})[0].to_vector<double>(),
            (Doubles{1, 0, 0, 0}));
  GradientTape once;
  once.watch(x);
  const Tensor w = x * 2;
  static_cast<void>(once.jacobian(w, {x}));
  EXPECT_THROWS(static_cast<void>(once.jacobian(w, {x})), StateError,
                "GradientTape: gradient was already called on this tape, which is not persistent; "
                "make it with {.persistent = true}, or reset it");
}

} // namespace
} // namespace weft::test
