// The short way for the calls that matter most: elementwise ops on tensors in order, of one dtype
// and one shape, or with a scalar.
#pragma once

#include "Ops/Interpreter.h"

namespace weft::call {

/// The result of an elementwise op with one operand, if it needs neither promotion, nor copies, nor
/// broadcasting but of a scalar, nor an error; undefined otherwise, for the general way to find
/// out. Only for threads without an interpreter.
Tensor fast_unary(OpCode op, const Operand &x);
/// The same with two operands.
Tensor fast_binary(OpCode op, const Operand &lhs, const Operand &rhs);
/// The same of tensors.
Tensor fast_unary(OpCode op, const Tensor &x);
Tensor fast_binary(OpCode op, const Tensor &lhs, const Tensor &rhs);

} // namespace weft::call
