// Loads and stores.
#include <bit>

#include "Emulator/Instructions/Rows.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

/// Of all lanes, as T in memory and R in registers.
template <class T, class R>
void take_row(const Warp &warp, const Instruction &in, const std::byte *bytes,
              std::uint32_t count) {
  const auto *row = reinterpret_cast<const T *>(bytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Slot slot = data_slot(in, i);
    if (slot == kNoSlot) continue;
    R *out = warp.lanes<R>(slot);
    if (count == 1) {
      WEFT_EACH_LANE
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<R>(row[lane]);
    } else {
      WEFT_EACH_LANE
      for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        out[lane] = static_cast<R>(row[lane * count + i]);
    }
  }
}

template <class T, class R, Where Space>
[[gnu::no_sanitize("thread")]] void load(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0) return;
  std::uint64_t addresses[kLanes];
  find_addresses(warp, in, addresses);
  const std::uint32_t count = in.mode & kVectorMask;
  const std::uint32_t bytes = count * sizeof(T);
  const bool atomic = (in.mode & kOrderedAccess) != 0;
  if constexpr (Space == Where::global || Space == Where::shared) {
    if (mask == kAllLanes && are_side_by_side(addresses, bytes)) {
      const Row row = find_row<Space>(warp, in, addresses[0], bytes, bytes * kLanes);
      if (row.bytes != nullptr && note_row_read(warp, row, bytes, atomic)) {
        take_row<T, R>(warp, in, row.bytes, count);
        return count_row(warp, Space, addresses[0], bytes * kLanes, bytes * kLanes, false);
      }
    } else if (mask == kAllLanes && are_equal(addresses)) {
      const Row row = find_row<Space>(warp, in, addresses[0], bytes, bytes);
      if (row.bytes != nullptr && note_uniform_read(warp, row, bytes, atomic)) {
        for (std::uint32_t i = 0; i < count; ++i) {
          T value;
          std::memcpy(&value, row.bytes + i * sizeof(T), sizeof(T));
          if (const Slot slot = data_slot(in, i); slot != kNoSlot)
            store_lanes(warp.lanes<R>(slot), mask, [&](int) { return static_cast<R>(value); });
        }
        return count_row(warp, Space, addresses[0], bytes, bytes * kLanes, false);
      }
    }
  }
  std::byte *where[kLanes];
  access_lanes(warp, Space, {in, mask, addresses, bytes, AccessKind::load, atomic}, where, nullptr);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Slot slot = data_slot(in, i);
    if (slot == kNoSlot) continue;
    R *out = warp.lanes<R>(slot);
    for (LaneMask lanes = mask; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      T value;
      std::memcpy(&value, where[lane] + i * sizeof(T), sizeof(T));
      out[lane] = static_cast<R>(value);
    }
  }
}

template <class T, class R, Where Space>
[[gnu::no_sanitize("thread")]] void store(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0) return;
  constexpr std::uint32_t kMostVector = 8;
  std::uint64_t addresses[kLanes];
  find_addresses(warp, in, addresses);
  const std::uint32_t count = in.mode & kVectorMask;
  const std::uint32_t bytes = count * sizeof(T);
  const bool atomic = (in.mode & kOrderedAccess) != 0;
  T values[kLanes * kMostVector];
  for (std::uint32_t i = 0; i < count; ++i) {
    const R *from = warp.lanes<R>(data_slot(in, i));
    WEFT_EACH_LANE
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      values[lane * count + i] = static_cast<T>(from[lane]);
  }
  if constexpr (Space == Where::global || Space == Where::shared)
    if (mask == kAllLanes && are_side_by_side(addresses, bytes)) {
      const Row row = find_row<Space>(warp, in, addresses[0], bytes, bytes * kLanes);
      if (row.bytes != nullptr) {
        const auto *old = reinterpret_cast<const T *>(row.bytes);
        LaneMask silent = ~0U;
        for (std::uint32_t i = 0; i < count; ++i)
          silent &= mask_of([&](int lane) {
            const std::uint32_t at = static_cast<std::uint32_t>(lane) * count + i;
            return old[at] == values[at];
          });
        if (note_row_write(warp, row, bytes, atomic, silent)) {
          std::memcpy(row.bytes, values, bytes * kLanes);
          return count_row(warp, Space, addresses[0], bytes * kLanes, bytes * kLanes, true);
        }
      }
    }
  std::byte *where[kLanes];
  access_lanes(warp, Space, {in, mask, addresses, bytes, AccessKind::store, atomic}, where,
               reinterpret_cast<const std::byte *>(values));
}

/// ld.param where the parameter is no constant of the launch.
template <class T, class R>
void load_parameter(Warp &warp, const Instruction &in, LaneMask mask) {
  const std::uint32_t count = in.mode & kVectorMask;
  const Launch &launch = warp.block->launch();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at = static_cast<std::uint64_t>(in.offset) + i * sizeof(T);
    if (at + sizeof(T) > launch.parameters.size())
      warp.fail(FaultKind::illegal_address, in, std::countr_zero(mask),
                "reads behind the parameters");
    T value;
    std::memcpy(&value, launch.parameters.data() + at, sizeof(T));
    if (const Slot slot = data_slot(in, i); slot != kNoSlot)
      store_lanes(warp.lanes<R>(slot), mask, [&](int) { return static_cast<R>(value); });
  }
}

template <class T, class R>
void add_load(FormTable &table, std::string_view type, std::string_view bits) {
  table.add({"ld global", type, bits}, &load<T, R, Where::global>, "");
  table.add({"ld shared", type, bits}, &load<T, R, Where::shared>, "");
  table.add({"ld local", type, bits}, &load<T, R, Where::local>, "");
  table.add({"ld generic", type, bits}, &load<T, R, Where::generic>, "");
  table.add({"ld param", type, bits}, &load_parameter<T, R>, "");
}

template <class T, class R>
void add_store(FormTable &table, std::string_view type, std::string_view bits) {
  table.add({"st global", type, bits}, &store<T, R, Where::global>, "");
  table.add({"st shared", type, bits}, &store<T, R, Where::shared>, "");
  table.add({"st local", type, bits}, &store<T, R, Where::local>, "");
  table.add({"st generic", type, bits}, &store<T, R, Where::generic>, "");
}

} // namespace

// Registers may be wider than what is loaded, which is extended, or stored, which is cut.
void add_memory(FormTable &table) {
  add_load<std::uint8_t, std::uint16_t>(table, "u8", "16");
  add_load<std::uint8_t, std::uint32_t>(table, "u8", "32");
  add_load<std::uint8_t, std::uint64_t>(table, "u8", "64");
  add_load<std::int8_t, std::uint16_t>(table, "s8", "16");
  add_load<std::int8_t, std::uint32_t>(table, "s8", "32");
  add_load<std::int8_t, std::uint64_t>(table, "s8", "64");
  add_load<std::uint16_t, std::uint16_t>(table, "u16", "16");
  add_load<std::uint16_t, std::uint32_t>(table, "u16", "32");
  add_load<std::uint16_t, std::uint64_t>(table, "u16", "64");
  add_load<std::int16_t, std::uint16_t>(table, "s16", "16");
  add_load<std::int16_t, std::uint32_t>(table, "s16", "32");
  add_load<std::int16_t, std::uint64_t>(table, "s16", "64");
  add_load<std::uint32_t, std::uint32_t>(table, "u32", "32");
  add_load<std::uint32_t, std::uint64_t>(table, "u32", "64");
  add_load<std::int32_t, std::uint32_t>(table, "s32", "32");
  add_load<std::int32_t, std::uint64_t>(table, "s32", "64");
  add_load<std::uint64_t, std::uint64_t>(table, "u64", "64");
  add_load<std::uint64_t, std::uint64_t>(table, "s64", "64");
  add_store<std::uint8_t, std::uint16_t>(table, "u8", "16");
  add_store<std::uint8_t, std::uint32_t>(table, "u8", "32");
  add_store<std::uint8_t, std::uint64_t>(table, "u8", "64");
  add_store<std::uint16_t, std::uint16_t>(table, "u16", "16");
  add_store<std::uint16_t, std::uint32_t>(table, "u16", "32");
  add_store<std::uint16_t, std::uint64_t>(table, "u16", "64");
  add_store<std::uint32_t, std::uint32_t>(table, "u32", "32");
  add_store<std::uint32_t, std::uint64_t>(table, "u32", "64");
  add_store<std::uint64_t, std::uint64_t>(table, "u64", "64");
}

} // namespace WEFT_EMULATOR_LEVEL
