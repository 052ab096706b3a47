// Element types of tensors: the enumeration, their C++ counterparts and the promotion of two of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <type_traits>

namespace weft {

/// The element type of a tensor. The list itself stands in dtypes.def.
enum class DType : std::uint8_t {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy) enumerator,
#include <weft/dtypes.def>
};

/// What a dtype is a representation of; promotion goes boolean < integer < floating.
enum class DTypeKind : std::uint8_t { boolean, integer, floating };

inline constexpr int kNumDTypes = 0
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy) +1
#include <weft/dtypes.def>
    ;

#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  inline constexpr DType enumerator = DType::enumerator;
#include <weft/dtypes.def>

/// The dtype that holds values of the C++ type `T`: `dtype_of<float> == f32`. Undefined for others.
template <class T>
struct DTypeOf;
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  template <>                                                                                      \
  struct DTypeOf<cpp> {                                                                            \
    static constexpr DType value = DType::enumerator;                                              \
  };
#include <weft/dtypes.def>
/// The other C++ type of 64 bits: `long long` where std::int64_t is `long`.
template <>
struct DTypeOf<std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>> {
  static constexpr DType value = DType::i64;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// A C++ type that is the element type of a dtype.
template <class T>
concept Element = requires { DTypeOf<T>::value; };

/// Bytes that one element takes in memory.
constexpr std::size_t item_size(DType dtype) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  case DType::enumerator: return sizeof(cpp);
#include <weft/dtypes.def>
  }
  return 0;
}

/// The kind of a dtype.
constexpr DTypeKind kind_of(DType dtype) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  case DType::enumerator: return DTypeKind::kind;
#include <weft/dtypes.def>
  }
  return DTypeKind::boolean;
}

constexpr bool is_floating(DType dtype) { return kind_of(dtype) == DTypeKind::floating; }
constexpr bool is_integer(DType dtype) { return kind_of(dtype) == DTypeKind::integer; }

/// The dtype's name as users type it: "bool", "i32", "f32".
constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  case DType::enumerator: return spelling;
#include <weft/dtypes.def>
  }
  return "?";
}

/// Prints the name.
std::ostream &operator<<(std::ostream &out, DType dtype);

/// The dtype with that name, or nothing.
std::optional<DType> parse_dtype(std::string_view name);

/// The common dtype of two operands as the array API standard (2025.12) fixes it: the larger of one
/// kind, and across kinds bool < integer < floating (integer with floating gives the floating one).
constexpr DType promote(DType a, DType b) {
  if (kind_of(a) != kind_of(b)) return kind_of(a) < kind_of(b) ? b : a;
  return static_cast<std::uint8_t>(a) < static_cast<std::uint8_t>(b) ? b : a;
}

/// Calls `visitor.template operator()<T>()` with the C++ type of `dtype`.
template <class Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor &&visitor) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  case DType::enumerator: return visitor.template operator()<cpp>();
#include <weft/dtypes.def>
  }
  __builtin_unreachable();
}

} // namespace weft
