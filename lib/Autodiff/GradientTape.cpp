// The tape as C++ users hold it.
#include <weft/gradient_tape.h>

#include "Autodiff/Tape.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"
#include <weft/ops.h>

namespace weft {

using autodiff::Tape;

GradientTape::GradientTape(TapeOptions options) : tape_(new Tape(options)) { tape_->start(); }

GradientTape::~GradientTape() {
  tape_->abandon();
  if (!tape_->on_own_thread() || !tape_->is_idle()) {
    const std::shared_ptr<autodiff::TapeHome> home = tape_->home();
    home->leave(tape_);
    return;
  }
  tape_->stop();
  delete tape_;
}

void GradientTape::watch(const GradientSource &source, std::source_location where) {
  const CallSite site(where);
  tape_->check_thread("watch");
  if (source.variable()) tape_->watch(source.variable());
  else tape_->watch(source.tensor());
}

std::vector<Tensor> GradientTape::gradient_by(const GradientTargets &targets,
                                              std::span<const GradientSource> sources,
                                              const GradientOptions &options,
                                              const std::source_location &where) {
  const CallSite site(where);
  tape_->check_thread("gradient");
  const profile::Scope scope(profile::Kind::gradient, "gradient");
  return tape_->gradient(targets.tensors(), sources, options);
}

std::vector<SlicedGradient> GradientTape::sliced_gradient_by(
    const GradientTargets &targets, std::span<const GradientSource> sources,
    const GradientOptions &options, const std::source_location &where) {
  const CallSite site(where);
  tape_->check_thread("sliced_gradient");
  const profile::Scope scope(profile::Kind::gradient, "gradient");
  return tape_->sliced_gradient(targets.tensors(), sources, options);
}

std::vector<Tensor> detail::gradient_as_ready(
    GradientTape &tape, const Tensor &target, std::span<const GradientSource> sources,
    const std::function<void(std::size_t, const Tensor &)> &ready, std::source_location where) {
  const CallSite site(where);
  tape.tape_->check_thread("gradient");
  const profile::Scope scope(profile::Kind::gradient, "gradient");
  return tape.tape_->gradient_as_ready(target, sources, ready);
}

Tensor IndexedSlices::dense(std::source_location where) const {
  const CompositeCall site("IndexedSlices::dense", where);
  const Tensor zero = detail::placed_beside(values, zeros(dense_shape, values.dtype()));
  return scatter_add(zero, indices, values);
}

std::vector<Tensor> GradientTape::jacobian_by(const Tensor &target,
                                              std::span<const GradientSource> sources,
                                              const JacobianOptions &options,
                                              const std::source_location &where) {
  const CallSite site(where);
  tape_->check_thread("jacobian");
  return tape_->jacobian(target, sources, options);
}

Tensor GradientTape::batch_jacobian(const Tensor &target, const GradientSource &source,
                                    const JacobianOptions &options, std::source_location where) {
  const CallSite site(where);
  tape_->check_thread("batch_jacobian");
  return tape_->batch_jacobian(target, source, options);
}

std::string GradientTape::explain(const Tensor &target, const GradientSource &source,
                                  std::source_location where) const {
  const CallSite site(where);
  tape_->check_thread("explain");
  return tape_->explain(target, source);
}

Tensor GradientTape::read(const Variable &variable, std::source_location where) {
  const CallSite site(where);
  tape_->check_thread("read");
  return tape_->read_as_target(variable.state());
}

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> variables;
  for (const auto &variable : tape_->watched_variables()) variables.emplace_back(variable);
  return variables;
}

GradientTape::Pause GradientTape::stop_recording(std::source_location where) {
  const CallSite site(where);
  tape_->check_thread("stop_recording");
  if (!tape_->recording())
    throw StateError("GradientTape: stop_recording was called on a tape that does not record");
  tape_->pause();
  return Pause(tape_);
}

GradientTape::Pause::~Pause() { tape_->resume(); }

void GradientTape::stop(std::source_location where) {
  const CallSite site(where);
  tape_->check_thread("stop");
  tape_->check_outside("stop");
  tape_->stop();
}

void GradientTape::reset(std::source_location where) {
  const CallSite site(where);
  tape_->check_thread("reset");
  tape_->check_outside("reset");
  tape_->reset();
}

} // namespace weft
