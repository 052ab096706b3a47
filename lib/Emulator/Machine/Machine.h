// Runs launches: their blocks in an order by chance, on a few host threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "Emulator/Machine/Block.h"
#include "Emulator/Machine/Launch.h"

namespace weft::emulator {

/// Numbers of blocks, by which records of memory tell launches apart: one count for all devices
/// that share an address space.
class Serials {
public:
  /// Numbers for the blocks of a launch, beginning with the one returned; 0 if there are none left:
  /// then all records have to be forgotten, and `restart` called.
  std::uint32_t take(std::uint64_t blocks);
  void restart() { next_ = 1; }

private:
  std::uint32_t next_ = 1;
};

class Machine {
public:
  Machine();
  ~Machine();
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  /// What is wrong with a launch, or nothing: shapes, limits, sizes of parameters.
  static std::string check(const Launch &launch);

  /// Runs all blocks. What went wrong is in launch.reports, and what was counted in its counters.
  void run(Launch &launch);

private:
  std::vector<std::unique_ptr<Block>> workers_;
};

} // namespace weft::emulator
