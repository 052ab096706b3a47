// newton: the minimum of Rosenbrock's valley by second derivatives, in six steps.
#include <cstdio>

#include <weft/weft.h>
using namespace weft;

namespace {

Tensor valley(const Tensor &x) { return square(1 - x[0]) + 100 * square(x[1] - square(x[0])); }

/// The x of a x = b for a matrix (2, 2), by Cramer's rule.
Tensor solve(const Tensor &a, const Tensor &b) {
  const Tensor determinant = a[{0, 0}] * a[{1, 1}] - a[{0, 1}] * a[{1, 0}];
  const Tensor first = b[0] * a[{1, 1}] - b[1] * a[{0, 1}];
  const Tensor second = b[1] * a[{0, 0}] - b[0] * a[{1, 0}];
  return concatenate({reshape(first, {1}), reshape(second, {1})}) / determinant;
}

} // namespace

int main() {
  const auto step =
      function([](const Tensor &x) { return x - solve(hessian(valley)(x), grad(valley)(x)); });
  Tensor x = tensor({-1.2, 1.0});
  for (int i = 0; i <= 6; ++i) {
    std::printf("step %d: (%.6f, %.6f), value %.2e\n", i, x[0].item<double>(), x[1].item<double>(),
                valley(x).item<double>());
    x = step(x);
  }
}
