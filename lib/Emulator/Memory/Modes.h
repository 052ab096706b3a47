// What the decoder tells instructions on memory in their mode.
#pragma once

#include <cstdint>

namespace weft::emulator {

/// How many numbers a lane loads or stores.
constexpr std::uint32_t kVectorMask = 0xf;
/// The address is in a register of 32 bits.
constexpr std::uint32_t kNarrowAddress = 1U << 4;
/// .volatile, .relaxed, .acquire, .release: no race with accesses of that sort.
constexpr std::uint32_t kOrderedAccess = 1U << 5;

/// Of atomics and ldmatrix: where the address lies, as a number of Where.
constexpr int kWhereShift = 8;
/// Of asynchronous copies: how many bytes each lane writes.
constexpr int kCopyBytesShift = 10;

/// Of products of warpgroups: a is in registers; the lines of a matrix in memory are across the
/// sum, and not along it; the matrix is negated.
constexpr std::uint32_t kWarpgroupRegisters = 1U << 15, kWarpgroupAcrossA = 1U << 16,
                        kWarpgroupAcrossB = 1U << 17, kWarpgroupNegateA = 1U << 18,
                        kWarpgroupNegateB = 1U << 19;

} // namespace weft::emulator
