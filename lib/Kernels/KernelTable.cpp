// Chooses the table of precompiled kernels for this CPU.
#include "Kernels/KernelTable.h"
#include "Kernels/ReferenceKernels.h"

namespace weft {

const KernelTable &kernel_table() { return reference_kernels(); }

} // namespace weft
