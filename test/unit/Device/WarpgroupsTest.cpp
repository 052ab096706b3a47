// Products by warpgroups on the emulator: of whole numbers, whose sums are exact, so that results
// are the CPU's to the bit; factors of either layout, ends of all axes, batches, what is done with
// results, convolutions.
#include <string>
#include <vector>

#include "OnGpu.h"
#include <weft/weft.h>

namespace weft::device {
namespace {

/// Whole numbers from -4 to 4.
Tensor whole(const Shape &shape, std::int64_t seed, DType dtype) {
  return cast(random::randint(shape, -4, 5, {.seed = seed}), dtype);
}

/// What a function of two tensors gives on the device, which is the CPU's of f64 once rounded, by
/// warpgroups, whose lanes meet no bank twice.
template <class F>
void expect_exact(const F &f, const Tensor &a, const Tensor &b, const std::string &what) {
  const Tensor x = a.to("gpu:0"), y = b.to("gpu:0");
  auto traced = function(f);
  const Counters counters;
  counters.reset();
  const Tensor found = traced(x, y).to("cpu");
  EXPECT_EQ(counters.read().shared_bank_conflicts, 0U) << what;
  EXPECT_NE(traced.ir(x, y, Phase::ptx).find("wgmma.mma_async"), std::string::npos) << what;
  const Tensor wanted = cast(f(cast(a, DType::f64), cast(b, DType::f64)), found.dtype());
  EXPECT_EQ(cast(found, DType::f32).to_vector<float>(), cast(wanted, DType::f32).to_vector<float>())
      << what;
}

TEST(Warpgroups, MultiplyFactorsOfEitherLayout) {
  on_gpu("stress,seed=2", [] {
    for (const bool transpose_lhs : {false, true})
      for (const bool transpose_rhs : {false, true}) {
        const Tensor a = whole(transpose_lhs ? Shape{72, 2048} : Shape{2048, 72}, 1, DType::bf16),
                     b = whole(transpose_rhs ? Shape{1024, 72} : Shape{72, 1024}, 2, DType::bf16);
        expect_exact(
            [&](const Tensor &x, const Tensor &y) {
              return matmul(x, y, {.transpose_lhs = transpose_lhs, .transpose_rhs = transpose_rhs});
            },
            a, b, std::to_string(transpose_lhs) + std::to_string(transpose_rhs));
      }
  });
}

// Parts along the sum, the last of them shorter, and ends of all axes.
TEST(Warpgroups, HaveTilesThatNothingDivides) {
  on_gpu("", [] {
    const Tensor a = whole({64, 130, 200}, 1, DType::f16), b = whole({64, 200, 136}, 2, DType::f16);
    expect_exact([](const Tensor &x, const Tensor &y) { return matmul(x, y); }, a, b, "batches");
  });
}

// Tiles of 256 columns, more parts than there are in shared memory.
TEST(Warpgroups, DoWhatFollows) {
  on_gpu("", [] {
    const Tensor a = whole({2048, 264}, 1, DType::bf16), b = whole({264, 2048}, 2, DType::bf16);
    expect_exact([](const Tensor &x, const Tensor &y) { return maximum(matmul(x, y) * 0.5, 0); }, a,
                 b, "an epilogue");
  });
}

TEST(Warpgroups, MultiplyForConvolutions) {
  on_gpu("", [] {
    const Tensor image = whole({16, 32, 32, 16}, 1, DType::bf16),
                 kernel = whole({3, 3, 16, 128}, 2, DType::bf16);
    expect_exact([](const Tensor &x,
                    const Tensor &k) { return convolution(x, k, {.padding = Padding::same}); },
                 image, kernel, "a convolution");
  });
}

} // namespace
} // namespace weft::device
