// The loop over a warp's instructions, and the groups that its lanes diverge into.
#include "Emulator/Machine/Warp.h"

#include <algorithm>
#include <bit>

#include "Emulator/Machine/Block.h"

namespace weft::emulator {

void Warp::start(LaneMask lanes_that_exist) {
  existing = active = lanes_that_exist;
  exited = 0;
  pc = 0;
  group_count_ = 0;
  meet = ~0U;
  state = WarpState::ready;
  largest_first_ = false;
}

void Warp::run(std::uint64_t instructions) {
  yielded = false;
  if (active == 0 && !regroup()) return;
  std::uint64_t executed = 0, lanes_executed = 0;
  while (executed < instructions) {
    const Instruction &in = code[pc];
    ++pc;
    const LaneMask mask = active & (predicate(in.guard) ^ in.guard_flip);
    ++executed;
    lanes_executed += static_cast<std::uint64_t>(std::popcount(mask));
    in.run(*this, in, mask);
    if (pc >= meet) [[unlikely]] {
      const bool runs = state == WarpState::ready && regroup();
      if (!runs || yielded) break;
    }
  }
  counters.warp_instructions += executed;
  counters.lane_instructions += lanes_executed;
  if (state == WarpState::ready && group_count_ > 0) { // somebody may spin until others come on
    largest_first_ = !largest_first_;
    meet = 0;
    regroup();
  }
}

void Warp::branch(LaneMask taken, std::uint32_t target) {
  if (taken == 0) return;
  if (taken != active) {
    groups_[group_count_++] = {target, taken, 0};
    active &= ~taken;
    meet = 0;
  } else {
    pc = target;
    if (group_count_ > 0) meet = 0;
  }
}

void Warp::exit(LaneMask lanes) {
  exited |= lanes;
  active &= ~lanes;
  if (active == 0) meet = 0;
}

bool Warp::gather(const Instruction &in, LaneMask there, LaneMask members) {
  const LaneMask missing = members & existing & ~there;
  if (missing == 0) return true;
  if ((missing & exited) != 0)
    fail(FaultKind::illegal_instruction, in, std::countr_zero(missing & exited),
         "the mask names this lane, which has exited");
  active &= ~there;
  meet = 0;
  // Others wait here already: with the last of them it is done again by all.
  for (int i = 0; i < group_count_; ++i) {
    Group &group = groups_[i];
    if (group.pc != pc - 1 || group.wanted == 0) continue;
    group.lanes |= there;
    group.wanted = (members & existing & ~group.lanes) == 0 ? 0 : members;
    return false;
  }
  groups_[group_count_++] = {pc - 1, there, members};
  return false;
}

// The lanes that ran until now join the others, and those that are to run next are chosen. False
// if all have exited.
bool Warp::regroup() {
  if (active != 0) groups_[group_count_++] = {pc, active, 0};
  active = 0;
  int chosen = -1;
  for (int i = 0; i < group_count_; ++i) {
    const Group &group = groups_[i];
    if (group.wanted != 0) continue;
    if (chosen < 0 ||
        (largest_first_ ? group.pc > groups_[chosen].pc : group.pc < groups_[chosen].pc))
      chosen = i;
  }
  if (chosen < 0) {
    if (group_count_ > 0) fail_waiting();
    state = WarpState::done;
    return false;
  }
  pc = groups_[chosen].pc;
  meet = ~0U;
  int kept = 0;
  for (int i = 0; i < group_count_; ++i) {
    const Group group = groups_[i];
    if (group.pc == pc) {
      active |= group.lanes; // those that wait here try again, with more of them
      continue;
    }
    // Lanes that wait behind us are met again only after a jump back, which comes here.
    if (group.pc > pc && !largest_first_) meet = std::min(meet, group.pc);
    groups_[kept++] = group;
  }
  group_count_ = kept;
  return true;
}

void Warp::fail_waiting() {
  const Group &group = groups_[0];
  const Instruction &in = code[group.pc];
  const LaneMask missing = group.wanted & ~group.lanes & live();
  fail(FaultKind::deadlock, in, std::countr_zero(group.lanes),
       "waits for lane " + std::to_string(std::countr_zero(missing)) + ", which waits at line " +
           std::to_string(code[groups_[group_count_ - 1].pc].line) +
           ": all lanes of the mask must come to the same instruction");
}

void Warp::fail(FaultKind kind, const Instruction &in, int lane, const std::string &what) const {
  throw Fault{kind, place(in, lane) + ": " + what};
}

std::string Warp::place(const Instruction &in, int lane) const {
  const std::uint32_t thread = index * kLanes + static_cast<std::uint32_t>(lane);
  return block->place() + ", thread " + block->thread_name(thread) + ", " + place(in);
}

std::string Warp::place(const Instruction &in) const {
  return "line " + std::to_string(in.line) + " `" +
         std::string(block->launch().kernel->source->line(in.line)) + "`";
}

} // namespace weft::emulator
