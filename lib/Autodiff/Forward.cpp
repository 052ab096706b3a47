// Forward mode on tensors, one call at a time.
#include "Autodiff/Forward.h"

#include "Autodiff/Rules/Rules.h"
#include "Autodiff/TensorEmitter.h"

namespace weft::autodiff {

Dual jvp(OpCode op, std::span<const Tensor> primals, std::span<const Tensor> tangents,
         const Attrs &attrs) {
  WEFT_INVARIANT(primals.size() == tangents.size(), "as many tangents as primals");
  Dual dual{dispatch(op, primals, attrs), {}};
  if (!op_info(op).differentiable || !carries_gradient(dual.value.dtype())) return dual;
  std::vector<TensorType> types;
  detail::InlineVector<bool, 8> has_tangent;
  bool some = false;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    types.push_back(detail::type_of(primals[i]));
    has_tangent.push_back(tangents[i].defined() && carries_gradient(types[i].dtype));
    some |= has_tangent[i];
  }
  if (!some) return dual;
  const TensorType result_type = detail::type_of(dual.value);
  TensorEmitter emitter;
  JvpCall<TensorEmitter> call({.op = op,
                               .attrs = attrs,
                               .operand_types = types,
                               .result_type = result_type,
                               .operands = primals,
                               .result = dual.value,
                               .has_tangent = has_tangent,
                               .tangents = tangents});
  dual.tangent = jvp(emitter, op, call);
  return dual;
}

} // namespace weft::autodiff
