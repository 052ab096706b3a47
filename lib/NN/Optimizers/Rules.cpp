// The methods: what each keeps for a variable, and the numbers of its formula (Formulas.h).
#include <array>

#include "NN/Optimizers/State.h"
#include "Support/CallSite.h"

namespace weft::optimizers {

namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

/// A Rule by a method: a formula with `slots()`, `scalars`, and which kernel is its own.
template <class Formula>
class RuleOf : public Rule {
public:
  explicit RuleOf(Formula formula) : formula_(std::move(formula)) {}
  std::span<const char *const> slots() const override { return formula_.slots(); }
  double initial(std::size_t slot) const override {
    if constexpr (requires { formula_.initial(slot); }) return formula_.initial(slot);
    else return 0;
  }
  std::vector<Tensor> scalars(const Tensor &rate, const Tensor &t) const override {
    if constexpr (requires { formula_.scalars(rate, t); }) return formula_.scalars(rate, t);
    else return {rate};
  }
  bool is_elementwise() const override {
    return !requires { Formula::kWhole; };
  }
  bool owns_decay() const override {
    return requires { Formula::kOwnsDecay; };
  }
  bool is_plain() const override {
    if constexpr (requires { formula_.is_plain(); }) return formula_.is_plain();
    else return false;
  }
  void update(TensorArithmetic &w, const TensorArithmetic &g, TensorArithmetic *slots,
              const TensorArithmetic *scalars) const override {
    formula_.step(w, g, slots, scalars);
  }
  void update(const UpdateKernels<float> &kernels, const UpdateBlock<float> &block) const override {
    if constexpr (requires { formula_.kernel(kernels); }) formula_.kernel(kernels)(formula_, block);
  }
  void update(const UpdateKernels<double> &kernels,
              const UpdateBlock<double> &block) const override {
    if constexpr (requires { formula_.kernel(kernels); }) formula_.kernel(kernels)(formula_, block);
  }

private:
  Formula formula_;
};

/// The first of names, as many as there are.
template <std::size_t N>
std::span<const char *const> first(const std::array<const char *, N> &names, std::size_t count) {
  return std::span(names).first(count);
}

struct SGDMethod : SGDFormula {
  static constexpr std::array names = {"momentum"};
  auto slots() const { return first(names, momentum != 0 ? 1 : 0); }
  bool is_plain() const { return momentum == 0; }
  static auto kernel(const auto &kernels) { return kernels.sgd; }
};

struct AdamMethod : AdamFormula {
  static constexpr std::array names = {"m", "v", "vmax"};
  auto slots() const { return first(names, amsgrad ? 3 : 2); }
  // Both bias corrections folded into the step size (section 2 of the paper), in f64, as 1 - beta2
  // is a small difference.
  std::vector<Tensor> scalars(const Tensor &rate, const Tensor &t) const {
    return {rate * sqrt(1 - power(beta2, t)) / (1 - power(beta1, t))};
  }
  static auto kernel(const auto &kernels) { return kernels.adam; }
};

struct RMSpropMethod : RMSpropFormula {
  static constexpr std::array both = {"v", "mean", "momentum"};
  static constexpr std::array without_mean = {"v", "momentum"};
  std::span<const char *const> slots() const {
    const std::size_t more = momentum > 0 ? 1 : 0;
    return centered ? first(both, 2 + more) : first(without_mean, 1 + more);
  }
  static auto kernel(const auto &kernels) { return kernels.rmsprop; }
};

struct AdagradMethod : AdagradFormula {
  static constexpr std::array names = {"accumulator"};
  auto slots() const { return first(names, 1); }
  double initial(std::size_t) const { return initial_accumulator; }
  static auto kernel(const auto &kernels) { return kernels.adagrad; }
};

struct AdadeltaMethod : AdadeltaFormula {
  static constexpr std::array names = {"accumulator", "delta"};
  auto slots() const { return first(names, 2); }
  static auto kernel(const auto &kernels) { return kernels.adadelta; }
};

struct LionMethod : LionFormula {
  static constexpr std::array names = {"m"};
  auto slots() const { return first(names, 1); }
  static auto kernel(const auto &kernels) { return kernels.lion; }
};

struct LambMethod {
  double beta1, beta2, epsilon;

  static constexpr bool kWhole = true;     ///< it takes norms of whole variables
  static constexpr bool kOwnsDecay = true; ///< which is part of the step whose norm is taken
  static constexpr std::array names = {"m", "v"};
  auto slots() const { return first(names, 2); }
  std::vector<Tensor> scalars(const Tensor &rate, const Tensor &t) const {
    return {rate, 1 - power(beta1, t), 1 - power(beta2, t)};
  }
  void step(TensorArithmetic &w, const TensorArithmetic &g, TensorArithmetic *slots,
            const TensorArithmetic *scalars) const {
    TensorArithmetic &m = slots[0], &v = slots[1];
    m += (g - m) * (1 - beta1);
    v += (g * g - v) * (1 - beta2);
    const TensorArithmetic adam = m / scalars[1] / (sqrt(v / scalars[2]) + epsilon);
    const Tensor u = (adam + w * scalars[3]).tensor();
    const Tensor of_w = weft::sqrt(sum(square(w.tensor()))), of_u = weft::sqrt(sum(square(u)));
    const Tensor ratio = select((of_w > 0) & (of_u > 0), of_w / of_u, 1);
    w -= TensorArithmetic(u * (ratio * scalars[0].tensor()));
  }
};

template <class Options>
detail::CommonOptions common_of(const Options &options) {
  return {.weight_decay = options.weight_decay,
          .no_decay = options.no_decay,
          .clip_value = options.clip_value,
          .clip_norm = options.clip_norm,
          .clip_global_norm = options.clip_global_norm,
          .average = options.average,
          .accumulate = options.accumulate};
}

template <class Options, class Formula>
std::shared_ptr<detail::OptimizerState> make(const char *kind, detail::Listing listing,
                                             const Options &options, Formula formula,
                                             const std::source_location &where) {
  const CompositeCall site(kind, where);
  return make_state(kind, std::move(listing), options.learning_rate, options.name,
                    common_of(options), std::make_shared<RuleOf<Formula>>(std::move(formula)));
}

template <class Options>
AdamMethod adam_formula(const char *kind, const Options &options) {
  check_option(kind, "beta1", options.beta1, 1);
  check_option(kind, "beta2", options.beta2, 1);
  check_option(kind, "epsilon", options.epsilon, kAny);
  return {{options.beta1, options.beta2, options.epsilon, options.amsgrad}};
}

SGDMethod checked(const SGDOptions &options) {
  check_option("SGD", "momentum", options.momentum, 1);
  return {{options.momentum, options.nesterov}};
}
RMSpropMethod checked(const RMSpropOptions &options) {
  check_option("RMSprop", "rho", options.rho, 1);
  check_option("RMSprop", "momentum", options.momentum, 1);
  check_option("RMSprop", "epsilon", options.epsilon, kAny);
  return {{options.rho, options.momentum, options.epsilon, options.centered}};
}
AdagradMethod checked(const AdagradOptions &options) {
  check_option("Adagrad", "initial_accumulator", options.initial_accumulator, kAny);
  check_option("Adagrad", "epsilon", options.epsilon, kAny);
  return {{options.initial_accumulator, options.epsilon}};
}
AdadeltaMethod checked(const AdadeltaOptions &options) {
  check_option("Adadelta", "rho", options.rho, 1);
  check_option("Adadelta", "epsilon", options.epsilon, kAny);
  return {{options.rho, options.epsilon}};
}
LambMethod checked(const LambOptions &options) {
  check_option("Lamb", "beta1", options.beta1, 1);
  check_option("Lamb", "beta2", options.beta2, 1);
  check_option("Lamb", "epsilon", options.epsilon, kAny);
  return {options.beta1, options.beta2, options.epsilon};
}
LionMethod checked(const LionOptions &options) {
  check_option("Lion", "beta1", options.beta1, 1);
  check_option("Lion", "beta2", options.beta2, 1);
  return {{options.beta1, options.beta2}};
}

} // namespace

SGD::SGD(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("SGD", std::move(listing), options, checked(options), where)) {}
Adam::Adam(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("Adam", std::move(listing), options, adam_formula("Adam", options), where)) {}
AdamW::AdamW(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("AdamW", std::move(listing), options, adam_formula("AdamW", options), where)) {
}
RMSprop::RMSprop(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("RMSprop", std::move(listing), options, checked(options), where)) {}
Adagrad::Adagrad(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("Adagrad", std::move(listing), options, checked(options), where)) {}
Adadelta::Adadelta(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("Adadelta", std::move(listing), options, checked(options), where)) {}
Lamb::Lamb(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("Lamb", std::move(listing), options, checked(options), where)) {}
Lion::Lion(detail::Listing listing, const Options &options, std::source_location where)
    : Optimizer(make("Lion", std::move(listing), options, checked(options), where)) {}

} // namespace weft::optimizers
