// Host calls: called now, or recorded by the interpreter that traces.
#include <weft/host_call.h>

#include <algorithm>

#include "Autodiff/Mask.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Rules/NoDerivative.h"
#include "Ops/Interpreter.h"
#include "Runtime/HostFunction.h"
#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Callback.h"
#include "Support/Enumerators.h"

namespace weft {

namespace {

/// Throws unless there can be a result of that type; of any rank only where nothing traces.
void check_promise(const std::string &name, std::size_t i, const TensorType &type, bool traces) {
  const std::string what =
      name + ": result " + std::to_string(i) + " is said to be " + to_string(type) + ", ";
  if (!is_dtype(type.dtype))
    throw DTypeError(name + ": result " + std::to_string(i) + ": " + no_dtype(type.dtype));
  if (is_any_rank(type.shape)) {
    if (traces) throw ShapeError(what + "but in a trace its rank must be known");
    return;
  }
  for (const std::int64_t size : type.shape)
    if (size < 0 && size != unknown) throw ShapeError(what + "which has a negative size");
  if (!type.shape.is_static()) return;
  try {
    static_cast<void>(detail::checked_tensor_bytes(type.dtype, type.shape));
  } catch (const ShapeError &error) {
    throw ShapeError(what + "which cannot be: " + std::string(error.message()));
  }
}

bool has_derivative(const Tensor &tensor) { return autodiff::carries_gradient(tensor.dtype()); }

} // namespace

void detail::check_result_count(const HostCallOptions &options, std::size_t returned) {
  if (options.results.size() == returned) return;
  const CallSite site(options.where);
  throw ValueError(prefix_of({options.name, {}}) + ": the callable returns " +
                   std::to_string(returned) + (returned == 1 ? " tensor" : " tensors") +
                   ", but there are " + std::to_string(options.results.size()) +
                   (options.results.size() == 1 ? " type" : " types") + " of results");
}

std::vector<Tensor> detail::host_call(HostCallOptions options, Body callable,
                                      std::vector<Tensor> operands) {
  const CallSite site(options.where);
  HostFunction function{std::move(options.name), {}};
  const std::string name = prefix_of(function);
  function.callable = [callable = std::move(callable)](std::span<const Tensor> values) {
    const Interpreter::Scope nobody(nullptr);
    const UserCode lines_of_its_own;
    const Callback inside("a host call");
    return callable(values);
  };
  Interpreter *const interpreter = Interpreter::current();
  const bool traces = interpreter != nullptr && interpreter->traces();
  for (std::size_t i = 0; i < options.results.size(); ++i)
    check_promise(name, i, options.results[i], traces);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].defined())
      throw StateError(name + ": operand " + std::to_string(i) + " is undefined");

  std::vector<Tensor> results;
  if (traces) {
    const HostCall host{std::make_shared<const HostFunction>(std::move(function)), options.pure,
                        options.results};
    results = interpreter->construct(
        ConstructCall{ConstructKind::host, "host_call", operands, {}, 1, &host});
  } else {
    const Body on_values = [&](std::span<const Tensor> given) {
      std::vector<Tensor> values;
      for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i].traced())
          throw StateError(name + ": operand " + std::to_string(i) +
                           " is a tensor of a trace that has ended");
        values.push_back(make_contiguous(given[i]));
      }
      return call_host(function, values, options.results, [] { return CallSite::location(); });
    };
    if (!options.pure) autodiff::Mask::check_effect(name);
    results = run_whole(on_values, operands);
  }
  if (interpreter == nullptr || std::ranges::none_of(results, has_derivative) ||
      std::ranges::none_of(operands, has_derivative))
    return results;
  return refuse_derivatives(
      name, operands, results,
      std::make_shared<const Refusal>(autodiff::no_derivative_of(name), CallSite::location()));
}

} // namespace weft
