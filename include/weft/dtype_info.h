// What programs ask of a dtype: the limits of its numbers, its kind by name, and what it converts
// to.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include <weft/dtype.h>

namespace weft {

/// The numbers of a floating dtype.
struct FloatInfo {
  DType dtype;
  int bits;               ///< of an element
  double eps;             ///< from 1 to the next larger number
  double max, min;        ///< the largest and the smallest finite number, which is -max
  double smallest_normal; ///< above 0, with all bits of the significand
};

/// The numbers of an integer dtype.
struct IntegerInfo {
  DType dtype;
  int bits; ///< of an element
  std::int64_t min;
  std::uint64_t max;
};

/// The limits of a floating dtype, one that is storage alone among them. Throws DTypeError for
/// another.
FloatInfo finfo(DType dtype);

/// The limits of an integer dtype. Throws DTypeError for another.
IntegerInfo iinfo(DType dtype);

/// Whether a dtype is of a kind by the array API's name of that: "bool", "signed integer",
/// "unsigned integer", "integral", "real floating", "complex floating" or "numeric". Throws
/// ValueError for another name.
bool isdtype(DType dtype, std::string_view kind);

/// The dtype that operands of these dtypes take together. Throws ValueError for none at all, and
/// DTypeError where no dtype holds the numbers of each.
DType result_type(std::span<const DType> dtypes);
inline DType result_type(std::initializer_list<DType> dtypes) {
  return result_type(std::span<const DType>(dtypes.begin(), dtypes.size()));
}

/// Whether promotion takes one dtype to the other.
bool can_cast(DType from, DType to);

} // namespace weft
