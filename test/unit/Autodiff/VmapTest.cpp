// vmap: what is written for one, on many at once, with control flow that each decides for itself.
#include "../Testing.h"

#include <cmath>
#include <map>

#include <weft/weft.h>

namespace weft::test {
namespace {

using Doubles = std::vector<double>;

const Tensor kX = tensor({1.0, 2.0, -3.0, 0.5});

/// What `f` gives for each of these alone.
template <class F>
Doubles alone(const F &f, const Tensor &xs = kX) {
  Doubles found;
  for (std::int64_t i = 0; i < xs.shape()[0]; ++i)
    found.push_back(f(xs[{i}]).template item<double>());
  return found;
}

/// Compares values and derivatives of `f` on many with those alone, eager and compiled.
template <class F>
void expect_alone(const F &f) {
  const auto near = [](const Tensor &found, const Doubles &expected) {
    const Doubles values = found.to_vector<double>();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != expected[i])
        EXPECT_NEAR(values[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << i;
  };
  const auto slopes = grad([&](const Tensor &xs) { return sum(vmap(f)(xs)); });
  const Doubles values = alone(f), derivatives = alone(grad(f));
  near(vmap(f)(kX), values);
  near(function(vmap(f))(kX), values);
  near(vmap(grad(f))(kX), derivatives);
  near(function(vmap(grad(f)))(kX), derivatives);
  near(slopes(kX), derivatives);
  near(function(slopes)(kX), derivatives);
  near(jvp(vmap(f), kX, ones({4}, f64)).second, derivatives);
}

TEST(Vmap, ControlFlow) {
  expect_alone(
      [](const Tensor &x) { return cond(x > 1, [&] { return x * x; }, [&] { return sin(x); }); });
  expect_alone([](const Tensor &x) {
    return switch_case(
        x.astype(i64), [&] { return x * 2; }, [&] { return x * x; }, [&] { return -x; });
  });
  expect_alone([](const Tensor &x) {
    const auto [y, n] = while_loop(
        [](const Tensor &a, const Tensor &) { return a < 9; },
        [&](const Tensor &a, const Tensor &n) { return std::tuple(abs(a) * 1.5 + x * x, n + 1); },
        x, 0);
    return y * n.astype(f64);
  });
  expect_alone([](const Tensor &x) {
    return for_loop(
        abs(x).astype(i64), [&](const Tensor &i, const Tensor &s) { return s * x + i.astype(f64); },
        x);
  });
  expect_alone([](const Tensor &x) {
    return for_loop(
        9, [&](const Tensor &, const Tensor &s) { return break_if(s > 4, abs(s) * 1.3 + x * x); },
        x);
  });
  // The slope of a root at 0 is infinite, of one member alone.
  expect_alone([](const Tensor &x) {
    return cond(x >= 0.5, [&] { return sqrt(x - 0.5); }, [&] { return x * 0; });
  });
}

TEST(Vmap, BoundsAtTheEndsOfIntegers) {
  const Tensor low = tensor({INT64_MIN, INT64_MAX - 1, std::int64_t{5}}),
               high = tensor({INT64_MAX, INT64_MAX, INT64_MIN});
  const auto count = [](const Tensor &from, const Tensor &to) {
    return for_loop(
        {from, to, INT64_MAX}, [](const Tensor &, const Tensor &n) { return n + std::int64_t{1}; },
        std::int64_t{0});
  };
  EXPECT_EQ(vmap(count)(low, high).to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 1, 0}));
  EXPECT_EQ(function(vmap(count))(low, high).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{3, 1, 0}));
}

TEST(Vmap, ChecksOfThoseWhoTakePart) {
  const auto root = [](const Tensor &x) {
    return cond(
        x > 0,
        [&] {
          check(x > 0, "{} has a root", x);
          return sqrt(x);
        },
        [&] { return x; });
  };
  for (const Tensor &xs : {kX, -abs(kX), abs(kX)}) {
    EXPECT_EQ(vmap(root)(xs).to_vector<double>(), alone(root, xs));
    EXPECT_EQ(function(vmap(root))(xs).to_vector<double>(), alone(root, xs));
  }
  const auto all = [](const Tensor &x) {
    check(x > 0, "{} is positive", x);
    return x;
  };
  EXPECT_THROW(vmap(all)(kX), AssertionError);
  EXPECT_THROW(function(vmap(all))(kX), AssertionError);
}

TEST(Vmap, EffectsThatSomeWouldHave) {
  const Variable count(0.0);
  const std::uint32_t line = __LINE__ + 5;
  const auto counted = [&](const Tensor &x) {
    return cond(
        x > 0,
        [&] {
          count.assign(1.0);
          return x;
        },
        [&] { return x; });
  };
  const std::string words =
      "assign: cond: assign has an effect, and would happen for some members of vmap and not for "
      "others: "
      "do "
      "it outside of what each decides for itself, or give what it needs as a result";
  EXPECT_THROWS(vmap(counted)(kX), StateError, words);
  EXPECT_THROWS(function(vmap(counted))(kX), StateError, words);
  try {
    vmap(counted)(kX);
  } catch (const StateError &error) {
    EXPECT_EQ(error.location().line, line);
  }
  EXPECT_EQ(count.value().item<double>(), 0);
}

struct Pair {
  Tensor a, b;
  WEFT_FIELDS(Pair, a, b)
};

TEST(Vmap, StructuresAndAxes) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  const auto both = [](const Pair &pair, const std::map<std::string, Tensor> &more, Tensor w) {
    return std::tuple(pair.a * w + more.at("c"), Pair{pair.b, w});
  };
  const auto [sums, pair] = vmap(both, {.in_axes = {0, 0, std::nullopt}})(
      Pair{x, x + 1}, std::map<std::string, Tensor>{{"c", tensor({1.0, 2.0, 3.0})}}, 2.0);
  EXPECT_EQ(sums.to_vector<double>(), (Doubles{3, 5, 8, 10, 13, 15}));
  EXPECT_EQ(pair.a.to_vector<double>(), (Doubles{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(pair.b.shape(), (Shape{3}));
  const auto columns =
      vmap([](Tensor column) { return column * 2; }, {.in_axes = {-1}, .out_axes = 1})(x);
  EXPECT_EQ(columns.to_vector<double>(), (Doubles{2, 4, 6, 8, 10, 12}));
}

TEST(Vmap, BadInput) {
  const auto add = [](const Tensor &a, const Tensor &b) { return a + b; };
  EXPECT_THROWS(vmap(add)(kX, ones({3}, f64)), ValueError, "vmap: sizes differ: [3, 4]");
  EXPECT_THROWS(vmap(add)(kX, 1.0), IndexError,
                "vmap: an argument of shape () has no axis 0 to map over");
  EXPECT_THROWS(vmap(add, {.in_axes = {0}})(kX, kX), ValueError,
                "vmap: in_axes has 1 entries, but there are 2 arguments");
  EXPECT_THROWS(vmap(add, {.out_axes = 2})(kX, kX), IndexError,
                "vmap: a result of shape (4,) has no axis 2 for what is mapped over");
  EXPECT_THROWS(vmap([](const Variable &v) { return v.value(); })(Variable(kX)), ValueError,
                "vmap: a variable is not mapped over: give its value, or keep it the same for all "
                "with std::nullopt in in_axes, or by reaching it from inside the function");
  EXPECT_THROWS(vmap([](const Tensor &x) {
                  return cond(x > 0, [] { return ones({2}); }, [] { return ones({3}); });
                })(kX),
                ShapeError,
                "cond: tensor 0 of the result has shape (2,) in branch 0, but (3,) in branch 1: "
                "members of a batch that choose differently give results of one shape");
}

} // namespace
} // namespace weft::test
