// Ops on the world: variables, print and check.
#include <vector>

#include "Ops/Eager.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Printing.h"
#include "Runtime/StridedCopy.h"
#include "Runtime/Variable.h"
#include "Support/Fault.h"

namespace weft::eager {

namespace {

VariableState &state_of(const Attrs &attrs) { return **variable_in(attrs); }

std::vector<PrintedArray> arrays_of(std::span<const Tensor> values) {
  std::vector<PrintedArray> arrays;
  for (const Tensor &value : values) arrays.push_back(printed(value));
  return arrays;
}

} // namespace

Tensor read(const OpInfo &, std::span<const Tensor>, const Attrs &attrs, const TensorType &) {
  const VariableState &state = state_of(attrs);
  if (const auto cut = state.cut()) [[unlikely]]
    return cut->gather();
  return state.load();
}

Tensor assign(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
              const TensorType &) {
  check_assignable("assign", state_of(attrs), operands[0].type());
  state_of(attrs).store(operands[0]);
  return {};
}

Tensor assign_add(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &) {
  check_assignable("assign_add", state_of(attrs), operands[0].type());
  state_of(attrs).modify([&](const Tensor &value) {
    const Tensor both[] = {value, operands[0]};
    return execute_eager(OpCode::add, both, {});
  });
  return {};
}

Tensor print(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
             const TensorType &) {
  print_line(format_values(PrintAttrs(attrs).format, arrays_of(operands)));
  return {};
}

Tensor check(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
             const TensorType &) {
  const Tensor condition = make_contiguous(detail::on_host(operands[0]));
  const bool *const values = detail::elements<const bool>(condition);
  bool holds = true;
  for (std::int64_t i = 0; i < condition.size(); ++i) holds &= values[i];
  if (holds) return {};
  const AssertAttrs asked(attrs);
  const std::string text = format_values(asked.message, arrays_of(operands.subspan(1)), "; ");
  if (asked.of_sizes)
    raise(asked.error == "index"   ? ErrorKind::index
          : asked.error == "value" ? ErrorKind::value
                                   : ErrorKind::shape,
          text);
  throw AssertionError("assertion failed: " + text);
}

} // namespace weft::eager
