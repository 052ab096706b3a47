// What a derivative rule sees of the call that it differentiates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "OpDefs/OpInfo.h"

namespace weft::autodiff {

/// Position in the record of operand `i` of a call, which may repeat the last operand.
inline std::size_t record_place(const OpInfo &info, std::size_t i) {
  return std::min(i, info.operands.size() - 1);
}

/// What the derivative by operand `i` mentions: a bit per operand of the record, then the result's.
inline std::uint32_t mentioned(const OpInfo &info, std::size_t i) {
  return info.saved_for[record_place(info, i)];
}

/// The bit of the result in such a mask.
inline std::uint32_t result_bit(const OpInfo &info) { return 1u << info.operands.size(); }

/// Whether a gradient can flow through values of that dtype.
inline bool carries_gradient(DType dtype) { return is_floating(dtype); }

/// One call in reverse: the rule reads what was saved of it and gives the cotangent of each operand
/// that wants one. All spans have one entry per operand of the call.
template <class E>
class VjpCall {
public:
  using Value = typename E::Value;

  struct Parts {
    OpCode op;
    const Attrs &attrs;
    std::span<const TensorType> operand_types;
    const TensorType &result_type;
    /// Values of the operands; those that no wanted derivative mentions may be empty.
    std::span<const Value> operands;
    const Value &result;
    const Value &cotangent;
    std::span<const bool> wanted;
    /// Where the cotangents of the wanted operands go.
    std::span<Value> gradients;
  };

  explicit VjpCall(const Parts &parts) : parts_(parts), info_(op_info(parts.op)) {
    for (std::size_t i = 0; i < operand_count(); ++i)
      if (wants(i)) saved_ |= mentioned(info_, i);
  }

  std::size_t operand_count() const { return parts_.operand_types.size(); }
  bool wants(std::size_t i) const { return parts_.wanted[i]; }
  void give(std::size_t i, Value gradient) { parts_.gradients[i] = std::move(gradient); }

  OpCode op() const { return parts_.op; }
  const Attrs &attrs() const { return parts_.attrs; }
  const TensorType &operand_type(std::size_t i) const { return parts_.operand_types[i]; }
  const TensorType &result_type() const { return parts_.result_type; }

  const Value &cotangent() const { return parts_.cotangent; }
  DType cotangent_dtype() const { return parts_.result_type.dtype; }

  /// The value of an operand that the record's derivative mentions; others are not saved.
  const Value &operand(std::size_t i) const {
    WEFT_INVARIANT(saved_ >> record_place(info_, i) & 1,
                   "the derivative of " + std::string(info_.name) + " uses " +
                       std::string(info_.operands[record_place(info_, i)].name) +
                       ", which its record does not mention");
    return parts_.operands[i];
  }
  /// The value of the result, if the record's derivative mentions it.
  const Value &result() const {
    WEFT_INVARIANT(saved_ & result_bit(info_), "the derivative of " + std::string(info_.name) +
                                                   " uses its result, which its record does not "
                                                   "mention");
    return parts_.result;
  }
  /// The values in the call's lists of sizes, if the record's derivative mentions them.
  std::span<const Value> sizes() const {
    return parts_.operands.subspan(info_.operands_before_sizes(operand_count()));
  }
  /// An operand of unknown size, for its shape alone. Such operands exist only in IR and traces,
  /// where every value is at hand.
  const Value &shape_witness(std::size_t i) const {
    WEFT_INVARIANT(!operand_type(i).shape.is_static(),
                   "the shape of an operand of " + std::string(info_.name) + " is known");
    return parts_.operands[i];
  }

private:
  const Parts parts_;
  const OpInfo &info_;
  std::uint32_t saved_ = 0;
};

/// One call in forward mode, at a time when all its values are at hand. At least one operand has a
/// tangent, and the result's dtype carries one.
template <class E>
class JvpCall {
public:
  using Value = typename E::Value;

  struct Parts {
    OpCode op;
    const Attrs &attrs;
    std::span<const TensorType> operand_types;
    const TensorType &result_type;
    std::span<const Value> operands;
    const Value &result;
    std::span<const bool> has_tangent;
    /// The tangents; empty where `has_tangent` says no.
    std::span<const Value> tangents;
  };

  explicit JvpCall(const Parts &parts) : parts_(parts) {}

  std::size_t operand_count() const { return parts_.operand_types.size(); }
  bool has_tangent(std::size_t i) const { return parts_.has_tangent[i]; }
  const Value &tangent(std::size_t i) const { return parts_.tangents[i]; }

  OpCode op() const { return parts_.op; }
  const Attrs &attrs() const { return parts_.attrs; }
  const TensorType &operand_type(std::size_t i) const { return parts_.operand_types[i]; }
  const TensorType &result_type() const { return parts_.result_type; }
  /// The dtype of the result's tangent, named as in reverse, where rules are written.
  DType cotangent_dtype() const { return parts_.result_type.dtype; }

  const Value &operand(std::size_t i) const { return parts_.operands[i]; }
  const Value &result() const { return parts_.result; }
  const Value &shape_witness(std::size_t i) const { return parts_.operands[i]; }

private:
  const Parts parts_;
};

} // namespace weft::autodiff
