// Custom gradients whose pullbacks use themselves, as that of a linear solve does: to any order, on
// values and in traces.
#include "../Testing.h"
#include "Near.h"

#include <functional>
#include <thread>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;
using Map = std::function<Tensor(const Tensor &)>;

/// 2 x by C++; it is linear and its own adjoint.
Tensor twice(const Tensor &x) {
  return custom_gradient([](const Tensor &v) {
    return Pullback{
        host_call([](const Tensor &a) { return 2 * a; },
                  {.results = {TensorType{f64, v.shape()}}, .name = "twice", .pure = true}, v),
        [](const Tensor &dy) { return twice(dy); }};
  })(x);
}

/// 8 x^3.
Tensor cubed(const Tensor &x) {
  const Tensor t = twice(x);
  return t * t * t;
}

Map derivative(const Map &f, int order) {
  Map result = f;
  for (int i = 0; i < order; ++i) result = grad(result);
  return result;
}

TEST(RecursiveGradients, OfAnyOrder) {
  const Doubles expected{8 * 27, 24 * 9, 48 * 3, 48, 0};
  const Tensor x = tensor(3.0);
  for (int order = 0; order <= 4; ++order) {
    SCOPED_TRACE(order);
    const double value = expected[static_cast<std::size_t>(order)];
    EXPECT_EQ(derivative(cubed, order)(x).item<double>(), value);
    EXPECT_EQ(function(derivative(cubed, order))(x).item<double>(), value);
    // Of a compiled function, which was traced before anyone knew of derivatives.
    const Map entry = function(cubed);
    EXPECT_EQ(entry(x).item<double>(), 216);
    EXPECT_EQ(derivative(entry, order)(x).item<double>(), value);
    if (order == 0) continue;
    const Map lower = derivative(cubed, order - 1);
    const Map forward = [=](const Tensor &v) { return jvp(lower, v, tensor(1.0)).second; };
    EXPECT_EQ(forward(x).item<double>(), value);
    EXPECT_EQ(function(forward)(x).item<double>(), value);
  }
}

TEST(RecursiveGradients, InEveryForm) {
  const Tensor x = tensor({1.0, -2.0});
  const auto loss = [](const Tensor &v) { return sum(cubed(v)); };
  const std::pair<Map, Doubles> forms[] = {
      {[=](const Tensor &v) { return vjp(loss, v).second(tensor(1.0)); }, {24, 96}},
      {[=](const Tensor &v) { return jvp(cubed, v, ones_like(v)).second; }, {24, 96}},
      {[=](const Tensor &v) { return hessian(loss)(v); }, {48, 0, 0, -96}},
      {[=](const Tensor &v) { return jvp(grad(loss), v, ones_like(v)).second; }, {48, -96}},
      {[=](const Tensor &v) {
         return grad([=](const Tensor &a) { return sum(jvp(cubed, a, ones_like(a)).second); })(v);
       },
       {48, -96}},
  };
  for (std::size_t i = 0; i < std::size(forms); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(forms[i].first(x).to_vector<double>(), forms[i].second);
    EXPECT_EQ(function(forms[i].first)(x).to_vector<double>(), forms[i].second);
  }
}

// What the compiler differentiates has pullbacks for as often as tapes around it ask.
TEST(RecursiveGradients, InControlFlow) {
  const auto loss = [](const Tensor &x) {
    const Tensor y =
        for_loop(2, [](const Tensor &, const Tensor &state) { return twice(state); }, x);
    return y * y * y; // 64 x^3
  };
  const Doubles expected{64 * 8, 192 * 4, 384 * 2, 384};
  const Tensor x = tensor(2.0);
  for (int order = 0; order <= 3; ++order) {
    SCOPED_TRACE(order);
    const double value = expected[static_cast<std::size_t>(order)];
    EXPECT_EQ(derivative(loss, order)(x).item<double>(), value);
    EXPECT_EQ(function(derivative(loss, order))(x).item<double>(), value);
    EXPECT_EQ(derivative(function(loss), order)(x).item<double>(), value);
  }
  const Map forward = [=](const Tensor &v) { return jvp(loss, v, tensor(1.0)).second; };
  EXPECT_EQ(function(forward)(x).item<double>(), 768);
  const Map mixed = [=](const Tensor &v) { return jvp(grad(loss), v, tensor(1.0)).second; };
  EXPECT_EQ(function(mixed)(x).item<double>(), 768);
}

/// The solution of a 2 by 2 system, by C++.
Tensor solve(const Tensor &matrix, const Tensor &right) {
  return custom_gradient(
      [](const Tensor &a, const Tensor &b) {
        const Tensor x = host_call(
            [](const Tensor &m, const Tensor &v) {
              const auto e = m.to_vector<double>(), r = v.to_vector<double>();
              const double det = e[0] * e[3] - e[1] * e[2];
              return tensor({(r[0] * e[3] - e[1] * r[1]) / det, (e[0] * r[1] - e[2] * r[0]) / det});
            },
            {.results = {spec(f64, {2})}, .name = "solve", .pure = true}, a, b);
        return Pullback{x, [=](const Tensor &dx) {
                          const Tensor db = solve(transpose(a, {1, 0}), dx);
                          // x itself came from a host call, and has no derivative.
                          const Tensor again = solve(a, b);
                          return std::tuple(-(db.reshape({2, 1}) * again.reshape({1, 2})), db);
                        }};
      },
      {.name = "solve"})(matrix, right);
}

TEST(RecursiveGradients, OfALinearSolve) {
  const auto loss = [](const Tensor &v) { // four entries of a matrix, and two of the right side
    const Tensor x = solve(v[{slice(0, 4)}].reshape({2, 2}), v[{slice(4, 6)}]);
    return sum(x * x * x);
  };
  const Tensor at = tensor({3.0, 1.0, -1.0, 2.0, 1.0, 0.5});
  const auto check = [&](const Map &f, const Map &slopes) {
    const Doubles given = slopes(at).to_vector<double>(), point = at.to_vector<double>();
    const std::size_t size = given.size() / point.size();
    for (std::size_t i = 0; i < point.size(); ++i) {
      Doubles before = point, behind = point;
      before[i] -= 1e-5;
      behind[i] += 1e-5;
      const Doubles low = f(tensor(before)).to_vector<double>(),
                    high = f(tensor(behind)).to_vector<double>();
      for (std::size_t k = 0; k < size; ++k)
        EXPECT_NEAR(given[k * point.size() + i], (high[k] - low[k]) / 2e-5, 1e-7);
    }
    EXPECT_EQ(function(slopes)(at).to_vector<double>(), given);
  };
  check(loss, grad(loss));
  check(grad(loss), hessian(loss));
  check(hessian(loss), jacobian(hessian(loss)));
  EXPECT_EQ(hessian(function(loss))(at).to_vector<double>(), hessian(loss)(at).to_vector<double>());
}

/// Its pullback asks for its own derivative, and so for another of that, without end.
Tensor endless(const Tensor &x) {
  return custom_gradient([](const Tensor &v) {
    return Pullback{v * 2, [](const Tensor &dy) { return grad(endless)(dy); }};
  })(x);
}

TEST(RecursiveGradients, WithoutEndAreErrors) {
  const std::string words =
      "custom_gradient: endless recursion: its function or its pullback calls it again without "
      "end; a pullback may call it, and not ask for its derivative";
  const Tensor x = tensor(1.0);
  EXPECT_THROWS(grad(endless)(x), StateError, words);
  EXPECT_THROWS(function(grad(endless))(x), StateError, words);
  EXPECT_THROWS(jvp(endless, x, x), StateError, words);
  std::thread([&] { EXPECT_THROWS(grad(endless)(x), StateError, words); }).join();
  EXPECT_EQ(endless(x).item<double>(), 2);
}

} // namespace
} // namespace weft
