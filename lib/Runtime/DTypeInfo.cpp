// What programs ask of a dtype.
#include <weft/dtype_info.h>

#include <limits>
#include <string>

#include <weft/error.h>

namespace weft {

FloatInfo finfo(DType dtype) {
  // Of a complex one those of its components.
  return visit_dtype(component_of(dtype), [&]<class T>() -> FloatInfo {
    if constexpr (is_floating(dtype_of<T>) || is_storage(dtype_of<T>)) {
      using Limits = std::numeric_limits<T>;
      const auto max = static_cast<double>(Limits::max());
      return {.dtype = dtype_of<T>,
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
    if constexpr (is_integer(dtype_of<T>)) {
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
  if (kind == "bool") return dtype == DType::boolean;
  if (kind == "signed integer") return is_integer(dtype) && !is_unsigned(dtype);
  if (kind == "unsigned integer") return is_unsigned(dtype);
  if (kind == "integral") return is_integer(dtype);
  if (kind == "real floating") return is_floating(dtype);
  if (kind == "complex floating") return is_complex(dtype);
  if (kind == "numeric") return dtype != DType::boolean && !is_storage(dtype);
  throw ValueError("isdtype: '" + std::string(kind) +
                   "' is no kind: they are 'bool', 'signed integer', 'unsigned integer', "
                   "'integral', 'real floating', 'complex floating' and 'numeric'");
}

DType result_type(std::span<const DType> dtypes) {
  if (dtypes.empty()) throw ValueError("result_type: there is no dtype: at least one is wanted");
  DTypeJoin join;
  for (const DType dtype : dtypes) join.add(dtype);
  return join.common_or_throw("result_type");
}

bool can_cast(DType from, DType to) { return DTypeJoin{from, to}.common() == to; }

} // namespace weft
