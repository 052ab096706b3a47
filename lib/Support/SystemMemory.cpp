// Asks Linux what memory there is, and for pages of it.
#include "Support/SystemMemory.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace weft::system_memory {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Below this a look at /proc/meminfo would cost more than touching the memory.
constexpr std::size_t kAskKernelFrom = std::size_t{64} << 20;

/// The first `size - 1` bytes of a small file, or an empty string.
std::string read_small_file(const char *path) {
  char text[4096];
  std::FILE *file = std::fopen(path, "re");
  if (file == nullptr) return {};
  const std::size_t length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return {text, length};
}

/// The limit of the control group (version 2, then 1), or no limit.
std::size_t control_group_limit() {
  for (const char *path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::string text = read_small_file(path);
    char *end = nullptr;
    const unsigned long long limit = std::strtoull(text.c_str(), &end, 10);
    if (end != text.c_str() && limit != 0) return limit; // "max" does not parse: no limit
  }
  return std::numeric_limits<std::size_t>::max();
}

/// Bytes on a line "NAME:  123 kB" of /proc/meminfo.
std::optional<std::size_t> meminfo_line(const std::string &meminfo, const char *name) {
  const std::size_t at = meminfo.find(name);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(meminfo.c_str() + at + std::strlen(name), nullptr, 10) * 1024;
}

std::optional<std::size_t> available_now() {
  const std::string meminfo = read_small_file("/proc/meminfo");
  const std::optional<std::size_t> memory = meminfo_line(meminfo, "MemAvailable:");
  if (!memory) return std::nullopt;
  return *memory + meminfo_line(meminfo, "SwapFree:").value_or(0);
}

/// Bytes of address space left below RLIMIT_AS, or nothing if there is no limit.
std::optional<std::size_t> address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::size_t used =
      std::strtoull(read_small_file("/proc/self/statm").c_str(), nullptr, 10) * kPage;
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

} // namespace

std::size_t total() {
  static const std::size_t bytes = [] {
    struct sysinfo info{};
    if (sysinfo(&info) != 0) return std::numeric_limits<std::size_t>::max();
    return std::min((std::size_t{info.totalram} + info.totalswap) * info.mem_unit,
                    control_group_limit());
  }();
  return bytes;
}

std::optional<std::string> shortage(std::size_t bytes, std::size_t in_use) {
  std::size_t wanted = 0;
  if (__builtin_add_overflow(bytes, in_use, &wanted) || wanted > total())
    return "the machine has " + human(total());
  if (const std::optional<std::size_t> left = address_space_left(); left && bytes > *left)
    return "the limit on address space leaves " + human(*left);
  if (bytes < kAskKernelFrom) return std::nullopt;
  if (const std::optional<std::size_t> left = available_now(); left && bytes > *left)
    return "the machine has " + human(*left) + " available";
  return std::nullopt;
}

std::size_t rounded(std::size_t bytes) noexcept { return (bytes + kPage - 1) / kPage * kPage; }

void *map(std::size_t bytes) noexcept {
  bytes = rounded(bytes);
  const bool huge = bytes >= kHugePage;
  const std::size_t mapped = huge ? bytes + kHugePage : bytes;
  void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (!huge) return memory;
  // Starts on a huge page; what lies before and behind goes back.
  char *first = static_cast<char *>(memory);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(first) % kHugePage;
  if (before != 0) munmap(first, before);
  if (before != kHugePage) munmap(first + before + bytes, kHugePage - before);
  madvise(first + before, bytes, MADV_HUGEPAGE); // a hint: it may fail
  return first + before;
}

void unmap(void *memory, std::size_t bytes) noexcept { munmap(memory, rounded(bytes)); }

std::string human(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes);
  const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit < 5; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

} // namespace weft::system_memory
