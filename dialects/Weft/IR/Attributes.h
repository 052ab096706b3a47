// Names of attributes that one library writes and another reads.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlir::weft {

/// Of a function's argument: a text for each axis, empty or a name. Sizes of one name are equal.
inline constexpr llvm::StringLiteral kDimNames = "weft.dim_names";

/// Of a function's arguments, and of the values that an op shows to the library; and of the results
/// of a function or host call: the types of their elements, where types below the weft dialect do
/// not say that these are unsigned or floats of 16 or 8 bits (noteElements of Bridge.h).
inline constexpr llvm::StringLiteral kElements = "weft.elements",
                                     kResultElements = "weft.result_elements";

/// On a linalg.contract of integers: they are the bits of bf16, and the product is the library's,
/// which overwrites the output.
inline constexpr llvm::StringLiteral kBf16Product = "weft.bf16_product";

/// On a private function: its calls are computed by the op of the name `op` where the target has a
/// kernel for it, which has the other attributes. The function says what that is.
inline constexpr llvm::StringLiteral kKernel = "weft.one_kernel";

/// On a linalg.generic of two tensors of i16 and one of f32, for targets without the library: a
/// product of matrices of floats of 16 bits, with which no other loop is merged.
inline constexpr llvm::StringLiteral kNarrowProduct = "weft.narrow_product";

/// On a module: products of f32 may be of tf32, where the target's tensor cores have it.
inline constexpr llvm::StringLiteral kTf32 = "weft.tf32";

/// The same as kElements of complex ones, which are tensors of real numbers there, with the parts
/// along a last axis: of the values that an op shows to the library, and of the results of a host
/// call.
inline constexpr llvm::StringLiteral kComplex = "weft.complex",
                                     kComplexResults = "weft.complex_results";

/// On a weft.variable of known sizes: ranks keep it in parts of equally many elements, in row-major
/// order, the last ones longer than what the whole has for them. Integers of 64 bits: `group`, its
/// number in collectives, and `ranks`.
inline constexpr llvm::StringLiteral kCutOverRanks = "weft.cut_over_ranks";

} // namespace mlir::weft
