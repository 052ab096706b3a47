// Sizes as values: a number, or what a traced function computes, wherever a shape is wanted.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include <weft/shape.h>
#include <weft/tensor.h>

namespace weft {

/// A size: a number, or an integer scalar of a trace, which is known only when the function runs:
/// `Size n = size_of(x, {.axis = 0}); reshape(y, {n, n * 2, -1})`. Arithmetic is of integers;
/// numbers stay numbers.
class Size {
public:
  template <class Number, class = detail::IfInteger<Number>>
  Size(Number number) : number_(static_cast<std::int64_t>(number)) {}
  /// Throws DTypeError unless it is an integer, ShapeError unless it is a scalar.
  Size(const Tensor &scalar, std::source_location where = WEFT_HERE);

  bool is_number() const { return !value_.defined(); }
  /// The number; detail::kDynamic if it is none.
  std::int64_t number() const { return number_; }
  /// As an i64 scalar.
  Tensor tensor() const;
  /// The traced scalar; undefined of a number.
  const Tensor &value() const { return value_; }

  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b);
  friend Size operator*(const Size &a, const Size &b);
  /// Rounded down, and what is left then.
  friend Size operator/(const Size &a, const Size &b);
  friend Size operator%(const Size &a, const Size &b);
  friend Size max(const Size &a, const Size &b);
  friend Size min(const Size &a, const Size &b);

private:
  std::int64_t number_;
  Tensor value_;
};

/// A list of sizes: `{2, n, -1}`. One of numbers alone is as cheap as Ints.
class Sizes {
public:
  Sizes() = default;
  Sizes(std::initializer_list<Size> sizes) {
    for (const Size &size : sizes) push_back(size);
  }
  Sizes(const Ints &numbers) : numbers_(numbers) {}
  template <class Range, class = detail::IfForeignInts<Range>>
  Sizes(const Range &numbers) : numbers_(numbers) {}
  template <class Number, class = detail::IfInteger<Number>>
  Sizes(Number number) : Sizes({Size(number)}) {}

  void push_back(const Size &size) {
    numbers_.push_back(size.number());
    if (!size.is_number()) values_.push_back(size.value());
  }
  /// Gives entry `i`, which is a number, another value.
  void set(std::size_t i, const Size &size);
  std::size_t size() const { return numbers_.size(); }
  /// Entry `i`.
  Size operator[](std::size_t i) const;
  bool are_numbers() const { return values_.empty(); }
  /// All of them, with detail::kDynamic for each of the values, in their order.
  const Ints &numbers() const { return numbers_; }
  std::span<const Tensor> values() const { return values_; }

private:
  Ints numbers_;
  std::vector<Tensor> values_;
};

/// 0, 1, ... below a size, none below one that is negative; and the identity matrix of that size.
Tensor arange(const Size &stop, DType dtype = DType::i32, std::source_location where = WEFT_HERE);
Tensor eye(const Size &n, DType dtype = DType::f32, std::source_location where = WEFT_HERE);

namespace detail {
/// The sizes of a tensor; of a traced one, values where its trace does not know them.
Sizes sizes_of(const Tensor &x);
} // namespace detail

} // namespace weft
