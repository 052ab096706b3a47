// Calls of layers.
#include "NN/LayerCall.h"

namespace weft::nn {

thread_local constinit LayerRecorder *LayerRecorder::current_ = nullptr;

LayerCall::LayerCall(const LayerName &name, const std::source_location &where)
    : CallSite(where), name_(name), outer_(CallSite::function_) {
  CallSite::function_ = name.text();
  if (LayerRecorder *recorder = LayerRecorder::current()) {
    at_ = recorder->records.size();
    recorder->records.push_back({name, {}});
  }
}

LayerCall::~LayerCall() { CallSite::function_ = outer_; }

Tensor LayerCall::result(Tensor value) const {
  if (LayerRecorder *recorder = LayerRecorder::current())
    recorder->records[at_].result = detail::type_of(value);
  return value;
}

void check_at_least_one(const LayerName &name, const char *what, std::int64_t count) {
  if (count < 1)
    throw ValueError(std::string(name.text()) + ": there must be at least one " + what + ", but " +
                     what + "s is " + std::to_string(count));
}

} // namespace weft::nn
