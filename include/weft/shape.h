// Shapes: the dimensions of a tensor, some of which may be unknown until run time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/detail/inline_vector.h>
#include <weft/dtype.h>

namespace weft {

/// A dimension whose size is known only when the function runs.
inline constexpr std::int64_t unknown = -1;

/// The most dimensions that a tensor has, eager, traced, in text and in files. Ops and factories
/// throw ShapeError for more.
inline constexpr std::int64_t max_rank = 64;

/// A list of integers (axes, permutations, offsets) that needs no allocation when short.
using Ints = detail::InlineVector<std::int64_t, 6>;

namespace detail {
/// In a list of sizes: the entry is a value, see Sizes.
inline constexpr std::int64_t kDynamic = std::numeric_limits<std::int64_t>::min();

template <class T>
using IfInteger = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>;

/// Throws IndexError: a shape of so many axes was asked for another one.
[[noreturn]] void throw_no_such_axis(std::size_t axis, std::size_t rank);

/// Enabled for lists of integers other than Ints and what derives from it.
template <class Range>
using IfForeignInts = std::enable_if_t<!std::is_base_of_v<Ints, Range>, IfIntegers<Range>>;
} // namespace detail

/// Axes as an option of a function has them: a number, `{.axes = 1}`; several in braces, `{.axes =
/// {0, 2}}`; or none given, which means all of them. `Ints{}` is no axis at all. Negative ones
/// count from the end.
class Axes : public std::optional<Ints> {
public:
  Axes() = default;
  Axes(std::nullopt_t) {}
  template <class Axis, class = detail::IfInteger<Axis>>
  Axes(Axis axis) : Axes(Ints{static_cast<std::int64_t>(axis)}) {}
  Axes(std::initializer_list<std::int64_t> axes) : Axes(Ints(axes)) {}
  template <class Range, class = detail::IfForeignInts<Range>>
  Axes(const Range &axes) : Axes(Ints(axes)) {}
  Axes(Ints axes) : std::optional<Ints>(std::move(axes)) {}
  Axes(std::optional<Ints> axes) : std::optional<Ints>(std::move(axes)) {}
};

namespace detail {
/// Enabled for axes that are given by position, a number or a list.
template <class T>
using IfAxes = std::enable_if_t<std::is_constructible_v<Axes, const T &>>;
} // namespace detail

/// The dimensions of a tensor, outermost first; `{}` is a scalar. A dimension may be `unknown`.
class Shape : public Ints {
public:
  using Ints::Ints;
  Shape() = default;
  Shape(std::span<const std::int64_t> dims) : Ints(dims.begin(), dims.end()) {}

  /// The size of an axis, which counts from the first. Throws IndexError.
  std::int64_t &operator[](std::size_t axis) {
    if (axis >= size()) [[unlikely]]
      detail::throw_no_such_axis(axis, size());
    return Ints::operator[](axis);
  }
  std::int64_t operator[](std::size_t axis) const { return const_cast<Shape &>(*this)[axis]; }
  std::int64_t rank() const { return static_cast<std::int64_t>(size()); }
  /// True if no dimension is unknown.
  bool is_static() const;
};

/// "(2, 3)", "(4,)", "()", with "?" for an unknown dimension, as NumPy prints shapes.
std::string to_string(const Shape &shape);
std::ostream &operator<<(std::ostream &out, const Shape &shape);

/// dtype and shape of a tensor: all that a shape function sees of it.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  friend bool operator==(const TensorType &, const TensorType &) = default;
};

/// "f32(2, 3)".
std::string to_string(const TensorType &type);

/// The type of an argument in a function's signature: `spec(f32, {unknown, 784})`.
inline TensorType spec(DType dtype, Shape shape) { return {dtype, std::move(shape)}; }

/// In place of a shape in a signature: any rank and any sizes.
struct AnyRank {
  struct Tag {};
  explicit constexpr AnyRank(Tag) {} // so that {} and {2} are shapes
};
inline constexpr AnyRank any_rank{AnyRank::Tag()};
inline TensorType spec(DType dtype, AnyRank) { return {dtype, Shape{std::int64_t{-2}}}; }
/// Whether that is the shape of such a spec.
inline bool is_any_rank(const Shape &shape) { return shape.size() == 1 && shape[0] == -2; }

} // namespace weft
