// The ops, as free functions, operators and the effects print and check.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/ops.gen.h>
#include <weft/tensor.h>

namespace weft {

/// x * x.
Tensor square(const Operand &x);
/// max(x, 0), with the gradient 0 where x is 0.
Tensor relu(const Operand &x);
/// log(sum(exp(x))) over the given axes, without overflow; of integers in f32.
Tensor logsumexp(const Operand &x, const SumOptions &options = {});

namespace detail {

/// One piece of print(...): text or a value, and the line of the call.
class PrintPiece {
public:
  template <class T>
  PrintPiece(const T &piece, std::source_location where = WEFT_HERE) : where_(where) {
    if constexpr (std::is_convertible_v<const T &, std::string_view>) text_ = piece;
    else value_.emplace(piece, where);
  }

  std::string_view text() const { return text_; }
  /// The value; null for text.
  const Operand *value() const { return value_ ? &*value_ : nullptr; }
  const std::source_location &where() const { return where_; }

private:
  std::source_location where_;
  std::string_view text_;
  std::optional<Operand> value_;
};

void print_line(std::span<const PrintPiece *const> pieces);

} // namespace detail

/// Prints a line of text and values with spaces between, scalars as bare numbers:
/// `print("loss is", loss, "at step", step)`, `print("loss is {} at {}", loss, step)`: a value
/// takes the next {} of the text before it, or the end. Throws ValueError if a {} is left without a
/// value. Inside a traced function it is an ordered effect.
template <class... Pieces>
void print(const detail::PrintPiece &first, const Pieces &...rest) {
  const auto run = [&](const auto &...others) {
    const detail::PrintPiece *const pieces[] = {&first, &others...};
    detail::print_line(pieces);
  };
  run(detail::PrintPiece(rest, first.where())...);
}
/// Prints an empty line.
inline void print(std::source_location where = WEFT_HERE) { print(detail::PrintPiece("", where)); }

/// Throws AssertionError with the message and the values unless every element of `condition` holds.
/// The values replace the {} of the message, or follow it.
/// Inside a traced function it is an ordered effect that is never dropped.
void check_values(const Operand &condition, std::string_view message,
                  std::initializer_list<Operand> values);
template <class... Values>
void check(const Operand &condition, std::string_view message, const Values &...values) {
  check_values(condition, message, {Operand(values, condition.where())...});
}

inline Tensor All::operator()(const Operand &x) const { return reduce_all(x); }
inline Tensor All::operator()(const Operand &x, ReduceAllOptions options) const {
  return reduce_all(x, std::move(options));
}
template <class Given, class>
Tensor All::operator()(const Operand &x, const Given &axes) const {
  return reduce_all(x, axes);
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
/// Of bools logical_and, .., of integers bitwise_and, ..
Tensor operator&(const Operand &a, const Operand &b);
Tensor operator|(const Operand &a, const Operand &b);
Tensor operator^(const Operand &a, const Operand &b);
Tensor operator~(const Operand &x);
inline Tensor operator!(const Operand &x) { return logical_not(x); }

// `x += y` is `x = x + y`: the handle takes the new tensor, and what else holds the old one keeps
// it.
inline Tensor &operator+=(Tensor &x, const Operand &y) { return x = x + y; }
inline Tensor &operator-=(Tensor &x, const Operand &y) { return x = x - y; }
inline Tensor &operator*=(Tensor &x, const Operand &y) { return x = x * y; }
inline Tensor &operator/=(Tensor &x, const Operand &y) { return x = x / y; }
inline Tensor &operator%=(Tensor &x, const Operand &y) { return x = x % y; }
inline Tensor &operator&=(Tensor &x, const Operand &y) { return x = x & y; }
inline Tensor &operator|=(Tensor &x, const Operand &y) { return x = x | y; }
inline Tensor &operator^=(Tensor &x, const Operand &y) { return x = x ^ y; }

} // namespace weft
