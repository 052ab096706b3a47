// Runs launches: their blocks in an order by chance, on a few host threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "Emulator/Machine/Block.h"
#include "Emulator/Machine/Launch.h"

namespace weft::emulator {

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

  /// Numbers for the blocks of a launch, beginning with the one returned; 0 if there are none left:
  /// then all records have to be forgotten, and `restart_serials` called.
  std::uint32_t take_serials(std::uint64_t blocks);
  void restart_serials() { next_serial_ = 1; }

private:
  std::uint32_t next_serial_ = 1;
  std::vector<std::unique_ptr<Block>> workers_;
};

} // namespace weft::emulator
