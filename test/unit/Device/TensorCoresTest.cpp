// Products by warpgroups and of tf32 on the emulator: of whole numbers, whose sums are exact, so
// that results are the CPU's to the bit; factors of either layout, ends of all axes, batches, what
// is done with results, convolutions.
#include <cmath>
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

bool all_of(const Tensor &holds) { return min(cast(holds, DType::i32)).item<std::int32_t>() == 1; }

/// What a function of two tensors gives on the device, which is the CPU's of f64 once rounded, by
/// that instruction, whose lanes meet no bank twice.
template <class F>
void expect_exact(const F &f, const Tensor &a, const Tensor &b, const std::string &what,
                  const std::string &instruction = "wgmma.mma_async") {
  const Tensor x = a.to("gpu:0"), y = b.to("gpu:0");
  auto traced = function(f, {.tf32 = true});
  const Counters counters;
  counters.reset();
  const Tensor found = traced(x, y).to("cpu");
  EXPECT_EQ(counters.read().shared_bank_conflicts, 0U) << what;
  EXPECT_NE(traced.ir(x, y, Phase::ptx).find(instruction), std::string::npos) << what;
  const Tensor wanted = cast(f(cast(a, DType::f64), cast(b, DType::f64)), found.dtype());
  EXPECT_EQ(cast(found, DType::f32).to_vector<float>(), cast(wanted, DType::f32).to_vector<float>())
      << what;
}

/// The product of m x k by k x n with factors of either layout.
void expect_layouts(std::int64_t m, std::int64_t k, std::int64_t n, DType dtype,
                    const std::string &instruction) {
  for (const bool transpose_lhs : {false, true})
    for (const bool transpose_rhs : {false, true})
      expect_exact(
          [&](const Tensor &x, const Tensor &y) {
            return matmul(x, y, {.transpose_lhs = transpose_lhs, .transpose_rhs = transpose_rhs});
          },
          whole(transpose_lhs ? Shape{k, m} : Shape{m, k}, 1, dtype),
          whole(transpose_rhs ? Shape{n, k} : Shape{k, n}, 2, dtype),
          std::to_string(transpose_lhs) + std::to_string(transpose_rhs), instruction);
}

constexpr const char *kWarpgroups = "wgmma.mma_async",
                     *kTf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";

TEST(Warpgroups, MultiplyFactorsOfEitherLayout) {
  on_gpu("stress,seed=2", [] { expect_layouts(2048, 72, 1024, DType::bf16, kWarpgroups); });
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

// Of two neighbouring results one may be beyond the last column: what is there is not read, as
// another block may be writing it.
TEST(TensorCores, BeginWithWhatIsTheirs) {
  on_gpu("stress,seed=3", [] {
    const Tensor a = whole({2, 33, 32}, 1, DType::bf16), b = whole({2, 32, 32}, 2, DType::bf16);
    const auto gradient = [](const Tensor &x, const Tensor &y) {
      GradientTape tape;
      tape.watch(y);
      const Tensor power =
          std::get<1>(while_loop([](const Tensor &i, const Tensor &) { return i < 2; },
                                 [&](const Tensor &i, const Tensor &z) {
                                   return std::tuple(i + 1, matmul(z, y) * 0.0625);
                                 },
                                 0, x));
      return tape.gradient(power, y);
    };
    auto traced = function(gradient);
    const Tensor here = cast(gradient(a, b), DType::f32),
                 there = cast(traced(a.to("gpu:0"), b.to("gpu:0")), DType::f32).to("cpu");
    EXPECT_LE(max(abs(here - there)).item<float>(), 0.02F * max(abs(here)).item<float>());
  });
}

// Numbers of 16 bits are widened before anything is computed of them, on every chip.
TEST(TensorCores, ComputeInF32WhatFollows) {
  for (const std::string chip : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"})
    on_gpu("chip=" + chip, [&] {
      for (const DType dtype : {DType::bf16, DType::f16}) {
        const Tensor h = whole({64, 64}, 1, dtype).to("gpu:0"),
                     b = whole({64}, 2, dtype).to("gpu:0");
        auto f = function([](const Tensor &x, const Tensor &y) {
          const Tensor z = matmul(x, x) + y;
          return std::tuple(maximum(z, 0), select(z > 0, z, z * 0.5),
                            sum(cast(x, DType::f32) + 2, {.axes = Ints{0}}));
        });
        const auto [positive, leaky, sums] = f(h, b);
        const auto [wanted, other, total] = f(h.to("cpu"), b.to("cpu"));
        const auto same = [&](const Tensor &x, const Tensor &y) {
          EXPECT_EQ(cast(x, DType::f32).to_vector<float>(), cast(y, DType::f32).to_vector<float>())
              << chip;
        };
        same(positive, wanted);
        same(leaky, other);
        same(sums, total);
      }
    });
}

TEST(Tf32, MultipliesFactorsOfEitherLayout) {
  on_gpu("stress,seed=4", [] {
    expect_layouts(132, 44, 72, DType::f32, kTf32);
    expect_exact([](const Tensor &x, const Tensor &y) { return matmul(x, y); },
                 whole({33, 260, 24}, 1, DType::f32), whole({33, 24, 260}, 2, DType::f32),
                 "large tiles", kTf32);
  });
}

TEST(Tf32, MultipliesForConvolutionsAndGradients) {
  on_gpu("", [] {
    const Tensor image = whole({2, 17, 18, 16}, 1, DType::f32),
                 kernel = whole({3, 3, 16, 32}, 2, DType::f32);
    expect_exact([](const Tensor &x, const Tensor &k) { return convolution(x, k); }, image, kernel,
                 "a convolution", kTf32);
    expect_exact(
        [](const Tensor &x, const Tensor &y) {
          const auto [product, back] =
              vjp([](const Tensor &p, const Tensor &q) { return matmul(p, q); }, x, y);
          const auto [dx, dy] = back(product);
          return concatenate({reshape(dx, {-1}), reshape(dy, {-1})});
        },
        whole({64, 32}, 1, DType::f32), whole({32, 64}, 2, DType::f32), "gradients", kTf32);
  });
}

// Factors are rounded to 11 bits, NaN stays, and who did not ask for it has all bits.
TEST(Tf32, RoundsFactorsWhereItWasAskedFor) {
  on_gpu("", [] {
    const Tensor a = random::normal({64, 64}, {.seed = 1}),
                 b = random::normal({64, 64}, {.seed = 2});
    const Tensor exact = matmul(cast(a, DType::f64), cast(b, DType::f64));
    const auto product = [](const Tensor &x, const Tensor &y) { return matmul(x, y); };
    const auto error = [&](bool tf32) {
      auto f = function(product, {.tf32 = tf32});
      const Tensor y = f(a.to("gpu:0"), b.to("gpu:0")).to("cpu");
      return max(abs(cast(y, DType::f64) - exact)).item<double>();
    };
    EXPECT_LT(error(false), 1e-4);
    EXPECT_GT(error(true), 1e-4);
    EXPECT_LT(error(true), 64 * 0x1p-11);
    auto f = function(product, {.tf32 = true});
    const Tensor bad = select(iota(DType::i64, {64}) == 3, std::nan(""), a);
    EXPECT_TRUE(all_of(isnan(f(bad.to("gpu:0"), b.to("gpu:0")).to("cpu"))));
    // Derivatives of a call under a tape are of the same function.
    GradientTape tape;
    const Tensor x = a.to("gpu:0");
    tape.watch(x);
    const Tensor dx = tape.gradient(f(x, b.to("gpu:0")), x).to("cpu");
    const Tensor exact_dx = matmul(ones({64, 64}), b, {.transpose_rhs = true});
    EXPECT_GT(max(abs(dx - exact_dx)).item<float>(), 1e-4F);
    // On the CPU nothing is rounded.
    EXPECT_EQ(f(a, b).to_vector<float>(), product(a, b).to_vector<float>());
  });
}

} // namespace
} // namespace weft::device
