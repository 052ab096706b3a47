// Reads CPUID, and what the operating system saves of the registers.
#include "Support/Cpu.h"

#include <algorithm>
#include <cstdint>

#include <cpuid.h>

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

bool host_multiplies_bf16_pairs() noexcept {
  static const bool has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") != 0;
  }();
  return has;
}

namespace {

enum Register : std::uint8_t { eax, ebx, ecx, edx };
/// The registers that the operating system must save for an instruction set to be of use.
enum State : std::uint8_t { none, vectors, masks, tiles, general };

struct Feature {
  const char *name;
  std::uint32_t leaf, subleaf;
  Register where;
  std::uint8_t bit;
  State state = none;
};

/// Every instruction set that LLVM may select by itself for this CPU.
constexpr Feature kFeatures[] = {
    {"sse3", 1, 0, ecx, 0},
    {"pclmul", 1, 0, ecx, 1},
    {"ssse3", 1, 0, ecx, 9},
    {"cx16", 1, 0, ecx, 13},
    {"sse4.1", 1, 0, ecx, 19},
    {"sse4.2", 1, 0, ecx, 20},
    {"movbe", 1, 0, ecx, 22},
    {"popcnt", 1, 0, ecx, 23},
    {"aes", 1, 0, ecx, 25},
    {"avx", 1, 0, ecx, 28, vectors},
    {"fma", 1, 0, ecx, 12, vectors},
    {"f16c", 1, 0, ecx, 29, vectors},
    {"bmi", 7, 0, ebx, 3},
    {"avx2", 7, 0, ebx, 5, vectors},
    {"bmi2", 7, 0, ebx, 8},
    {"adx", 7, 0, ebx, 19},
    {"sha", 7, 0, ebx, 29},
    {"vaes", 7, 0, ecx, 9, vectors},
    {"vpclmulqdq", 7, 0, ecx, 10, vectors},
    {"gfni", 7, 0, ecx, 8},
    {"movdiri", 7, 0, ecx, 27},
    {"avx512f", 7, 0, ebx, 16, masks},
    {"avx512dq", 7, 0, ebx, 17, masks},
    {"avx512ifma", 7, 0, ebx, 21, masks},
    {"avx512cd", 7, 0, ebx, 28, masks},
    {"avx512bw", 7, 0, ebx, 30, masks},
    {"avx512vl", 7, 0, ebx, 31, masks},
    {"avx512vbmi", 7, 0, ecx, 1, masks},
    {"avx512vbmi2", 7, 0, ecx, 6, masks},
    {"avx512vnni", 7, 0, ecx, 11, masks},
    {"avx512bitalg", 7, 0, ecx, 12, masks},
    {"avx512vpopcntdq", 7, 0, ecx, 14, masks},
    {"avx512vp2intersect", 7, 0, edx, 8, masks},
    {"avx512fp16", 7, 0, edx, 23, masks},
    {"amx-bf16", 7, 0, edx, 22, tiles},
    {"amx-tile", 7, 0, edx, 24, tiles},
    {"amx-int8", 7, 0, edx, 25, tiles},
    {"avxvnni", 7, 1, eax, 4, vectors},
    {"avx512bf16", 7, 1, eax, 5, masks},
    {"avxifma", 7, 1, eax, 23, vectors},
    {"avxvnniint8", 7, 1, edx, 4, vectors},
    {"avxneconvert", 7, 1, edx, 5, vectors},
    {"avxvnniint16", 7, 1, edx, 10, vectors},
    {"avx10.1", 7, 1, edx, 19, masks},
    {"apxf", 7, 1, edx, 21, general},
    {"sahf", 0x80000001, 0, ecx, 0},
    {"lzcnt", 0x80000001, 0, ecx, 5},
    {"sse4a", 0x80000001, 0, ecx, 6},
    {"prfchw", 0x80000001, 0, ecx, 8},
    {"xop", 0x80000001, 0, ecx, 11, vectors},
    {"fma4", 0x80000001, 0, ecx, 16, vectors},
    {"tbm", 0x80000001, 0, ecx, 21},
};

std::uint32_t read(const Feature &feature) {
  std::uint32_t found[4] = {};
  if (__get_cpuid_count(feature.leaf, feature.subleaf, &found[eax], &found[ebx], &found[ecx],
                        &found[edx]) == 0)
    return 0;
  return found[feature.where];
}

/// Which registers the operating system saves, as XCR0 says.
std::uint64_t saved_registers() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 27 & 1) == 0) return 0;
  std::uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

std::vector<std::string> find() {
  constexpr std::uint64_t wanted[] = {0, 0x6, 0xe6, 0x60000, 0x80000};
  const std::uint64_t saved = saved_registers();
  std::vector<std::string> names;
  for (const Feature &feature : kFeatures)
    if ((read(feature) >> feature.bit & 1) != 0 &&
        (saved & wanted[feature.state]) == wanted[feature.state])
      names.emplace_back(feature.name);
  return names;
}

} // namespace

const std::vector<std::string> &host_cpu_features() {
  static const auto &names = *new std::vector<std::string>(find()); // as long as the process
  return names;
}

const std::string &host_cpu_features_text() {
  static const auto &text = *new std::string([] {
    std::string joined;
    for (const std::string &name : host_cpu_features())
      joined += (joined.empty() ? "" : ",") + name;
    return joined;
  }());
  return text;
}

std::string missing_cpu_feature(std::string_view features) {
  const std::vector<std::string> &has = host_cpu_features();
  while (!features.empty()) {
    const std::string_view name = features.substr(0, features.find(','));
    features.remove_prefix(std::min(features.size(), name.size() + 1));
    if (!name.empty() && std::find(has.begin(), has.end(), name) == has.end())
      return std::string(name);
  }
  return {};
}

} // namespace weft
