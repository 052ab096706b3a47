// Derivatives of functions: what they are taken by, and of.
#include <weft/autodiff.h>

#include "Autodiff/Pushforward.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Runtime/NewTensor.h"
#include "Runtime/Variable.h"
#include <weft/detail/derivative_mark.h>

namespace weft::detail {

namespace {

void check_floating(const char *name, DType dtype) {
  if (autodiff::carries_gradient(dtype)) return;
  throw DTypeError(std::string(name) + ": an argument is " + std::string(name_of(dtype)) +
                   "; derivatives are by floating tensors: convert it with astype, or take the "
                   "derivative by another argument");
}

/// A tensor of its own with that value.
Tensor own(const char *name, const Tensor &tensor) {
  if (!tensor.defined()) throw StateError(std::string(name) + ": an argument is undefined");
  check_floating(name, tensor.dtype());
  return attach(name, {&tensor, 1}, {&tensor, 1}, [](std::span<const Tensor> cotangents) {
    return std::vector(cotangents.begin(), cotangents.end());
  })[0];
}

/// The innermost mark of this thread.
thread_local constinit DerivativeMark *innermost = nullptr;

} // namespace

DerivativeMark::DerivativeMark(const char *name)
    : name_(name), interpreter_(Interpreter::current()), around_(std::exchange(innermost, this)) {}

DerivativeMark::~DerivativeMark() { innermost = around_; }

bool DerivativeMark::stands() { return innermost != nullptr && innermost->name_ != nullptr; }

const char *DerivativeMark::following(const Tensor &tensor) {
  // In a trace tapes around it are set aside, but follow what it captures; in a host call none
  // does.
  if (Interpreter::current() == nullptr) return nullptr;
  for (const DerivativeMark *mark = innermost; mark != nullptr && mark->name_ != nullptr;
       mark = mark->around_)
    if (mark->interpreter_->watches(tensor)) return mark->name_;
  return nullptr;
}

void SourceCollector::tensor(Tensor &value) {
  value = own(name_, value);
  tape_->watch(value);
  sources.emplace_back(value);
}

void SourceCollector::variable(Variable &value) {
  check_floating(name_, value.dtype());
  tape_->watch(value);
  sources.emplace_back(value);
}

void check_loss(const char *name, const Tensor &loss) {
  const std::string what = std::string(name) + ": the function must give a floating scalar, but ";
  if (!loss.defined()) throw StateError(what + "it gave an undefined tensor");
  const TensorType type = type_of(loss);
  if (!is_floating(type.dtype))
    throw DTypeError(what + "it gave " + to_string(type) +
                     (is_complex(type.dtype) ? ": take its real part or its abs" : ""));
  if (!type.shape.empty())
    throw ShapeError(what + "it gave " + to_string(type) + "; sum it, or use jacobian");
}

std::vector<Tensor> pull_back(GradientTape &tape, std::span<const Tensor> targets,
                              std::vector<Tensor> cotangents,
                              std::span<const GradientSource> sources) {
  if (cotangents.size() != targets.size())
    throw ValueError("vjp: there must be " + std::to_string(targets.size()) +
                     " cotangents, one per tensor of the value, but there are " +
                     std::to_string(cotangents.size()));
  std::vector<Tensor> floating;
  GradientOptions options{.unconnected = Unconnected::zero};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!autodiff::carries_gradient(targets[i].dtype())) continue;
    if (!cotangents[i].defined())
      throw StateError("vjp: cotangent " + std::to_string(i) + " is undefined");
    autodiff::check_like("vjp: cotangent " + std::to_string(i), cotangents[i],
                         "its part of the value", targets[i]);
    floating.push_back(targets[i]);
    options.output_gradients.push_back(std::move(cotangents[i]));
  }
  return tape.gradient(floating, sources, options, std::source_location());
}

//===----------------------------------------------------------------------===//
// Forward mode
//===----------------------------------------------------------------------===//

class Pushforward::Impl : public autodiff::Pushed<autodiff::Pushforward> {};

Pushforward::Pushforward() : impl_(new Impl) {}
Pushforward::~Pushforward() = default;

namespace {

const Tensor &next_tangent(std::span<const Tensor> tangents, std::size_t at,
                           const TensorType &primal) {
  if (at >= tangents.size())
    throw ValueError("jvp: there are fewer tangents, " + std::to_string(tangents.size()) +
                     ", than primals");
  const Tensor &tangent = tangents[at];
  const std::string which = "jvp: tangent " + std::to_string(at);
  if (!tangent.defined()) throw StateError(which + " is undefined");
  const TensorType type = type_of(tangent);
  const std::string problem =
      which + " is " + to_string(type) + ", but its primal is " + to_string(primal);
  if (type.dtype != primal.dtype) throw DTypeError(problem);
  if (!autodiff::may_be_equal(type.shape, primal.shape)) throw ShapeError(problem);
  return tangent;
}

} // namespace

void Pushforward::Seeder::tensor(Tensor &value) {
  value = own("jvp", value);
  const Tensor &tangent = next_tangent(tangents, at++, type_of(value));
  pushforward.impl_->seed(value, autodiff::matched(tangent, value));
}

void Pushforward::Seeder::variable(Variable &value) {
  check_floating("jvp", value.dtype());
  const TensorType type = value.state()->type();
  const Tensor &tangent = next_tangent(tangents, at++, type);
  const bool known = type.shape.is_static() && type_of(tangent).shape.is_static();
  pushforward.impl_->seed(value.state(),
                          known ? tangent : autodiff::matched(tangent, value.value()));
}

void Pushforward::Seeder::finish() const {
  if (at == tangents.size()) return;
  throw ValueError("jvp: there are " + std::to_string(tangents.size()) + " tangents for " +
                   std::to_string(at) + " primals");
}

Tensor Pushforward::tangent_of(const Tensor &value) const {
  if (!value.defined()) throw StateError("jvp: the function gave an undefined tensor");
  return impl_->tangent_of(value);
}

} // namespace weft::detail
