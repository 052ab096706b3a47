// The ops, as free functions, operators and the effects print and check.
#pragma once

#include <string_view>

#include <weft/ops.gen.h>
#include <weft/tensor.h>

namespace weft {

/// x * x.
Tensor square(const Operand &x);
/// max(x, 0).
Tensor relu(const Operand &x);

/// Prints a line: `values` after the text, or in the places of its {}: `print("loss is", loss)`,
/// `print("loss is {} at {}", loss, step)`. Inside a traced function it is an ordered effect.
void print_values(std::string_view text, std::initializer_list<Operand> values);
template <class... Values>
void print(std::string_view text, const Values &...values) {
  print_values(text, {Operand(values)...});
}

/// Throws AssertionError with the message and the values unless every element of `condition` holds.
/// Inside a traced function it is an ordered effect that is never dropped.
void check_values(const Operand &condition, std::string_view message,
                  std::initializer_list<Operand> values);
template <class... Values>
void check(const Operand &condition, std::string_view message, const Values &...values) {
  check_values(condition, message, {Operand(values)...});
}

template <class... Options>
Tensor All::operator()(const Operand &x, Options... options) const {
  return reduce_all(x, AllOptions{options...});
}

// Operators are the ops of their meaning; comparison is element by element.
inline Tensor operator+(const Operand &a, const Operand &b) { return add(a, b); }
inline Tensor operator-(const Operand &a, const Operand &b) { return subtract(a, b); }
inline Tensor operator*(const Operand &a, const Operand &b) { return multiply(a, b); }
inline Tensor operator/(const Operand &a, const Operand &b) { return divide(a, b); }
inline Tensor operator%(const Operand &a, const Operand &b) { return remainder(a, b); }
inline Tensor operator-(const Operand &x) { return negate(x); }
inline Tensor operator<(const Operand &a, const Operand &b) { return less(a, b); }
inline Tensor operator<=(const Operand &a, const Operand &b) { return less_equal(a, b); }
inline Tensor operator>(const Operand &a, const Operand &b) { return greater(a, b); }
inline Tensor operator>=(const Operand &a, const Operand &b) { return greater_equal(a, b); }
inline Tensor operator==(const Operand &a, const Operand &b) { return equal(a, b); }
inline Tensor operator!=(const Operand &a, const Operand &b) { return not_equal(a, b); }
inline Tensor operator&(const Operand &a, const Operand &b) { return logical_and(a, b); }
inline Tensor operator|(const Operand &a, const Operand &b) { return logical_or(a, b); }
inline Tensor operator^(const Operand &a, const Operand &b) { return logical_xor(a, b); }
inline Tensor operator!(const Operand &x) { return logical_not(x); }

} // namespace weft
