// The rules: what each optimizer keeps for a variable, and the numbers of its formula.
#include <charconv>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "NN/Optimizers/State.h"
#include "Support/CallSite.h"

namespace weft::optimizers {

namespace {

/// A Rule by a formula, and which kernel is its own, if it has one.
template <class Formula, class Kernel>
class RuleOf : public Rule {
public:
  RuleOf(Formula formula, Kernel kernel) : formula_(std::move(formula)), kernel_(kernel) {
    formula_.slots(slots_);
  }
  std::span<const char *const> slots() const override { return slots_; }
  double initial(std::size_t) const override {
    if constexpr (requires { formula_.initial(); }) return formula_.initial();
    else return 0;
  }
  std::vector<Tensor> scalars(const Tensor &rate, const Tensor &t) const override {
    if constexpr (requires { formula_.scalars(rate, t); }) return formula_.scalars(rate, t);
    else if constexpr (requires { formula_.rate(rate, t); }) return {formula_.rate(rate, t)};
    else return {rate};
  }
  bool is_elementwise() const override { return kHasKernel; }
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
    if constexpr (kHasKernel) kernel_(kernels)(formula_, block);
  }
  void update(const UpdateKernels<double> &kernels,
              const UpdateBlock<double> &block) const override {
    if constexpr (kHasKernel) kernel_(kernels)(formula_, block);
  }

private:
  static constexpr bool kHasKernel = !std::is_same_v<Kernel, std::nullptr_t>;

  Formula formula_;
  Kernel kernel_;
  std::vector<const char *> slots_;
};

/// It takes norms of whole variables.
struct LambFormula {
  double beta1, beta2, epsilon;

  static constexpr bool kOwnsDecay = true; ///< which is part of the step whose norm is taken
  void slots(std::vector<const char *> &names) const { names = {"m", "v"}; }
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

/// A formula of the options that are an optimizer's own, those between the learning rate and what
/// all have. Throws ValueError for one that makes no sense: rates of decay are below 1.
template <class Formula, class Options>
Formula formula_of(const char *kind, const Options &options) {
  static constexpr auto all = weft_options(static_cast<const Options *>(nullptr));
  constexpr std::size_t own = std::apply(
      [](const auto &...each) {
        std::size_t count = 0;
        bool before = true;
        ((before = before && std::string_view(each.name) != "weight_decay", count += before), ...);
        return count;
      },
      all);
  const auto checked = [&](const auto &option) {
    const auto value = options.*option.member;
    if constexpr (std::is_same_v<decltype(value), const double>) {
      const std::string_view name = option.name;
      const bool any = name == "epsilon" || name == "initial_accumulator";
      check_option(kind, option.name, value, any ? std::numeric_limits<double>::infinity() : 1);
    }
    return value;
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Formula{checked(std::get<I + 1>(all))...};
  }(std::make_index_sequence<own - 1>());
}

/// The values of all options but the name, and but for a rate that is a variable or a function.
template <class Options>
detail::OptionTexts texts_of(const Options &options) {
  detail::OptionTexts texts;
  const auto text = [&](const auto &value, const auto &text) -> std::string {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, LearningRate>)
      return value.is_number()             ? text(value.number(), text)
             : value.variable() == nullptr ? "a schedule"
                                           : "a variable";
    else if constexpr (std::is_same_v<Value, std::optional<double>>)
      return value ? text(*value, text) : "none";
    else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
      std::string all;
      for (const std::string &each : value) all += (all.empty() ? "" : ", ") + each;
      return all;
    } else if constexpr (std::is_same_v<Value, bool>) return value ? "true" : "false";
    else if constexpr (std::is_enum_v<Value>) return std::to_string(static_cast<int>(value));
    else {
      char digits[32]; // the fewest that are that number
      return {digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr};
    }
  };
  const auto add = [&](const auto &option) {
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(options.*option.member)>,
                                  std::string>)
      texts.emplace_back(option.name, text(options.*option.member, text));
  };
  std::apply([&](const auto &...each) { (add(each), ...); },
             weft_options(static_cast<const Options *>(nullptr)));
  return texts;
}

template <class Formula, class Options, class Kernel>
std::shared_ptr<detail::OptimizerState> make(const char *kind, detail::Listing listing,
                                             const Options &options, Kernel kernel,
                                             const std::source_location &where) {
  auto rule = std::make_shared<RuleOf<Formula, Kernel>>(formula_of<Formula>(kind, options), kernel);
  const CompositeCall site(kind, where);
  return make_state(kind, std::move(listing), options.learning_rate, options.name,
                    common_of(options), std::move(rule), texts_of(options));
}

} // namespace

#define WEFT_CONSTRUCTOR(Class, Formula, kernel)                                                   \
  Class::Class(detail::Listing listing, const Options &options, std::source_location where)        \
      : Optimizer(make<Formula>(#Class, std::move(listing), options, kernel, where)) {}
#define WEFT_RULE(Class, Formula)                                                                  \
  WEFT_CONSTRUCTOR(Class, Formula, [](const auto &kernels) { return kernels.Class; })
#define WEFT_WHOLE_RULE(Class, Formula) WEFT_CONSTRUCTOR(Class, Formula, nullptr)
#include "NN/Optimizers/Rules.def"

} // namespace weft::optimizers
