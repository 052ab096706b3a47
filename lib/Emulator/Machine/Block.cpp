// Warps of a block taking turns, barriers, and what they order.
#include "Emulator/Machine/Block.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weft::emulator {
namespace {

/// So long a warp runs before others get a turn, if it does not wait: those that spin until another
/// warp has done something must not spin for ever.
constexpr std::uint64_t kTurn = 1 << 14;
/// In stress mode a turn has at most this many instructions.
constexpr std::uint64_t kMostStressTurn = 24;

constexpr std::size_t kRegisterAlignment = 64;

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

} // namespace

void Launch::report(Report report, bool hard) {
  const std::scoped_lock lock(mutex);
  if (hard) stop = true;
  reports.push_back(std::move(report));
}

bool Launch::is_first(FaultKind kind, std::uint32_t line) {
  const std::scoped_lock lock(mutex);
  return reported_.emplace(kind, line).second;
}

Block::Block() : warps_(std::make_unique<Warp[]>(kMostWarps)) {}

void Block::prepare(Launch &launch) {
  launch_ = &launch;
  const Kernel &kernel = *launch.kernel;
  warp_count_ = (launch.shape.threads() + kLanes - 1) / kLanes;
  const std::size_t room = std::size_t{kernel.register_bytes} * warp_count_ + kRegisterAlignment;
  if (register_room_size_ < room) {
    register_room_ = std::make_unique<std::byte[]>(room);
    register_room_size_ = room;
  }
  random_.seed(launch.schedule.seed * 0x9e3779b97f4a7c15ULL + launch.first_serial);
  // A register that is read before it is written may have another value with another seed.
  if (launch.schedule.stress)
    std::memset(register_room_.get(), static_cast<int>(random_() & 0xff), room);
  if (const std::size_t size = std::size_t{kernel.local_bytes} * launch.shape.threads();
      local_size_ < size) {
    local_ = std::make_unique<std::byte[]>(size);
    local_size_ = size;
  }
  shared_bytes_ = kernel.static_shared_bytes + launch.shape.dynamic_shared;
  if (shared_ == nullptr || shared_->size < shared_bytes_) {
    const std::uint32_t size = std::max(shared_bytes_, 16U << 10);
    shared_room_ = std::make_unique<std::byte[]>(size);
    shared_ = std::make_unique<Region>(kSharedBegin, size, shared_room_.get(), false);
  }
  // Another kernel may be where one was that is unloaded.
  if (hints_of_ != &kernel || hints_.size() != kernel.code.size() ||
      hints_version_ != launch.space->version()) {
    hints_.assign(kernel.code.size(), nullptr);
    hints_of_ = &kernel;
    hints_version_ = launch.space->version();
  }
  checks_races_ = launch.schedule.check_races;
  const auto base = reinterpret_cast<std::uintptr_t>(register_room_.get());
  auto *registers = register_room_.get() + (kRegisterAlignment - base % kRegisterAlignment);
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    Warp &warp = warps_[w];
    warp.bases[0] = registers + std::size_t{w} * kernel.register_bytes;
    warp.bases[1] = launch.constants.data();
    warp.code = kernel.code.data();
    warp.index = w;
    warp.block = this;
    warp.hints = hints_.data();
    warp.check_uninitialised = launch.schedule.check_uninitialised;
    warp.counters = {};
  }
}

void Block::begin(std::uint64_t number) {
  const Shape &shape = launch_->shape;
  number_ = number;
  index_ = {static_cast<std::uint32_t>(number % shape.grid[0]),
            static_cast<std::uint32_t>(number / shape.grid[0] % shape.grid[1]),
            static_cast<std::uint32_t>(number / shape.grid[0] / shape.grid[1])};
  tick_ = 1;
  const std::uint32_t serial = launch_->first_serial + static_cast<std::uint32_t>(number);
  if (shared_bytes_ > 0) shared_->shadow.forget_written(0, shared_bytes_);
  if (++shared_serial_ == kMostSerials) {
    shared_->shadow.forget_records();
    shared_serial_ = 1;
  }
  for (Barrier &barrier : barriers_) barrier = {};
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    Warp &warp = warps_[w];
    std::fill_n(clocks_[w], warp_count_, 0);
    copies_[w].clear();
    products_[w].clear();
    set_actor(warp, serial);
    fill_specials(warp);
    const std::uint32_t threads = shape.threads() - w * kLanes;
    warp.start(threads >= kLanes ? kAllLanes : (1U << threads) - 1);
  }
}

// Who the warp is, from this tick on.
void Block::set_actor(Warp &warp, std::uint32_t serial) {
  warp.actor = {make_record(serial, tick_, warp.index), make_record(launch_->first_serial, 0, 0),
                clocks_[warp.index]};
  warp.shared_actor = {make_record(shared_serial_, tick_, warp.index),
                       make_record(shared_serial_, 0, 0), clocks_[warp.index]};
  // Where races are not looked for, everything is as if it had been done long ago.
  if (!checks_races_) warp.actor.first = warp.shared_actor.first = ~Record{0};
}

void Block::run(std::uint64_t number) {
  begin(number);
  const Schedule &schedule = launch_->schedule;
  std::uint64_t since_look = 0;
  std::uint32_t first = 0;
  for (;;) {
    bool ran = false, done = true;
    if (schedule.stress) first = static_cast<std::uint32_t>(random_() % warp_count_);
    for (std::uint32_t i = 0; i < warp_count_; ++i) {
      Warp &warp = warps_[(first + i) % warp_count_];
      if (warp.state == WarpState::ready) {
        const std::uint64_t turn = schedule.stress ? 1 + random_() % kMostStressTurn : kTurn;
        warp.run(turn);
        ran = true;
        since_look += turn;
        if (warp.state == WarpState::done) check_barriers();
      }
      done = done && warp.state == WarpState::done;
    }
    if (done) break;
    if (!ran) fail_deadlock();
    if (since_look < 64 * kTurn) continue;
    since_look = 0;
    if (launch_->stop) break;
    if (std::chrono::steady_clock::now() > launch_->deadline)
      throw Fault{FaultKind::timeout, place() + ": still runs after " +
                                          std::to_string(schedule.timeout.count()) + " ms"};
  }
  if (launch_->stop) return;
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    warps_[w].counters.blocks = w == 0 ? 1 : 0;
    counters += warps_[w].counters;
    warps_[w].counters = {};
  }
}

void Block::fill_specials(Warp &warp) {
  const Shape &shape = launch_->shape;
  for (const auto &[special, slot] : launch_->kernel->specials) {
    auto *out = warp.lanes<std::uint32_t>(slot);
    const auto all = [&](std::uint32_t value) { std::fill_n(out, kLanes, value); };
    const auto each = [&](auto value) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) out[lane] = value(lane);
    };
    const auto thread = [&](auto value) {
      each([&](std::uint32_t lane) { return value(warp.index * kLanes + lane); });
    };
    const std::uint32_t x = shape.block[0], y = shape.block[1];
    const auto &cluster = shape.cluster;
    const auto of_cluster = [&](int axis) { return index_[axis] % cluster[axis]; };
    switch (special) {
    case Special::tid_x: thread([&](std::uint32_t t) { return t % x; }); break;
    case Special::tid_y: thread([&](std::uint32_t t) { return t / x % y; }); break;
    case Special::tid_z: thread([&](std::uint32_t t) { return t / x / y; }); break;
    case Special::ntid_x: all(shape.block[0]); break;
    case Special::ntid_y: all(shape.block[1]); break;
    case Special::ntid_z: all(shape.block[2]); break;
    case Special::ctaid_x: all(index_[0]); break;
    case Special::ctaid_y: all(index_[1]); break;
    case Special::ctaid_z: all(index_[2]); break;
    case Special::nctaid_x: all(shape.grid[0]); break;
    case Special::nctaid_y: all(shape.grid[1]); break;
    case Special::nctaid_z: all(shape.grid[2]); break;
    case Special::laneid: each([](std::uint32_t lane) { return lane; }); break;
    case Special::warpid: all(warp.index); break;
    case Special::nwarpid: all(kMostWarps); break;
    case Special::lanemask_eq: each([](std::uint32_t lane) { return 1U << lane; }); break;
    case Special::lanemask_le: each([](std::uint32_t lane) { return (2U << lane) - 1; }); break;
    case Special::lanemask_lt: each([](std::uint32_t lane) { return (1U << lane) - 1; }); break;
    case Special::lanemask_ge: each([](std::uint32_t lane) { return ~0U << lane; }); break;
    case Special::lanemask_gt: each([](std::uint32_t lane) { return ~((2U << lane) - 1); }); break;
    case Special::dynamic_smem_size: all(shape.dynamic_shared); break;
    case Special::total_smem_size: all(shared_bytes_); break;
    case Special::smid:
      all(static_cast<std::uint32_t>(number_ % launch_->limits.multiprocessors));
      break;
    case Special::nsmid: all(launch_->limits.multiprocessors); break;
    case Special::gridid: all(launch_->first_serial); break;
    case Special::clusterid_x: all(index_[0] / cluster[0]); break;
    case Special::clusterid_y: all(index_[1] / cluster[1]); break;
    case Special::clusterid_z: all(index_[2] / cluster[2]); break;
    case Special::nclusterid_x: all(shape.grid[0] / cluster[0]); break;
    case Special::nclusterid_y: all(shape.grid[1] / cluster[1]); break;
    case Special::nclusterid_z: all(shape.grid[2] / cluster[2]); break;
    case Special::cluster_ctaid_x: all(of_cluster(0)); break;
    case Special::cluster_ctaid_y: all(of_cluster(1)); break;
    case Special::cluster_ctaid_z: all(of_cluster(2)); break;
    case Special::cluster_nctaid_x: all(cluster[0]); break;
    case Special::cluster_nctaid_y: all(cluster[1]); break;
    case Special::cluster_nctaid_z: all(cluster[2]); break;
    case Special::cluster_ctarank:
      all(of_cluster(0) + cluster[0] * (of_cluster(1) + cluster[1] * of_cluster(2)));
      break;
    case Special::cluster_nctarank: all(cluster[0] * cluster[1] * cluster[2]); break;
    }
  }
}

void Block::order_lanes(Warp &warp) {
  if (tick_ == kMostTicks) checks_races_ = false;
  else ++tick_;
  set_actor(warp, serial_of(warp.actor.record));
  clocks_[warp.index][warp.index] = tick_;
}

void Block::release(Warp &warp, std::uint32_t *clock) {
  order_lanes(warp);
  for (std::uint32_t w = 0; w < warp_count_; ++w)
    clock[w] = std::max(clock[w], clocks_[warp.index][w]);
}

void Block::acquire(Warp &warp, const std::uint32_t *clock) {
  for (std::uint32_t w = 0; w < warp_count_; ++w)
    clocks_[warp.index][w] = std::max(clocks_[warp.index][w], clock[w]);
}

void Block::arrive(Warp &warp, const Instruction &in, std::uint32_t number, std::uint32_t expected,
                   bool waits) {
  if (number >= kBarriers)
    warp.fail(FaultKind::illegal_instruction, in, 0,
              "there is no barrier " + std::to_string(number));
  if (expected % kLanes != 0)
    warp.fail(FaultKind::illegal_instruction, in, 0,
              std::to_string(expected) + " threads are no whole number of warps");
  Barrier &barrier = barriers_[number];
  if (barrier.arrived == 0) barrier.expected = expected;
  else if (barrier.expected != expected)
    warp.fail(FaultKind::illegal_instruction, in, 0,
              "barrier " + std::to_string(number) + " is for " + std::to_string(expected) +
                  " threads here, and for " + std::to_string(barrier.expected) + " to others");
  release(warp, barrier.joined);
  barrier.arrived += kLanes;
  if (waits) {
    barrier.waiting |= 1U << warp.index;
    warp.state = WarpState::at_barrier;
    warp.waits_at = &in;
    warp.stop();
  }
  if (expected != 0 && barrier.arrived > expected)
    warp.fail(FaultKind::illegal_instruction, in, 0,
              "more than " + std::to_string(expected) + " threads come to barrier " +
                  std::to_string(number));
  check_barriers();
}

void Block::reduce(Warp &warp, const Instruction &in, std::uint32_t number, std::uint32_t expected,
                   Combine combine, LaneMask lanes, LaneMask values) {
  Barrier &barrier = barriers_[number % kBarriers];
  barrier.combine = combine;
  barrier.count += static_cast<std::uint32_t>(std::popcount(lanes & values));
  barrier.of += static_cast<std::uint32_t>(std::popcount(lanes));
  warp.combines = lanes;
  arrive(warp, in, number, expected, true);
}

// Completes the barriers that all have come to, which may be so because others have exited.
void Block::check_barriers() {
  std::uint32_t there = 0;
  for (std::uint32_t w = 0; w < warp_count_; ++w)
    there += warps_[w].state == WarpState::done ? 0 : kLanes;
  for (Barrier &barrier : barriers_)
    if (barrier.arrived > 0 &&
        barrier.arrived >= (barrier.expected != 0 ? barrier.expected : there))
      complete(barrier);
}

void Block::complete(Barrier &barrier) {
  for (LaneMask warps = barrier.waiting; warps != 0; warps &= warps - 1) {
    Warp &warp = warps_[std::countr_zero(warps)];
    acquire(warp, barrier.joined);
    warp.state = WarpState::ready;
    if (barrier.combine == Combine::none) continue;
    const Slot result = warp.waits_at->slots[0];
    if (barrier.combine == Combine::count) {
      auto *out = warp.lanes<std::uint32_t>(result);
      for (LaneMask lanes = warp.combines; lanes != 0; lanes &= lanes - 1)
        out[std::countr_zero(lanes)] = barrier.count;
    } else {
      const bool holds =
          barrier.combine == Combine::all ? barrier.count == barrier.of : barrier.count > 0;
      LaneMask &out = warp.predicate(result);
      out = (out & ~warp.combines) | (holds ? warp.combines : 0);
    }
  }
  barrier = {};
  warps_[0].counters.barriers += 1;
}

void Block::fail_deadlock() {
  for (std::uint32_t w = 0; w < warp_count_; ++w)
    if (warps_[w].state == WarpState::at_barrier) {
      std::uint32_t exited = 0, waiting = 0;
      for (std::uint32_t v = 0; v < warp_count_; ++v) {
        exited += warps_[v].state == WarpState::done;
        waiting += warps_[v].state == WarpState::at_barrier;
      }
      warps_[w].fail(FaultKind::deadlock, *warps_[w].waits_at, std::countr_zero(warps_[w].live()),
                     std::to_string(waiting) + " of " + std::to_string(warp_count_) +
                         " warps wait at barriers for threads that never come; " +
                         std::to_string(exited) + " have exited");
    }
  throw Fault{FaultKind::deadlock, place() + ": no warp can go on"};
}

std::string Block::place() const {
  return "kernel " + launch_->kernel->name + ", block " + triple(index_[0], index_[1], index_[2]);
}

std::string Block::thread_name(std::uint32_t thread) const {
  const auto &block = launch_->shape.block;
  return triple(thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]);
}

std::string Block::name_of(Record record, bool in_shared) const {
  const std::uint64_t number = in_shared ? number_ : serial_of(record) - launch_->first_serial;
  const auto &grid = launch_->shape.grid;
  std::string text;
  if ((record & kSeveralReaders) != 0) text = "several threads, of them ";
  text += "thread " + thread_name(warp_of(record) * kLanes + lane_of(record));
  if (number != number_)
    text += " of block " + triple(static_cast<std::uint32_t>(number % grid[0]),
                                  static_cast<std::uint32_t>(number / grid[0] % grid[1]),
                                  static_cast<std::uint32_t>(number / grid[0] / grid[1]));
  return text;
}

} // namespace weft::emulator
