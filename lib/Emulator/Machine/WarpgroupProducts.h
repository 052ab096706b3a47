// Products of matrices in shared memory that a warp has begun and does not wait for (wgmma).
//
// A product reads shared memory and its sums at any moment until the warp has waited for it: here
// at once, and in stress mode when it is waited for. Both must leave the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Emulator/Program/Instruction.h"

namespace weft::emulator {

class Warp;

class WarpgroupProducts {
public:
  struct Product {
    const Instruction *in;
    std::array<std::uint64_t, 2> matrices; ///< descriptors
    bool adds;                             ///< to what the sums are
    /// Executes it for the warp's part of the rows.
    void (*run)(Warp &warp, const Product &product);
    std::uint32_t group = 0;
  };

  void begin(Warp &warp, Product product);
  /// Makes a group of what was begun since the last one.
  void commit() { ++groups_; }
  /// Waits for all groups but the latest `pending`.
  void wait(Warp &warp, std::uint32_t pending);
  /// Forgets what nobody waited for, when a block begins.
  void clear();

private:
  std::vector<Product> begun_; ///< and not executed
  std::uint32_t groups_ = 0;   ///< that were committed
};

} // namespace weft::emulator
