// How ops are done on batches: what the rules that op records name are called with.
#pragma once

#include <vector>

#include "Ops/Interpreter.h"
#include <weft/size.h>

namespace weft::autodiff {

/// A tensor once for each of so many members, along a new axis in front.
Tensor repeated_in_front(const Tensor &tensor, const Size &count);

/// A call some operands of which stand for `count` members each, along a leading axis of their own.
class BatchedCall {
public:
  /// `members` has a null for each operand that is the same for all.
  BatchedCall(const OpCall &call, std::vector<const Tensor *> members, Size count);

  std::size_t operand_count() const { return members_.size(); }
  /// Whether operand `i` stands for members.
  bool varies(std::size_t i) const { return members_[i] != nullptr; }
  bool only_first_varies() const;
  /// The operand of each member alone.
  const Shape &shape(std::size_t i) const { return shapes_[i]; }
  /// The highest rank among these.
  std::size_t rank() const;
  const Tensor &operand(std::size_t i) const { return call_.operands[i]; }
  const Tensor &members(std::size_t i) const { return *members_[i]; }
  /// Operand `i` with an entry per member, whether they differ or not.
  Tensor repeated(std::size_t i) const;
  /// Operand `i` with axes of size 1 behind that of the members, so that members have that rank;
  /// one that is the same for all broadcasts as it is.
  Tensor raised(std::size_t i, std::size_t rank) const;

  /// The op on the members of the first operand and the others as they are.
  Tensor on_first() const;
  /// The op on all operands repeated.
  Tensor on_repeated() const;
  /// The op on all operands raised to the highest rank.
  Tensor on_raised() const;
  /// The op on these.
  Tensor on(const std::vector<Tensor> &operands) const;

  /// Those of the call for all: what counts axes counts that of the members, what lists sizes or
  /// has an entry for each axis has one for it.
  const Attrs &attrs() const { return attrs_; }
  /// Whether the first operand of each member has an axis.
  bool has_axes() const { return shape(0).size() != 0; }

  /// Set by a rule whose result is one value for all members.
  bool same_for_all = false;

private:
  const OpCall &call_;
  Attrs attrs_;
  std::vector<const Tensor *> members_;
  std::vector<Shape> shapes_;
  Size count_;
  bool count_is_operand_ = false; ///< in front of the sizes of the call for all
};

/// Gives the results of all members along a leading axis, those behind the first in the call's
/// `more`; undefined for operands of which there is no such call.
using BatchRule = Tensor (*)(BatchedCall &);

/// The rule of an op; null if there is none.
BatchRule batch_rule(OpCode op);

} // namespace weft::autodiff
