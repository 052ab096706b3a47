// Batches: the interpreter that runs what is written for one tensor on many at once.
#pragma once

#include <functional>

#include "Ops/Interpreter.h"

namespace weft::autodiff {

/// Executes calls whose operands stand for `count` tensors each as one call on all of them: of an
/// op with a rule the call is the op itself, with the members along a new leading axis; of another
/// the op once per member. Its work is seen by the interpreters before it. Of other calls it is no
/// part.
class Batcher final : public Interpreter {
public:
  /// `name` is for messages.
  Batcher(const char *name, std::int64_t count) : name_(name), count_(count) {}

  /// A tensor that stands for the slices of `members` along its first axis, `count` of them. It has
  /// the type of one slice, and no elements to be read.
  Tensor batch(const Tensor &members) const;
  /// All members of what was computed, along a new first axis.
  Tensor members(const Tensor &tensor) const;

  Tensor apply(const OpCall &call) override;
  std::vector<Tensor> construct(const ConstructCall &call) override;
  std::vector<Tensor> whole(const detail::Body &body, std::span<const Tensor> inputs) override;
  std::vector<Tensor> pull(const Recording &recording, std::span<const Tensor> cotangents) override;

  /// Whether ops are executed once per member, rules or not: for tests.
  bool member_by_member = false;

private:
  struct Ref;
  /// The members, or undefined if the tensor does not stand for any here.
  const Tensor *known(const Tensor &tensor) const;
  Tensor one_by_one(const OpCall &call) const;
  /// What `run` gives for the tensors of each member, again as tensors that stand for all.
  std::vector<Tensor>
  once_per_member(std::span<const Tensor> tensors,
                  const std::function<std::vector<Tensor>(std::span<const Tensor>)> &run) const;
  /// The tensors with member number `i` in the place of all members.
  std::vector<Tensor> member(std::span<const Tensor> tensors, std::int64_t i) const;
  /// Tensors along a new first axis.
  static Tensor stacked(std::span<const Tensor> tensors);
  /// `tensor`, once per member.
  Tensor repeated(const Tensor &tensor) const;

  const char *name_;
  std::int64_t count_;
};

} // namespace weft::autodiff
