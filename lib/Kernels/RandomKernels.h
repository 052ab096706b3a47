// The table of random number kernels that one x86-64 level offers; RandomLevel.cpp fills it once
// per level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// A stream of random bits: Philox4x32-10 under the key `seed`, of the counters (block, number).
struct RandomStream {
  std::uint64_t seed, number;
};

/// Writes the first `size` elements of the blocks from number `block` on.
template <class T>
using FillRandom = void (*)(const RandomStream &stream, std::uint64_t block, std::int64_t size,
                            T *to);

/// Two numbers between 0 and 1, neither of which is among them, of each of `count` blocks, which
/// are so many behind number `block`: (n + 1/2) / 2^52 of the highest 52 bits n of two words.
using FillPairs = void (*)(const RandomStream &stream, std::uint64_t block, int count,
                           const int *places, double *first, double *second);

/// All kernels of one level.
struct RandomLevel {
  FillRandom<float> f32;          ///< of [0, 1), four to a block
  FillRandom<double> f64;         ///< of [0, 1), two to a block
  FillRandom<std::int32_t> i32;   ///< of all values, four to a block
  FillRandom<std::int64_t> i64;   ///< of all values, two to a block
  FillRandom<bool> boolean;       ///< four to a block
  FillRandom<std::uint64_t> wide; ///< the first two words of each block as one number
  FillPairs pairs;
};

extern const RandomLevel random_level_v2;
extern const RandomLevel random_level_v3;
extern const RandomLevel random_level_v4;

} // namespace weft::kernels
