// A block of threads: its warps, shared memory and barriers, run by one host thread.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "Emulator/Machine/Copies.h"
#include "Emulator/Machine/Launch.h"
#include "Emulator/Machine/Warp.h"
#include "Emulator/Machine/WarpgroupProducts.h"

namespace weft::emulator {

constexpr std::uint32_t kMostWarps = 32;
constexpr std::uint32_t kBarriers = 16;
/// Where shared memory begins in its own addresses: the system's part comes first, and null is
/// nowhere.
constexpr std::uint32_t kSharedBegin = 1024;
/// Where shared and local memory lie in generic addresses, which no host or device address reaches.
constexpr std::uint64_t kSharedWindow = 1ULL << 56, kLocalWindow = 2ULL << 56;
constexpr std::uint64_t kWindowSize = 1ULL << 32;

/// How bar.red combines predicates.
enum class Combine : std::uint8_t { none, count, all, any };

/// One of the named barriers of a block.
struct Barrier {
  std::uint32_t arrived = 0;  ///< threads, in whole warps
  std::uint32_t expected = 0; ///< 0: all that have not exited
  LaneMask waiting = 0;       ///< warps
  Combine combine = Combine::none;
  std::uint32_t count = 0; ///< of lanes whose predicate holds
  std::uint32_t of = 0;    ///< so many lanes
  std::uint32_t joined[kMostWarps] = {};
};

class Block {
public:
  Block();

  /// Makes ready for blocks of a launch.
  void prepare(Launch &launch);
  /// Runs one of them to its end. Throws Fault.
  void run(std::uint64_t number);

  Launch &launch() const { return *launch_; }
  Region &shared() const { return *shared_; }
  std::uint32_t shared_bytes() const { return shared_bytes_; }
  std::byte *local(std::uint32_t thread) const {
    return local_.get() + std::size_t{thread} * launch_->kernel->local_bytes;
  }
  std::uint32_t warp_count() const { return warp_count_; }
  std::mt19937_64 &random() { return random_; }
  Copies &copies(const Warp &warp) { return copies_[warp.index]; }
  WarpgroupProducts &products(const Warp &warp) { return products_[warp.index]; }

  Counters counters; ///< of the blocks that ran

  /// A warp of which all lanes are there arrives at a barrier, and waits unless it only arrives.
  void arrive(Warp &warp, const Instruction &in, std::uint32_t barrier, std::uint32_t expected,
              bool waits);
  /// The same, with a predicate of each lane, whose combination is written to `result`.
  void reduce(Warp &warp, const Instruction &in, std::uint32_t barrier, std::uint32_t expected,
              Combine combine, LaneMask lanes, LaneMask values);
  /// What the warp did until now comes before what its lanes do after this.
  void order_lanes(Warp &warp);
  /// Makes all that the warp did, and knows to be done, visible to who joins `clock` later.
  void release(Warp &warp, std::uint32_t *clock);
  void acquire(Warp &warp, const std::uint32_t *clock);

  /// "kernel k, block (1, 0, 0)"
  std::string place() const;
  /// "(3, 0, 0)" of a thread by its number in the block.
  std::string thread_name(std::uint32_t thread) const;
  /// Who made a record.
  std::string name_of(Record record, bool in_shared) const;

private:
  void begin(std::uint64_t number);
  void set_actor(Warp &warp, std::uint32_t serial);
  void fill_specials(Warp &warp);
  void check_barriers();
  void complete(Barrier &barrier);
  [[noreturn]] void fail_deadlock();

  Launch *launch_ = nullptr;
  std::uint32_t warp_count_ = 0;
  std::unique_ptr<Warp[]> warps_;
  std::unique_ptr<std::byte[]> register_room_;
  std::size_t register_room_size_ = 0;
  std::unique_ptr<std::byte[]> local_;
  std::size_t local_size_ = 0;
  std::unique_ptr<std::byte[]> shared_room_;
  std::unique_ptr<Region> shared_;
  std::uint32_t shared_bytes_ = 0;
  std::vector<Region *> hints_;
  std::uint64_t hints_version_ = 0;
  const Kernel *hints_of_ = nullptr;

  std::array<std::uint32_t, 3> index_{};
  std::uint64_t number_ = 0;
  std::uint32_t tick_ = 0;
  std::uint32_t shared_serial_ = 0; ///< of the block among those that had this shared memory
  bool checks_races_ = true;
  std::uint32_t clocks_[kMostWarps][kMostWarps] = {};
  Barrier barriers_[kBarriers];
  Copies copies_[kMostWarps];
  WarpgroupProducts products_[kMostWarps];
  std::mt19937_64 random_;
};

} // namespace weft::emulator
