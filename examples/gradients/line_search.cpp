// line_search: a step downhill, halved until it goes down enough; the same source on values and
// compiled.
#include <cstdio>
#include <tuple>

#include <weft/weft.h>
using namespace weft;

namespace {

/// Goes from x against the gradient of f, by less and less until f falls by rate times the square
/// of the gradient: where it got to, f there, and the rate that comes next.
template <class F>
auto line_search_step(const F &f, const Tensor &x) {
  const auto [value, slope] = value_and_grad(f)(x);
  const Tensor start = value, direction = slope, norm = sum(direction * direction);
  return while_loop([&](const Tensor &, const Tensor &at,
                        const Tensor &rate) { return at > start - rate * norm; },
                    [&](const Tensor &, const Tensor &, const Tensor &rate) {
                      const Tensor next = x - rate * direction;
                      return std::tuple(next, f(next), rate / 2);
                    },
                    x, start, 1.f);
}

Tensor parabola(const Tensor &x) { return sum(square(x)); }
Tensor valley(const Tensor &x) { return square(1 - x[0]) + 100 * square(x[1] - square(x[0])); }

} // namespace

int main() {
  const auto step = [](const Tensor &x) { return line_search_step(parabola, x); };
  const auto [x, value, rate] = step(tensor(1.f));
  std::printf("x^2 from 1: x = %g, value = %g\n", x.item<float>(), value.item<float>());

  // Rosenbrock's valley: every step is one call of compiled code, whatever it takes.
  const auto descend = function([](const Tensor &at) { return line_search_step(valley, at); });
  Tensor at = tensor({-1.2, 1.0}), height;
  for (int i = 0; i < 2000; ++i) std::tie(at, height, std::ignore) = descend(at);
  std::printf("the valley after 2000 steps: (%.2f, %.2f), value %.1e\n", at[0].item<double>(),
              at[1].item<double>(), height.item<double>());
}
