// Copies and fills of memory.
#pragma once

#include "Emulator/Driver/Graph.h"

namespace weft::emulator {

/// What is wrong with the ranges of a copy or a fill as memory is now, or nothing.
std::string check_copy(const Driver &driver, const CopyCall &call);
std::string check_fill(const Driver &driver, const FillCall &call);

/// Copies or fills now. Throws Fault where memory is gone, or nobody wrote what the host is to get.
Footprint run_copy(Driver &driver, const CopyCall &call);
Footprint run_fill(Driver &driver, const FillCall &call);

} // namespace weft::emulator
