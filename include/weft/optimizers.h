// Optimizers, what their learning rates may be, and what all of them can do to gradients.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/detail/callable.h>
#include <weft/gradient_tape.h>
#include <weft/gradients.h>
#include <weft/indexed_slices.h>
#include <weft/nn/model.h>
#include <weft/options.h>
#include <weft/schedules.h>
#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft::distributed {
class Group;
} // namespace weft::distributed

namespace weft::optimizers {

/// The options that all optimizers have, behind their own. What is done in which order: gradients
/// are accumulated, clipped, weights decay, the update is applied, averages follow.
#define WEFT_OPTIMIZER_OPTIONS                                                                     \
  /** Each update first takes learning_rate * weight_decay of every weight away (decoupled:        \
   * Loshchilov & Hutter 2019). */                                                                 \
  double weight_decay = WEFT_OPTIMIZER_DECAY;                                                      \
  /** Variables whose paths (or names) contain one of these do not decay: {"bias", "norm"}. */     \
  std::vector<std::string> no_decay = {};                                                          \
  /** Elements of gradients are brought into [-clip_value, clip_value]. */                         \
  std::optional<double> clip_value = std::nullopt;                                                 \
  /** Each gradient is scaled down to at most this norm. */                                        \
  std::optional<double> clip_norm = std::nullopt;                                                  \
  /** All gradients are scaled down together to at most this norm. One that is not finite makes    \
   * all of them NaN. At most one of the three may be given. */                                    \
  std::optional<double> clip_global_norm = std::nullopt;                                           \
  /** If given, averages of the weights are kept: average += (weight - average) * (1 - average).   \
   * `swap_averages` uses them. */                                                                 \
  std::optional<double> average = std::nullopt;                                                    \
  /** An update happens at every call of this number, with the mean of the gradients since. */     \
  std::int64_t accumulate = 1;                                                                     \
  /** Of the state; by default that of the kind in lower case, then "adam_1" and so on. */         \
  std::string name = {}

#define WEFT_OPTIMIZER_NAMES                                                                       \
  weight_decay, no_decay, clip_value, clip_norm, clip_global_norm, average, accumulate, name

#define WEFT_OPTIMIZER_DECAY 0

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  /// Share of the last change in the next.
  double momentum = 0;
  bool nesterov = false;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(SGDOptions, learning_rate, momentum, nesterov, WEFT_OPTIMIZER_NAMES)
struct AdamOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  /// Divide by the largest second moment so far (Reddi et al. 2018).
  bool amsgrad = false;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(AdamOptions, learning_rate, beta1, beta2, epsilon, amsgrad, WEFT_OPTIMIZER_NAMES)
struct RMSpropOptions {
  LearningRate learning_rate = 1e-3;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  /// Divide by the deviation from the mean gradient.
  bool centered = false;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(RMSpropOptions, learning_rate, rho, momentum, epsilon, centered, WEFT_OPTIMIZER_NAMES)
struct AdagradOptions {
  LearningRate learning_rate = 1e-3;
  double initial_accumulator = 0.1, epsilon = 1e-7;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(AdagradOptions, learning_rate, initial_accumulator, epsilon, WEFT_OPTIMIZER_NAMES)
struct AdadeltaOptions {
  LearningRate learning_rate = 1e-3;
  double rho = 0.95, epsilon = 1e-7;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(AdadeltaOptions, learning_rate, rho, epsilon, WEFT_OPTIMIZER_NAMES)
struct LambOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(LambOptions, learning_rate, beta1, beta2, epsilon, WEFT_OPTIMIZER_NAMES)
struct LionOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.99;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(LionOptions, learning_rate, beta1, beta2, WEFT_OPTIMIZER_NAMES)
#undef WEFT_OPTIMIZER_DECAY
#define WEFT_OPTIMIZER_DECAY 0.004
struct AdamWOptions {
  LearningRate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  WEFT_OPTIMIZER_OPTIONS;
};
WEFT_OPTIONS(AdamWOptions, learning_rate, beta1, beta2, epsilon, amsgrad, WEFT_OPTIMIZER_NAMES)
#undef WEFT_OPTIMIZER_DECAY
#undef WEFT_OPTIMIZER_OPTIONS
#undef WEFT_OPTIMIZER_NAMES

namespace detail {
struct OptimizerState;
struct CommonOptions;
/// The variables that an optimizer updates, asked for until all have values.
using Listing = std::function<std::vector<nn::NamedVariable>()>;
Listing listing_of(std::vector<Variable> variables);
template <class T>
Listing listing_of(const T &model) {
  return [model] {
    std::vector<nn::NamedVariable> all;
    if constexpr (nn::Model<T>) all = nn::named_variables(model);
    std::erase_if(all, [](const nn::NamedVariable &v) { return !v.variable.trainable(); });
    return all;
  };
}
/// Whether a T is a pair or tuple of a tensor and whatever else.
template <class T>
constexpr bool begins_with_loss() {
  if constexpr (requires { std::tuple_size<T>::value; })
    if constexpr (std::tuple_size_v<T> > 0)
      return std::is_convertible_v<std::tuple_element_t<0, T>, Tensor>;
  return false;
}
} // namespace detail

struct ShardOptions {
  /// Whether the weights are cut too.
  bool weights = false;
};

/// What all optimizers have in common. They are created for a model, whose trainable variables they
/// update, or for a list of variables; copies are the same optimizer. State for variables that have
/// no values yet is created at the first update. Constructors throw ValueError if there is no
/// variable to update, one is given twice, or an option makes no sense, DTypeError if one is not
/// floating.
///
/// The update of all variables is one pass over their memory, on all threads, and all or nothing:
/// what can fail comes before the first change. In a traced function it is ops like any others.
class Optimizer {
public:
  // A move is a copy: no handle is ever without its optimizer.
  Optimizer(const Optimizer &) = default;
  Optimizer &operator=(const Optimizer &) = default;

  /// Updates by the gradients of the same model, or of the same list in its order, each of the
  /// dtype and shape of its variable. Slices are added up where a method needs whole gradients. An
  /// undefined gradient leaves its variable as it is; the log has a warning the first time. Throws,
  /// before anything is changed or accumulated, ValueError if the gradients are of other variables,
  /// of another number, or all undefined, DTypeError and ShapeError that name the variable for
  /// those that do not fit, IndexError for slices of rows that there are not, and ValueError for a
  /// learning rate that is negative, not finite or too large for a variable's dtype: in a traced
  /// function AssertionError, when it runs.
  void apply_gradients(const Gradients &gradients, std::source_location where = WEFT_HERE) const;
  void apply_gradients(const std::vector<Tensor> &gradients,
                       std::source_location where = WEFT_HERE) const;
  /// The same with gradients of GradientTape::sliced_gradient. Of slices, plain SGD changes their
  /// rows only.
  void apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                              std::source_location where = WEFT_HERE) const;

  /// Runs `loss`, a callable without parameters that gives a scalar, or a std::pair or std::tuple
  /// of a scalar and whatever else the caller wants; updates by the scalar's gradients, and gives
  /// what it gave: `auto [loss, logits] = adam.minimize([&] { .. return std::pair(loss, logits);
  /// })`. Throws ShapeError for a loss that is no scalar, DTypeError for one that is not floating,
  /// and what `apply_gradients` throws.
  template <class F>
  auto minimize(F &&loss, std::source_location where = WEFT_HERE) const {
    using Result = weft::detail::ResultOf<F &>;
    constexpr bool alone = std::is_convertible_v<Result, Tensor>;
    constexpr bool fits = alone || detail::begins_with_loss<std::remove_cvref_t<Result>>();
    static_assert(fits, "minimize takes a function without parameters that returns the loss, or a "
                        "std::pair or std::tuple of the loss and other things");
    if constexpr (fits) {
      GradientTape tape;
      std::conditional_t<alone, Tensor, std::remove_cvref_t<Result>> result = loss();
      Tensor value;
      if constexpr (alone) value = result;
      else value = std::get<0>(result);
      check_loss(value, where);
      apply_sliced_gradients(tape.sliced_gradient(value, variables(where), {}, where), where);
      return result;
    }
  }

  /// Number of updates so far, an i64 scalar.
  Tensor step(std::source_location where = WEFT_HERE) const;
  /// The learning rate of the next update, an f64 scalar.
  Tensor learning_rate(std::source_location where = WEFT_HERE) const;
  /// The variables it updates. Throws StateError if one has no value yet.
  std::vector<Variable> variables(std::source_location where = WEFT_HERE) const;
  /// All its own state: the step, then what it keeps for each variable.
  std::vector<Variable> state() const;
  /// Looks for variables that the model, if it is one of another language, has come to hold since
  /// all that it had had values; whether there are others. Updates by another number of gradients
  /// do so themselves.
  bool relist() const;
  /// Exchanges weights and their averages: once before testing, once after. Throws StateError if
  /// it keeps none.
  void swap_averages(std::source_location where = WEFT_HERE) const;

  /// Cuts the state over the ranks of a group (ZeRO-1): of all variables, one behind the other,
  /// each rank keeps as many bytes of state as any other, and gives the memory of the rest back.
  /// All ranks call it, with equal weights and state. An update is then a collective, to which all
  /// ranks come with equal gradients, such as all_reduce_replicas gives: each updates its part of
  /// the weights, and all get all of them, with the bits that whole state gives. `state()` has the
  /// parts, of one dimension, which are cut when all variables have values. Functions that were
  /// compiled with the optimizer are to be compiled anew.
  ///
  /// With `weights` these are cut as well (ZeRO-3), each into parts of its own: what reads one, be
  /// it `value()` or a compiled function, gathers it from all ranks, which all do so, and forgets
  /// it when it was used; an update sends nothing. A value that is assigned on all ranks leaves
  /// each its part. Traced functions that assign such a variable, or have it as an argument, are a
  /// StateError, and so are save_weights and `function` exports.
  ///
  /// Throws ValueError for a method that takes norms of whole variables (Lamb), and for clip_norm
  /// or clip_global_norm where gradients are accumulated; StateError if the state is cut over other
  /// ranks. Updates in a traced function are a StateError, and so is a checkpoint of the parts,
  /// which `fit` alone writes.
  void shard_state(const distributed::Group &group, const ShardOptions &options = {},
                   std::source_location where = WEFT_HERE) const;
  /// Has the whole state, and weights, on all ranks again, if they were cut: a collective.
  void gather_state(std::source_location where = WEFT_HERE) const;

  /// Whether the state is cut, or will be when all variables have values.
  bool is_sharded() const;

  void weft_visit(StructureVisitor &visitor);
  void weft_visit(StructureVisitor &visitor) const;
  /// For the library itself.
  const std::shared_ptr<detail::OptimizerState> &internals() const { return state_; }

protected:
  explicit Optimizer(std::shared_ptr<detail::OptimizerState> state);

private:
  void check_loss(const Tensor &loss, const std::source_location &where) const;

  std::shared_ptr<detail::OptimizerState> state_;
};

/// Declares an optimizer: constructors from a model and from variables.
#define WEFT_OPTIMIZER(Name)                                                                       \
public:                                                                                            \
  using Options = Name##Options;                                                                   \
  explicit Name(std::vector<Variable> variables, const Options &options = {},                      \
                std::source_location where = WEFT_HERE)                                            \
      : Name(detail::listing_of(std::move(variables)), options, where) {}                          \
  template <class T>                                                                               \
  explicit Name(const T &model, const Options &options = {},                                       \
                std::source_location where = WEFT_HERE)                                            \
      : Name(detail::listing_of(model), options, where) {                                          \
    static_assert(nn::Model<T>, WEFT_MODEL_WANTED("an optimizer") ", or a list of variables {w, "  \
                                                                  "b}");                           \
  }                                                                                                \
                                                                                                   \
private:                                                                                           \
  Name(detail::Listing listing, const Options &options, std::source_location where)

// Formulas: w the weight, g its gradient, t the number of the update from 1, all as Keras 3 has
// them. Epsilon is outside of roots unless it is shown inside.

/// Stochastic gradient descent: w -= learning_rate g; with momentum m = momentum m - learning_rate
/// g and w += m, or, Nesterov's, w += momentum m - learning_rate g.
class SGD : public Optimizer {
  WEFT_OPTIMIZER(SGD);
};
/// Adam (Kingma & Ba 2015): m += (g - m) (1 - beta1), v += (g^2 - v) (1 - beta2),
/// w -= learning_rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon).
class Adam : public Optimizer {
  WEFT_OPTIMIZER(Adam);
};
/// Adam with decoupled weight decay, 0.004 if nothing else is said (Loshchilov & Hutter 2019).
class AdamW : public Optimizer {
  WEFT_OPTIMIZER(AdamW);
};
/// RMSprop (Hinton 2012): v = rho v + (1 - rho) g^2, w -= learning_rate g / sqrt(v + epsilon);
/// centered: of v - mean^2 with mean = rho mean + (1 - rho) g; with momentum m = momentum m +
/// learning_rate g / sqrt(...) and w -= m.
class RMSprop : public Optimizer {
  WEFT_OPTIMIZER(RMSprop);
};
/// Adagrad (Duchi et al. 2011): a += g^2, w -= learning_rate g / sqrt(a + epsilon).
class Adagrad : public Optimizer {
  WEFT_OPTIMIZER(Adagrad);
};
/// Adadelta (Zeiler 2012): a = rho a + (1 - rho) g^2, d = sqrt(s + epsilon) / sqrt(a + epsilon) g,
/// s = rho s + (1 - rho) d^2, w -= learning_rate d.
class Adadelta : public Optimizer {
  WEFT_OPTIMIZER(Adadelta);
};
/// LAMB (You et al. 2020): Adam's step with both moments corrected, and weight_decay w with it, is
/// u: w -= learning_rate u |w| / |u|, with the norms of the whole variable, or with 1 where one of
/// them is 0. (Keras leaves the decay out of u.)
class Lamb : public Optimizer {
  WEFT_OPTIMIZER(Lamb);
};
/// Lion (Chen et al. 2023): w -= learning_rate sign(beta1 m + (1 - beta1) g),
/// m = beta2 m + (1 - beta2) g.
class Lion : public Optimizer {
  WEFT_OPTIMIZER(Lion);
};
#undef WEFT_OPTIMIZER

struct LossScaleOptions {
  /// What losses are multiplied by at first.
  double initial = 32768;
  /// Whether it follows the gradients. If not it stays, and updates are skipped all the same.
  bool dynamic = true;
  /// After so many updates on end it is multiplied by the factor; where a gradient is not finite it
  /// is divided by it.
  std::int64_t growth_interval = 2000;
  double factor = 2;
  /// Of its state.
  std::string name = "loss_scale";
};

/// Keeps gradients of 16-bit floats in their range: what is differentiated is the loss times a
/// scale, by which the gradients, of f32 variables, are divided. Where one of these is not finite
/// the update is skipped. Its state, the scale and the number of updates since it changed, is
/// variables: part of what is saved. Throws ValueError for options that make no sense.
///
///     LossScale scale;
///     auto loss = scale.minimize(adam, [&] { return losses::mse(model(x), y); });
class LossScale {
public:
  using Options = LossScaleOptions;
  explicit LossScale(const LossScaleOptions &options = {}, std::source_location where = WEFT_HERE);

  /// The loss times the scale, f32 of 16-bit ones.
  Tensor scaled(const Operand &loss) const;
  /// Divides gradients of the scaled loss by the scale and has the optimizer apply them if all are
  /// finite: whether they were, a bool. Undefined gradients stay undefined.
  Tensor apply_gradients(const Optimizer &optimizer, const std::vector<Tensor> &gradients,
                         std::source_location where = WEFT_HERE) const;
  /// Runs `loss`, a callable without parameters that gives a scalar, and updates by its gradients:
  /// what it gave.
  template <class F>
  Tensor minimize(const Optimizer &optimizer, F &&loss,
                  std::source_location where = WEFT_HERE) const {
    GradientTape tape;
    const Tensor value = loss();
    const std::vector<Variable> variables = optimizer.variables(where);
    apply_gradients(optimizer, tape.gradient(scaled(value), variables, {}, where), where);
    return value;
  }

  /// The scale, an f32 scalar.
  const Variable &scale() const { return scale_; }

  WEFT_FIELDS(LossScale, scale_, updates_)

private:
  Variable scale_, updates_;
  bool dynamic_;
  std::int64_t growth_interval_;
  double factor_;
};

} // namespace weft::optimizers
