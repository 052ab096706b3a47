// Calls of layers, losses, metrics and optimizers.
#include "Calls.h"

namespace weft::fuzz {

namespace {

nn::Activation drawn_activation(Draw &draw) {
  switch (draw.choose(4)) {
  case 0: return relu;
  case 1: return tanh;
  case 2: return logistic;
  default: return {};
  }
}

/// Updates two variables and gives their values, also after the error.
template <class Make>
std::vector<Tensor> updated(Draw &draw, const Make &make) {
  const Variable a(ones({2, 3}), "a"), b(ones({4}), "b");
  auto optimizer = make(std::vector<Variable>{a, b});
  std::vector<Tensor> gradients;
  for (std::uint64_t i = draw.choose(8) == 0 ? draw.choose(4) : 2; i > 0; --i)
    gradients.push_back(draw.choose(3) == 0   ? draw.tensor("gradient")
                        : draw.choose(6) == 0 ? Tensor()
                                              : ones(gradients.empty() ? Shape{2, 3} : Shape{4}));
  try {
    optimizer.apply_gradients(gradients);
  } catch (const Error &) {
    for (const Variable &variable : {a, b})
      for (const float value : variable.value().to_vector<float>())
        if (value != 1) throw std::logic_error("after an error a variable is changed");
    throw;
  }
  return results(std::pair(a.value(), b.value()));
}

const CallEntry kCalls[] = {
    {"nn::Dense",
     [](Draw &draw) {
       const auto inputs = draw.value<std::int64_t>("inputs"),
                  units = draw.value<std::int64_t>("units");
       const auto seed = draw.value<std::uint64_t>("seed");
       const nn::Activation activation = drawn_activation(draw);
       const nn::Dense layer(inputs > 1000 && inputs < 1 << 20 ? 3 : inputs, units,
                             {.activation = activation, .seed = seed});
       return results(layer(draw.operand("x")));
     },
     false},
    {"nn::dropout",
     [](Draw &draw) {
       const auto x = draw.operand("x");
       const auto rate = draw.value<double>("rate");
       const random::Generator generator(draw.value<std::uint64_t>("seed"));
       return results(nn::dropout(x, rate, generator));
     },
     false},
    {"nn::softmax", [](Draw &draw) { return results(nn::softmax(draw.operand("logits"))); }},
    {"nn::log_softmax",
     [](Draw &draw) { return results(nn::log_softmax(draw.operand("logits"))); }},
    {"nn::one_hot",
     [](Draw &draw) {
       const auto labels = draw.operand("labels");
       const auto classes = draw.value<std::int64_t>("classes");
       const auto dtype = draw.value<DType>("dtype");
       return results(
           nn::one_hot(labels, classes > 1000 && classes < 1LL << 40 ? 7 : classes, dtype));
     }},
    {"losses::softmax_cross_entropy",
     [](Draw &draw) {
       const auto labels = draw.operand("labels"), logits = draw.operand("logits");
       return results(losses::softmax_cross_entropy(labels, logits));
     }},
    {"losses::mean_squared_error",
     [](Draw &draw) {
       const auto targets = draw.operand("targets"), predictions = draw.operand("predictions");
       return results(losses::mean_squared_error(targets, predictions));
     }},
    {"metrics::accuracy",
     [](Draw &draw) {
       const auto labels = draw.operand("labels"), scores = draw.operand("scores");
       return results(metrics::accuracy(labels, scores));
     }},
    {"optimizers::SGD",
     [](Draw &draw) {
       const auto rate = draw.value<double>("learning_rate");
       return updated(draw, [&](std::vector<Variable> parameters) {
         return optimizers::SGD(std::move(parameters), {.learning_rate = rate});
       });
     },
     false},
    {"optimizers::Adam",
     [](Draw &draw) {
       const auto rate = draw.value<double>("learning_rate"), beta = draw.value<double>("beta1");
       return updated(draw, [&](std::vector<Variable> parameters) {
         return optimizers::Adam(std::move(parameters), {.learning_rate = rate, .beta1 = beta});
       });
     },
     false},
};

} // namespace

std::span<const CallEntry> network_calls() { return kCalls; }

} // namespace weft::fuzz
