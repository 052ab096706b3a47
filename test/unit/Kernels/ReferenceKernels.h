// Every kernel of the table as a plain scalar loop: the oracle that generated kernels are compared
// with.
#pragma once

#include "Kernels/KernelTable.h"

namespace weft {

/// Kernels in straightforward C++. Reductions add in order of the reduced axis.
const KernelTable &reference_kernels();

} // namespace weft
