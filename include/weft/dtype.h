// Element types of tensors: the enumeration, what the table says of each, their C++ counterparts
// and the common dtype of several.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <weft/float8.h>

namespace weft {

/// The element type of a tensor. The list itself stands in dtypes.def.
enum class DType : std::int32_t {
#define WEFT_DTYPE(enumerator, ...) enumerator,
#include <weft/dtypes.def>
};

/// What a dtype is a representation of; promotion goes boolean < integers < floating <
/// complex. What is storage is floating numbers too, but nothing computes with them: they are
/// moved, and cast to another dtype.
enum class DTypeKind : std::int32_t {
  boolean,
  integer,
  unsigned_integer,
  floating,
  complex,
  storage
};

inline constexpr int kNumDTypes = 0
#define WEFT_DTYPE(...) +1
#include <weft/dtypes.def>
    ;

#define WEFT_DTYPE(enumerator, ...) inline constexpr DType enumerator = DType::enumerator;
#include <weft/dtypes.def>

/// What the table says of a dtype.
struct DTypeInfo {
  std::string_view name;  ///< as users of C++ type it: "bool", "i32", "f32"
  std::string_view numpy; ///< in NumPy and Python: "float32"
  DTypeKind kind;
  int bits;                     ///< of an element in memory
  DType compute;                ///< in which products, windows and sorts of it, or all, are done
  DType sum;                    ///< of its sums
  std::string_view mlir;        ///< the type of an element in the weft dialect
  std::string_view npy;         ///< the descriptor of .npy files
  std::string_view safetensors; ///< the name in safetensors files
  std::uint8_t dlpack;          ///< the code of its kind in DLPack
};

namespace detail {
/// The table, and behind it what is said of a value that is none of the dtypes.
inline constexpr std::array<DTypeInfo, kNumDTypes + 1> kDTypeInfos = {{
#define WEFT_DTYPE(enumerator, cpp, name, numpy, kind, bits, compute, sum, ...)                    \
  {name, numpy, DTypeKind::kind, bits, DType::compute, DType::sum, __VA_ARGS__},
#include <weft/dtypes.def>
    {"?", "?", DTypeKind::boolean, 0, DType::boolean, DType::boolean, "", "", "", 0},
}};

/// The dtypes by kind and size, which is how texts list them; their numbers have no such order.
inline constexpr std::array<DType, kNumDTypes> kDTypesInOrder = [] {
  std::array<DType, kNumDTypes> dtypes = {};
  for (std::size_t i = 0; i < kNumDTypes; ++i) dtypes[i] = static_cast<DType>(i);
  std::ranges::sort(dtypes, {}, [](DType dtype) {
    const DTypeInfo &info = kDTypeInfos[static_cast<std::size_t>(dtype)];
    return 100 * (1000 * static_cast<int>(info.kind) + info.bits) + static_cast<int>(dtype);
  });
  return dtypes;
}();

/// A number of that kind in words, for messages.
constexpr std::string_view number_in_words(DTypeKind kind) {
  return kind == DTypeKind::floating  ? "floating"
         : kind == DTypeKind::complex ? "complex"
                                      : "an integer";
}

/// What the table says of every dtype in one column, as a list: "bool, i32, i64, f32 and f64".
std::string list_of_dtypes(std::string_view DTypeInfo::*column, std::string_view before_last);
} // namespace detail

/// The row of a dtype.
constexpr const DTypeInfo &dtype_info(DType dtype) {
  return detail::kDTypeInfos[std::min<std::size_t>(static_cast<std::size_t>(dtype), kNumDTypes)];
}

/// The first dtype of that kind and so many bits an element, or nothing; of floating ones of 16
/// bits there are two.
constexpr std::optional<DType> find_dtype(DTypeKind kind, int bits) {
  for (std::size_t i = 0; i < kNumDTypes; ++i)
    if (detail::kDTypeInfos[i].kind == kind && detail::kDTypeInfos[i].bits == bits)
      return static_cast<DType>(i);
  return std::nullopt;
}

/// The dtype that holds values of the C++ type `T`: `dtype_of<float> == f32`. Undefined for others.
template <class T>
struct DTypeOf;
#define WEFT_DTYPE(enumerator, cpp, ...)                                                           \
  template <>                                                                                      \
  struct DTypeOf<cpp> {                                                                            \
    static constexpr DType value = DType::enumerator;                                              \
    static_assert(8 * sizeof(cpp) == dtype_info(value).bits);                                      \
  };
#include <weft/dtypes.def>
/// The other C++ types of 64 bits: `long long` where std::int64_t is `long`.
template <>
struct DTypeOf<std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::conditional_t<std::is_same_v<std::uint64_t, unsigned long>, unsigned long long,
                                  unsigned long>> {
  static constexpr DType value = DType::u64;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// A C++ type that is the element type of a dtype.
template <class T>
concept Element = requires { DTypeOf<T>::value; };

/// Whether `T` is std::complex of some type.
template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;

/// Bytes that one element takes in memory.
constexpr std::size_t item_size(DType dtype) {
  return static_cast<std::size_t>(dtype_info(dtype).bits) / 8;
}

/// The kind of a dtype.
constexpr DTypeKind kind_of(DType dtype) { return dtype_info(dtype).kind; }

constexpr bool is_floating(DType dtype) { return kind_of(dtype) == DTypeKind::floating; }
constexpr bool is_complex(DType dtype) { return kind_of(dtype) == DTypeKind::complex; }
/// Whether it is floating or complex: what derivatives are taken by, and quotients are of.
constexpr bool is_inexact(DType dtype) { return is_floating(dtype) || is_complex(dtype); }
/// The dtype of a complex one's components, another one itself.
constexpr DType component_of(DType dtype) {
  return is_complex(dtype) ? *find_dtype(DTypeKind::floating, dtype_info(dtype).bits / 2) : dtype;
}
/// The complex dtype whose components hold the numbers of that dtype, as promotion has it: c64, but
/// c128 of f64.
constexpr DType complex_of(DType dtype) {
  if (is_complex(dtype)) return dtype;
  const int bits = is_floating(dtype) ? dtype_info(dtype).bits : 0;
  return *find_dtype(DTypeKind::complex, std::max(2 * bits, 64));
}
/// Whether its elements are moved and cast alone.
constexpr bool is_storage(DType dtype) { return kind_of(dtype) == DTypeKind::storage; }
/// Whether it has whole numbers alone, with or without a sign; no bool.
constexpr bool is_integer(DType dtype) {
  return kind_of(dtype) == DTypeKind::integer || kind_of(dtype) == DTypeKind::unsigned_integer;
}
constexpr bool is_unsigned(DType dtype) { return kind_of(dtype) == DTypeKind::unsigned_integer; }

/// The dtype's name as users type it: "bool", "i32", "f32".
constexpr std::string_view name_of(DType dtype) { return dtype_info(dtype).name; }

/// Prints the name.
std::ostream &operator<<(std::ostream &out, DType dtype);

/// The dtype with that name, or nothing.
std::optional<DType> parse_dtype(std::string_view name);

/// Dtypes that meet in a call. Their common one follows from their kinds and bits as the array API
/// standard (2025.12) fixes it, and from nothing else, such as their order: a floating one decides
/// before integers meet.
class DTypeJoin {
public:
  constexpr DTypeJoin() = default;
  constexpr DTypeJoin(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) add(dtype);
  }

  constexpr void add(DType dtype) { seen_ |= std::uint32_t{1} << static_cast<unsigned>(dtype); }
  constexpr bool empty() const { return seen_ == 0; }

  /// The least dtype of their highest kind that holds the numbers of each: that of wider floating
  /// ones, f32 of the two of 16 bits, or integers. Nothing if there is none, of signed integers
  /// beside u64 and of what is storage beside another, or if no dtypes met.
  constexpr std::optional<DType> common() const {
    if (std::has_single_bit(seen_)) return static_cast<DType>(std::countr_zero(seen_));
    int bits[6] = {};
    std::optional<DType> floating;
    for (std::uint32_t rest = seen_; rest != 0; rest &= rest - 1) {
      const auto dtype = static_cast<DType>(std::countr_zero(rest));
      const DTypeInfo &info = dtype_info(dtype);
      int &widest = bits[static_cast<std::size_t>(info.kind)];
      // Of two formats of as many bits neither holds the other's numbers.
      if (info.kind == DTypeKind::floating && info.bits >= widest)
        floating = info.bits == widest ? info.compute : dtype;
      widest = std::max(widest, info.bits);
    }
    const int integer = bits[1], natural = bits[2], complex = bits[4]; // in the order of DTypeKind
    if (bits[5] != 0) return std::nullopt;
    if (complex != 0)
      return find_dtype(DTypeKind::complex, std::max(complex, 2 * (floating ? bits[3] : 0)));
    if (floating) return floating;
    if (integer == 0) return find_dtype(DTypeKind::unsigned_integer, natural);
    return find_dtype(DTypeKind::integer, std::max(integer, 2 * natural));
  }

  /// The same. Throws DTypeError, in the name of `function`, where dtypes have none in common.
  DType common_or_throw(std::string_view function) const;

private:
  std::uint32_t seen_ = 0;
};

/// The common dtype of two operands: the wider of one kind, and across kinds bool < integer <
/// floating < complex (integer with floating gives the floating one, f64 with c64 c128). Throws
/// DTypeError for u64 beside a signed integer, as no integer dtype holds the numbers of both, and
/// for what is storage beside another dtype.
constexpr DType promote(DType a, DType b) {
  const DTypeJoin join{a, b};
  const std::optional<DType> common = join.common();
  return common ? *common : join.common_or_throw("promote");
}

/// Calls `visitor.template operator()<T>()` with the C++ type of `dtype`.
template <class Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor &&visitor) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, cpp, ...)                                                           \
  case DType::enumerator: return visitor.template operator()<cpp>();
#include <weft/dtypes.def>
  }
  __builtin_unreachable();
}

} // namespace weft
