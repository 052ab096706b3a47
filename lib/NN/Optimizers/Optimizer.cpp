// What all optimizers do around their formula: they check gradients, accumulate and clip them, keep
// state, and update all or nothing.
#include <algorithm>

#include "Distributed/Buckets.h"
#include "NN/Optimizers/State.h"
#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Log.h"
#include "Support/Messages.h"
#include <weft/control_flow.h>
#include <weft/detail/distributed_place.h>
#include <weft/dtype_info.h>
#include <weft/ops.h>

namespace weft::optimizers {

using detail::Entry;

/// The largest number that the dtype holds.
static double largest_of(DType dtype) { return finfo(dtype).max; }

namespace {

bool traces() {
  const Interpreter *interpreter = Interpreter::current();
  return interpreter != nullptr && interpreter->traces();
}

bool is_defined(const SlicedGradient &gradient) {
  return std::holds_alternative<IndexedSlices>(gradient) || std::get<Tensor>(gradient).defined();
}

[[noreturn]] void refuse(const std::string &kind, const Variable &weight,
                         const TensorType &gradient, const std::string &of = "") {
  const TensorType own{weight.dtype(), weight.shape()};
  const std::string message = kind + ": the variable '" + weight.name() + "' is " + to_string(own) +
                              ", but its gradient " + of + "is " + to_string(gradient);
  if (gradient.dtype != own.dtype) throw DTypeError(message);
  throw ShapeError(message);
}

/// The gradient, with sizes that a trace does not know compared with those of the weight, or of a
/// part of it.
Tensor fitting(const std::string &kind, const Variable &weight, const Tensor &gradient,
               const std::optional<detail::Piece> &part) {
  const TensorType type = weft::detail::type_of(gradient);
  if (gradient.traced() && !traces()) // the update in one pass reads elements
    throw StateError(kind + ": the gradient of '" + weight.name() + "' of type " + to_string(type) +
                     " stands for a value of a traced function and was used outside of its trace");
  const Shape shape = part ? Shape{part->size()} : weight.shape();
  bool fits = type.dtype == weight.dtype() && type.shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = type.shape[i] == shape[i] || type.shape[i] == unknown;
  if (!fits && part)
    refuse(kind, weight, type, "of the part that this rank has, of " + to_string(shape) + ", ");
  if (!fits) refuse(kind, weight, type);
  return type.shape.is_static() ? gradient : broadcast(gradient, shape);
}

void check_slices(const std::string &kind, const Variable &weight, const IndexedSlices &slices) {
  if (!slices.values.defined() || !slices.indices.defined())
    throw ValueError(kind + ": the gradient of '" + weight.name() +
                     "' has slices that are undefined");
  if (slices.dense_shape != weight.shape() || slices.values.dtype() != weight.dtype())
    refuse(kind, weight, {slices.values.dtype(), slices.dense_shape}, "of slices ");
}

/// What all ranks do together where the state is cut: the others hear of an error before they
/// wait.
template <class F>
void together(const detail::OptimizerState &state, const F &update) {
  const std::shared_ptr<const detail::Shards> shards = state.shards();
  if (shards == nullptr || !shards->cut || Interpreter::current() != nullptr) return update();
  distributed::detail::forget_error();
  try {
    update();
  } catch (const Error &error) {
    if (!distributed::detail::ranks_know_of_error())
      distributed::detail::refuse(state.kind, shards->group, std::string(error.message()));
    throw;
  }
}

/// One call of an optimizer.
class Update {
public:
  Update(detail::OptimizerState &state, detail::Entries entries,
         const std::vector<SlicedGradient> &gradients, const std::source_location &where)
      : state_(state), kind_(state.kind), entries_(std::move(entries)), gradients_(gradients),
        shards_(state.shards()), gets_parts_(state.gets_parts), where_(where) {}

  void run() {
    check();
    if (entries_.empty()) return;
    if (shards_ == nullptr) return update();
    check_shards();
    const Interpreter::Scope eager(nullptr);
    update();
  }

private:
  void update() {
    rate_ = checked_rate();
    if (is_sparse()) return run_sparse();
    std::vector<Tensor> dense(gradients_.size());
    for (std::size_t i = 0; i < dense.size(); ++i)
      if (is_defined(gradients_[i])) dense[i] = dense_of(i);
    check_may_assign();
    agree();
    if (state_.common.accumulate == 1) return apply(dense);
    const Variable &micro = *state_.micro;
    micro.assign_add(1);
    for (std::size_t i = 0; i < dense.size(); ++i)
      if (dense[i].defined())
        entries_[i]->accumulated->assign_add(own_part_of_gradient(i, dense[i]));
    const std::int64_t count = state_.common.accumulate;
    if_(micro.value() >= count, [&] {
      std::vector<Tensor> means(dense.size());
      for (std::size_t i = 0; i < dense.size(); ++i)
        if (dense[i].defined())
          means[i] = entries_[i]->accumulated->value() * (1 / static_cast<double>(count));
      apply(means);
      for (std::size_t i = 0; i < dense.size(); ++i)
        if (dense[i].defined()) entries_[i]->accumulated->assign(0);
      micro.assign(0);
    });
  }

  /// Throws if there is no gradient for each weight, or none at all, and warns once of those that
  /// are missing.
  void check() {
    if (gradients_.size() != entries_.size())
      throw ValueError(kind_ + ": there are " + std::to_string(gradients_.size()) +
                       " gradients for " + std::to_string(entries_.size()) + " parameters");
    std::string missing;
    std::size_t found = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (is_defined(gradients_[i])) ++found;
      else missing += (missing.empty() ? "'" : ", '") + entries_[i]->weight.variable.name() + "'";
    }
    if (found == entries_.size()) return;
    if (found == 0)
      throw ValueError(kind_ + ": no gradient is defined, of " + missing +
                       ": what the tape was asked for does not depend on them");
    if (!state_.warned.exchange(true))
      warn_line(kind_ + ": no gradient is defined of " + missing + ": updates leave that as it is");
  }

  void check_shards() const {
    const std::string over =
        kind_ + ": the state is cut over " + std::to_string(shards_->ranks) + " ranks";
    if (traces())
      throw StateError(over + ", which a traced function cannot update: compute gradients in it, "
                              "and apply them behind it, or call gather_state() first");
    if (!shards_->cut)
      throw StateError(over + ", for which all variables must have values: call the model first");
  }

  /// What of a tensor like a weight is kept here.
  Tensor own_part(std::size_t i, const Tensor &whole) const {
    const std::optional<detail::Piece> &piece = entries_[i]->piece;
    return piece ? detail::part_of(whole, *piece) : whole;
  }

  Tensor own_part_of_gradient(std::size_t i, const Tensor &gradient) const {
    return gets_parts_ ? gradient : own_part(i, gradient);
  }

  const Variable &weight(std::size_t i) const { return entries_[i]->weight.variable; }

  Tensor dense_of(std::size_t i) const {
    const auto *slices = std::get_if<IndexedSlices>(&gradients_[i]);
    if (slices == nullptr)
      return fitting(kind_, weight(i), std::get<Tensor>(gradients_[i]),
                     gets_parts_ ? entries_[i]->piece : std::nullopt);
    check_slices(kind_, weight(i), *slices);
    return slices->dense();
  }

  /// What keeps assigns from being made, before the first of several is.
  void check_may_assign() const {
    if (traces()) return;
    state_.step.state()->check_may_assign();
    for (const auto &entry : entries_)
      for (const Variable &variable : entry->all()) variable.state()->check_may_assign();
  }

  /// Ranks with parts of the state change nothing before all are known to do the same.
  void agree() const {
    if (shards_ == nullptr) return;
    std::string missing;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (!is_defined(gradients_[i]))
        missing += (missing.empty() ? ", without a gradient of '" : ", '") + weight(i).name() + "'";
    distributed::exchange_bytes({state_.kind, where_}, shards_->group, "an update" + missing, {});
  }

  bool is_sparse() const {
    const detail::CommonOptions &common = state_.common;
    return state_.rule->is_plain() && common.weight_decay == 0 && common.accumulate == 1 &&
           !common.clip_value && !common.clip_norm && !common.clip_global_norm && !common.average &&
           std::any_of(gradients_.begin(), gradients_.end(), [](const SlicedGradient &gradient) {
             return std::holds_alternative<IndexedSlices>(gradient);
           });
  }

  /// w -= rate g, of rows where there are slices.
  void run_sparse() {
    // Indices may be out of range: all that can fail comes before the first assign.
    std::vector<Tensor> updated(gradients_.size());
    for (std::size_t i = 0; i < gradients_.size(); ++i)
      if (const auto *slices = std::get_if<IndexedSlices>(&gradients_[i]))
        check_slices(kind_, weight(i), *slices);
      else if (is_defined(gradients_[i])) updated[i] = dense_of(i);
    check_may_assign();
    agree();
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      const Tensor rate = cast(rate_, weight(i).dtype());
      if (const auto *slices = std::get_if<IndexedSlices>(&gradients_[i]))
        updated[i] = scatter_add(weight(i), slices->indices, slices->values * -rate);
      else if (updated[i].defined()) updated[i] = weight(i) - updated[i] * rate;
    }
    for (std::size_t i = 0; i < gradients_.size(); ++i)
      if (updated[i].defined()) weight(i).assign(updated[i]);
    state_.step.assign_add(1);
  }

  /// The learning rate as an f64 scalar, which all variables' dtypes can hold.
  Tensor checked_rate() const {
    const LearningRate &rate = state_.rate;
    Tensor value = rate.at(state_.step.value());
    if (rate.is_number()) return value;
    if (!value.defined() || !is_floating(value.dtype()) || value.rank() != 0)
      throw ShapeError(
          kind_ +
          ": the learning rate must be a floating scalar, but the schedule "
          "gives " +
          (value.defined() ? to_string(weft::detail::type_of(value)) : "an undefined tensor"));
    const Tensor exact = cast(value, DType::f64);
    double largest = largest_of(DType::f64);
    std::string in;
    for (const auto &entry : entries_)
      if (const DType dtype = entry->weight.variable.dtype(); largest_of(dtype) < largest) {
        largest = largest_of(dtype);
        in = " in " + std::string(name_of(dtype));
      }
    const std::string prefix = kind_ + ": the learning rate is ",
                      wanted = ", but must be at least 0 and finite" + in;
    if (traces()) {
      weft::check((exact >= 0) & (exact <= largest), prefix + "{}" + wanted, exact);
    } else if (const auto number = exact.item<double>(); !(number >= 0 && number <= largest)) {
      throw ValueError(prefix + number_text(number) + wanted);
    }
    return exact;
  }

  /// What gradients are multiplied by, to be clipped: nothing, one number for all, or one for each,
  /// undefined where there is no gradient.
  std::vector<Tensor> scales(const std::vector<Tensor> &gradients) const {
    const detail::CommonOptions &common = state_.common;
    std::vector<Tensor> all(gradients.size());
    const auto squares = [](const Tensor &g) { return sum(square(g)); };
    if (common.clip_norm) {
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (!gradients[i].defined()) continue;
        // In f64, which has room for any limit.
        const Tensor norm = sqrt(cast(squares(gradients[i]), DType::f64));
        all[i] = *common.clip_norm / maximum(norm, *common.clip_norm);
      }
      return all;
    }
    if (!common.clip_global_norm) return {};
    Tensor total;
    for (const Tensor &gradient : gradients) {
      if (!gradient.defined()) continue;
      const Tensor one = cast(squares(gradient), DType::f64);
      total = total.defined() ? total + one : one;
    }
    const Tensor norm = sqrt(total);
    // Keras's: an infinite norm makes it NaN.
    return {*common.clip_global_norm / maximum(norm, *common.clip_global_norm) + (norm - norm)};
  }

  void apply(const std::vector<Tensor> &gradients) {
    const Tensor &rate = rate_;
    const Tensor t = cast(state_.step.value() + 1, DType::f64);
    const std::vector<Tensor> scalars = state_.rule->scalars(rate, t);
    const std::vector<Tensor> scales = this->scales(gradients);
    Tensor average;
    if (state_.common.average)
      average = select(equal(t, 1), 1., full({}, 1 - *state_.common.average, DType::f64));
    const bool has_kernels =
        std::ranges::all_of(entries_,
                            [&](const auto &entry) {
                              const DType dtype = entry->weight.variable.dtype();
                              const VariableState &state = *entry->weight.variable.state();
                              const bool is_here = shards_ != nullptr || state.cut() == nullptr;
                              return dtype_info(dtype).compute == dtype && is_here &&
                                     !state.elsewhere();
                            }) &&
        weft::detail::all_on_cpu(gradients);
    // Where the state is cut, a rank updates its parts of the weights; these change when all ranks
    // have what the others made of theirs.
    std::vector<Tensor> own = gradients, parts;
    if (shards_ != nullptr)
      for (std::size_t i = 0; i < own.size(); ++i) {
        parts.push_back(!own[i].defined()    ? Tensor()
                        : entries_[i]->piece ? detail::own_part_of(*entries_[i])
                                             : weight(i).value());
        // What was accumulated is a part already.
        if (own[i].defined() && state_.common.accumulate == 1)
          own[i] = own_part_of_gradient(i, own[i]);
      }
    if (Interpreter::current() == nullptr && state_.rule->is_elementwise() && has_kernels) {
      update_in_one_pass(state_, entries_, own, scales, rate, scalars, average, parts);
      if (shards_ != nullptr) assign_parts(parts);
      return;
    }
    std::vector<std::vector<Tensor>> results;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      results.push_back(
          own[i].defined()
              ? updated(*entries_[i], parts.empty() ? weight(i).value() : parts[i], own[i],
                        scales.empty() ? Tensor() : scales[scales.size() == 1 ? 0 : i], rate,
                        scalars, average)
              : std::vector<Tensor>());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::vector<Tensor> &result = results[i];
      if (result.empty()) continue;
      const Entry &entry = *entries_[i];
      if (parts.empty()) entry.weight.variable.assign(result[0]);
      else parts[i] = result[0];
      for (std::size_t s = 0; s < entry.slots.size(); ++s) entry.slots[s].assign(result[s + 1]);
      if (entry.average) entry.average->assign(result.back());
    }
    if (parts.empty()) state_.step.assign_add(1);
    else assign_parts(parts);
  }

  /// Ends an update where the state is cut, of which `parts` are this rank's.
  void assign_parts(const std::vector<Tensor> &parts) const {
    detail::assign_parts(state_, entries_, parts, "the weights", where_);
    state_.step.assign_add(1);
  }

  /// The new values of a weight, its slots and its average, by ops on whole tensors.
  std::vector<Tensor> updated(const Entry &entry, const Tensor &weight, const Tensor &gradient,
                              const Tensor &exact_scale, const Tensor &rate,
                              const std::vector<Tensor> &scalars, const Tensor &average) const {
    const DType dtype = entry.weight.variable.dtype();
    const auto number = [&](const Tensor &exact) {
      return TensorArithmetic(exact.defined() ? cast(exact, dtype) : Tensor());
    };
    TensorArithmetic w(weight);
    std::vector<TensorArithmetic> slots, rule;
    for (const Variable &slot : entry.slots) slots.emplace_back(slot.value());
    for (const Tensor &scalar : scalars) rule.push_back(number(scalar));
    const bool owns_decay = state_.rule->owns_decay(), decays = entry.decays && !owns_decay;
    if (owns_decay)
      rule.push_back(number(full({}, entry.decays ? state_.common.weight_decay : 0, DType::f64)));
    TensorArithmetic averaged(entry.average ? entry.average->value() : Tensor());
    const TensorArithmetic scale = number(exact_scale), follow = number(average),
                           decay = number(decays ? rate * state_.common.weight_decay : Tensor());
    const std::optional<double> &clip = state_.common.clip_value;
    const Numbers<TensorArithmetic> numbers{.scale = exact_scale.defined() ? &scale : nullptr,
                                            .clip = clip ? &*clip : nullptr,
                                            .decay = decays ? &decay : nullptr,
                                            .average = &follow,
                                            .rule = rule.data()};
    advance(w, TensorArithmetic(gradient), entry.average ? &averaged : nullptr, numbers,
            [&](TensorArithmetic &weight, const TensorArithmetic &g) {
              state_.rule->update(weight, g, slots.data(), numbers.rule);
            });
    std::vector<Tensor> results = {w.tensor()};
    for (const TensorArithmetic &slot : slots) results.push_back(slot.tensor());
    if (entry.average) results.push_back(averaged.tensor());
    return results;
  }

  detail::OptimizerState &state_;
  const std::string kind_;
  const detail::Entries entries_;
  const std::vector<SlicedGradient> &gradients_;
  const std::shared_ptr<const detail::Shards> shards_;
  const bool gets_parts_; ///< of gradients
  const std::source_location where_;
  Tensor rate_;
};

} // namespace

void Optimizer::check_loss(const Tensor &loss, const std::source_location &where) const {
  const CompositeCall site(state_->kind, where);
  const std::string prefix = std::string(state_->kind) + ": minimize: ";
  if (!loss.defined()) throw ValueError(prefix + "the loss is an undefined tensor");
  const TensorType type = weft::detail::type_of(loss);
  if (!is_floating(type.dtype))
    throw DTypeError(prefix + "the loss must be floating, but is " + to_string(type));
  if (!type.shape.empty())
    throw ShapeError(prefix + "the loss must be a scalar, but is " + to_string(type) +
                     ": take its mean or sum");
}

Optimizer::Optimizer(std::shared_ptr<detail::OptimizerState> state) : state_(std::move(state)) {}

void Optimizer::apply_gradients(const Gradients &gradients, std::source_location where) const {
  const CompositeCall site(state_->kind, where);
  together(*state_, [&] {
    detail::Entries entries = state_->prepared();
    if (entries.size() != gradients.variables().size() && state_->relist())
      entries = state_->prepared();
    detail::check_model(state_->kind, gradients.variables(), entries);
    Update(*state_, entries, gradients.sliced(), where).run();
  });
}

void Optimizer::apply_gradients(const std::vector<Tensor> &gradients,
                                std::source_location where) const {
  apply_sliced_gradients({gradients.begin(), gradients.end()}, where);
}

void Optimizer::apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                                       std::source_location where) const {
  const CompositeCall site(state_->kind, where);
  together(*state_, [&] {
    detail::Entries entries = state_->prepared();
    if (entries.size() != gradients.size() && state_->relist()) entries = state_->prepared();
    Update(*state_, std::move(entries), gradients, where).run();
  });
}

bool Optimizer::relist() const { return state_->relist(); }

Tensor Optimizer::step(std::source_location where) const { return state_->step.value(where); }

Tensor Optimizer::learning_rate(std::source_location where) const {
  const CompositeCall site(state_->kind, where);
  return cast(state_->rate.at(state_->step.value()), DType::f64);
}

std::vector<Variable> Optimizer::variables(std::source_location where) const {
  const CompositeCall site(state_->kind, where);
  std::vector<Variable> all;
  for (const nn::NamedVariable &entry : state_->listed()) {
    static_cast<void>(entry.variable.shape()); // throws if it has none
    all.push_back(entry.variable);
  }
  return all;
}

std::vector<Variable> Optimizer::state() const {
  std::vector<Variable> all = {state_->step};
  if (state_->micro) all.push_back(*state_->micro);
  for (const auto &entry : state_->prepared()) {
    const std::vector<Variable> own = entry->all();
    all.insert(all.end(), own.begin() + 1, own.end());
  }
  return all;
}

void Optimizer::swap_averages(std::source_location where) const {
  const CompositeCall site(state_->kind, where);
  if (!state_->common.average)
    throw StateError(std::string(state_->kind) +
                     ": swap_averages: it keeps no averages: make it with the option average");
  const detail::Entries entries = state_->prepared();
  if (state_->shards() != nullptr) return detail::swap_parts(*state_, entries, where);
  for (const auto &entry : entries) {
    const Tensor weight = entry->weight.variable.value();
    entry->weight.variable.assign(entry->average->value());
    entry->average->assign(weight);
  }
}

} // namespace weft::optimizers
