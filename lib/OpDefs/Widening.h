// In which dtype ops are computed that have no kernels for the one of their operands.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "OpDefs/OpInfo.h"

namespace weft {

/// How a call is done in another dtype: operands are cast to `dtype`, and a result of their dtype
/// back.
struct Widened {
  DType narrow, dtype;
  /// What is added to operands, and to the result, where the order matters: half of the range.
  std::optional<std::int64_t> shift;
};

/// Nothing for a dtype that has kernels. Floats of 16 bits are rounded when the result is cast
/// back, once for the whole op. Numbers that wrap do so the same with a sign and after more bits.
/// Where the order matters unsigned ones of as many bits are in order when half of their range is
/// taken off, and signed ones of fewer are moved so that the lowest and highest numbers of the
/// larger dtype, which stand for none, are cut to their own. `library` is whether the library does
/// it, which multiplies matrices of bf16 as they are.
constexpr std::optional<Widened> widened(const OpInfo &info, DType dtype, bool library = true) {
  if (info.widening == Widening::none) return std::nullopt;
  const bool is_product = info.widening == Widening::product;
  if (is_product && dtype == DType::bf16 && library) return std::nullopt;
  const DTypeInfo &own = dtype_info(dtype);
  DType wide = own.compute;
  if (own.kind == DTypeKind::floating)
    return wide == dtype ? std::nullopt : std::optional(Widened{dtype, wide, std::nullopt});
  if (info.widening == Widening::floats) return std::nullopt;
  if ((is_product || info.widening == Widening::ring) && is_unsigned(dtype) && own.bits >= 32)
    wide = *find_dtype(DTypeKind::integer, own.bits);
  const bool is_larger = item_size(wide) > item_size(dtype);
  if (wide == dtype || (info.widening == Widening::value && !is_larger)) return std::nullopt;
  Widened result{dtype, wide, std::nullopt};
  if (info.widening != Widening::order) return result;
  if (!is_larger) result.shift = std::numeric_limits<std::int64_t>::min();
  else if (!is_unsigned(dtype)) result.shift = std::int64_t{1} << (own.bits - 1);
  return result;
}

/// The same of a call. Two vectors of bf16 are multiplied in f32, whose sum of one element is
/// several chains: the one that matrices of bf16 have would take longer than the casts.
inline std::optional<Widened> widened(const OpInfo &info, std::span<const TensorType> operands,
                                      bool library = true) {
  const bool of_vectors = info.widening == Widening::product && operands[0].shape.size() == 1 &&
                          operands[1].shape.size() == 1;
  return widened(info, operands[0].dtype, library && !of_vectors);
}

} // namespace weft
