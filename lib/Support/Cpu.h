// What the host processor has: its x86-64 level, which precompiled kernels are chosen by, and the
// instruction sets that compiled code may use, by LLVM's names.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Levels of the x86-64 psABI: v2 is SSE4.2, v3 adds AVX2 and FMA, v4 adds AVX-512 (F BW CD DQ VL).
enum class CpuLevel { v2 = 2, v3 = 3, v4 = 4 };

/// The highest level that this CPU, and the operating system under us, supports. Found once.
CpuLevel host_cpu_level() noexcept;

/// Whether it has VDPBF16PS, of AVX512_BF16, which no level includes. Found once.
bool host_multiplies_bf16_pairs() noexcept;

// NOLINTBEGIN(bugprone-return-const-ref-from-parameter): tables live for ever
/// Of what is compiled once per level: that of this level, or of the host's if it is lower.
template <class Table>
const Table &of_level(CpuLevel level, const Table &v2, const Table &v3, const Table &v4) {
  switch (std::min(level, host_cpu_level())) {
  case CpuLevel::v4: return v4;
  case CpuLevel::v3: return v3;
  case CpuLevel::v2: break;
  }
  return v2;
}
/// That of the host.
template <class Table>
const Table &of_host_level(const Table &v2, const Table &v3, const Table &v4) {
  return of_level(CpuLevel::v4, v2, v3, v4);
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

/// The instruction sets that this CPU has and the operating system supports, in a fixed order. They
/// say on which other machines code for this one runs; the CPU's name, which only tunes, does not.
const std::vector<std::string> &host_cpu_features();

/// Those features in one text: "avx,avx2,...".
const std::string &host_cpu_features_text();

/// The first of the comma-separated features that this CPU lacks; empty if it has all.
std::string missing_cpu_feature(std::string_view features);

} // namespace weft
