// What is looked at in a text before it is parsed: the parser calls itself for each bracket.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::weft {

/// Something in a text that the parser cannot take.
struct TextFault {
  const char *location; ///< in the text
  std::string message;
};

/// Whether that is MLIR's bytecode, by how it begins.
bool isBytecode(llvm::StringRef bytes);

/// Finds brackets that are nested more than weft::kMaxNesting deep, and what upstream's parser
/// crashes on. Nothing in bytecode, which is no text.
std::optional<TextFault> faultIn(llvm::StringRef text);

} // namespace mlir::weft
