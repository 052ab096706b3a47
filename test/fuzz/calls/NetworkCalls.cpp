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

/// The options that all losses have, drawn into those of one.
template <class Options = losses::LossOptions>
Options drawn_options(Draw &draw) {
  Options options;
  if (draw.choose(5) == 0) options.weights = draw.tensor("weights");
  else if (draw.choose(3) == 0) options.weights = full({1}, 0.5);
  if (draw.choose(5) == 0) {
    options.mask = draw.tensor("mask");
    if (draw.choose(4) != 0) options.mask = options.mask.astype(DType::boolean);
  }
  options.reduction = static_cast<losses::Reduction>(draw.choose(4));
  return options;
}

/// Targets for these predictions: mostly others of their shape, else anything.
Argument drawn_targets(Draw &draw, const char *name, const Argument &predictions) {
  const Argument any = draw.operand(name);
  const bool fits = predictions.is_tensor() && predictions.tensor().defined();
  return fits && draw.choose(4) != 0 ? Argument(cos(cast(predictions.tensor(), DType::f32) * 3))
                                     : any;
}

/// Class numbers for these scores, of which some may be no class, or anything.
Argument drawn_labels(Draw &draw, const Argument &scores) {
  const Argument any = draw.operand("labels");
  const bool fits = scores.is_tensor() && scores.tensor().defined() && scores.tensor().rank() > 0;
  return fits && draw.choose(4) != 0
             ? Argument(argmax(cos(cast(scores.tensor(), DType::f32))) - (draw.choose(8) == 0))
             : any;
}

/// A loss of two tensors and the common options.
template <Tensor (*loss)(const Operand &, const Operand &, const losses::LossOptions &)>
std::vector<Tensor> pair_loss(Draw &draw) {
  const auto predictions = draw.operand("predictions");
  const auto targets = drawn_targets(draw, "targets", predictions);
  return results(loss(targets, predictions, drawn_options(draw)));
}

template <auto cross_entropy>
std::vector<Tensor> class_loss(Draw &draw) {
  const auto scores = draw.operand("scores");
  const auto labels =
      draw.choose(2) == 0 ? drawn_labels(draw, scores) : drawn_targets(draw, "labels", scores);
  auto options = drawn_options<losses::CrossEntropyOptions>(draw);
  options.from_logits = draw.value<bool>("from_logits");
  if (draw.choose(2) == 0) options.label_smoothing = draw.value<double>("label_smoothing");
  if (draw.choose(3) == 0) options.ignored_label = draw.value<std::int64_t>("ignored_label");
  return results(cross_entropy(labels, scores, options));
}

/// The result after one update of a metric of labels or targets, and predictions.
template <class Metric>
std::vector<Tensor> measured(Draw &draw, const Metric &metric) {
  const auto scores = draw.operand("scores");
  const auto labels =
      draw.choose(2) == 0 ? drawn_labels(draw, scores) : drawn_targets(draw, "labels", scores);
  metric.update(labels, scores, draw.choose(3) == 0 ? draw.tensor("weights") : Tensor());
  return results(metric.result());
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
    {"losses::categorical_cross_entropy", class_loss<losses::categorical_cross_entropy>},
    {"losses::sparse_categorical_cross_entropy",
     class_loss<losses::sparse_categorical_cross_entropy>},
    {"losses::binary_cross_entropy",
     [](Draw &draw) {
       const auto scores = draw.operand("scores");
       const auto labels = drawn_targets(draw, "labels", scores);
       auto options = drawn_options<losses::BinaryCrossEntropyOptions>(draw);
       options.from_logits = draw.value<bool>("from_logits");
       if (draw.choose(2) == 0) options.label_smoothing = draw.value<double>("label_smoothing");
       return results(losses::binary_cross_entropy(labels, scores, options));
     }},
    {"losses::mean_squared_error", pair_loss<losses::mean_squared_error>},
    {"losses::mean_absolute_error", pair_loss<losses::mean_absolute_error>},
    {"losses::huber",
     [](Draw &draw) {
       const auto predictions = draw.operand("predictions");
       const auto targets = drawn_targets(draw, "targets", predictions);
       auto options = drawn_options<losses::HuberOptions>(draw);
       if (draw.choose(2) == 0) options.delta = draw.value<double>("delta");
       return results(losses::huber(targets, predictions, options));
     }},
    {"losses::log_cosh", pair_loss<losses::log_cosh>},
    {"losses::kl_divergence", pair_loss<losses::kl_divergence>},
    {"losses::poisson", pair_loss<losses::poisson>},
    {"losses::hinge", pair_loss<losses::hinge>},
    {"losses::squared_hinge", pair_loss<losses::squared_hinge>},
    {"losses::categorical_hinge", pair_loss<losses::categorical_hinge>},
    {"losses::cosine_similarity", pair_loss<losses::cosine_similarity>},
    {"losses::triplet",
     [](Draw &draw) {
       const auto anchor = draw.operand("anchor");
       const auto positive = drawn_targets(draw, "positive", anchor),
                  negative = drawn_targets(draw, "negative", anchor);
       auto options = drawn_options<losses::TripletOptions>(draw);
       if (draw.choose(2) == 0) options.margin = draw.value<double>("margin");
       return results(losses::triplet(anchor, positive, negative, options));
     }},
    {"losses::ctc",
     [](Draw &draw) {
       const auto logits = draw.operand("logits");
       const auto labels = drawn_labels(draw, logits);
       auto options = drawn_options<losses::CTCOptions>(draw);
       if (draw.choose(3) == 0) options.blank = draw.value<std::int64_t>("blank");
       if (draw.choose(3) == 0) options.label_lengths = draw.tensor("label_lengths");
       if (draw.choose(3) == 0) options.logit_lengths = draw.tensor("logit_lengths");
       options.impossible_is_infinite = draw.value<bool>("impossible_is_infinite");
       return results(losses::ctc(labels, logits, options));
     },
     true, /*every_path=*/false},
    {"activations",
     [](Draw &draw) {
       constexpr Tensor (*kActivations[])(const Operand &) = {
           gelu, gelu_tanh,  silu,  sigmoid,      softplus, elu,
           selu, leaky_relu, relu6, hard_sigmoid, mish,     softsign};
       const auto x = draw.operand("x");
       return results(kActivations[draw.choose(std::size(kActivations))](x));
     }},
    {"metrics with state",
     [](Draw &draw) {
       switch (draw.choose(10)) {
       case 0: return measured(draw, metrics::BinaryAccuracy());
       case 1: return measured(draw, metrics::CategoricalAccuracy());
       case 2: return measured(draw, metrics::SparseCategoricalAccuracy());
       case 3: return measured(draw, metrics::TopKAccuracy());
       case 4: return measured(draw, metrics::Perplexity());
       case 5: return measured(draw, metrics::Precision());
       case 6: return measured(draw, metrics::F1());
       case 7: return measured(draw, metrics::AUC());
       case 8: return measured(draw, metrics::ConfusionMatrix(3));
       default: return measured(draw, metrics::R2());
       }
     },
     false},
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
