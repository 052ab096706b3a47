// The errors of control flow.
#include "Ops/ConstructChecks.h"

#include <string>

#include <weft/error.h>

namespace weft {

namespace {

std::string prefix(std::string_view name) { return std::string(name) + ": "; }

} // namespace

void check_condition(std::string_view name, const TensorType &type) {
  const std::string message =
      prefix(name) + "the condition must be a bool scalar, but it is " + to_string(type);
  if (type.dtype != DType::boolean) throw DTypeError(message);
  if (!type.shape.empty()) throw ShapeError(message);
}

void check_integer_scalar(std::string_view name, std::string_view what, const TensorType &type) {
  const std::string message =
      prefix(name) + std::string(what) + " must be an integer scalar, but it is " + to_string(type);
  if (!is_integer(type.dtype)) throw DTypeError(message);
  if (!type.shape.empty()) throw ShapeError(message);
}

void check_branch_results(std::string_view name, std::size_t branch, std::size_t first,
                          std::size_t count) {
  if (first == count) return;
  throw ValueError(prefix(name) + "branch " + std::to_string(branch) + " returns " +
                   std::to_string(count) + " tensors, but branch 0 returns " +
                   std::to_string(first));
}

void meet_branches(std::string_view name, std::size_t result, std::size_t branch,
                   TracedType &result_type, const TracedType &result_other) {
  TensorType &type = result_type.type;
  const TensorType &other = result_other.type;
  const auto say = [&](std::string_view rule) {
    return prefix(name) + "tensor " + std::to_string(result) + " of the result is " +
           to_string(type) + " in branch 0, but " + to_string(other) + " in branch " +
           std::to_string(branch) + ": " + std::string(rule);
  };
  if (type.dtype != other.dtype) throw DTypeError(say("branches must agree in dtype"));
  if (type.shape.size() != other.shape.size())
    throw ShapeError(say("branches may differ in sizes, not in rank"));
  for (std::size_t d = 0; d < type.shape.size(); ++d)
    if (type.shape[d] != other.shape[d]) type.shape[d] = unknown;
  for (std::size_t d = 0; d < type.shape.size(); ++d)
    if (result_type.hint[d] != result_other.hint[d]) result_type.hint[d] = unknown;
}

void check_loop_variable(std::string_view name, std::size_t variable, const TensorType &before,
                         const TensorType &after) {
  const auto say = [&](std::string_view rule) {
    return prefix(name) + "loop variable " + std::to_string(variable) + " is " + to_string(before) +
           " before the loop, but " + to_string(after) +
           " after an iteration: " + std::string(rule);
  };
  if (before.dtype != after.dtype) throw DTypeError(say("it must keep its dtype"));
  if (before.shape.size() != after.shape.size())
    throw ShapeError(say("it may change in sizes, not in rank"));
}

namespace {

/// Whether sizes differ where both are known.
bool differ(const Shape &a, const Shape &b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] != b[d] && a[d] != unknown && b[d] != unknown) return true;
  return false;
}

} // namespace

void check_same_sizes(std::string_view name, std::size_t result, std::size_t first,
                      const Shape &shape, std::size_t branch, const Shape &other) {
  if (!differ(shape, other)) return;
  throw ShapeError(prefix(name) + "tensor " + std::to_string(result) + " of the result has shape " +
                   to_string(shape) + " in branch " + std::to_string(first) + ", but " +
                   to_string(other) + " in branch " + std::to_string(branch) +
                   ": members of a batch that choose differently give results of one shape");
}

void check_sizes_stay(std::string_view name, std::size_t variable, const TensorType &before,
                      const TensorType &after) {
  check_loop_variable(name, variable, before, after);
  if (!differ(before.shape, after.shape)) return;
  throw ShapeError(prefix(name) + "loop variable " + std::to_string(variable) + " changes from " +
                   to_string(before) + " to " + to_string(after) +
                   ": in a loop that members of a batch leave one after the other it keeps its "
                   "sizes");
}

bool widen_loop_variables(std::string_view name, std::span<const TracedType> before,
                          std::span<TracedType> state, std::span<const TracedType> after) {
  bool changed = false;
  const auto widen = [&](Shape &shape, const Shape &other) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == unknown || shape[d] == other[d]) continue;
      shape[d] = unknown;
      changed = true;
    }
  };
  for (std::size_t i = 0; i < state.size(); ++i) {
    check_loop_variable(name, i, before[i].type, after[i].type);
    widen(state[i].type.shape, after[i].type.shape);
    widen(state[i].hint, after[i].hint);
  }
  return changed;
}

} // namespace weft
