// How a C++ call becomes an op call: weak scalars take a dtype, dtypes are promoted, axes counted
// from the front. The generated functions of weft/ops.h end here.
#pragma once

#include <initializer_list>
#include <optional>

#include "Ops/Interpreter.h"
#include <weft/size.h>

namespace weft::call {

Tensor unary(OpCode op, const Operand &x);
Tensor binary(OpCode op, const Operand &lhs, const Operand &rhs);
/// The results behind the first go to `more`.
Tensor general(OpCode op, std::initializer_list<const Operand *> operands, const Attrs &attrs,
               std::span<Tensor> more = {});
/// Of one operand, which is cast first to the dtype that the call is to be computed in, if it says
/// one.
Tensor general(OpCode op, std::initializer_list<const Operand *> operands, const Attrs &attrs,
               std::optional<DType> dtype);
/// Of an op with lists of sizes, whose values become operands behind the others.
Tensor general(OpCode op, std::initializer_list<const Operand *> operands, const Attrs &attrs,
               std::initializer_list<const Sizes *> lists);
Tensor variadic(OpCode op, std::initializer_list<Operand> operands, const Attrs &attrs);
Tensor variadic(OpCode op, std::span<const Tensor> operands, const Attrs &attrs);

/// The dtype that operands from `first` on take together, by the rule of an op.
DType promoted_dtype(std::string_view function, Promotion promotion,
                     std::span<const Operand *const> operands, std::size_t first);

/// The user's line that the operands know of: the first that does.
std::source_location where_of(std::initializer_list<const Operand *> operands);
std::source_location where_of(std::initializer_list<Operand> operands);

/// All axes of a rank if none are given; otherwise the given ones counted from the front,
/// ascending.
Ints resolve_axes(const std::optional<Ints> &axes, std::int64_t rank);

/// The rank of the operand that axes of `op` count in, the first of several; 0 of none. Throws
/// StateError, as the calls above, if it is undefined.
std::int64_t rank_of(OpCode op, const Operand &operand);
std::int64_t rank_of(OpCode op, std::initializer_list<Operand> operands);
std::int64_t rank_of(OpCode op, std::span<const Tensor> operands);

} // namespace weft::call
