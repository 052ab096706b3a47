// Optimizers: their state is variables, their update ops like any others.
#include <array>

#include "Support/CallSite.h"
#include <weft/nn.h>
#include <weft/ops.h>

namespace weft::optimizers {

namespace {

void check_count(const char *optimizer, std::size_t gradients, std::size_t parameters) {
  if (gradients == parameters) return;
  throw ValueError(std::string(optimizer) + ": there are " + std::to_string(gradients) +
                   " gradients for " + std::to_string(parameters) + " parameters");
}

} // namespace

SGD::SGD(std::vector<Variable> parameters, Options options)
    : parameters_(std::move(parameters)), options_(options) {}

void SGD::apply_gradients(const std::vector<Tensor> &gradients, std::source_location where) const {
  const CallSite site(where);
  check_count("SGD", gradients.size(), parameters_.size());
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) parameters_[i].assign_sub(gradients[i] * options_.learning_rate);
}

void SGD::apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                                 std::source_location where) const {
  const CallSite site(where);
  check_count("SGD", gradients.size(), parameters_.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (const auto *slices = std::get_if<IndexedSlices>(&gradients[i]))
      parameters_[i].assign(
          scatter_add(parameters_[i], slices->indices, slices->values * -options_.learning_rate));
    else if (const Tensor &dense = std::get<Tensor>(gradients[i]); dense.defined())
      parameters_[i].assign_sub(dense * options_.learning_rate);
  }
}

Adam::Adam(std::vector<Variable> parameters, Options options)
    : parameters_(std::move(parameters)),
      step_(zeros({}, DType::i64), "adam.step", /*trainable=*/false), options_(options) {
  for (const Variable &parameter : parameters_) {
    const Tensor start = zeros(parameter.shape(), parameter.dtype());
    first_.emplace_back(start, parameter.name() + ".adam_m", false);
    second_.emplace_back(start, parameter.name() + ".adam_v", false);
  }
}

void Adam::apply_gradients(const std::vector<Tensor> &gradients, std::source_location where) const {
  const CallSite site(where);
  check_count("Adam", gradients.size(), parameters_.size());
  step_.assign_add(1);
  // Both bias corrections folded into the step size (section 2 of the paper), once per dtype.
  std::array<Tensor, kNumDTypes> rates;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const DType dtype = parameters_[i].dtype();
    Tensor &rate = rates[static_cast<std::size_t>(dtype)];
    if (!rate.defined()) {
      const Tensor t = cast(step_, dtype);
      rate = options_.learning_rate * sqrt(1 - power(options_.beta2, t)) /
             (1 - power(options_.beta1, t));
    }
    const Tensor &gradient = gradients[i];
    const Tensor m = options_.beta1 * first_[i] + (1 - options_.beta1) * gradient;
    const Tensor v = options_.beta2 * second_[i] + (1 - options_.beta2) * square(gradient);
    first_[i].assign(m);
    second_[i].assign(v);
    parameters_[i].assign_sub(rate * m / (sqrt(v) + options_.epsilon));
  }
}

void Adam::apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                                  std::source_location where) const {
  const CallSite site(where);
  std::vector<Tensor> dense;
  for (const SlicedGradient &gradient : gradients) {
    const auto *slices = std::get_if<IndexedSlices>(&gradient);
    dense.push_back(slices != nullptr ? slices->dense() : std::get<Tensor>(gradient));
  }
  apply_gradients(dense, where);
}

std::vector<Variable> Adam::state() const {
  std::vector<Variable> all = {step_};
  for (std::size_t i = 0; i < first_.size(); ++i) {
    all.push_back(first_[i]);
    all.push_back(second_[i]);
  }
  return all;
}

} // namespace weft::optimizers
