// The methods: what each keeps for a variable, and its formula, written once for ops on whole
// tensors and for blocks of elements.
#include <array>

#include "NN/Optimizers/State.h"
#include "Support/CallSite.h"

namespace weft::optimizers {

namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

/// A Rule by a formula: a class with `slots()`, `scalars`, and a template `step(w, g, slots,
/// scalars)`.
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
  void update(Whole &w, const Whole &g, std::span<Whole> slots,
              std::span<const Whole> scalars) const override {
    formula_.step(w, g, slots, scalars);
  }
  void update(Lanes &w, const Lanes &g, std::span<Lanes> slots,
              std::span<const Lanes> scalars) const override {
    if constexpr (!requires { Formula::kWhole; }) formula_.step(w, g, slots, scalars);
  }

private:
  Formula formula_;
};

/// The first of names, as many as there are.
template <std::size_t N>
std::span<const char *const> first(const std::array<const char *, N> &names, std::size_t count) {
  return std::span(names).first(count);
}

struct SGDFormula {
  double momentum;
  bool nesterov;

  static constexpr std::array names = {"momentum"};
  auto slots() const { return first(names, momentum != 0 ? 1 : 0); }
  bool is_plain() const { return momentum == 0; }
  template <class V>
  void step(V &w, const V &g, std::span<V> slots, std::span<const V> scalars) const {
    const V &rate = scalars[0];
    if (momentum == 0) {
      w -= g * rate;
      return;
    }
    V &m = slots[0];
    m *= momentum;
    m -= g * rate;
    if (nesterov) {
      w += m * momentum;
      w -= g * rate;
    } else {
      w += m;
    }
  }
};

struct AdamFormula {
  double beta1, beta2, epsilon;
  bool amsgrad;

  static constexpr std::array names = {"m", "v", "vmax"};
  auto slots() const { return first(names, amsgrad ? 3 : 2); }
  // Both bias corrections folded into the step size (section 2 of the paper), in f64, as 1 - beta2
  // is a small difference.
  std::vector<Tensor> scalars(const Tensor &rate, const Tensor &t) const {
    return {rate * sqrt(1 - power(beta2, t)) / (1 - power(beta1, t))};
  }
  template <class V>
  void step(V &w, const V &g, std::span<V> slots, std::span<const V> scalars) const {
    V &m = slots[0], &v = slots[1];
    m += (g - m) * (1 - beta1);
    v += (g * g - v) * (1 - beta2);
    if (amsgrad) slots[2].set_to(maximum(slots[2], v));
    w -= m * scalars[0] / (sqrt(amsgrad ? slots[2] : v) + epsilon);
  }
};

struct RMSpropFormula {
  double rho, momentum, epsilon;
  bool centered;

  static constexpr std::array both = {"v", "mean", "momentum"};
  static constexpr std::array without_mean = {"v", "momentum"};
  std::span<const char *const> slots() const {
    const std::size_t more = momentum > 0 ? 1 : 0;
    return centered ? first(both, 2 + more) : first(without_mean, 1 + more);
  }
  template <class V>
  void step(V &w, const V &g, std::span<V> slots, std::span<const V> scalars) const {
    V &v = slots[0];
    v *= rho;
    v += g * g * (1 - rho);
    const auto move = [&](const V &by) {
      if (momentum > 0) {
        V &m = slots.back();
        m *= momentum;
        m += by;
        w -= m;
      } else {
        w -= by;
      }
    };
    if (!centered) return move(g * scalars[0] / sqrt(v + epsilon));
    V &mean = slots[1];
    mean *= rho;
    mean += g * (1 - rho);
    move(g * scalars[0] / sqrt(v - mean * mean + epsilon));
  }
};

struct AdagradFormula {
  double initial_accumulator, epsilon;

  static constexpr std::array names = {"accumulator"};
  auto slots() const { return first(names, 1); }
  double initial(std::size_t) const { return initial_accumulator; }
  template <class V>
  void step(V &w, const V &g, std::span<V> slots, std::span<const V> scalars) const {
    slots[0] += g * g;
    w -= g * scalars[0] / sqrt(slots[0] + epsilon);
  }
};

struct AdadeltaFormula {
  double rho, epsilon;

  static constexpr std::array names = {"accumulator", "delta"};
  auto slots() const { return first(names, 2); }
  template <class V>
  void step(V &w, const V &g, std::span<V> slots, std::span<const V> scalars) const {
    V &a = slots[0], &s = slots[1];
    a *= rho;
    a += g * g * (1 - rho);
    const V delta = sqrt(s + epsilon) * g / sqrt(a + epsilon);
    s *= rho;
    s += delta * delta * (1 - rho);
    w -= delta * scalars[0];
  }
};

struct LambFormula {
  double beta1, beta2, epsilon;

  static constexpr bool kWhole = true;     ///< it takes norms of whole variables
  static constexpr bool kOwnsDecay = true; ///< which is part of the step whose norm is taken
  static constexpr std::array names = {"m", "v"};
  auto slots() const { return first(names, 2); }
  std::vector<Tensor> scalars(const Tensor &rate, const Tensor &t) const {
    return {rate, 1 - power(beta1, t), 1 - power(beta2, t)};
  }
  void step(Whole &w, const Whole &g, std::span<Whole> slots,
            std::span<const Whole> scalars) const {
    Whole &m = slots[0], &v = slots[1];
    m += (g - m) * (1 - beta1);
    v += (g * g - v) * (1 - beta2);
    const Whole adam = m / scalars[1] / (sqrt(v / scalars[2]) + epsilon);
    const Tensor u = (adam + w * scalars.back()).tensor();
    const Tensor of_w = weft::sqrt(sum(square(w.tensor()))), of_u = weft::sqrt(sum(square(u)));
    const Tensor ratio = select((of_w > 0) & (of_u > 0), of_w / of_u, 1);
    w -= Whole(u * (ratio * scalars[0].tensor()));
  }
};

struct LionFormula {
  double beta1, beta2;

  static constexpr std::array names = {"m"};
  auto slots() const { return first(names, 1); }
  template <class V>
  void step(V &w, const V &g, std::span<V> slots, std::span<const V> scalars) const {
    V &m = slots[0];
    w -= sign(m * beta1 + g * (1 - beta1)) * scalars[0];
    m *= beta2;
    m += g * (1 - beta2);
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
AdamFormula adam_formula(const char *kind, const Options &options) {
  check_option(kind, "beta1", options.beta1, 1);
  check_option(kind, "beta2", options.beta2, 1);
  check_option(kind, "epsilon", options.epsilon, kAny);
  return {options.beta1, options.beta2, options.epsilon, options.amsgrad};
}

SGDFormula checked(const SGDOptions &options) {
  check_option("SGD", "momentum", options.momentum, 1);
  return {options.momentum, options.nesterov};
}
RMSpropFormula checked(const RMSpropOptions &options) {
  check_option("RMSprop", "rho", options.rho, 1);
  check_option("RMSprop", "momentum", options.momentum, 1);
  check_option("RMSprop", "epsilon", options.epsilon, kAny);
  return {options.rho, options.momentum, options.epsilon, options.centered};
}
AdagradFormula checked(const AdagradOptions &options) {
  check_option("Adagrad", "initial_accumulator", options.initial_accumulator, kAny);
  check_option("Adagrad", "epsilon", options.epsilon, kAny);
  return {options.initial_accumulator, options.epsilon};
}
AdadeltaFormula checked(const AdadeltaOptions &options) {
  check_option("Adadelta", "rho", options.rho, 1);
  check_option("Adadelta", "epsilon", options.epsilon, kAny);
  return {options.rho, options.epsilon};
}
LambFormula checked(const LambOptions &options) {
  check_option("Lamb", "beta1", options.beta1, 1);
  check_option("Lamb", "beta2", options.beta2, 1);
  check_option("Lamb", "epsilon", options.epsilon, kAny);
  return {options.beta1, options.beta2, options.epsilon};
}
LionFormula checked(const LionOptions &options) {
  check_option("Lion", "beta1", options.beta1, 1);
  check_option("Lion", "beta2", options.beta2, 1);
  return {options.beta1, options.beta2};
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
