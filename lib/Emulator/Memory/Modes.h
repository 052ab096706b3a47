// What the decoder tells loads, stores and atomics in their mode.
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

} // namespace weft::emulator
