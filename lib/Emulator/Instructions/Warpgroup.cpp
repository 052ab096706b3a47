// Products of a warpgroup, four warps that follow each other, of matrices in shared memory (wgmma).
//
// Where elements lie is the PTX manual's "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions": each warp has 16 of the 64 rows. Sums are rounded as those of mma.sync, which no
// GPU has confirmed.
#include <cstring>

#include "Emulator/Instructions/TensorCores.h"
#include "Emulator/Machine/Block.h"
#include "Emulator/Memory/Access.h"
#include "Emulator/Memory/Modes.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

using Product = WarpgroupProducts::Product;

constexpr int kRows = 16, kDepth = 16, kMostColumns = 256;
constexpr std::uint32_t kUnitBytes = 16; ///< 8 elements, of which matrices in memory are made

/// Where a matrix is in shared memory, as its descriptor has it.
class Descriptor {
public:
  explicit Descriptor(std::uint64_t bits)
      : start_(field(bits, 0)), leading_(field(bits, 16)), stride_(field(bits, 32)),
        swizzle_(swizzle_bits(bits >> 62)) {}

  /// The address of 8 elements along the sum, or, `across`, of 8 of those side by side that are
  /// summed up each with others. `line` and `unit` are its place across the former and along it.
  std::uint64_t address(std::uint32_t line, std::uint32_t unit, bool across) const {
    const std::uint32_t row_bytes = kUnitBytes << swizzle_, in_row = 1U << swizzle_;
    std::uint64_t at = start_ + (line % 8) * std::uint64_t{row_bytes};
    if (swizzle_ == 0) {
      // Matrices of 8 lines of a unit each, the stride on in lines and in units.
      at += across ? line / 8 * leading_ + unit * stride_ : line / 8 * stride_ + unit * leading_;
    } else {
      at += line / 8 * stride_ + unit % in_row * kUnitBytes + unit / in_row * leading_;
    }
    // Bits 4 and up are exchanged by those from 7 on.
    const std::uint64_t mask = in_row - 1;
    return at ^ (at >> 7 & mask) << 4;
  }

  static constexpr std::uint64_t kUnknown = std::uint64_t{7} << 49; ///< bits that are to be 0

private:
  static std::uint32_t field(std::uint64_t bits, int from) {
    return static_cast<std::uint32_t>(bits >> from & 0x3fff) << 4;
  }
  /// Of the modes none, 128, 64 and 32 bytes.
  static std::uint32_t swizzle_bits(std::uint64_t mode) {
    return mode == 0 ? 0 : 4 - static_cast<std::uint32_t>(mode);
  }

  std::uint32_t start_, leading_, stride_, swizzle_;
};

/// Reads lines of 16 elements along the sum.
template <class T>
void read_matrix(Warp &warp, const Instruction &in, const Descriptor &matrix, std::uint32_t first,
                 std::uint32_t lines, bool across, Factors<kDepth> *out) {
  // Units below each other, 8 at a time, as matrices of 8 x 8 are in memory.
  const std::uint32_t units = lines * kDepth / 8, below = across ? kDepth : lines;
  for (std::uint32_t begin = 0; begin < units; begin += kLanes) {
    std::uint64_t addresses[kLanes] = {};
    std::uint32_t line[kLanes], unit[kLanes];
    LaneMask there = 0;
    for (std::uint32_t lane = 0; lane < kLanes && begin + lane < units; ++lane) {
      line[lane] = (begin + lane) % below;
      unit[lane] = (begin + lane) / below;
      addresses[lane] = matrix.address(across ? line[lane] : first + line[lane],
                                       across ? first / 8 + unit[lane] : unit[lane], across);
      there |= 1U << lane;
    }
    std::byte *where[kLanes];
    access_lanes(warp, Where::shared, {in, there, addresses, kUnitBytes, AccessKind::load, false},
                 where, nullptr);
    for (std::uint32_t lane = 0; lane < kLanes && (there >> lane & 1) != 0; ++lane) {
      T elements[8];
      std::memcpy(elements, where[lane], sizeof elements);
      for (std::uint32_t i = 0; i < 8; ++i) {
        const float element = widened(elements[i]);
        if (across) out[unit[lane] * 8 + i].set(static_cast<int>(line[lane]), element);
        else out[line[lane]].set(static_cast<int>(unit[lane] * 8 + i), element);
      }
    }
  }
}

/// `more` has the slots of the sums, two of each eight columns, and those of a, if it is in
/// registers.
template <class T>
void run(Warp &warp, const Product &product) {
  const Instruction &in = *product.in;
  const auto columns = static_cast<std::uint32_t>(in.offset);
  Factors<kDepth> a[kRows], b[kMostColumns];
  if ((in.mode & kWarpgroupRegisters) != 0) {
    const Slot *slots = in.more + columns / 2;
    for (int r = 0; r < 4; ++r)
      for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < 2; ++i)
          a[lane / 4 + 8 * (r % 2)].set(lane % 4 * 2 + i + r / 2 * 8,
                                        widened(warp.lanes<T>(slots[r])[lane * 2 + i]));
  } else {
    read_matrix<T>(warp, in, Descriptor(product.matrices[0]), warp.index % 4 * kRows, kRows,
                   (in.mode & kWarpgroupAcrossA) != 0, a);
  }
  read_matrix<T>(warp, in, Descriptor(product.matrices[1]), 0, columns,
                 (in.mode & kWarpgroupAcrossB) != 0, b);
  const bool negates = ((in.mode & kWarpgroupNegateA) != 0) != ((in.mode & kWarpgroupNegateB) != 0);
  if (negates)
    for (Factors<kDepth> &row : a)
      for (int k = 0; k < kDepth; ++k) row.set(k, -row.values[k]);
  for (std::uint32_t i = 0; i < columns / 2; ++i) {
    auto *sums = warp.lanes<float>(in.more[i]);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      sums[lane] =
          sum_of_products<kDepth>(a[lane / 4 + i / 2 % 2 * 8], b[i / 4 * 8 + lane % 4 * 2 + i % 2],
                                  product.adds ? sums[lane] : 0);
  }
}

/// What all lanes have to have in common.
template <class U>
U uniform(Warp &warp, const Instruction &in, Slot slot, const char *what) {
  const U *values = warp.lanes<U>(slot);
  for (int lane = 1; lane < kLanes; ++lane)
    if (values[lane] != values[0])
      warp.fail(FaultKind::illegal_instruction, in, lane,
                std::string(what) + " is not the same in all threads of the warp");
  return values[0];
}

template <class T>
void multiply(Warp &warp, const Instruction &in, LaneMask mask) {
  if (!all_there(warp, in, mask)) return;
  Product product{&in, {}, false, &run<T>};
  for (int side = (in.mode & kWarpgroupRegisters) != 0 ? 1 : 0; side < 2; ++side) {
    product.matrices[side] =
        uniform<std::uint64_t>(warp, in, in.slots[side], "the descriptor of a matrix");
    if ((product.matrices[side] & Descriptor::kUnknown) != 0)
      warp.fail(FaultKind::illegal_instruction, in, 0,
                "a matrix whose pattern begins elsewhere than at a multiple of its size is not "
                "known");
  }
  const LaneMask adds = warp.predicate(in.slots[2]);
  if (adds != 0 && adds != kAllLanes)
    warp.fail(FaultKind::illegal_instruction, in, 0,
              "scale-d is not the same in all threads of the warp");
  product.adds = adds != 0;
  warp.block->products(warp).begin(warp, product);
}

void commit(Warp &warp, const Instruction &in, LaneMask mask) {
  if (all_there(warp, in, mask)) warp.block->products(warp).commit();
}

void wait(Warp &warp, const Instruction &in, LaneMask mask) {
  if (!all_there(warp, in, mask)) return;
  warp.block->products(warp).wait(warp, warp.lanes<std::uint32_t>(in.slots[0])[0]);
}

/// Registers are in order as instructions are executed.
void fence(Warp &warp, const Instruction &in, LaneMask mask) { all_there(warp, in, mask); }

} // namespace

void add_warpgroup(FormTable &table) {
  table.add({"wgmma.mma_async f16"}, &multiply<Half>, "");
  table.add({"wgmma.mma_async bf16"}, &multiply<Brain>, "");
  table.add({"wgmma.fence.sync.aligned"}, &fence, ":");
  table.add({"wgmma.commit_group.sync.aligned"}, &commit, ":");
  table.add({"wgmma.wait_group.sync.aligned"}, &wait, ":r");
}

} // namespace WEFT_EMULATOR_LEVEL
