// The world of this process: its engine, its watch, and the groups of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "Distributed/Engine.h"
#include "Distributed/Watch.h"
#include <weft/distributed.h>

namespace weft::distributed {

class Call;

/// There is one, which lives as long as the process.
struct World {
  Engine *engine = nullptr;     ///< null in a world of one without an engine
  std::unique_ptr<Watch> watch; ///< null in a world of one
  std::string engine_name = "single";
  std::uint32_t generation = 0; ///< of forks
  /// Whether every process of this host has a processor, so that waiting may spin.
  bool may_spin = false;
  /// Held around calls of the engine.
  std::mutex lock;
  /// The number of the next group; ranks agree on it as they split.
  std::atomic<int> next_group = 1;
  /// How many messages were done so far.
  std::atomic<std::uint64_t> finished = 0;
};

/// Opens the engine, at the first call. Throws as weft::distributed::init.
const std::shared_ptr<detail::GroupState> &world_group(std::string_view engine = "auto");

/// What the environment says about a launcher.
struct Launcher {
  enum class Kind : std::uint8_t { none, open_mpi, mpich, pmix } kind = Kind::none;
  std::string variable; ///< that tells the size, or else that there is one
  int size = 0;         ///< 0 if it is not told
};
Launcher launcher_of_environment();

/// The MPI libraries to try, best first.
std::vector<std::string> mpi_libraries(const Launcher &launcher);

/// Opens libweft-mpi, and by it the first of these that there is. Throws IOError, which lists what
/// was tried.
Engine &open_mpi_engine(const std::vector<std::string> &libraries);

namespace detail {

class GroupState {
public:
  GroupState(World &world, int number, std::vector<int> ranks, int rank)
      : world(world), number(number), ranks(std::move(ranks)), rank(rank),
        between_hosts(world.watch != nullptr && world.watch->has_several_hosts(this->ranks)) {}

  int size() const { return static_cast<int>(ranks.size()); }

  /// The same ranks once more, for the collectives of a thread that works in the background, which
  /// are in no order with those of the group.
  const std::shared_ptr<GroupState> &background() {
    std::call_once(made_background_, [this] {
      background_ = std::make_shared<GroupState>(world, number, ranks, rank);
      background_->in_background = true;
    });
    return background_;
  }

  /// What messages are for: each has a tag of its own for each number of a group.
  enum class Channel : std::uint8_t { collective, pair, background };
  static constexpr int kChannels = 3;
  int tag(Channel channel) const { return number * kChannels + static_cast<int>(channel); }

  World &world;
  int number;                 ///< part of the tags of its messages
  std::vector<int> ranks;     ///< of its ranks in the world
  int rank;                   ///< of this process in it
  bool between_hosts;         ///< whether some of them are on another host than others
  std::uint64_t sequence = 0; ///< of its collectives so far
  std::uint64_t sent = 0;     ///< bytes by this rank so far
  std::mutex busy;            ///< held by the call that is under way
  std::mutex naming;
  const Call *under_way = nullptr; ///< that call
  bool in_background = false;      ///< other threads compute meanwhile
  std::atomic<bool> hurry = false; ///< these wait for it now

private:
  std::once_flag made_background_;
  std::shared_ptr<GroupState> background_;
};

} // namespace detail

} // namespace weft::distributed
