// The memory that kernels of a device can reach, by its addresses.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "Emulator/Memory/Region.h"

namespace weft::emulator {

enum class Backing : std::uint8_t {
  device, ///< of a device: its addresses mean nothing to the host
  pinned, ///< of the host, which devices reach by the same address
};

struct Allocation {
  Region region;
  Backing backing = Backing::device;
  int device = 0;
  const void *pool = nullptr; ///< what the driver counts it under
  std::uint64_t mapped = 0;   ///< bytes at region.bytes that are to be unmapped
};

/// Device addresses of one process, and what lies at them. One for all devices, so that an address
/// says whose it is. Callers take turns: the driver's lock is held while anything here runs.
class AddressSpace {
public:
  /// Reserves addresses that fault when the host touches them.
  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace &) = delete;
  AddressSpace &operator=(const AddressSpace &) = delete;

  /// Memory of a device, filled with a pattern that no program wants. Null where the host has no
  /// more.
  Allocation *allocate(std::uint64_t size, int device, const void *pool);
  /// Memory of the host that devices reach too.
  Allocation *allocate_pinned(std::uint64_t size);
  void free(Allocation &allocation);

  /// The allocation that the address lies in; null if none does.
  Allocation *find(std::uint64_t address) const;
  /// That which begins there.
  Allocation *find_begin(std::uint64_t address) const;
  /// Words on an address that lies outside of all allocations, or that `bytes` from it on leave:
  /// "4 bytes behind the 400 at 0x7f2000000000".
  std::string describe(std::uint64_t address, std::uint64_t bytes) const;
  /// Whether a host access to this address is one to device memory.
  bool is_reserved(std::uint64_t address) const { return address - begin_ < end_ - begin_; }

  const std::map<std::uint64_t, std::unique_ptr<Allocation>> &live() const { return live_; }
  /// Rises whenever an allocation goes, so that whoever remembers one forgets it.
  std::uint64_t version() const { return version_; }

private:
  std::uint64_t begin_ = 0, end_ = 0, next_ = 0;
  std::uint64_t version_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Allocation>> live_;
  std::map<std::uint64_t, std::uint64_t> freed_; ///< sizes by address, for words on faults
};

} // namespace weft::emulator
