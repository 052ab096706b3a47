// The functions of an emulated driver that a real one does not have.
#include "Emulator/Driver/Control.h"

#include <cstring>

#include "Emulator/Driver/Driver.h"

using namespace weft::emulator;

#define WEFT_EXPORT __attribute__((visibility("default")))

WEFT_EXPORT bool weft_emulator_counters(const char *kernel, weft_emulator_counters_t *counters) {
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  Counters sum;
  bool found = kernel == nullptr;
  for (const auto &[name, counted] : driver.counters_by_kernel)
    if (kernel == nullptr || name == kernel) {
      sum += counted;
      found = true;
    }
  *counters = {sum.launches,
               sum.blocks,
               sum.warp_instructions,
               sum.lane_instructions,
               sum.global_requests,
               sum.global_sectors,
               sum.global_bytes_loaded,
               sum.global_bytes_stored,
               sum.shared_requests,
               sum.shared_bank_conflicts,
               sum.atomics,
               sum.barriers};
  return found;
}

WEFT_EXPORT void weft_emulator_reset_counters(void) {
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  driver.counters_by_kernel.clear();
}

WEFT_EXPORT bool weft_emulator_take_report(char *text, std::uint64_t size) {
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  if (driver.reports.empty() || size == 0) return false;
  const std::string &report = driver.reports.front();
  const std::size_t length = std::min<std::size_t>(report.size(), size - 1);
  std::memcpy(text, report.data(), length);
  text[length] = 0;
  driver.reports.erase(driver.reports.begin());
  return true;
}

WEFT_EXPORT void weft_emulator_schedule(std::uint64_t seed, bool stress) {
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  for (const auto &device : driver.devices) driver.scheduler.synchronize(*device);
  driver.options.schedule.seed = seed;
  driver.options.schedule.stress = stress;
  driver.scheduler.configure(
      stress, seed, [&](Device &device, const Fault &fault) { driver.fail(device, fault); });
}

WEFT_EXPORT void weft_emulator_memory(int device, std::uint64_t *bytes,
                                      std::uint64_t *allocations) {
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  *bytes = *allocations = 0;
  for (const auto &[address, allocation] : driver.space.live())
    if (allocation->device == device) {
      *bytes += allocation->region.size;
      ++*allocations;
    }
}
