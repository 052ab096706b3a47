// What control flow demands of predicates, branches and loop variables: the same words on values
// and in traces.
#pragma once

#include <span>
#include <string_view>

#include "Ops/Interpreter.h"

namespace weft {

/// Throws DTypeError or ShapeError unless a condition of that type is a bool scalar.
void check_condition(std::string_view name, const TensorType &type);

/// Throws DTypeError or ShapeError unless that type is an integer scalar's.
void check_integer_scalar(std::string_view name, std::string_view what, const TensorType &type);

/// Throws ValueError unless branch `branch` gives as many tensors as the first one.
void check_branch_results(std::string_view name, std::size_t branch, std::size_t first,
                          std::size_t count);

/// Makes sizes of `type` unknown where result `result` of branch `branch` has others. Throws
/// DTypeError, and ShapeError when the ranks differ.
void meet_branches(std::string_view name, std::size_t result, std::size_t branch, TracedType &type,
                   const TracedType &other);

/// Throws DTypeError or ShapeError, with both types, if a loop variable changes dtype or rank.
void check_loop_variable(std::string_view name, std::size_t variable, const TensorType &before,
                         const TensorType &after);

/// Throws ShapeError unless result `result` of branch `branch`, which some members of a batch take,
/// has the sizes that it has in branch `first`, which others take.
void check_same_sizes(std::string_view name, std::size_t result, std::size_t first,
                      const Shape &shape, std::size_t branch, const Shape &other);

/// Throws ShapeError if a loop variable changes its sizes in a loop that members of a batch leave
/// one after the other.
void check_sizes_stay(std::string_view name, std::size_t variable, const TensorType &before,
                      const TensorType &after);

/// Makes sizes in `state`, the types of loop variables, unknown where an iteration changed them;
/// `before` are the types before the loop. True if that changed one. Throws as check_loop_variable
/// does.
bool widen_loop_variables(std::string_view name, std::span<const TracedType> before,
                          std::span<TracedType> state, std::span<const TracedType> after);

} // namespace weft
