// From the arguments of a launch to a call of a kernel.
#pragma once

#include "Emulator/Driver/Driver.h"

namespace weft::emulator {

/// Checks a launch and takes its arguments. What is wrong is reported, and the result says what
/// sort of thing it is.
cuda::CUresult make_kernel_call(Driver &driver, Device &device, const Function &function,
                                const Shape &shape, void **parameters, void **extra,
                                KernelCall &call);

} // namespace weft::emulator
