// Tapes inside traced functions: the gradient is part of the trace, compiled, and the same as the
// eager one.
#include "../Testing.h"

#include <memory>

#include <weft/weft.h>

namespace weft {
namespace {

void expect_near(const Tensor &actual, const Tensor &expected) {
  ASSERT_EQ(actual.type(), expected.type());
  const std::vector<double> a = actual.astype(f64).to_vector<double>(),
                            b = expected.astype(f64).to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-6 * (1 + std::abs(b[i]))) << "element " << i;
}

const Tensor &input() {
  static const Tensor x = tensor({{1.f, 2.f}, {0.5f, -1.f}, {2.f, 2.f}});
  return x;
}

TEST(TracedTape, G20_TapeInsideAFunction) {
  Variable w(tensor({{1.f, 2.f}, {3.f, 4.f}}), "w");
  const auto slope = [&](Tensor x) {
    GradientTape tape;
    const Tensor loss = mean(square(matmul(x, w) - 1));
    return tape.gradient(loss, {w})[0];
  };
  const Tensor expected = slope(input());
  expect_near(function(slope)(input()), expected);
  expect_near(function(slope, {.signature = {spec(f32, {unknown, 2})}})(input()), expected);
}

TEST(TracedTape, NestedTapes) {
  const auto curvature = [](Tensor x) {
    GradientTape outer, inner;
    outer.watch(x);
    inner.watch(x);
    const Tensor first = inner.gradient(sum(tanh(x) * x), {x})[0];
    return outer.gradient(first, {x})[0];
  };
  const Tensor expected = curvature(input());
  expect_near(function(curvature)(input()), expected);
  expect_near(function(curvature, {.signature = {spec(f32, {unknown, unknown})}})(input()),
              expected);
}

TEST(TracedTape, SecondDerivativeOfAProductWithAZeroOfUnknownSize) {
  // d (x0 x1 x2) / d x0 = x1 x2, whose derivatives are (0, x2, x1), also where x1 is 0.
  const auto mixed = [](Tensor x, Tensor weights) {
    GradientTape outer, inner;
    outer.watch(x);
    inner.watch(x);
    const Tensor first = inner.gradient(prod(x), {x})[0];
    return outer.gradient(first * weights, {x})[0];
  };
  const Tensor x = tensor({2.f, 0.f, 3.f}), weights = tensor({1.f, 0.f, 0.f});
  const Tensor expected = tensor({0.f, 3.f, 0.f});
  expect_near(mixed(x, weights), expected);
  expect_near(
      function(mixed, {.signature = {spec(f32, {unknown}), spec(f32, {unknown})}})(x, weights),
      expected);
}

TEST(TracedTape, EveryReadOfAVariableCounts) {
  Variable v(tensor(2.f), "v");
  const auto step = [&](Tensor x) {
    GradientTape tape;
    const Tensor first = v * v * x;
    v.assign(5.f);
    const Tensor second = v * 3;
    const Tensor slope = tape.gradient(first + second, {v})[0];
    v.assign(2.f);
    return slope;
  };
  const Tensor one = tensor(1.f);
  EXPECT_EQ(step(one).item<float>(), 7);
  EXPECT_EQ(function(step)(one).item<float>(), 7);
}

TEST(TracedTape, SizesOfWhichSomeAreKnown) {
  const auto slope = [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(reshape(x, {-1}) * 2, {x})[0];
  };
  for (const Shape &known : {Shape{unknown, unknown, 2}, Shape{3, unknown, unknown},
                             Shape{unknown, 0, unknown}, Shape{unknown, 0, 2}}) {
    SCOPED_TRACE(to_string(known));
    Ints sizes(known);
    for (std::int64_t &size : sizes)
      if (size == unknown) size = 3;
    const auto traced = function(slope, {.signature = {spec(f32, known)}});
    const Tensor x = ones(Shape(sizes), f32);
    expect_near(traced(x), x * 2);
  }
}

/// What the ShapeError says that a call throws; empty if it throws none.
template <class Call>
std::string refusal(const Call &call) {
  try {
    call();
  } catch (const ShapeError &error) {
    return std::string(error.message());
  }
  return "";
}

// A cotangent, a tangent or a gradient of a user's has its value's shape, also where that is known
// only when the program runs; eager calls refuse the same ones.
TEST(TracedTape, MatchesShapesThatOnlyTheCallKnows) {
  const auto expect = [&](const auto &f, const std::vector<double> &value) {
    const Tensor two = tensor({1.0, 2.0});
    const auto compiled = function(f, {.signature = {spec(f64, {unknown}), spec(f64, {unknown})}});
    EXPECT_EQ(f(two, two).template to_vector<double>(), value);
    EXPECT_EQ(compiled(two, two).template to_vector<double>(), value);
    for (const Tensor &wrong : {tensor({1.0, 2.0, 3.0}), tensor({4.0})}) {
      EXPECT_NE(refusal([&] { f(two, wrong); }), "");
      const std::string words = refusal([&] { compiled(two, wrong); });
      EXPECT_NE(words.find("match_shape: x has size " + std::to_string(wrong.size()) +
                           " along axis 0, but must have that of like, 2"),
                std::string::npos)
          << words;
    }
  };
  const auto square = [](const Tensor &x) { return x * x; };
  const auto own = [](const Tensor &x, const Tensor &w) {
    return custom_gradient([w](const Tensor &t) {
      return Pullback{t * t, [w](const Tensor &dy) { return w * sum(dy); }};
    })(x);
  };
  expect([&](const Tensor &x, const Tensor &w) { return vjp(square, x).second(w); }, {2, 8});
  expect([&](const Tensor &x, const Tensor &v) { return jvp(square, x, v).second; }, {2, 8});
  expect(
      [&](const Tensor &x, const Tensor &w) {
        GradientTape tape;
        tape.watch(x);
        return tape.gradient(x * x, {x}, {.output_gradients = {w}})[0];
      },
      {2, 8});
  expect(
      [&](const Tensor &x, const Tensor &w) {
        GradientTape tape;
        tape.watch(x);
        return tape.gradient(own(x, w), {x})[0];
      },
      {2, 4});
  expect(
      [&](const Tensor &x, const Tensor &w) {
        return grad([&](const Tensor &t) {
          return sum(cond(sum(t) > 0, [&] { return own(t, w); }, [&] { return t; }));
        })(x);
      },
      {2, 4});
  expect(
      [&](const Tensor &x, const Tensor &w) {
        return jvp([&](const Tensor &t) { return own(t, w); }, x, ones_like(x)).second;
      },
      {3, 3});
}

// The slip of a beginner: the tape stands outside, and the function asks it.
TEST(TracedTape, OfATapeCreatedOutsideIsAnError) {
  const Variable w(tensor(2.0), "w");
  const Tensor x = tensor(3.0);
  {
    GradientTape tape;
    const auto step = function([&](const Tensor &t) {
      const Tensor loss = square(t * w);
      return tape.gradient(loss, {w})[0];
    });
    EXPECT_THROWS(
        step(x), StateError,
        "GradientTape: the tape was created outside of the traced function that asks it for "
        "a gradient, and records a call of that function as a whole; ask it behind the "
        "call, or create the tape inside");
    EXPECT_EQ(tape.gradient(square(x * w), {w})[0].item<double>(), 36);
  }
  EXPECT_EQ((x + 1).item<double>(), 4);
}

// What ends while another chain of interpreters is set aside ends there too.
TEST(TracedTape, OfATapeThatEndsInsideATrace) {
  const Tensor x = tensor(3.0);
  const auto check = [&](const char *what, const auto &end) {
    SCOPED_TRACE(what);
    auto tape = std::make_unique<GradientTape>();
    tape->watch(x);
    const Tensor y = x * x;
    const auto f = function([&](const Tensor &t) {
      end(tape, y);
      return t + 1;
    });
    EXPECT_EQ(f(x).template item<double>(), 4);
    tape.reset();
    EXPECT_EQ((x + 1).item<double>(), 4);
    GradientTape other;
    other.watch(x);
    EXPECT_EQ(other.gradient(f(x), {x})[0].template item<double>(), 1);
  };
  const auto refusal = [](const std::string &what) {
    return "GradientTape: " + what +
           " was called inside a traced function or a host call, around which the tape was "
           "created; "
           "call it behind, or create the tape inside";
  };
  check("destroy", [](auto &tape, const Tensor &) { tape.reset(); });
  check("destroy, and make another", [](auto &tape, const Tensor &) {
    tape.reset();
    const GradientTape another;
  });
  check("stop", [&](const auto &tape, const Tensor &) {
    EXPECT_THROWS(tape->stop(), StateError, refusal("stop"));
  });
  check("gradient", [&](const auto &tape, const Tensor &y) {
    EXPECT_THROWS(tape->gradient(y, {x}), StateError,
                  refusal("gradient of a tape that is not persistent"));
  });
  check("host call", [&](const auto &tape, const Tensor &y) {
    host_call(
        [&tape, y, x] {
          if (tape) EXPECT_ANY_THROW(static_cast<void>(tape->gradient(y, {x})));
        },
        {});
  });
}

} // namespace
} // namespace weft
