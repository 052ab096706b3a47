// The table of dtypes (weft/dtypes.def) as texts, for what is generated of it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>

#include <weft/dtype.h>

namespace weft::tblgen {

struct DTypeRow {
  llvm::StringRef enumerator, cpp, name, numpy, kind, compute;
};

inline constexpr DTypeRow kDTypeRows[] = {
#define WEFT_DTYPE(enumerator, cpp, name, numpy, kind, bits, compute, ...)                         \
  {#enumerator, #cpp, name, numpy, #kind, #compute},
#include <weft/dtypes.def>
};

/// The rows by kind and size, as texts list them.
inline llvm::ArrayRef<DTypeRow> dtypeRows() {
  static const auto rows = [] {
    std::array<DTypeRow, kNumDTypes> sorted;
    for (std::size_t i = 0; i < sorted.size(); ++i)
      sorted[i] = kDTypeRows[static_cast<std::size_t>(detail::kDTypesInOrder[i])];
    return sorted;
  }();
  return rows;
}

/// The row of an enumerator of weft::DType; null if it is none.
inline const DTypeRow *findDType(llvm::StringRef enumerator) {
  for (const DTypeRow &row : kDTypeRows)
    if (row.enumerator == enumerator) return &row;
  return nullptr;
}

/// Whether the dtype has whole numbers alone, and no bool.
inline bool isInteger(const DTypeRow &row) {
  return row.kind == "integer" || row.kind == "unsigned_integer";
}

/// Whether it has floating numbers, real or complex: what takes these refuses none that promotion
/// gives.
inline bool isInexact(const DTypeRow &row) {
  return row.kind == "floating" || row.kind == "complex";
}

/// Whether composites have kernels of their own for it; others are computed op by op, or in another
/// dtype. Of integers these are the ones that programs count in; complex numbers are computed by
/// their parts.
inline bool hasFusedKernels(const DTypeRow &row) {
  return row.kind != "complex" && row.compute == row.enumerator;
}

} // namespace weft::tblgen
