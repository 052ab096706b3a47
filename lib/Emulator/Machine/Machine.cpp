// The order of blocks, and the host threads that run them.
#include "Emulator/Machine/Machine.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

namespace weft::emulator {
namespace {

/// Fewer instructions than this are not worth a second host thread.
constexpr std::uint64_t kLeastForThreads = 20000;

/// A permutation of [0, count), by chance: i -> (i * factor + offset) mod count.
class Order {
public:
  Order(std::uint64_t count, std::uint64_t seed) : count_(count) {
    std::mt19937_64 random(seed);
    offset_ = random() % count;
    do factor_ = 1 + random() % count;
    while (std::gcd(factor_, count) != 1);
  }
  std::uint64_t operator()(std::uint64_t i) const {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(i) * factor_ + offset_) %
                                      count_);
  }

private:
  std::uint64_t count_, offset_, factor_;
};

/// The parameters as the kernel's registers have them.
std::vector<std::byte> constants_of(const Launch &launch) {
  std::vector<std::byte> constants = launch.kernel->constants;
  for (const auto &[slot, offset, bytes] : launch.kernel->copied_parameters)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      std::memcpy(constants.data() + (slot & ~kInConstants) + lane * bytes,
                  launch.parameters.data() + offset, bytes);
  return constants;
}

std::string shown(const std::array<std::uint32_t, 3> &shape) {
  return "(" + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + ", " +
         std::to_string(shape[2]) + ")";
}

} // namespace

Machine::Machine() = default;
Machine::~Machine() = default;

std::string Machine::check(const Launch &launch) {
  const Kernel &kernel = *launch.kernel;
  const Shape &shape = launch.shape;
  const Limits &limits = launch.limits;
  for (int axis = 0; axis < 3; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    if (shape.grid[i] == 0 || shape.block[i] == 0)
      return "a grid of " + shown(shape.grid) + " blocks of " + shown(shape.block) +
             " threads is empty";
    if (shape.grid[i] > limits.grid[i] || shape.block[i] > limits.block[i])
      return "a grid of " + shown(shape.grid) + " blocks of " + shown(shape.block) +
             " threads is more than " + shown(limits.grid) + " of " + shown(limits.block);
    if (shape.cluster[i] == 0 || shape.grid[i] % shape.cluster[i] != 0)
      return "a grid of " + shown(shape.grid) + " blocks has no clusters of " +
             shown(shape.cluster);
  }
  if (shape.threads() > limits.threads_per_block)
    return std::to_string(shape.threads()) + " threads in a block are more than " +
           std::to_string(limits.threads_per_block);
  const auto volume = [](const auto &axes) { return std::uint64_t{axes[0]} * axes[1] * axes[2]; };
  if (volume(shape.cluster) > limits.cluster)
    return std::to_string(volume(shape.cluster)) + " blocks in a cluster are more than " +
           std::to_string(limits.cluster);
  if (kernel.most_threads[0] != 0 && shape.threads() > volume(kernel.most_threads))
    return std::to_string(shape.threads()) + " threads in a block are more than the " +
           std::to_string(volume(kernel.most_threads)) + " of .maxntid";
  if (kernel.required_threads[0] != 0 && shape.block != kernel.required_threads)
    return "blocks of " + shown(shape.block) + " threads, where .reqntid wants " +
           shown(kernel.required_threads);
  if (launch.parameters.size() != kernel.parameter_bytes)
    return std::to_string(launch.parameters.size()) +
           " bytes of parameters, where the kernel has " + std::to_string(kernel.parameter_bytes);
  const std::uint64_t shared = std::uint64_t{kernel.static_shared_bytes} + shape.dynamic_shared;
  if (shared > limits.shared_per_block_optin)
    return std::to_string(shared) + " bytes of shared memory are more than " +
           std::to_string(limits.shared_per_block_optin);
  return {};
}

std::uint32_t Serials::take(std::uint64_t blocks) {
  if (blocks > kMostSerials - next_) return 0;
  const std::uint32_t first = next_;
  next_ += static_cast<std::uint32_t>(blocks);
  return first;
}

void Machine::run(Launch &launch) {
  launch.constants = constants_of(launch);
  launch.deadline = std::chrono::steady_clock::now() + launch.schedule.timeout;
  const std::uint64_t blocks = launch.shape.blocks();
  const std::uint64_t work =
      blocks * ((launch.shape.threads() + kLanes - 1) / kLanes) * launch.kernel->code.size();
  std::size_t threads = static_cast<std::size_t>(std::max(1, launch.schedule.host_threads));
  if (!launch.schedule.stress && work < kLeastForThreads) threads = 1;
  threads = static_cast<std::size_t>(std::min<std::uint64_t>(threads, blocks));
  while (workers_.size() < threads) workers_.push_back(std::make_unique<Block>());

  const Order order(blocks, launch.schedule.seed * 0x9e3779b97f4a7c15ULL + launch.first_serial);
  std::atomic<std::uint64_t> next{0};
  const auto work_on = [&](Block &block) {
    try {
      block.prepare(launch);
      for (std::uint64_t i = next++; i < blocks && !launch.stop; i = next++) block.run(order(i));
    } catch (Fault &fault) {
      launch.report({fault.kind, std::move(fault.text)}, true);
    }
    const std::scoped_lock lock(launch.mutex);
    launch.counters += block.counters;
    block.counters = {};
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back([&, i] { work_on(*workers_[i]); });
  work_on(*workers_[0]);
  for (std::thread &other : others) other.join();
  launch.counters.launches += 1;
}

} // namespace weft::emulator
