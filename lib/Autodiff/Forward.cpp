// Forward mode on tensors, one call at a time.
#include "Autodiff/Forward.h"

#include "Autodiff/Rules/Rules.h"
#include "Autodiff/TensorEmitter.h"

namespace weft::autodiff {

Dual jvp(OpCode op, std::span<const Tensor> primals, std::span<const Tensor> tangents,
         const Attrs &attrs, std::span<Dual> more) {
  WEFT_INVARIANT(primals.size() == tangents.size(), "as many tangents as primals");
  Tensor values[kMostResults], other_tangents[kMostResults - 1];
  const std::size_t count = more.size() + 1;
  values[0] = dispatch({op, primals, attrs, {values + 1, more.size()}});
  Dual dual{values[0], {}};
  for (std::size_t i = 0; i < more.size(); ++i) more[i] = {values[i + 1], {}};
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
  TensorType result_types[kMostResults];
  for (std::size_t i = 0; i < count; ++i) result_types[i] = detail::type_of(values[i]);
  TensorEmitter emitter;
  JvpCall<TensorEmitter> call({.op = op,
                               .attrs = attrs,
                               .operand_types = types,
                               .result_types = {result_types, count},
                               .operands = primals,
                               .results = {values, count},
                               .has_tangent = has_tangent,
                               .tangents = tangents,
                               .more = {other_tangents, more.size()}});
  dual.tangent = jvp(emitter, op, call);
  for (std::size_t i = 0; i < more.size(); ++i) more[i].tangent = std::move(other_tangents[i]);
  return dual;
}

} // namespace weft::autodiff
