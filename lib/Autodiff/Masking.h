// Control flow that members of a batch decide differently, as control flow that is the same for
// all: of what is done for some of them the others are masked out.
#pragma once

#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/detail/body.h>
#include <weft/tensor.h>

namespace weft::autodiff {

/// What each member chooses, by a bool scalar (the first case where it holds) or by the number of a
/// case (another number is the last): every case that some member takes runs once, for all of
/// those, and results are selected. Cases that nobody takes do not run, or, in a trace, nothing of
/// them that may raise or go on without end does. Throws DTypeError or ShapeError where cases give
/// different types.
std::vector<Tensor> choose_by_member(std::string_view name, const Tensor &chosen,
                                     std::span<const detail::Body> cases);

/// A loop that members leave one after the other: it goes on until all have left, and those that
/// have keep their state.
class MaskedLoop {
public:
  /// `holds` is what the condition gave for the state that it begins with.
  MaskedLoop(std::string_view name, const Tensor &holds, detail::Body condition, detail::Body body,
             std::span<const Tensor> state);

  /// Whether each member is in the loop, and then the state.
  const std::vector<Tensor> &state() const { return state_; }
  /// Of such a state; whether to go on is the same for all members.
  detail::Body condition() const;
  detail::Body body() const;

private:
  std::string name_;
  detail::Body condition_, body_;
  std::source_location where_;
  std::vector<Tensor> state_;
};

/// A counted loop whose bounds differ by member: `low`, `low + step`, .. below `high`.
class MaskedCount {
public:
  MaskedCount(std::string_view name, const Tensor &low, const Tensor &high, std::int64_t step,
              detail::Body body);

  /// How many iterations there are; the same for all members.
  const Tensor &iterations() const { return most_; }
  /// Of the number of the iteration, from 0, and the state.
  detail::Body body() const;

private:
  std::string name_;
  Tensor low_, each_, most_;
  std::int64_t step_;
  detail::Body body_;
  std::source_location where_;
};

} // namespace weft::autodiff
