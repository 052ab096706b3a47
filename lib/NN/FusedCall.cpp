// Kernels forward and backward, where tapes want no more of a function.
#include "NN/FusedCall.h"

#include <algorithm>
#include <optional>

#include <weft/detail/function_core.h>

namespace weft::nn {

namespace {

/// The derivative as ops, by a tape of its own.
std::vector<Tensor> pulled_by_ops(const FusedFunction &function, std::span<const Tensor> x,
                                  const Tensor &cotangent) {
  GradientTape tape({.watch_accessed_variables = false});
  const std::vector<Tensor> active(x.begin(),
                                   x.begin() + static_cast<std::ptrdiff_t>(function.active));
  for (const Tensor &operand : active) tape.watch(operand);
  const Tensor y = function.ops(x);
  GradientOptions options;
  options.output_gradients.push_back(cotangent);
  return tape.gradient(y, active, options);
}

/// As ops where somebody records the derivative, or there is no kernel for this cotangent.
std::vector<Tensor> pull(const FusedFunction &function, std::span<const Tensor> x,
                         const std::vector<Tensor> &kept, const Tensor &cotangent) {
  if (Interpreter::nobody_records()) {
    const Interpreter::Scope eager(nullptr);
    std::vector<Tensor> operands(x.begin(), x.end());
    operands.insert(operands.end(), kept.begin(), kept.end());
    operands.push_back(cotangent);
    if (std::vector<Tensor> gradients = function.backward(operands); !gradients.empty())
      return gradients;
  }
  return pulled_by_ops(function, x, cotangent);
}

/// Whether tapes can note the call as one entry: each operand is one of its own, and one is
/// watched.
bool is_entry(std::span<const Tensor> x, std::size_t active) {
  if (!detail::FunctionCore::calls_are_entries()) return false;
  bool watched = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!x[i].defined()) return false;
    for (std::size_t k = 0; k < i; ++k)
      if (x[k].impl() == x[i].impl()) return false;
    watched = watched || (i < active && is_watched(x[i]));
  }
  return watched;
}

/// The dtype of a function of 16-bit floats among others; nothing where there are none.
std::optional<DType> narrow_dtype(std::span<const Tensor> x) {
  std::optional<DType> common;
  bool narrow = false;
  for (const Tensor &operand : x) {
    if (!operand.defined() || !is_floating(operand.dtype())) continue;
    const DType dtype = operand.dtype();
    narrow = narrow || dtype_info(dtype).compute != dtype;
    common = common ? promote(*common, dtype) : dtype;
  }
  return narrow ? common : std::nullopt;
}

} // namespace

Tensor in_wide(std::span<const Tensor> x,
               const std::function<Tensor(std::span<const Tensor>)> &function) {
  const std::optional<DType> dtype = narrow_dtype(x);
  if (!dtype) return function(x);
  std::vector<Tensor> wide;
  for (const Tensor &operand : x) {
    const bool is_narrow = operand.defined() && is_floating(operand.dtype());
    wide.push_back(is_narrow ? cast(operand, dtype_info(operand.dtype()).compute) : operand);
  }
  return cast(function(wide), *dtype);
}

Tensor fused_call(const FusedFunction &function, std::span<const Tensor> x) {
  if (narrow_dtype(x))
    return in_wide(x, [&](std::span<const Tensor> wide) { return fused_call(function, wide); });
  if (call::fuses(x)) {
    FusedResult y = function.forward(x);
    return y.value.defined() ? std::move(y.value) : function.ops(x);
  }
  if (!is_entry(x, function.active) || !detail::all_on_cpu(x)) return function.ops(x);
  const auto [y, kept] = [&] {
    const Interpreter::Scope eager(nullptr);
    return function.forward(x);
  }();
  if (!y.defined()) return function.ops(x);
  const detail::Body pullback = [function, operands = std::vector<Tensor>(x.begin(), x.end()),
                                 kept = kept](std::span<const Tensor> cotangents) {
    return pull(function, operands, kept, cotangents[0]);
  };
  return attach_pullback({.name = function.name,
                          .operands = x.first(function.active),
                          .results = {&y, 1},
                          .pullback = pullback,
                          .natural = true})[0];
}

} // namespace weft::nn
