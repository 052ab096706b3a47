// Rows of bytes between host and devices, with what is known of each byte.
#include "Emulator/Driver/Transfers.h"

#include <cstring>

#include "Emulator/Driver/Driver.h"

namespace weft::emulator {
namespace {

std::string wrong_range(const Driver &driver, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const Allocation *found = driver.space.find(address);
  if (found != nullptr && found->region.contains(address, bytes)) return {};
  return std::to_string(bytes) + " bytes are " + driver.space.describe(address, bytes);
}

std::uint64_t row_address(const CopyCall::Side &side, std::uint64_t y, std::uint64_t z) {
  return side.address + y * side.row + z * side.layer;
}

/// Calls `take(from, to)` for the addresses of each row.
template <class Take>
void for_rows(const CopyCall &call, const Take &take) {
  if (call.width == 0) return;
  for (std::uint64_t z = 0; z < call.depth; ++z)
    for (std::uint64_t y = 0; y < call.height; ++y)
      take(row_address(call.from, y, z), row_address(call.to, y, z));
}

Region &region_of(const Driver &driver, std::uint64_t address, std::uint64_t bytes) {
  const std::string wrong = wrong_range(driver, address, bytes);
  if (!wrong.empty()) throw Fault{FaultKind::illegal_address, "a copy or fill: " + wrong};
  return driver.space.find(address)->region;
}

} // namespace

std::string check_copy(const Driver &driver, const CopyCall &call) {
  std::string wrong;
  for_rows(call, [&](std::uint64_t from, std::uint64_t to) {
    if (!wrong.empty()) return;
    if (!call.from.host) wrong = wrong_range(driver, from, call.width);
    if (wrong.empty() && !call.to.host) wrong = wrong_range(driver, to, call.width);
    if ((call.from.host && driver.space.is_reserved(from)) ||
        (call.to.host && driver.space.is_reserved(to)))
      wrong = "the host's side is an address of a device";
  });
  return wrong;
}

std::string check_fill(const Driver &driver, const FillCall &call) {
  if (call.element != 1 && call.element != 2 && call.element != 4)
    return "elements have 1, 2 or 4 bytes";
  if (call.address % call.element != 0) return "the address is no multiple of the element's size";
  std::string wrong;
  for (std::uint64_t y = 0; y < call.height && wrong.empty(); ++y)
    wrong = wrong_range(driver, call.address + y * call.pitch, call.width * call.element);
  return wrong;
}

Footprint run_copy(Driver &driver, const CopyCall &call) {
  Footprint footprint;
  for_rows(call, [&](std::uint64_t from, std::uint64_t to) {
    const std::byte *source = reinterpret_cast<const std::byte *>(from);
    std::byte *target = reinterpret_cast<std::byte *>(to);
    const Region *from_region = nullptr, *to_region = nullptr;
    if (!call.from.host) {
      from_region = &region_of(driver, from, call.width);
      source = from_region->bytes + (from - from_region->address);
      footprint.reads.add(from, call.width);
    }
    if (!call.to.host) {
      to_region = &region_of(driver, to, call.width);
      target = to_region->bytes + (to - to_region->address);
      footprint.writes.add(to, call.width);
    }
    if (from_region != nullptr && to_region == nullptr &&
        driver.options.schedule.check_uninitialised &&
        !from_region->shadow.is_written(from - from_region->address, call.width))
      throw Fault{FaultKind::uninitialised, "a copy of " + std::to_string(call.width) +
                                                " bytes to the host takes some that nobody wrote"};
    std::memmove(target, source, call.width);
    if (to_region == nullptr) return;
    if (from_region == nullptr) to_region->shadow.mark_written(to - to_region->address, call.width);
    else
      to_region->shadow.copy_written(to - to_region->address, from_region->shadow,
                                     from - from_region->address, call.width);
  });
  return footprint;
}

Footprint run_fill(Driver &driver, const FillCall &call) {
  Footprint footprint;
  for (std::uint64_t y = 0; y < call.height; ++y) {
    const std::uint64_t address = call.address + y * call.pitch, bytes = call.width * call.element;
    if (bytes == 0) continue;
    const Region &region = region_of(driver, address, bytes);
    std::byte *target = region.bytes + (address - region.address);
    for (std::uint64_t i = 0; i < call.width; ++i)
      std::memcpy(target + i * call.element, &call.value, call.element);
    region.shadow.mark_written(address - region.address, bytes);
    footprint.writes.add(address, bytes);
  }
  return footprint;
}

} // namespace weft::emulator
