// The ops, as free functions, operators and the effects print and check.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/ops.gen.h>
#include <weft/tensor.h>

namespace weft {

/// x * x.
Tensor square(const Operand &x);
/// max(x, 0).
Tensor relu(const Operand &x);

namespace detail {

/// Collects the pieces of print(...): text stands as it is, a value takes the next {} of the text
/// before it, or the end.
class PrintLine {
public:
  template <class T>
  void add(const T &piece) {
    if constexpr (std::is_convertible_v<const T &, std::string_view>) add_text(piece);
    else add_value(Operand(piece));
  }
  void dispatch();

private:
  void add_text(std::string_view text);
  void add_value(const Operand &value);

  std::string format_;
  std::size_t places_ = 0; ///< {} in the format that have no value yet
  std::vector<Tensor> values_;
};

} // namespace detail

/// Prints a line of text and values with spaces between, scalars as bare numbers:
/// `print("loss is", loss, "at step", step)`, `print("loss is {} at {}", loss, step)`. Throws
/// ValueError if a {} is left without a value. Inside a traced function it is an ordered effect.
template <class... Pieces>
void print(const Pieces &...pieces) {
  detail::PrintLine line;
  (line.add(pieces), ...);
  line.dispatch();
}

/// Throws AssertionError with the message and the values unless every element of `condition` holds.
/// The values replace the {} of the message, or follow it.
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
