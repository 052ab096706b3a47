// What is done for some members of a batch only: the layer that keeps the others out of it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "Autodiff/Layer.h"
#include "Ops/Draws.h"

namespace weft::autodiff {

/// On top of the interpreters while a body runs that only those members enter for which a bool
/// scalar holds. What the body reaches from around it has, for the other members, the values of one
/// that enters, without a derivative: so all that the body computes for them is as valid as it is
/// for that one. Nothing raises for them, their loops end when its loops do, and no derivative of
/// theirs is infinite where its own are not. What they compute is for nobody: who runs the body
/// selects. At least one member enters. Effects that would be seen are refused.
class Mask : public Layer {
public:
  /// `name` is that of the construct, for messages. With `everyone` all members are known to enter.
  Mask(std::string_view name, Tensor holds, bool everyone);
  /// One for what the body began and runs later.
  Mask(const Mask &other)
      : Layer(), name_(other.name_), holds_(other.holds_), everyone_(other.everyone_),
        entered_(other.entered_), seen_(other.seen_) {}
  Mask &operator=(const Mask &) = delete;

  /// A tensor from around the body as it is in there; one that the body computed as it is.
  Tensor inside_of(const Tensor &tensor);

  /// Throws StateError if something that would be seen happens for some members only.
  static void check_effect(std::string_view effect);

  Tensor apply(const OpCall &call) override;
  std::vector<Tensor> construct(const ConstructCall &call) override;
  std::vector<Tensor> whole(const detail::Body &body, std::span<const Tensor> inputs) override;
  std::vector<TracedType> types_of(std::string_view name, const detail::Body &body,
                                   std::span<const TracedType> inputs) override;
  std::vector<Tensor> attach_pullback(const PullbackCall &call) override;
  Recording record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                   std::uint32_t orders) override;

private:
  std::vector<Tensor> inside_of(std::span<const Tensor> tensors);
  [[noreturn]] void refuse(std::string_view effect) const;
  using Seen = std::unordered_map<const detail::TensorImpl *, std::pair<Tensor, Tensor>>;
  /// A part of the body that a trace keeps apart: what is selected in there stays in there. With
  /// `anew` what was selected around it is not used either.
  detail::Body nested(const detail::Body &body, bool anew = false);

  std::string name_;
  Tensor holds_;
  bool everyone_;
  std::uint64_t entered_; ///< the number of the first tensor of a batch in here
  /// What was reached so far from around the body, by the tensor: itself, and what it is in here.
  Seen seen_;
};

/// A mask of this thread for as long as it lives. Draws are effects: generators move on.
class PushedMask : public Pushed<Mask> {
public:
  template <class... Args>
  explicit PushedMask(Args &&...args) : Pushed(std::forward<Args>(args)...), draws_(*this) {}

private:
  class Draws final : public random::detail::Taker {
  public:
    using Taker::Taker;
    Tensor take(const Variable &, std::int64_t) override {
      Mask::check_effect("a draw of a generator");
      return {};
    }
  };

  Draws draws_;
};

/// The scalar of all members, those of batches around included, reduced to one: a value, or a
/// traced one that no batch is left in.
Tensor over_members(OpCode reduction, const Tensor &scalar);

/// Whether a tensor differs by member in a batch of this thread.
bool differs_by_member(const Tensor &tensor);

} // namespace weft::autodiff
