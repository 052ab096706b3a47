// Calls of layers.
#include "NN/LayerCall.h"

#include "NN/Build.h"
#include "OpDefs/ShapeFunctions.h"
#include <weft/ops.h>

namespace weft::nn {

thread_local constinit LayerRecorder *LayerRecorder::current_ = nullptr;

/// "encoder.0 (Dense)", for profiles.
static const char *event_of(const LayerName &name) {
  if (!profile::on()) return "";
  const std::string text = name.text(), kind = name.kind();
  return profile::kept(text == kind ? kind : text + " (" + kind + ")");
}

LayerCall::LayerCall(const LayerName &name, const std::source_location &where)
    : CallSite(where), name_(name), outer_(CallSite::function_),
      recorder_(LayerRecorder::current()), scope_(profile::Kind::layer, event_of(name)) {
  CallSite::function_ = name.title();
  if (recorder_ == nullptr) return;
  at_ = recorder_->records.size();
  recorder_->records.push_back({name, {}});
}

LayerCall::~LayerCall() { CallSite::function_ = outer_; }

namespace {

/// x in that dtype if it is floating and a layer computes in another than its variables'.
Tensor in_dtype(Tensor x, const std::optional<DType> &dtype) {
  return dtype && is_floating(x.dtype()) && x.dtype() != *dtype ? cast(x, *dtype) : x;
}

} // namespace

Tensor LayerCall::followed(const Operand &x) const {
  Tensor tensor = x.materialize();
  device_.follow(tensor);
  return tensor;
}

Tensor LayerCall::input(const Operand &x) const {
  return in_dtype(followed(x), name_.computes_in());
}

Tensor LayerCall::weight(const Variable &variable) const {
  Tensor value = variable.value();
  device_.follow(value); // of an input that has no device
  return in_dtype(std::move(value), name_.computes_in());
}

Tensor LayerCall::wide_input(const Operand &x, DType dtype) const {
  return in_dtype(followed(x), name_.computes_in() ? std::optional(dtype) : std::nullopt);
}

void LayerCall::check_dtype(const Tensor &x, const Variable &variable) const {
  nn::check_dtype(prefix(), x, name_.computes_in().value_or(variable.dtype()));
}

Tensor LayerCall::result(Tensor value) const {
  value = in_dtype(std::move(value), name_.computes_in());
  if (recorder_ != nullptr) recorder_->records[at_].result = detail::type_of(value);
  return value;
}

namespace {
constexpr std::int64_t kMost = std::int64_t{1} << 40;

std::string too_large(const LayerName &name, const std::string &what, std::int64_t size) {
  return std::string(name.title()) + ": " + what + " is " + std::to_string(size) +
         ", but must be at most 2^40";
}
} // namespace

void check_at_least_one(const LayerName &name, const char *what, std::int64_t count) {
  if (count < 1)
    throw ValueError(std::string(name.text()) + ": there must be at least one " + what + ", but " +
                     what + "s is " + std::to_string(count));
  if (count > kMost) throw ValueError(too_large(name, std::string(what) + "s", count));
}

void check_size(const LayerName &name, const char *what, std::int64_t size) {
  const std::string named = std::string("the ") + what;
  if (size < 1)
    throw ValueError(std::string(name.title()) + ": " + named + " is " + std::to_string(size) +
                     ", but must be at least 1");
  if (size > kMost) throw ValueError(too_large(name, named, size));
}

void check_variable(const LayerName &name, const char *what, const Shape &shape) {
  if (!element_count(shape, sizeof(double)))
    throw ValueError(std::string(name.text()) + ": the " + what + " would be of shape " +
                     to_string(shape) + ", which is more than memory can hold");
}

} // namespace weft::nn
