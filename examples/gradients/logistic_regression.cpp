// logistic_regression: two clouds of points told apart by a line; the model is a struct, and so is
// its gradient.
#include <cstdio>

#include <weft/weft.h>
using namespace weft;

namespace {

struct Model {
  Tensor weights, bias;
  WEFT_FIELDS(Model, weights, bias)
};

Tensor logits(const Model &model, const Tensor &x) { return matmul(x, model.weights) + model.bias; }

/// The mean of log(1 + exp(-z)) or log(1 + exp(z)), by the label, where exp cannot overflow.
Tensor loss(const Model &model, const Tensor &x, const Tensor &labels) {
  const Tensor z = logits(model, x);
  return mean(maximum(z, 0) - z * labels + log1p(exp(-abs(z))));
}

} // namespace

int main() {
  // 500 points around (1, 0.5), and 500 around (-1, -0.5).
  const Tensor labels = (arange(1000) < 500).astype(f32);
  const Tensor centres = matmul(reshape(labels * 2 - 1, {1000, 1}), tensor({{1.f, 0.5f}}));
  const Tensor x = centres + random::normal({1000, 2}, {.seed = 1});

  const auto step = function([](const Model &model, const Tensor &inputs, const Tensor &targets) {
    const auto [value, slope] = value_and_grad(loss)(model, inputs, targets);
    return std::pair(value, Model{model.weights - slope.weights, model.bias - slope.bias});
  });
  Model model{zeros({2}), zeros({})};
  for (int i = 0; i < 200; ++i) {
    const auto [value, next] = step(model, x, labels);
    if (i % 50 == 0) std::printf("step %3d: loss %.4f\n", i, value.item<float>());
    model = next;
  }
  const auto [value, slope] = value_and_grad(loss)(model, x, labels);
  const Tensor right = equal(logits(model, x) > 0, labels > 0);
  std::printf("loss %.4f, accuracy %.3f, largest slope %.0e\n", value.item<float>(),
              mean(right.astype(f32)).item<float>(), max(abs(slope.weights)).item<float>());
  std::printf("weights %.3f, %.3f; bias %.3f\n", model.weights[0].item<float>(),
              model.weights[1].item<float>(), model.bias.item<float>());
}
