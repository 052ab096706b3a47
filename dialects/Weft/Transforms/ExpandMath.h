// Declares the patterns of weft-expand-math, for other passes that rewrite math operations.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace mlir::weft {

/// What formulas make of a target.
struct ExpandMathTarget {
  /// Whether a table costs less than operations of the multiplier, as it does on processors.
  bool tables = true;
  /// The bytes of the largest vectors that the target permutes by indices that are known when it
  /// runs: 32 with AVX2, 64 with AVX-512, 0 if it has no such instruction.
  unsigned permuteBytes = 0;
};

/// Adds patterns that replace exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, sin, cos,
/// sincos, powf and rsqrt of the math dialect and weft.special, on scalars and vectors of f16,
/// bf16, f32 and f64, by arith operations and math.fma. The results do not depend on the vector
/// width or on the processor: each is a fixed formula of correctly rounded steps. erf of
/// f32 has one formula with tables and one without.
void populateExpandMathPatterns(RewritePatternSet &patterns, ExpandMathTarget target = {});

/// Adds a pattern that replaces arith.remf by an exact loop, for targets that would lower it to x -
/// trunc(x/y) y.
void populateExpandRemainderPatterns(RewritePatternSet &patterns);

} // namespace mlir::weft
