// The x86-64 microarchitecture level that precompiled kernels are chosen by.
#pragma once

namespace weft {

/// Levels of the x86-64 psABI: v2 is SSE4.2, v3 adds AVX2 and FMA, v4 adds AVX-512 (F BW CD DQ VL).
enum class CpuLevel { v2 = 2, v3 = 3, v4 = 4 };

/// The highest level that this CPU, and the operating system under us, supports. Found once.
CpuLevel host_cpu_level() noexcept;

} // namespace weft
