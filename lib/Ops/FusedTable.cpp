// Chooses the table of fused kernels for this CPU.
#include "Ops/FusedTable.h"

extern "C" {
extern const weft::FusedTable weft_fused_x86_64_v3;
extern const weft::FusedTable weft_fused_x86_64_v4;
}

namespace weft {

const FusedTable &fused_table(CpuLevel level) {
  static constexpr FusedTable none{};
  switch (level) {
  case CpuLevel::v4: return weft_fused_x86_64_v4;
  case CpuLevel::v3: return weft_fused_x86_64_v3;
  case CpuLevel::v2: break;
  }
  return none;
}

const FusedTable &fused_table() {
  static const FusedTable &table = fused_table(host_cpu_level());
  return table;
}

} // namespace weft
