// The table of fused kernels: functions made of ops that weft-kernelgen compiles as one loop each,
// from what weft-kerneltrace traces of them.
#pragma once

#include <cstdint>

#include "Kernels/KernelTable.h"

namespace weft {

/// The functions that have one kernel.
enum class Fused : std::uint16_t {
#define WEFT_FUSED(name, ...) name,
#include "Ops/Fused.def"
};

inline constexpr int kNumFused = 0
#define WEFT_FUSED(...) +1
#include "Ops/Fused.def"
    ;

/// The functions of rows that have one kernel.
enum class FusedRows : std::uint16_t {
#define WEFT_FUSED_ROWS(name, ...) name,
#include "Ops/FusedRows.def"
};

inline constexpr int kNumFusedRows = 0
#define WEFT_FUSED_ROWS(...) +1
#include "Ops/FusedRows.def"
    ;

/// What is known of a fused kernel: 0 where there is none.
class FusedFacts {
public:
  constexpr FusedFacts() = default;
  constexpr FusedFacts(DType result, int cost)
      : word_(static_cast<std::intptr_t>(cost) << 8 | (static_cast<int>(result) + 1)) {}

  constexpr bool exist() const { return word_ != 0; }
  constexpr DType result() const { return static_cast<DType>((word_ & 0xff) - 1); }
  /// That of its ops together, as OpInfo::cost.
  constexpr int cost() const { return static_cast<int>(word_ >> 8); }
  constexpr std::intptr_t word() const { return word_; }

private:
  std::intptr_t word_ = 0;
};
static_assert(sizeof(FusedFacts) == sizeof(Kernel), "the table is one array of words");

/// From this cost on a kernel has variant 0 only: to repeat operands costs little beside it.
inline constexpr int kCostOfOneVariant = 40;

/// The fused kernels of one CPU level.
struct FusedTable {
  /// [function][dtype of all operands][variant], as KernelTable::elementwise. Null where the
  /// function does not take the dtype or is one op of it.
  Kernel elementwise[kNumFused][kNumDTypes][kNumVariants];
  FusedFacts facts[kNumFused][kNumDTypes];
  /// [function][dtype]; dims = {rows, elements of a row}. Operands and results are dense; behind
  /// them come kMostTemporaries buffers of as many elements, of which the kernel uses what it
  /// needs.
  Kernel rows[kNumFusedRows][kNumDTypes];
  FusedFacts row_facts[kNumFusedRows][kNumDTypes];
};

inline constexpr int kMostTemporaries = 20;

/// The fused kernels for this CPU, chosen once; none on one below x86-64-v3, where functions run op
/// by op.
const FusedTable &fused_table();
/// Those of a level, which may be called where the CPU has it.
const FusedTable &fused_table(CpuLevel level);

} // namespace weft
