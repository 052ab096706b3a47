// ode_fit: a pendulum's motion by a solver that chooses its steps in a while loop, and the gradient
// through that loop that finds the pendulum's length and friction from six observations.
#include <cmath>
#include <cstdio>
#include <tuple>

#include <weft/weft.h>
using namespace weft;

namespace {

/// The change of angle and speed, a tensor (2), of a pendulum with these constants: gravity over
/// length, and friction.
Tensor change(const Tensor &y, const Tensor &constants) {
  return concatenate(
      {reshape(y[1], {1}), reshape(-constants[0] * sin(y[0]) - constants[1] * y[1], {1})});
}

/// Where `y` is after `time`, by the method of Bogacki and Shampine (1989), of third order: two
/// orders' difference tells the error, which makes the steps longer or shorter. Steps that err by
/// more than the tolerance are made again. Gives the numbers of steps as well.
std::tuple<Tensor, Tensor> motion(const Tensor &start, const Tensor &time,
                                  const Tensor &constants) {
  constexpr double tolerance = 1e-8;
  const auto [t, y, step, steps] = while_loop(
      [&](const Tensor &t, const Tensor &, const Tensor &, const Tensor &) {
        return t < time * (1 - 1e-12);
      },
      [&](const Tensor &t, const Tensor &y, const Tensor &proposed, const Tensor &steps) {
        const Tensor h = minimum(proposed, time - t);
        const Tensor k1 = change(y, constants);
        const Tensor k2 = change(y + h * k1 / 2., constants);
        const Tensor k3 = change(y + 3. * h * k2 / 4., constants);
        const Tensor next = y + h * (2. * k1 + 3. * k2 + 4. * k3) / 9.;
        const Tensor k4 = change(next, constants);
        const Tensor error =
            max(abs(h * (-5. * k1 / 72. + k2 / 12. + k3 / 9. - k4 / 8.))) / tolerance;
        const Tensor good = error <= 1.;
        const Tensor factor = minimum(maximum(0.9 * power(error + 1e-10, -1. / 3), 0.2), 5.);
        // The length of a step is a choice, and no part of the solution.
        return std::tuple(select(good, t + h, t), select(good, next, y), stop_gradient(h * factor),
                          steps + 1);
      },
      tensor(0.0), start, tensor(0.01), 0);
  return {y, steps};
}

} // namespace

int main() {
  const Tensor start = tensor({2.0, 0.0}), truth = tensor({9.81, 0.3});
  const Tensor times = tensor({0.5, 1.0, 1.5, 2.0, 2.5, 3.0});
  const auto at = function([](const Tensor &y, const Tensor &time, const Tensor &constants) {
    return motion(y, time, constants);
  });
  const auto [last, steps] = at(start, times[5], truth);
  std::printf("after 3 seconds, in %d steps: angle %.6f, speed %.6f\n", steps.item<std::int32_t>(),
              last[0].item<double>(), last[1].item<double>());

  // Each observation is the state after half a second more.
  const auto loss = [](const Tensor &constants, const Tensor &from, const Tensor &observed) {
    const auto [end, errors] = scan(
        [&](const Tensor &y, const Tensor &seen) {
          const Tensor next = std::get<0>(motion(y, tensor(0.5), constants));
          return std::pair(next, sum(square(next - seen)));
        },
        from, observed);
    return sum(errors);
  };
  std::vector<double> seen;
  for (int i = 0; i < 6; ++i) {
    const auto [y, n] = at(start, times[i], truth);
    for (const double v : y.to_vector<double>()) seen.push_back(v);
  }
  const Tensor observed = tensor(seen, {6, 2});

  // Plain descent, each constant at a rate of its own.
  const auto descend = function([&](const Tensor &constants, const Tensor &from, const Tensor &to) {
    const auto [value, slope] = value_and_grad(loss)(constants, from, to);
    return std::pair(value, constants - slope * tensor({0.05, 0.005}));
  });
  Tensor constants = tensor({8.0, 0.1});
  for (int i = 0; i <= 60; ++i) {
    const auto [value, next] = descend(constants, start, observed);
    if (i % 20 == 0)
      std::printf("step %3d: loss %.1e, gravity over length %.4f, friction %.4f\n", i,
                  value.item<double>(), constants[0].item<double>(), constants[1].item<double>());
    constants = next;
  }
}
