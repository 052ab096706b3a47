// The emitter of the tape: rules execute op calls on tensors.
#pragma once

#include <weft/tensor.h>

#include "Autodiff/Rules/Emitter.h"
#include "Ops/Interpreter.h"

namespace weft::autodiff {

/// Executes what a rule emits on the current interpreter: eagerly, or recorded by an outer tape, or
/// traced.
class TensorEmitter : public EmitterOps<TensorEmitter, Tensor> {
public:
  Tensor emit(OpCode op, std::span<const Tensor> operands, const Attrs &attrs) {
    return dispatch(op, operands, attrs);
  }
  TensorType type(const Tensor &value) { return detail::type_of(value); }
  Tensor scalar(double value, DType dtype) {
    return kind_of(dtype) == DTypeKind::floating ? Operand(value).materialize(dtype)
           : kind_of(dtype) == DTypeKind::integer
               ? Operand(static_cast<std::int64_t>(value)).materialize(dtype)
               : Operand(value != 0).materialize(dtype);
  }
  /// That number in the dtype and shape of `like`.
  Tensor filled(double value, const Tensor &like) {
    const TensorType type = detail::type_of(like);
    Tensor one = scalar(value, type.dtype);
    if (type.shape.empty()) return one;
    return type.shape.is_static() ? broadcast(one, type.shape)
                                  : select(equal(like, like), one, one);
  }
};

} // namespace weft::autodiff
