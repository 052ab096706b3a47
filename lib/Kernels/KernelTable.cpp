// Chooses the table of precompiled kernels for this CPU.
#include "Kernels/KernelTable.h"

extern "C" {
extern const weft::KernelTable weft_kernels_x86_64_v2;
extern const weft::KernelTable weft_kernels_x86_64_v3;
extern const weft::KernelTable weft_kernels_x86_64_v4;
}

namespace weft {

const KernelTable &kernel_table(CpuLevel level) {
  switch (level) {
  case CpuLevel::v4: return weft_kernels_x86_64_v4;
  case CpuLevel::v3: return weft_kernels_x86_64_v3;
  case CpuLevel::v2: break;
  }
  return weft_kernels_x86_64_v2;
}

const KernelTable &kernel_table() {
  static const KernelTable &table = kernel_table(host_cpu_level());
  return table;
}

} // namespace weft

/// `kernel_table()`, for callers that are also linked without it (Runtime/StridedCopy.cpp).
extern "C" const weft::KernelTable *weft_kernel_table() { return &weft::kernel_table(); }
