// What programs ask of a dtype.
#include <weft/dtype_info.h>

#include <limits>
#include <string>

#include <weft/error.h>

namespace weft {

FloatInfo finfo(DType dtype) {
  return visit_dtype(dtype, [&]<class T>() -> FloatInfo {
    if constexpr (kind_of(dtype_of<T>) == DTypeKind::floating) {
      using Limits = std::numeric_limits<T>;
      const auto max = static_cast<double>(Limits::max());
      return {.dtype = dtype,
              .bits = static_cast<int>(8 * sizeof(T)),
              .eps = static_cast<double>(Limits::epsilon()),
              .max = max,
              .min = -max,
              .smallest_normal = static_cast<double>(Limits::min())};
    } else {
      throw DTypeError("finfo: " + std::string(name_of(dtype)) +
                       " is no floating dtype: iinfo tells the limits of integers");
    }
  });
}

IntegerInfo iinfo(DType dtype) {
  return visit_dtype(dtype, [&]<class T>() -> IntegerInfo {
    if constexpr (kind_of(dtype_of<T>) == DTypeKind::integer) {
      using Limits = std::numeric_limits<T>;
      return {.dtype = dtype,
              .bits = static_cast<int>(8 * sizeof(T)),
              .min = static_cast<std::int64_t>(Limits::min()),
              .max = static_cast<std::uint64_t>(Limits::max())};
    } else {
      throw DTypeError("iinfo: " + std::string(name_of(dtype)) +
                       " is no integer dtype: finfo tells the limits of floating ones");
    }
  });
}

bool isdtype(DType dtype, std::string_view kind) {
  const bool is_unsigned = visit_dtype(dtype, []<class T>() { return std::is_unsigned_v<T>; });
  if (kind == "bool") return dtype == DType::boolean;
  if (kind == "signed integer") return is_integer(dtype) && !is_unsigned;
  if (kind == "unsigned integer") return is_integer(dtype) && is_unsigned;
  if (kind == "integral") return is_integer(dtype);
  if (kind == "real floating") return is_floating(dtype);
  if (kind == "complex floating") return false;
  if (kind == "numeric") return dtype != DType::boolean;
  throw ValueError("isdtype: '" + std::string(kind) +
                   "' is no kind: they are 'bool', 'signed integer', 'unsigned integer', "
                   "'integral', 'real floating', 'complex floating' and 'numeric'");
}

DType result_type(std::span<const DType> dtypes) {
  if (dtypes.empty()) throw ValueError("result_type: there is no dtype: at least one is wanted");
  DType result = dtypes[0];
  for (const DType dtype : dtypes.subspan(1)) result = promote(result, dtype);
  return result;
}

bool can_cast(DType from, DType to) { return promote(from, to) == to; }

} // namespace weft
