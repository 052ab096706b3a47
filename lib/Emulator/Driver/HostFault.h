// Words for a host access to device memory, which ends the process.
#pragma once

namespace weft::emulator {

class AddressSpace;

/// From now on, an access of the host to a device address writes a sentence on what lies there to
/// standard error before the process goes down as it would have. Once in a process.
void watch_host_faults(const AddressSpace &space);

} // namespace weft::emulator
