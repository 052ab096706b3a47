// Lists of sizes, which are numbers or what a traced function computes, wherever a shape is wanted.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <weft/shape.h>
#include <weft/tensor.h> // NOLINT(misc-header-include-cycle): which exports this

namespace weft {

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

/// A size of a signature that calls decide, by name: sizes of one name are equal in a call.
struct Dim {
  std::string name;
};
/// `spec(f32, {dim("batch"), 784})`. Throws ValueError unless the name is a word of letters, digits
/// and `_` that begins with no digit.
Dim dim(std::string name);

namespace detail {
/// A name in a list of sizes, the same number for the same name, and back.
std::int64_t named_size(const Dim &dim);
/// Whether that number was given to a name: other negative ones are numbers of users, and wrong.
bool is_named(std::int64_t size);
const std::string &name_of_size(std::int64_t size);

/// A size of a signature.
struct SpecSize {
  template <class Number, class = IfInteger<Number>>
  SpecSize(Number number) : size(static_cast<std::int64_t>(number)) {}
  SpecSize(const Dim &dim) : size(named_size(dim)) {}
  std::int64_t size;
};
} // namespace detail

/// The type of an argument in a function's signature, with a name for what must be equal:
/// `spec(f32, {dim("batch"), 784})`. It prints as "f32(batch, 784)".
inline TensorType spec(DType dtype, std::initializer_list<detail::SpecSize> sizes) {
  Shape shape;
  for (const detail::SpecSize &entry : sizes) shape.push_back(entry.size);
  return {dtype, std::move(shape)};
}

/// 0, 1, ... below a size, none below one that is negative; and the identity matrix of that size.
Tensor arange(const Size &stop, DType dtype = DType::i32, std::source_location where = WEFT_HERE);
Tensor eye(const Size &n, DType dtype = DType::f32, std::source_location where = WEFT_HERE);
/// A matrix with ones on diagonal `k`, which is above the main one if it is positive, and zeros
/// elsewhere.
Tensor eye(const Size &rows, const Size &columns, std::int64_t k = 0, DType dtype = DType::f32,
           std::source_location where = WEFT_HERE);

/// Options of `linspace`.
struct LinspaceOptions {
  /// `stop` is the last number; otherwise it would be the next
  bool endpoint = true;
  DType dtype = DType::f32;
};
/// So many numbers at equal distances from start to stop, of an integer dtype rounded down. Throws
/// ValueError if a bound is not finite or there are to be fewer than none.
Tensor linspace(double start, double stop, const Size &number = 50, LinspaceOptions options = {},
                std::source_location where = WEFT_HERE);

namespace detail {
/// The sizes of a tensor; of a traced one, values where its trace does not know them.
Sizes sizes_of(const Tensor &x);
} // namespace detail

} // namespace weft
