// Fused kernels on whole tensors.
#include "Ops/Fused.h"

#include "OpDefs/ShapeFunctions.h"
#include "Ops/Eager.h"
#include "Support/Profile.h"

namespace weft::call {

namespace {

constexpr const char *kNames[] = {
#define WEFT_FUSED(name, ...) #name,
#include "Ops/Fused.def"
};

} // namespace

Tensor fused(Fused function, std::span<const Tensor> operands) {
  const auto number = static_cast<std::size_t>(function);
  const DType dtype = operands[0].dtype();
  const FusedTable &table = fused_table();
  const FusedFacts facts = table.facts[number][static_cast<std::size_t>(dtype)];
  if (!facts.exist()) return {};
  TensorType type{facts.result(), {}};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].traced() || operands[i].dtype() != dtype) return {};
    const Shape shape(operands[i].impl()->sizes());
    Result<Shape> broadcast = i == 0 ? shape : broadcast_shapes(type.shape, shape);
    if (!broadcast) return {};
    type.shape = *std::move(broadcast);
  }
  const profile::Scope scope(profile::Kind::op, kNames[number]);
  return eager::run_elementwise(table.elementwise[number][static_cast<std::size_t>(dtype)],
                                facts.cost(), operands, type);
}

} // namespace weft::call
