// Functions that are written in terms of ops: square, relu, and the effects print and check.
#include "Ops/Call.h"

#include <weft/ops.h>

namespace weft {

Tensor square(const Operand &x) { return multiply(x, x); }
Tensor relu(const Operand &x) { return maximum(x, 0); }

void print_values(std::string_view text, std::initializer_list<Operand> values) {
  std::vector<Tensor> tensors;
  for (const Operand &value : values) tensors.push_back(value.materialize());
  std::string format(text);
  // Without places of their own the values follow the text, a space between each.
  if (format.find("{}") == std::string::npos)
    for (std::size_t i = 0; i < tensors.size(); ++i) format += format.empty() ? "{}" : " {}";
  dispatch(OpCode::print, tensors, Attrs{std::move(format)});
}

void check_values(const Operand &condition, std::string_view message,
                  std::initializer_list<Operand> values) {
  std::vector<Tensor> tensors = {condition.materialize()};
  for (const Operand &value : values) tensors.push_back(value.materialize());
  dispatch(OpCode::check, tensors, Attrs{std::string(message)});
}

} // namespace weft
