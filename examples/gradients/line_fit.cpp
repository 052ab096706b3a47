// line_fit: the line of TensorFlow's guide to eager execution: y = 3 x + 2 with noise, by 300 steps
// of gradient descent, eagerly and with the step compiled.
#include <cstdio>

#include <weft/weft.h>
using namespace weft;

namespace {

struct Line {
  Variable w{5.f, "W"}, b{10.f, "B"};
  Tensor operator()(const Tensor &x) const { return x * w + b; }
};

Tensor loss(const Line &line, const Tensor &x, const Tensor &y) {
  return mean(square(line(x) - y));
}

void fit(const Line &line, const Tensor &x, const Tensor &y, bool compile) {
  const auto step = [&](const Tensor &inputs, const Tensor &targets) {
    GradientTape tape;
    const Tensor error = loss(line, inputs, targets);
    const auto [dw, db] = tape.gradient(error, {line.w, line.b});
    line.w.assign_sub(0.01 * dw);
    line.b.assign_sub(0.01 * db);
  };
  const auto compiled = function(step);
  std::printf("initial loss: %.3f\n", loss(line, x, y).item<float>());
  for (int i = 0; i < 300; ++i) {
    if (compile) compiled(x, y);
    else step(x, y);
    if (i % 20 == 0) std::printf("loss at step %03d: %.3f\n", i, loss(line, x, y).item<float>());
  }
  std::printf("final loss: %.3f\nW = %.4f, B = %.4f\n", loss(line, x, y).item<float>(),
              line.w.value().item<float>(), line.b.value().item<float>());
}

} // namespace

int main() {
  const Tensor x = random::normal({2000}, {.seed = 1}), noise = random::normal({2000}, {.seed = 2});
  const Tensor y = x * 3 + 2 + noise;
  std::printf("eager\n");
  fit(Line(), x, y, false);
  std::printf("compiled\n");
  fit(Line(), x, y, true);
}
