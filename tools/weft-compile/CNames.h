// The names that a header for C and C++ must leave alone.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlir::weft {

/// Whether nothing may be called so, not even a parameter: the words of C and C++, and what their
/// headers may define as macros.
bool isWordOfC(llvm::StringRef name);

/// Whether the headers of the C library, or a compiler by itself, declare a function or type of
/// that name: "free", "expf", "read".
bool isInCLibrary(llvm::StringRef name);

} // namespace mlir::weft
