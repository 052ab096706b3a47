// What the entry of a compiled function is called in its object.
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::weft {

/// The name of the entry of a function of any name: NAME_weft_entry, or the bytes of the name in
/// hexadecimal where LLVM or an assembler would read something into it. ('\1' in front takes a name
/// as it is, ".L" is a label that no object keeps, and '\0' ends a name.)
inline std::string entryName(StringRef name) {
  constexpr StringLiteral hex = "weft_hex_";
  const bool isPlain = !name.starts_with("\1") && !name.starts_with(".L") &&
                       !name.starts_with(hex) && !name.contains('\0');
  return (isPlain ? name.str() : hex.str() + llvm::toHex(name, true)) + "_weft_entry";
}

} // namespace mlir::weft
