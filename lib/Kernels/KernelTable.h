// The table of precompiled kernels: what weft-kernelgen exports per CPU level and eager execution
// calls.
#pragma once

#include <cstdint>

#include "Support/Cpu.h"
#include <weft/detail/opcode.h>
#include <weft/dtype.h>

namespace weft {

/// Every kernel has this signature. `buffers` are the operands' elements, then the result's, all
/// row-major, aligned to their element, contiguous where no pitch is told, without overlap (or, for
/// elementwise kernels, result == an operand that is not broadcast). Kernels may be called on any
/// sub-range from any thread, never allocate and never throw. Counts may be 0.
using Kernel = void (*)(void *const *buffers, const std::int64_t *dims);

inline constexpr int kNumOps = 0
#define WEFT_OP(enumerator) +1
#include <weft/detail/opcodes.inc>
#undef WEFT_OP
    ;

/// Elementwise kernels come in variants: bit i set means that operand i is one element, repeated.
inline constexpr int kNumVariants = 8;

/// The way that a kernel of a cumulative op goes, as its record's attributes say.
enum CumulativeFlags : std::int64_t { kReverse = 1, kExclusive = 2, kShifted = 4 };

/// All kernels of one CPU level; null where the op's record does not admit the dtype.
struct KernelTable {
  /// [op][dtype of the last operand][variant]; dims = {elements}. Unary ops have variant 0, binary
  /// ones 0 to 2, select 0 to 6: never are all operands single. An op's kernels of one dtype are
  /// all present or all null. cast has none here.
  Kernel elementwise[kNumOps][kNumDTypes][kNumVariants];
  /// [from][to]; dims = {elements}.
  Kernel cast[kNumDTypes][kNumDTypes];
  /// [op][dtype]; dims = {outer, reduced, pitch}: rows of `reduced` neighbours, `pitch` elements
  /// from one to the next, to one element each. Of no elements it gives the op's neutral element.
  /// `mean` has none: it is a sum, divided.
  Kernel reduce_rows[kNumOps][kNumDTypes];
  /// The same with dims = {outer, reduced, inner, outer pitch, pitch}: from (outer, reduced,
  /// inner), whose inner elements are neighbours, to a dense (outer, inner).
  Kernel reduce_columns[kNumOps][kNumDTypes];
  /// [op][dtype]; dims = {outer, size, inner}, of all operands and the result. Before the result
  /// comes a buffer of two i64: a sum of CumulativeFlags, and how many columns there are to do,
  /// which is inner, or less where outer is 1.
  Kernel cumulative[kNumOps][kNumDTypes];
  /// [dtype]; dims as of reduce_columns, with reduced > 0; the result is i64 (outer, inner): the
  /// first index of the largest element, NaN counting as largest. After the result comes a buffer
  /// that is left with those elements, (outer, inner).
  Kernel argmax[kNumDTypes];
  /// [log2 of the bytes of an element]; dims = {columns, source pitch, rows, target pitch}: row i,
  /// column j of the target is row j, column i of the source. A pitch is the distance of rows in
  /// elements, at least what a row has: rows on the source's side, columns on the target's.
  Kernel transpose[4];
};

/// The kernels for this CPU, chosen once.
const KernelTable &kernel_table();

/// The kernels of a level, which may be called where the CPU has it. Elementwise ones give the same
/// bits on every level, and so do reductions.
const KernelTable &kernel_table(CpuLevel level);

} // namespace weft
