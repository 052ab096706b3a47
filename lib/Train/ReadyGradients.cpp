// How gradients leave the backward pass: by host calls between its ops.
#include "Train/ReadyGradients.h"

#include <utility>

#include "Runtime/Variable.h"
#include <weft/host_call.h>
#include <weft/train/fit.h>

namespace weft::train::detail {

namespace {

thread_local constinit const ReadyGradients *present = nullptr;

std::size_t bytes_of(const std::vector<nn::NamedVariable> &variables) {
  std::size_t bytes = 0;
  for (const nn::NamedVariable &entry : variables) {
    std::size_t elements = 1;
    for (const std::int64_t size : entry.variable.state()->type().shape)
      elements *= static_cast<std::size_t>(size);
    bytes += elements * item_size(entry.variable.dtype());
  }
  return bytes;
}

} // namespace

ReadyGradients::ReadyGradients(std::size_t least, Take take)
    : least_(least), take_(std::move(take)), outer_(std::exchange(present, this)) {}
ReadyGradients::~ReadyGradients() { present = outer_; }
const ReadyGradients *ReadyGradients::current() { return present; }

std::vector<Tensor> replica_gradients(GradientTape &tape, const Tensor &loss,
                                      const std::vector<nn::NamedVariable> &variables) {
  const ReadyGradients *const ready = ReadyGradients::current();
  const bool hands_over = ready != nullptr && bytes_of(variables) > ready->least();
  const auto hand_over = [&](std::size_t number, const Tensor &gradient) {
    if (!hands_over) return;
    host_call(
        [number](const Tensor &value) {
          if (const ReadyGradients *const taker = ReadyGradients::current(); taker != nullptr)
            taker->take(number, value);
        },
        {.name = "hand_over_gradient"}, gradient);
  };
  const std::vector<GradientSource> sources = [&] {
    std::vector<GradientSource> list;
    for (const nn::NamedVariable &entry : variables) list.emplace_back(entry.variable);
    return list;
  }();
  return weft::detail::gradient_as_ready(tape, loss, sources, hand_over);
}

} // namespace weft::train::detail
