// What a derivative rule sees of the call that it differentiates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "OpDefs/OpInfo.h"

namespace weft::autodiff {

/// Position in the record of operand `i` of a call, which may repeat the last operand.
inline std::size_t record_place(const OpInfo &info, std::size_t i) {
  return std::min(i, info.operands.size() - 1);
}

/// What the derivative by operand `i` mentions: a bit per operand of the record, then the results'.
inline std::uint32_t mentioned(const OpInfo &info, std::size_t i) {
  return info.saved_for[record_place(info, i)];
}

/// The bit of a result in such a mask.
inline std::uint32_t result_bit(const OpInfo &info, std::size_t number = 0) {
  return 1u << (info.operands.size() + number);
}

/// Whether a gradient can flow through values of that dtype.
inline bool carries_gradient(DType dtype) { return is_inexact(dtype); }

/// One call in reverse: the rule reads what was saved of it and gives the cotangent of each operand
/// that wants one. Spans have one entry per operand of the call, or per result.
template <class E>
class VjpCall {
public:
  using Value = typename E::Value;

  struct Parts {
    OpCode op;
    const Attrs &attrs;
    std::span<const TensorType> operand_types;
    std::span<const TensorType> result_types;
    /// Values of the operands; those that no wanted derivative mentions may be empty.
    std::span<const Value> operands;
    std::span<const Value> results;
    /// Of the results; empty where `has_cotangent` says no, as it may of several.
    std::span<const Value> cotangents;
    std::span<const bool> has_cotangent;
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
  const TensorType &result_type(std::size_t i = 0) const { return parts_.result_types[i]; }

  bool has_cotangent(std::size_t i) const { return parts_.has_cotangent[i]; }
  const Value &cotangent(std::size_t i = 0) const { return parts_.cotangents[i]; }
  DType cotangent_dtype() const { return parts_.result_types[0].dtype; }

  /// The value of an operand that the record's derivative mentions; others are not saved.
  const Value &operand(std::size_t i) const {
    WEFT_INVARIANT(saved_ >> record_place(info_, i) & 1,
                   "the derivative of " + std::string(info_.name) + " uses " +
                       std::string(info_.operands[record_place(info_, i)].name) +
                       ", which its record does not mention");
    return parts_.operands[i];
  }
  /// The value of a result, if the record's derivative mentions it.
  const Value &result(std::size_t i = 0) const {
    WEFT_INVARIANT(saved_ & result_bit(info_, i), "the derivative of " + std::string(info_.name) +
                                                      " uses a result that its record does not "
                                                      "mention");
    return parts_.results[i];
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

  /// What the derivatives by several operands have in common, computed by the first that wants it.
  template <class Compute>
  const std::vector<Value> &once(const Compute &compute) {
    if (common_.empty()) common_ = compute();
    return common_;
  }

private:
  const Parts parts_;
  const OpInfo &info_;
  std::uint32_t saved_ = 0;
  std::vector<Value> common_;
};

/// One call in forward mode, at a time when all its values are at hand. At least one operand has a
/// tangent, and the dtype of the first result carries one.
template <class E>
class JvpCall {
public:
  using Value = typename E::Value;

  struct Parts {
    OpCode op;
    const Attrs &attrs;
    std::span<const TensorType> operand_types;
    std::span<const TensorType> result_types;
    std::span<const Value> operands;
    std::span<const Value> results;
    std::span<const bool> has_tangent;
    /// The tangents; empty where `has_tangent` says no.
    std::span<const Value> tangents;
    /// Where the tangents of the results behind the first go.
    std::span<Value> more = {};
  };

  explicit JvpCall(const Parts &parts) : parts_(parts) {}

  std::size_t operand_count() const { return parts_.operand_types.size(); }
  bool has_tangent(std::size_t i) const { return parts_.has_tangent[i]; }
  const Value &tangent(std::size_t i) const { return parts_.tangents[i]; }

  OpCode op() const { return parts_.op; }
  const Attrs &attrs() const { return parts_.attrs; }
  const TensorType &operand_type(std::size_t i) const { return parts_.operand_types[i]; }
  const TensorType &result_type(std::size_t i = 0) const { return parts_.result_types[i]; }
  /// The dtype of the result's tangent, named as in reverse, where rules are written.
  DType cotangent_dtype() const { return parts_.result_types[0].dtype; }
  /// Takes a tangent for each result, empty for one without, and hands back the first.
  Value give(std::vector<Value> tangents) {
    std::move(tangents.begin() + 1, tangents.end(), parts_.more.begin());
    return std::move(tangents.front());
  }

  const Value &operand(std::size_t i) const { return parts_.operands[i]; }
  const Value &result(std::size_t i = 0) const { return parts_.results[i]; }
  const Value &shape_witness(std::size_t i) const { return parts_.operands[i]; }

private:
  const Parts parts_;
};

} // namespace weft::autodiff
