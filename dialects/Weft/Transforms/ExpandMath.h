// Declares the patterns of weft-expand-math, for other passes that rewrite math operations.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace mlir::weft {

/// Adds patterns that replace exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, sin, cos,
/// sincos, powf and rsqrt of the math dialect and weft.special, on scalars and vectors of f16,
/// bf16, f32 and f64, by arith operations and math.fma. The results do not depend on the vector
/// width or on the processor: each is a fixed formula of correctly rounded steps. With
/// `permuteBytes`, the bytes of the vectors that the target permutes by indices (32 with AVX2, 64
/// with AVX-512), erf of f32 has another formula, which is the same for all of these.
void populateExpandMathPatterns(RewritePatternSet &patterns, unsigned permuteBytes = 0);

/// Adds a pattern that replaces arith.remf by an exact loop, for targets that would lower it to x -
/// trunc(x/y) y.
void populateExpandRemainderPatterns(RewritePatternSet &patterns);

} // namespace mlir::weft
