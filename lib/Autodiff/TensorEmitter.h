// The emitter of the tape: rules execute op calls on tensors.
#pragma once

#include <weft/tensor.h>

#include "OpDefs/Emitter.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"

namespace weft::autodiff {

/// Executes what a rule emits on the current interpreter: eagerly, or recorded by an outer tape, or
/// traced.
class TensorEmitter : public EmitterOps<TensorEmitter, Tensor> {
public:
  Tensor emit(OpCode op, std::span<const Tensor> operands, const Attrs &attrs) {
    if (op == OpCode::multiply && Interpreter::nobody_records())
      for (const std::size_t i : {0, 1})
        if (leaves(operands[i], operands[1 - i])) return detail::new_alias(operands[1 - i]);
    return dispatch(op, operands, attrs);
  }
  std::vector<Tensor> emit_all(OpCode op, std::span<const Tensor> operands, const Attrs &attrs) {
    return dispatch_all(op, operands, attrs);
  }
  TensorType type(const Tensor &value) { return detail::type_of(value); }
  Tensor scalar(double value, DType dtype) {
    return is_inexact(dtype)   ? Operand(value).materialize(dtype)
           : is_integer(dtype) ? Operand(static_cast<std::int64_t>(value)).materialize(dtype)
                               : Operand(value != 0).materialize(dtype);
  }
  /// That number in the dtype and shape of `like`, on its device.
  Tensor filled(double value, const Tensor &like) {
    const TensorType type = detail::type_of(like);
    Tensor one = detail::placed_beside(like, scalar(value, type.dtype));
    if (type.shape.empty()) return one;
    return type.shape.is_static() ? broadcast(one, type.shape)
                                  : select(equal(like, like), one, one);
  }

private:
  /// Whether `factor` is ones, as the cotangent of a sum is, and the product is `x`.
  static bool leaves(const Tensor &factor, const Tensor &x) {
    const detail::TensorImpl *ones = factor.impl(), *of = x.impl();
    if (ones->size == 0 || ones->rank > of->rank || ones->dtype != of->dtype || !of->plain ||
        !is_floating(ones->dtype))
      return false;
    for (std::size_t i = 0; i < ones->rank; ++i) {
      const std::int64_t size = ones->dims()[i];
      if (size != 1 && (ones->strides()[i] != 0 || size != of->dims()[of->rank - ones->rank + i]))
        return false;
    }
    return ones->storage != detail::Storage::traced && detail::on_cpu(*ones) &&
           detail::on_cpu(*of) && visit_dtype(ones->dtype, [&]<class T>() {
             return *detail::elements<T>(factor) == T(1);
           });
  }
};

} // namespace weft::autodiff
