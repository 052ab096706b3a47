// The table of ops: what their records say that the library needs at run time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "OpDefs/Attr.h"
#include "OpDefs/OpAttrs.h"
#include "Support/Fault.h"
#include <weft/detail/opcode.h>

namespace weft {

/// How an op computes, which decides who executes and lowers it.
enum class OpKind : std::uint8_t {
  elementwise,
  reduction,
  cumulative,
  structural,
  effect,
  collective, ///< an effect that all ranks of a group have together, with a result and a derivative
  routine
};

/// What happens to operand dtypes of a C++ call before the op.
enum class Promotion : std::uint8_t { none, common, floating, number, sum, truth };

/// Whether an op computes, so that 16-bit floats are computed in f32. Where it has kernels for the
/// large dtypes alone, other integers are computed in one of these: as sums and products, which
/// wrap, by the order of numbers, or by the numbers themselves, where the larger dtype holds them.
/// The product of matrices is as sums and products, and of bf16 the library's own.
enum class Widening : std::uint8_t { none, floats, ring, product, order, value };

/// The dtypes an operand admits, as a set of bits, with a word for messages ("floating").
struct DTypeSet {
  std::string_view word;
  std::uint32_t bits;

  constexpr bool contains(DType dtype) const { return bits >> static_cast<unsigned>(dtype) & 1; }
};

/// What the elements of an operand are for. An index out of range stops the call; a size, a scalar,
/// stands in a list of sizes; a predicate keeps its dtype where the other operands take one
/// together.
enum class OperandRole : std::uint8_t { value, index, size, predicate };

struct OperandInfo {
  std::string_view name;
  DTypeSet admits;
  OperandRole role;
  bool variadic;
  bool differentiable; ///< whether a gradient flows to it, where it is floating
};

/// What an attribute is, which decides the alternative of weft::Attr that holds it. An axis, axes
/// and a permutation are numbers of dimensions of the first operand; per_axis is a list with an
/// entry for each of its dimensions, and shape one with an entry for each of the result's; count
/// says how many, -1 for all; spatial is a list with an entry for each axis of a window.
enum class AttrKind : std::uint8_t {
  flag,
  axis,
  axes,
  permutation,
  per_axis,
  spatial,
  shape,
  count,
  number,
  dtype,
  text,
  constant,
  variable
};

struct AttrInfo {
  std::string_view name;
  AttrKind kind;
  std::int64_t whole; ///< the entry of a per_axis list for an axis that stays as it is;
                      ///< kWholeSize for its size
  bool takes_values;  ///< operands of the role `size` may stand in it, as detail::kDynamic

  static constexpr std::int64_t kWholeSize = -1;
};

/// What an op does besides giving its result: reads or writes the variable that it names, shows
/// something to a person, may stop the call by itself.
struct OpEffects {
  bool reads, writes, io, stops;
};

/// The most results that an op has. Where several go somewhere, the first is what a function
/// returns, and the others go to a span `more` of their number.
inline constexpr std::size_t kMostResults = 4;

/// What a shape function sees of a call.
struct InferContext {
  OpCode op;
  std::span<const TensorType> operands;
  const Attrs &attrs;
  std::span<TensorType> more = {}; ///< where the types of the results behind the first go
};

/// Checks a call whose operands' dtypes are admitted and gives the type of its result.
using ShapeFunction = Result<TensorType> (*)(const InferContext &);

/// The row of one op.
struct OpInfo {
  OpCode op;
  std::string_view name;     ///< mnemonic in the IR, and in messages
  std::string_view cpp_name; ///< the C++ function
  OpKind kind;
  Promotion promotion;
  Widening widening;
  std::span<const OperandInfo> operands;
  std::span<const AttrInfo> attrs;
  ShapeFunction shape_function; ///< null for ops on variables
  std::uint8_t results;
  int cost;
  OpEffects effects;
  /// Whether its elements are new, of a stream or of no tensor at all: they go where new tensors
  /// go.
  bool creates;
  bool differentiable;
  std::string_view inactive; ///< why there is no derivative, or empty
  std::uint32_t saved;       ///< bit i: the derivative mentions operand i; the bits after the last
                             ///< operand: it mentions a result (a variadic operand is one bit)
  std::span<const std::uint32_t> saved_for; ///< the same of the derivative by each operand
  std::string_view summary;

  /// Whether its place among other effects matters.
  bool has_effect() const { return kind == OpKind::effect || kind == OpKind::collective; }
  /// Whether its result is the value of a variable, which it leaves as it is.
  bool reads_variable() const { return effects.reads && !effects.writes; }
  /// Whether its last operands are sizes, for lists of its attributes, in their order.
  bool takes_sizes() const {
    return !operands.empty() && operands.back().role == OperandRole::size;
  }
  /// How many operands are before these, in a call of so many.
  std::size_t operands_before_sizes(std::size_t count) const {
    return takes_sizes() ? operands.size() - 1 : count;
  }
};

/// The row of `op`.
const OpInfo &op_info(OpCode op);

/// How many entries of a call's lists are operands.
std::size_t count_values(const OpInfo &info, const Attrs &attrs);

/// All rows, in the order of OpCode.
std::span<const OpInfo> all_ops();

/// The op with that mnemonic, or null.
const OpInfo *find_op(std::string_view name);

/// Checks the operands' dtypes against the record, then runs the shape function: the one place
/// where the type of a call is decided, for eager, traced and textual programs alike.
Result<TensorType> infer(const InferContext &call);

} // namespace weft
