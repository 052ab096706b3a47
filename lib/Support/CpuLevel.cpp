// Finds the x86-64 level of the host.

#include "Support/CpuLevel.h"

namespace weft {
namespace {

CpuLevel find_level() noexcept {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return CpuLevel::v4;
  if (__builtin_cpu_supports("x86-64-v3")) return CpuLevel::v3;
  return CpuLevel::v2;
}

} // namespace

CpuLevel host_cpu_level() noexcept {
  static const CpuLevel level = find_level();
  return level;
}

} // namespace weft
