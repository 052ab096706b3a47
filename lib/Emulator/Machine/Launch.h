// One launch of a kernel: what all its blocks have in common.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "Emulator/Machine/Counters.h"
#include "Emulator/Machine/Fault.h"
#include "Emulator/Memory/AddressSpace.h"
#include "Emulator/Program/Kernel.h"

namespace weft::emulator {

/// In which order things happen that a GPU may do in any, and what is checked on the way.
struct Schedule {
  std::uint64_t seed = 0;
  /// Warps take turns after a few instructions, by chance, and not only where they wait; what is
  /// asynchronous happens as late as it may.
  bool stress = false;
  int host_threads = 2;
  bool check_races = true;
  bool check_uninitialised = true;
  std::chrono::milliseconds timeout{300000}; ///< for one launch
};

/// What a chip allows.
struct Limits {
  std::uint32_t threads_per_block = 1024;
  std::array<std::uint32_t, 3> block = {1024, 1024, 64};
  std::array<std::uint32_t, 3> grid = {0x7fffffff, 65535, 65535};
  std::uint32_t shared_per_block = 48 << 10;
  std::uint32_t shared_per_block_optin = 227 << 10;
  std::uint32_t shared_per_multiprocessor = 228 << 10;
  std::uint32_t registers_per_multiprocessor = 65536;
  std::uint32_t threads_per_multiprocessor = 2048;
  std::uint32_t blocks_per_multiprocessor = 32;
  std::uint32_t multiprocessors = 132;
  std::uint32_t cluster = 8;
};

struct Shape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};
  std::uint32_t dynamic_shared = 0;

  std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
};

/// A thing to tell the user: the launch went on after it, or ended with it.
struct Report {
  FaultKind kind;
  std::string text;
};

struct Launch {
  const Kernel *kernel = nullptr;
  Shape shape;
  Limits limits;
  std::vector<std::byte> parameters; ///< laid out as the kernel declares them
  std::vector<std::byte> constants;  ///< the kernel's, with the parameters among them
  const AddressSpace *space = nullptr;
  int device = 0;
  std::uint32_t first_serial = 1;
  std::map<unsigned long long, unsigned> *conditions = nullptr; ///< of graphs, which kernels set
  Schedule schedule;
  std::chrono::steady_clock::time_point deadline;

  // What blocks of several host threads write.
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<Report> reports;
  Counters counters;

  /// Notes a report; a hard one stops the launch.
  void report(Report report, bool hard);
  /// Whether this is the first report of its kind on a line of the program, for there may be one
  /// for each thread.
  bool is_first(FaultKind kind, std::uint32_t line);

private:
  std::set<std::pair<FaultKind, std::uint32_t>> reported_;
};

} // namespace weft::emulator
