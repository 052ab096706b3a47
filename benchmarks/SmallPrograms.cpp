// The shapes of work that are small programs: formulas, normalisation, losses, recurrences, and
// gradients of them.
#include "ShapesOfWork.h"

namespace weft::bench {

namespace {

Tensors layer_norm_grad(const Tensors &inputs) {
  const auto [x, gamma, beta] =
      grad<0, 1, 2>([&](const Tensor &by_x, const Tensor &by_gamma, const Tensor &by_beta) {
        return sum(nn::layer_norm(by_x, by_gamma, by_beta, 1e-5) * inputs[3]);
      })(inputs[0], inputs[1], inputs[2]);
  return {x, gamma, beta};
}

Tensors cross_entropy_grad(const Tensors &inputs) {
  const auto [value, slope] = value_and_grad([&](const Tensor &logits) {
    return losses::softmax_cross_entropy(inputs[1], logits);
  })(inputs[0]);
  return {value, slope};
}

/// The distribution function of the normal distribution (Abramowitz & Stegun 26.2.17).
Tensor normal_cdf(const Tensor &x) {
  const Tensor size = abs(x), t = 1.f / (1.f + 0.2316419f * size);
  const Tensor series =
      t * (0.319381530f +
           t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  const Tensor tail = 0.3989422804f * exp(-0.5f * size * size) * series;
  return select(x < 0.f, tail, 1.f - tail);
}

/// The price of a call for spot, strike and time, at a rate of 0.03 and a volatility of 0.2.
Tensor call_price(const Tensor &spot, const Tensor &strike, const Tensor &time) {
  const Tensor spread = 0.2f * sqrt(time);
  const Tensor d1 = (log(spot / strike) + 0.05f * time) / spread, d2 = d1 - spread;
  return spot * normal_cdf(d1) - strike * exp(-0.03f * time) * normal_cdf(d2);
}

/// Value and gradient of a recurrence h = tanh(x u + h w + b), all squares of h summed.
Tensors tanh_cell_grad(const Tensors &inputs) {
  const auto [value, slopes] =
      value_and_grad<0, 1, 2>([&](const Tensor &u, const Tensor &w, const Tensor &b) {
        const auto [last, all] = scan(
            [&](const Tensor &h, const Tensor &x) {
              const Tensor next = tanh(matmul(x, u) + matmul(h, w) + b);
              return std::pair(next, next);
            },
            zeros({16, 16}), inputs[0]);
        return sum(all * all);
      })(inputs[1], inputs[2], inputs[3]);
  const auto &[u, w, b] = slopes;
  return {value, u, w, b};
}

/// Value and gradient of a long short-term memory of 256 units, all squares of h summed.
Tensors lstm_grad(const Tensors &inputs) {
  using State = std::tuple<Tensor, Tensor>;
  constexpr std::int64_t units = 256;
  const auto [value, slopes] =
      value_and_grad<0, 1, 2>([&](const Tensor &u, const Tensor &w, const Tensor &b) {
        const Tensor start = zeros({32, units});
        const auto [last, all] = scan(
            [&](const State &state, const Tensor &x) {
              const auto &[h, c] = state;
              const Tensor gates = matmul(x, u) + matmul(h, w) + b;
              const auto gate = [&](std::int64_t i) {
                return gates[{weft::all, slice(i * units, (i + 1) * units)}];
              };
              const Tensor cell = logistic(gate(1)) * c + logistic(gate(0)) * tanh(gate(2));
              const Tensor next = logistic(gate(3)) * tanh(cell);
              return std::pair(State(next, cell), next);
            },
            State(start, start), inputs[0]);
        return sum(all * all);
      })(inputs[1], inputs[2], inputs[3]);
  const auto &[u, w, b] = slopes;
  return {value, u, w, b};
}

std::vector<Work> formulas() {
  return {
      {"power_2_64K",
       "x to the power of 2, 64 Ki numbers",
       {uniform({64 << 10})},
       [](const Tensors &x) -> Tensors { return {power(x[0], 2.0)}; }},
      {"power_3_64K",
       "x to the power of 3, 64 Ki numbers",
       {uniform({64 << 10})},
       [](const Tensors &x) -> Tensors { return {power(x[0], 3.0)}; }},
      {"black_scholes_1M",
       "the prices of 1 Mi calls",
       {uniform({kMi}, 50, 150), uniform({kMi}, 50, 150), uniform({kMi}, 0.1, 2)},
       [](const Tensors &x) -> Tensors { return {call_price(x[0], x[1], x[2])}; }},
      {"gelu_grad_4M",
       "the gradient of the sum of gelu, tanh form, of 4 Mi numbers",
       {uniform({4 * kMi}, -4, 4)},
       [](const Tensors &x) -> Tensors {
         return {grad([](const Tensor &y) { return sum(gelu_tanh(y)); })(x[0])};
       },
       kTorch | kJax},
  };
}

std::vector<Work> normalisations() {
  const std::vector<WorkInput> layer = {uniform({4096, 768}), uniform({768}), uniform({768}),
                                        uniform({4096, 768})};
  return {
      {"layer_norm_4096x768",
       "layer normalisation of 4096 rows of 768",
       {layer[0], layer[1], layer[2]},
       [](const Tensors &x) -> Tensors { return {nn::layer_norm(x[0], x[1], x[2], 1e-5)}; }},
      {"layer_norm_grad_4096x768", "the gradient of a weighted sum of that", layer, layer_norm_grad,
       kTorch | kJax},
      {"batch_norm",
       "batch normalisation in training, 32 x 32 x 32 x 64, channels last",
       {uniform({32, 32, 32, 64}), uniform({64}), uniform({64})},
       [](const Tensors &x) -> Tensors { return {nn::batch_norm(x[0], x[1], x[2], 1e-5)}; }},
      {"softmax_1024x1000",
       "softmax of 1024 rows of 1000",
       {uniform({1024, 1000}, -5, 5)},
       [](const Tensors &x) -> Tensors { return {nn::softmax(x[0])}; }},
      {"cross_entropy_grad",
       "mean cross entropy of 1024 rows of 1000 logits, and its gradient",
       {uniform({1024, 1000}, -5, 5), {Elements::index, {1024}, 0, 1000}},
       cross_entropy_grad,
       kTorch | kJax},
  };
}

std::vector<Work> recurrences() {
  const auto cell = [](std::int64_t turns) -> std::vector<WorkInput> {
    return {uniform({turns, 16, 8}), uniform({8, 16}, -0.5, 0.5), uniform({16, 16}, -0.3, 0.3),
            uniform({16}, -0.1, 0.1)};
  };
  return {
      {"scan_grad_1000", "value and gradient of a tanh cell over 1,000 turns", cell(1000),
       tanh_cell_grad, kJax, 1e-3},
      {"scan_grad_8000", "value and gradient of a tanh cell over 8,000 turns", cell(8000),
       tanh_cell_grad, kJax, 1e-3},
      {"lstm_grad_64x32x256",
       "value and gradient of an LSTM, 64 turns, batch 32, 256 units",
       {uniform({64, 32, 256}), uniform({256, 1024}, -0.06, 0.06),
        uniform({256, 1024}, -0.06, 0.06), uniform({1024}, -0.06, 0.06)},
       lstm_grad,
       kTorch | kJax,
       1e-3},
  };
}

} // namespace

std::vector<Work> small_programs() {
  std::vector<Work> list;
  for (std::vector<Work> part : {formulas(), normalisations(), recurrences()})
    list.insert(list.end(), part.begin(), part.end());
  return list;
}

} // namespace weft::bench
