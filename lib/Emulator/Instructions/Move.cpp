// Moves: copies, and registers made of others or taken apart.
#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Machine/Block.h"
#include "Emulator/Memory/Access.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

template <class T>
T same(T a) {
  return a;
}

void move_predicate(Warp &warp, const Instruction &in, LaneMask mask) {
  store_predicate(warp.predicate(in.slots[0]), mask, warp.predicate(in.slots[1]));
}

/// A register of parts, the lowest first: slots[0] of those in `more`.
template <class Whole, class Part>
void pack(Warp &warp, const Instruction &in, LaneMask mask) {
  Whole wholes[kLanes] = {};
  for (std::size_t i = 0; i < sizeof(Whole) / sizeof(Part); ++i) {
    const Part *part = warp.lanes<Part>(in.more[i]);
    WEFT_EACH_LANE
    for (int lane = 0; lane < kLanes; ++lane)
      wholes[lane] |= static_cast<Whole>(part[lane]) << (8 * sizeof(Part) * i);
  }
  store_lanes(warp.lanes<Whole>(in.slots[0]), mask, [&](int lane) { return wholes[lane]; });
}
/// The parts in `more`, of slots[0]; some may not be wanted.
template <class Whole, class Part>
void unpack(Warp &warp, const Instruction &in, LaneMask mask) {
  Whole wholes[kLanes];
  std::memcpy(wholes, warp.lanes<Whole>(in.slots[0]), sizeof wholes); // which may be a part as well
  for (std::size_t i = 0; i < sizeof(Whole) / sizeof(Part); ++i)
    if (in.more[i] != kNoSlot)
      store_lanes(warp.lanes<Part>(in.more[i]), mask, [&](int lane) {
        return static_cast<Part>(wholes[lane] >> (8 * sizeof(Part) * i));
      });
}

template <Where Space>
void is_in_space(Warp &warp, const Instruction &in, LaneMask mask) {
  const auto *a = warp.lanes<std::uint64_t>(in.slots[1]);
  const LaneMask found = mask_of([&](int lane) {
    const bool shared = a[lane] - kSharedWindow < kWindowSize;
    const bool local = a[lane] - kLocalWindow < kWindowSize;
    return Space == Where::shared ? shared : Space == Where::local ? local : !shared && !local;
  });
  store_predicate(warp.predicate(in.slots[0]), mask, found);
}

template <class Whole, class Part>
void add_parts(FormTable &table, std::string_view bits, std::string_view parts) {
  table.add({"mov pack", bits, parts}, &pack<Whole, Part>, "");
  table.add({"mov unpack", bits, parts}, &unpack<Whole, Part>, "");
}

} // namespace

void add_moves(FormTable &table) {
  for (const std::string_view type : {"b16", "u16", "s16"})
    add<&same<std::uint16_t>>(table, {"mov", type});
  for (const std::string_view type : {"b32", "u32", "s32"})
    add<&same<std::uint32_t>>(table, {"mov", type});
  for (const std::string_view type : {"b64", "u64", "s64"})
    add<&same<std::uint64_t>>(table, {"mov", type});
  table.add({"mov", "f32"}, &Map<&same<std::uint32_t>>::run, "ff");
  table.add({"mov", "f64"}, &Map<&same<std::uint64_t>>::run, "gg");
  table.add({"mov", "pred"}, &move_predicate, "pp");
  add_parts<std::uint32_t, std::uint16_t>(table, "32", "2");
  add_parts<std::uint64_t, std::uint32_t>(table, "64", "2");
  add_parts<std::uint64_t, std::uint16_t>(table, "64", "4");
  add_parts<unsigned __int128, std::uint64_t>(table, "128", "2");
  add_parts<unsigned __int128, std::uint32_t>(table, "128", "4");
  table.add({"isspacep.global"}, &is_in_space<Where::global>, "pd");
  table.add({"isspacep.shared"}, &is_in_space<Where::shared>, "pd");
  table.add({"isspacep.shared::cta"}, &is_in_space<Where::shared>, "pd");
  table.add({"isspacep.local"}, &is_in_space<Where::local>, "pd");
}

} // namespace WEFT_EMULATOR_LEVEL
