// The table of dtypes (weft/dtypes.def) as texts, for what is generated of it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace weft::tblgen {

struct DTypeRow {
  llvm::StringRef enumerator, cpp, name, numpy, kind;
};

inline constexpr DTypeRow kDTypeRows[] = {
#define WEFT_DTYPE(enumerator, cpp, name, numpy, kind, ...) {#enumerator, #cpp, name, numpy, #kind},
#include <weft/dtypes.def>
};

inline llvm::ArrayRef<DTypeRow> dtypeRows() { return kDTypeRows; }

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

} // namespace weft::tblgen
