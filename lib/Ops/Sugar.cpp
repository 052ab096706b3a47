// Functions that are written in terms of ops: square, relu, and the effects print and check.
#include "Ops/Call.h"

#include <weft/ops.h>

namespace weft {

Tensor square(const Operand &x) { return multiply(x, x); }
Tensor relu(const Operand &x) { return maximum(x, 0); }

namespace detail {

void PrintLine::add_text(std::string_view text) {
  if (!format_.empty()) format_ += ' ';
  format_ += text;
  for (std::size_t at = text.find("{}"); at != std::string_view::npos; at = text.find("{}", at + 2))
    ++places_;
}

void PrintLine::add_value(const Operand &value) {
  values_.push_back(value.materialize());
  if (places_ != 0) --places_;
  else format_ += format_.empty() ? "{}" : " {}";
}

void PrintLine::dispatch() { weft::dispatch(OpCode::print, values_, Attrs{std::move(format_)}); }

} // namespace detail

void check_values(const Operand &condition, std::string_view message,
                  std::initializer_list<Operand> values) {
  std::vector<Tensor> tensors = {condition.materialize()};
  for (const Operand &value : values) tensors.push_back(value.materialize());
  dispatch(OpCode::check, tensors, Attrs{std::string(message)});
}

} // namespace weft
