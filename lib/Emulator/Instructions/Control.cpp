// Branches, ends, barriers and fences.
#include <bit>

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Machine/Block.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

void branch(Warp &warp, const Instruction &in, LaneMask mask) {
  warp.branch(mask, static_cast<std::uint32_t>(in.offset));
}

/// bra.uni promises that all lanes which are here go the same way.
void branch_together(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask != 0 && mask != warp.active)
    warp.fail(FaultKind::illegal_instruction, in, std::countr_zero(warp.active & ~mask),
              "bra.uni, but this lane goes another way than others");
  warp.branch(mask, static_cast<std::uint32_t>(in.offset));
}

/// brx.idx: the table of targets is in `more`, its length in the mode.
void branch_by_index(Warp &warp, const Instruction &in, LaneMask mask) {
  const auto *index = warp.lanes<std::uint32_t>(in.slots[0]);
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    const std::uint32_t chosen = index[lane];
    if (chosen >= in.mode)
      warp.fail(FaultKind::illegal_instruction, in, lane,
                "the index " + std::to_string(chosen) + " is beyond the list of targets");
    LaneMask same = 0;
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
      if (index[std::countr_zero(rest)] == chosen) same |= rest & (0 - rest);
    mask &= ~same;
    warp.branch(same, in.more[chosen]);
  }
}

void leave(Warp &warp, const Instruction &, LaneMask mask) { warp.exit(mask); }

void trap(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask != 0) warp.fail(FaultKind::trap, in, std::countr_zero(mask), "trap");
}

void nothing(Warp &, const Instruction &, LaneMask) {}
void pause(Warp &warp, const Instruction &, LaneMask) { warp.yield(); }

/// The number of a barrier, or of threads: the same in all lanes.
std::uint32_t uniform(Warp &warp, const Instruction &in, Slot slot, LaneMask mask) {
  if (slot == kNoSlot) return 0;
  const auto *values = warp.lanes<std::uint32_t>(slot);
  const int first = std::countr_zero(mask);
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    if (values[std::countr_zero(rest)] != values[first])
      warp.fail(FaultKind::illegal_instruction, in, std::countr_zero(rest),
                "lanes of a warp name different barriers or numbers of threads");
  return values[first];
}

template <bool Waits>
void barrier(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0 || !warp.gather(in, mask, warp.live())) return;
  const std::uint32_t number = uniform(warp, in, in.slots[0], mask);
  warp.block->arrive(warp, in, number, uniform(warp, in, in.slots[1], mask), Waits);
}

template <Combine How>
void reduce(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0 || !warp.gather(in, mask, warp.live())) return;
  warp.block->reduce(warp, in, uniform(warp, in, in.slots[1], mask),
                     uniform(warp, in, in.slots[2], mask), How, mask, warp.predicate(in.slots[3]));
}

void warp_barrier(Warp &warp, const Instruction &in, LaneMask mask) {
  const auto *members = warp.lanes<std::uint32_t>(in.slots[0]);
  bool together = false;
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    if (!has(members[lane], lane))
      warp.fail(FaultKind::illegal_instruction, in, lane, "this lane is not in its own mask");
    const LaneMask there = mask & members[lane];
    mask &= ~there;
    together = warp.gather(in, there, members[lane]) || together;
  }
  if (together) warp.block->order_lanes(warp);
}

void set_conditional(Warp &warp, const Instruction &in, LaneMask mask) {
  Launch &launch = warp.block->launch();
  const std::scoped_lock lock(launch.mutex);
  for (; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    const std::uint64_t handle = warp.lanes<std::uint64_t>(in.slots[0])[lane];
    if (launch.conditions == nullptr || !launch.conditions->contains(handle))
      warp.fail(FaultKind::illegal_instruction, in, lane,
                "there is no condition " + std::to_string(handle));
    (*launch.conditions)[handle] = warp.lanes<std::uint32_t>(in.slots[1])[lane];
  }
}

} // namespace

void add_control(FormTable &table) {
  table.add({"bra "}, &branch, "");
  table.add({"bra uni"}, &branch_together, "");
  table.add({"brx "}, &branch_by_index, "");
  table.add({"exit"}, &leave, ":");
  table.add({"ret"}, &leave, ":");
  table.add({"ret.uni"}, &leave, ":");
  table.add({"call cudaGraphSetConditional"}, &set_conditional, "");
  table.add({"trap"}, &trap, ":");
  for (const std::string_view name : {"bar", "bar.cta"}) {
    table.add({name, "sync"}, &barrier<true>, ":r.r");
    table.add({name, "arrive"}, &barrier<false>, ":rr");
    table.add({name, "red.popc.u32"}, &reduce<Combine::count>, "rr.rp");
    table.add({name, "red.and.pred"}, &reduce<Combine::all>, "pr.rp");
    table.add({name, "red.or.pred"}, &reduce<Combine::any>, "pr.rp");
  }
  for (const std::string_view name : {"barrier", "barrier.cta"})
    for (const std::string_view aligned : {"", "aligned"}) {
      table.add({name, "sync", aligned}, &barrier<true>, ":r.r");
      table.add({name, "arrive", aligned}, &barrier<false>, ":rr");
      table.add({name, "red.popc", aligned, "u32"}, &reduce<Combine::count>, "rr.rp");
      table.add({name, "red.and", aligned, "pred"}, &reduce<Combine::all>, "pr.rp");
      table.add({name, "red.or", aligned, "pred"}, &reduce<Combine::any>, "pr.rp");
    }
  table.add({"bar.warp.sync"}, &warp_barrier, ":r");
  // Memory is in order as instructions are executed; what fences order between threads, barriers
  // have to order as well for anybody to rely on it.
  for (const std::string_view scope : {"cta", "gl", "sys"})
    table.add({"membar", scope}, &nothing, ":");
  for (const std::string_view order : {"sc", "acq_rel", "acquire", "release"})
    for (const std::string_view scope : {"cta", "cluster", "gpu", "sys"})
      table.add({"fence", order, scope}, &nothing, ":");
  table.add({"fence.mbarrier_init.release.cluster"}, &nothing, ":");
  for (const std::string_view space : {"", "global", "shared::cta", "shared::cluster"})
    table.add({"fence.proxy.async", space}, &nothing, ":");
  table.add({"griddepcontrol.wait"}, &nothing, ":");
  table.add({"griddepcontrol.launch_dependents"}, &nothing, ":");
  table.add({"nanosleep.u32"}, &pause, ":r");
}

} // namespace WEFT_EMULATOR_LEVEL
