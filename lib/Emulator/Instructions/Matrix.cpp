// Products of small matrices whose elements lie spread over the lanes of a warp, and the loads that
// spread them.
//
// Where an element lies is the PTX manual's "Matrix Fragments for mma.m16n8k16" and the sections
// beside it. f64 is a chain of fma, `k` ascending, as it is on an H200.
#include "Emulator/Instructions/TensorCores.h"
#include "Emulator/Machine/Block.h"
#include "Emulator/Memory/Access.h"
#include "Emulator/Memory/Modes.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

/// The upper 19 bits of an f32; what stands below has no meaning.
struct Tensor32 {
  std::uint32_t bits;
};
inline float widened(Tensor32 x) { return canonical(bits_as<float>(x.bits & ~0x1fffU)); }

/// mma.sync of m16n8kK with f32 accumulated. `more` has the slots of d, a, b and c.
template <class T, int K>
void multiply(Warp &warp, const Instruction &in, LaneMask mask) {
  if (!all_there(warp, in, mask)) return;
  constexpr int kPerRegister = sizeof(std::uint32_t) / sizeof(T), kQuarter = 4 * kPerRegister;
  constexpr int kRegistersA = 2 * K / kQuarter, kRegistersB = K / kQuarter;
  const Slot *slots = in.more;
  Factors<K> a[16], b[8];
  float d[4][kLanes];
  const auto element = [&](Slot slot, int lane, int i) {
    return widened(warp.lanes<T>(slot)[lane * kPerRegister + i]);
  };
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < kPerRegister; ++i) {
      const int group = lane / 4, k = lane % 4 * kPerRegister + i;
      for (int r = 0; r < kRegistersA; ++r)
        a[group + 8 * (r % 2)].set(k + r / 2 * kQuarter, element(slots[4 + r], lane, i));
      for (int r = 0; r < kRegistersB; ++r)
        b[group].set(k + r * kQuarter, element(slots[4 + kRegistersA + r], lane, i));
    }
  for (int i = 0; i < 4; ++i) {
    const float *c = warp.lanes<float>(slots[4 + kRegistersA + kRegistersB + i]);
    for (int lane = 0; lane < kLanes; ++lane)
      d[i][lane] = sum_of_products<K>(a[lane / 4 + 8 * (i / 2)], b[lane % 4 * 2 + i % 2], c[lane]);
  }
  for (int i = 0; i < 4; ++i)
    if (slots[i] != kNoSlot) std::memcpy(warp.lanes<float>(slots[i]), d[i], sizeof d[i]);
}

/// mma.sync of f64, m8n8k4 or m16n8kK: fragments are those of m8n8k4 below each other first, then
/// along the sum.
template <int Rows, int K>
void multiply_f64(Warp &warp, const Instruction &in, LaneMask mask) {
  if (!all_there(warp, in, mask)) return;
  constexpr int kHalves = Rows / 8, kRegistersA = kHalves * K / 4, kRegistersB = K / 4;
  constexpr int kSums = 2 * kHalves;
  const Slot *slots = in.more;
  const double *a[kRegistersA], *b[kRegistersB];
  for (int r = 0; r < kRegistersA; ++r) a[r] = warp.lanes<double>(slots[kSums + r]);
  for (int r = 0; r < kRegistersB; ++r) b[r] = warp.lanes<double>(slots[kSums + kRegistersA + r]);
  double d[kSums][kLanes];
  for (int i = 0; i < kSums; ++i) {
    const auto *c = warp.lanes<double>(slots[kSums + kRegistersA + kRegistersB + i]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane / 4, column = lane % 4 * 2 + i % 2;
      double sum = c[lane];
      for (int k = 0; k < K; ++k)
        sum = canonical(fused_multiply_add(a[k / 4 * kHalves + i / 2][4 * row + k % 4],
                                           b[k / 4][4 * column + k % 4], sum));
      d[i][lane] = sum;
    }
  }
  for (int i = 0; i < kSums; ++i)
    if (slots[i] != kNoSlot) std::memcpy(warp.lanes<double>(slots[i]), d[i], sizeof d[i]);
}

/// ldmatrix of 8x8 matrices of 16-bit numbers: lane i has the address of row i % 8 of matrix i / 8.
template <int Count, bool Transposed>
void load_matrices(Warp &warp, const Instruction &in, LaneMask mask) {
  if (!all_there(warp, in, mask)) return;
  constexpr std::uint32_t kRowBytes = 16;
  std::uint64_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    addresses[lane] =
        static_cast<std::uint64_t>(in.offset) +
        ((in.mode & kNarrowAddress) != 0 ? warp.lanes<std::uint32_t>(in.slots[0])[lane]
                                         : warp.lanes<std::uint64_t>(in.slots[0])[lane]);
  constexpr LaneMask kRows = Count == 4 ? kAllLanes : (1U << (8 * Count)) - 1;
  std::byte *where[kLanes];
  const auto space = static_cast<Where>(in.mode >> kWhereShift & 3);
  access_lanes(warp, space, {in, kRows, addresses, kRowBytes, AccessKind::load, false}, where,
               nullptr);
  for (int matrix = 0; matrix < Count; ++matrix) {
    if (in.more[matrix] == kNoSlot) continue;
    std::uint16_t elements[8][8];
    for (int row = 0; row < 8; ++row)
      std::memcpy(elements[row], where[8 * matrix + row], kRowBytes);
    auto *out = warp.lanes<std::uint32_t>(in.more[matrix]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int i = lane / 4, j = lane % 4 * 2;
      const std::uint32_t low = Transposed ? elements[j][i] : elements[i][j];
      const std::uint32_t high = Transposed ? elements[j + 1][i] : elements[i][j + 1];
      out[lane] = low | high << 16;
    }
  }
}

template <class T, int K>
void add_product(FormTable &table, std::string_view shape, std::string_view type,
                 std::string_view signature) {
  table.add({"mma.sync.aligned", shape, "row.col.f32", type, type, "f32"}, &multiply<T, K>,
            signature);
}

template <int Count>
void add_load(FormTable &table, std::string_view count, std::string_view signature) {
  for (const std::string_view space : {"", "shared", "shared::cta"}) {
    const auto where = space.empty() ? Where::generic : Where::shared;
    const auto mode = static_cast<std::uint32_t>(where) << kWhereShift;
    table.add({"ldmatrix.sync.aligned.m8n8", count, space, "b16"}, &load_matrices<Count, false>,
              signature, mode);
    table.add({"ldmatrix.sync.aligned.m8n8", count, "trans", space, "b16"},
              &load_matrices<Count, true>, signature, mode);
  }
}

} // namespace

void add_matrices(FormTable &table) {
  add_product<Half, 16>(table, "m16n8k16", "f16", "[4f4r2r4f");
  add_product<Half, 8>(table, "m16n8k8", "f16", "[4f2r1r4f");
  add_product<Brain, 16>(table, "m16n8k16", "bf16", "[4f4r2r4f");
  add_product<Brain, 8>(table, "m16n8k8", "bf16", "[4f2r1r4f");
  add_product<Tensor32, 8>(table, "m16n8k8", "tf32", "[4f4r2r4f");
  add_product<Tensor32, 4>(table, "m16n8k4", "tf32", "[4f2r1r4f");
  const auto add_f64 = [&](std::string_view shape, auto *run, std::string_view signature) {
    table.add({"mma.sync.aligned", shape, "row.col.f64.f64.f64.f64"}, run, signature);
  };
  add_f64("m8n8k4", &multiply_f64<8, 4>, "[2g1g1g2g");
  add_f64("m16n8k4", &multiply_f64<16, 4>, "[4g2g1g4g");
  add_f64("m16n8k8", &multiply_f64<16, 8>, "[4g4g2g4g");
  add_f64("m16n8k16", &multiply_f64<16, 16>, "[4g8g4g4g");
  add_load<1>(table, "x1", "[1rA");
  add_load<2>(table, "x2", "[2rA");
  add_load<4>(table, "x4", "[4rA");
}

} // namespace WEFT_EMULATOR_LEVEL
