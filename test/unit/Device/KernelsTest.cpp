// Kernels of compiled functions on the emulator: results beside the processor's for every way in
// which work is spread over threads, and what they cost in memory requests.
#include <cmath>
#include <string>
#include <vector>

#include "../Testing.h"
#include "OnGpu.h"
#include "Support/Cpu.h"
#include <weft/weft.h>

namespace weft::device {
namespace {

using Unary = std::function<Tensor(Tensor)>;

/// The largest difference of two lists of floats, relative to the largest magnitude in them.
double difference(const Tensor &given, const Tensor &wanted) {
  EXPECT_EQ(given.shape(), wanted.shape());
  const auto a = cast(given, DType::f64).to_vector<double>(),
             b = cast(wanted, DType::f64).to_vector<double>();
  double most = 0, scale = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    most = std::max(most, std::isnan(a[i] - b[i]) ? 1e300 : std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return most / scale;
}

Tensor samples(const Shape &shape, DType dtype = DType::f32) {
  return cast(random::Generator(11).normal(shape), dtype);
}

/// Compares a function's results on the emulator with the processor's, for every shape.
void compare(const Unary &body, const std::vector<Shape> &shapes, double tolerance,
             DType dtype = DType::f32) {
  on_gpu("stress,seed=3", [&] {
    for (const Shape &shape : shapes) {
      auto f = function(body);
      const Tensor x = samples(shape, dtype);
      EXPECT_LE(difference(f(x.to("gpu:0")), f(x)), tolerance) << to_string(shape);
    }
  });
}

/// Rows of every length around a warp, what a warp has in registers, a block's and a large block's.
const std::vector<Shape> kRows = {{5, 7},    {5, 16},   {9, 31},   {3, 33},   {20, 64},
                                  {3, 255},  {2, 257},  {2, 300},  {3, 1000}, {1, 2048},
                                  {2, 4096}, {1, 4097}, {2, 8193}, {2, 3, 40}};

TEST(Kernels, ReductionsOfRows) {
  compare([](Tensor x) { return sum(x, {-1}); }, kRows, 1e-5);
  compare([](Tensor x) { return max(x, {-1}) + cast(argmax_along(x, -1), DType::f32); }, kRows, 0);
  const std::vector<Shape> some = {{5, 7}, {9, 31}, {3, 255}, {3, 1000}};
  compare([](Tensor x) { return prod(x * 0.1F + 1, {-1}); }, some, 1e-4);
  compare([](Tensor x) { return cast(any(x > 2.5F, {-1}), DType::f32); }, some, 0);
}

TEST(Kernels, ReductionsOfColumns) {
  const std::vector<Shape> shapes = {{7, 5}, {8, 3}, {300, 33}, {100, 64}, {9, 4, 31}, {5000, 3}};
  compare([](Tensor x) { return sum(x, {0}); }, shapes, 1e-5);
  compare([](Tensor x) { return min(x, {0}); }, shapes, 0);
  compare([](Tensor x) { return sum(x, {0}); }, {{9, 4, 31}}, 1e-12, DType::f64);
  compare([](Tensor x) { return sum(x, {0, 2}); }, {{9, 4, 31}, {64, 2, 50}}, 1e-5);
}

TEST(Kernels, ReductionsInParts) {
  const std::vector<Shape> shapes = {{4095}, {4096}, {5000}, {100001}, {3, 70000}};
  compare([](Tensor x) { return sum(x); }, shapes, 1e-5);
  compare([](Tensor x) { return max(x, {-1}); }, shapes, 0);
  compare([](Tensor x) { return sum(x, {0}); }, {{20000, 5}}, 1e-5);
}

TEST(Kernels, ReductionsOfOtherTypes) {
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i64})
    compare([](Tensor x) { return sum(x, {-1}); }, {{3, 40}, {2, 300}, {6000}},
            dtype == DType::f16    ? 1e-3
            : dtype == DType::bf16 ? 1e-2
                                   : 1e-12,
            dtype);
}

TEST(Kernels, ReductionsOfOpenSizes) {
  on_gpu("stress", [] {
    auto f = function([](Tensor x) { return sum(x, {1}) + max(x); },
                      {.signature = {spec(DType::f32, {unknown, unknown})}});
    for (const Shape &shape : std::vector<Shape>{{1, 1}, {3, 40}, {200, 300}, {2, 9000}}) {
      const Tensor x = samples(shape);
      EXPECT_LE(difference(f(x.to("gpu:0")), f(x)), 1e-5) << to_string(shape);
    }
    EXPECT_EQ(f.trace_count(), 1U);
    auto rows = function([](Tensor x) { return sum(x, {1}); },
                         {.signature = {spec(DType::f32, {unknown, unknown})}});
    EXPECT_EQ(rows(zeros({0, 5}).to("gpu:0")).shape(), (Shape{0}));
    EXPECT_EQ(rows(zeros({3, 0}).to("gpu:0")).to_vector<float>(), std::vector<float>(3));
  });
}

TEST(Kernels, ChainsOfRows) {
  compare([](Tensor x) { return nn::log_softmax(x * 3) + x; }, kRows, 1e-6);
  compare([](Tensor x) { return (x - mean(x, {.axes = {-1}, .keepdims = true})) / max(x); },
          {{40, 40}}, 1e-5);
  // In the place of what it reads.
  compare(
      [](Tensor x) {
        Tensor y = x + 1;
        for (int i = 0; i < 3; ++i) y = nn::softmax(y * y + x);
        return y;
      },
      kRows, 1e-5);
}

TEST(Kernels, ManyElementsAreReadSeveralAtOnce) {
  const std::vector<Shape> shapes = {{1024, 512}};
  compare([](Tensor x) { return tanh(x) * x + 1; }, shapes, 0);
  compare([](Tensor x) { return x + mean(x, {0}) - x[{ellipsis, slice(0, 1)}]; }, shapes, 1e-6);
  compare([](Tensor x) { return cast(cast(x, DType::bf16) * 2, DType::f64); }, shapes, 0);
  compare(
      [](Tensor x) { return cast(x > 0, DType::f32) + cast(cast(x * 9, DType::i8), DType::f32); },
      shapes, 0);
  compare([](Tensor x) { return real(cast(x, DType::c64) * cast(x, DType::c64)); }, shapes, 0);
  compare([](Tensor x) { return gather(x, cast(abs(x[{ellipsis, 0}]) * 9, DType::i64)) + x; },
          shapes, 0);
  // Rows that 16 bytes do not divide.
  compare([](Tensor x) { return exp(x) - 1; }, {{1024, 515}}, 0);
}

TEST(Kernels, NoChainLooksUpWhatItMakes) {
  compare([](Tensor x) { return cast(argsort(x), DType::f32) + gather(x, argsort(-x)); },
          {{15}, {40}, {300}}, 1e-6);
}

TEST(Kernels, NormsAndTheirGradients) {
  compare(
      [](Tensor x) {
        return grad([](Tensor y) {
          const std::int64_t n = y.shape().back();
          return sum(nn::layer_norm(y, linspace(1, 2, n), zeros({n})) * y);
        })(x);
      },
      {{4, 16}, {3, 100}, {2, 700}}, 1e-4);
}

TEST(Kernels, ProductsHaveTheBitsOfTheProcessor) {
  const double tolerance = host_cpu_level() >= CpuLevel::v3 ? 0 : 1e-6;
  on_gpu("stress,seed=3", [&] {
    struct Case {
      std::int64_t m, n, k;
    };
    for (const auto &[m, n, k] :
         {Case{16, 16, 16}, Case{17, 65, 33}, Case{64, 64, 1}, Case{100, 130, 48}, Case{3, 40, 20},
          Case{1, 70, 300}, Case{64, 64, 0}, Case{80, 84, 16}, Case{140, 68, 80}}) {
      for (const int form : {0, 1, 2, 3}) {
        auto f = function([form](Tensor a, Tensor b) {
          return matmul(form & 1 ? transpose(a, {1, 0}) : a, form & 2 ? transpose(b, {1, 0}) : b);
        });
        const Tensor a = samples(form & 1 ? Shape{k, m} : Shape{m, k}),
                     b = samples(form & 2 ? Shape{n, k} : Shape{k, n});
        // The processor's product with a row sums in lanes.
        EXPECT_LE(difference(f(a.to("gpu:0"), b.to("gpu:0")), f(a, b)), m == 1 ? 1e-6 : tolerance)
            << m << " " << n << " " << k << " form " << form;
      }
    }
    auto batched = function([](Tensor a, Tensor b) { return matmul(a, b); });
    const Tensor a = samples({3, 20, 30}), b = samples({3, 30, 40});
    EXPECT_LE(difference(batched(a.to("gpu:0"), b.to("gpu:0")), batched(a, b)), tolerance);
    const Tensor c = samples({520, 20}), d = samples({20, 530});
    EXPECT_LE(difference(batched(c.to("gpu:0"), d.to("gpu:0")), batched(c, d)), tolerance);
  });
}

TEST(Kernels, ArgumentsNeedNotBeAligned) {
  on_gpu("", [] {
    // A view that begins where no 16 bytes do, and operands that are read 16 bytes at a time.
    const Tensor all = samples({33 * 32}), there = all.to("gpu:0");
    auto f = function([](Tensor a, Tensor b) { return matmul(a, b); });
    const auto view = [](const Tensor &x) { return reshape(x[slice(1, 1025)], {32, 32}); };
    EXPECT_LE(difference(f(view(there), view(there)), f(view(all), view(all))), 1e-6);
    // Strided views that begin at such a place too, up to the end of what they are of.
    const Tensor tail = there[slice(1, 1056)], rows = reshape(there, {33, 32});
    EXPECT_EQ(tail[slice(0, 1055, 5)].to_vector<float>(),
              all[slice(1, 1056, 5)].to_vector<float>());
    const auto odd = [](const Tensor &x) { return x[{slice(1, 33), slice(3, 32, 2)}]; };
    const auto later = [](const Tensor &x) { return x[{ellipsis, slice(1, 32)}].mT(); };
    const auto same = [](const Tensor &x, const Tensor &y) {
      EXPECT_EQ(x.to_vector<float>(), y.to_vector<float>());
    };
    same(odd(rows), odd(reshape(all, {33, 32})));
    same(later(rows) + 0, later(reshape(all, {33, 32})));
    const Variable v(view(there));
    auto g = function([&](Tensor a) { return matmul(a, v); });
    EXPECT_LE(difference(g(view(there)), f(view(all), view(all))), 1e-6);
  });
}

TEST(Kernels, ProductsOfF64HaveTheBitsOfTheProcessorOnTensorCores) {
  const double tolerance = host_cpu_level() >= CpuLevel::v3 ? 0 : 1e-15;
  struct Case {
    std::int64_t batch, m, n, k;
  };
  // Parts that are whole, of which stages come round, and others; sizes that no tile divides.
  const Case small[] = {{1, 64, 64, 160}, {3, 70, 90, 50}, {1, 17, 65, 33}, {1, 40, 48, 1}},
             tall = {128, 128, 64, 32}, wide = {256, 128, 128, 32}, ragged = {128, 130, 70, 18};
  for (const std::string chip : {"sm_75", "sm_80", "sm_90"})
    on_gpu("stress,seed=5,chip=" + chip, [&] {
      std::vector<Case> cases(std::begin(small), std::end(small));
      if (chip == "sm_80") cases.insert(cases.end(), {tall, ragged});
      if (chip == "sm_90") cases.push_back(wide);
      for (const auto &[batch, m, n, k] : cases)
        for (const int form : {0, 1, 2, 3}) {
          if (batch > 100 && form != (chip == "sm_80" ? 2 : 1)) continue; // they take seconds
          const bool lhs = (form & 1) != 0, rhs = (form & 2) != 0;
          auto multiply = function([=](Tensor x, Tensor y) {
            return matmul(x, y, {.transpose_lhs = lhs, .transpose_rhs = rhs});
          });
          // Thirds, as products of numbers of f32 need no rounding.
          const Tensor x = samples(lhs ? Shape{batch, k, m} : Shape{batch, m, k}, DType::f64) / 3,
                       y = samples(rhs ? Shape{n, k} : Shape{k, n}, DType::f64) / 3;
          const Tensor there = multiply(x.to("gpu:0"), y.to("gpu:0"));
          EXPECT_LE(difference(there, multiply(x, y)), tolerance)
              << chip << " " << m << " " << n << " " << k << " form " << form;
          const Counters counters;
          counters.reset();
          multiply(x.to("gpu:0"), y.to("gpu:0")).to("cpu");
          EXPECT_EQ(counters.read().shared_bank_conflicts, 0U)
              << chip << " " << m << " " << n << " " << k << " form " << form;
        }
      // A sum that is -0, as what is left of a product may be, stays so to the end of the part.
      auto square = function([](Tensor x) { return 1 / matmul(x, -x.mT()); });
      const Tensor small = broadcast(tensor(1e-200), {20, 2});
      EXPECT_EQ(square(small.to("gpu:0")).to_vector<double>(), square(small).to_vector<double>());
      EXPECT_EQ(square(small).to_vector<double>()[0], -INFINITY);
    });
}

/// What a function of one argument on the emulator does after its first call.
weft_emulator_counters_t cost_of(const Unary &body, const Shape &shape) {
  auto f = function(body);
  const Tensor x = samples(shape).to("gpu:0");
  f(x).to_vector<float>();
  const Counters counters;
  counters.reset();
  f(x).to_vector<float>();
  return counters.read();
}

TEST(Kernels, ReadAndWriteAsLittleAsTheyCan) {
  on_gpu("", [] {
    struct Case {
      const char *name;
      Unary body;
      Shape shape;
      std::size_t bytes, launches;
    };
    const std::size_t row = 64 * 1000 * 4;
    for (const auto &[name, body, shape, bytes, launches] :
         {Case{"softmax", [](Tensor x) { return nn::softmax(x); }, {64, 1000}, 2 * row, 1},
          Case{"transpose",
               [](Tensor x) { return exp(transpose(x, {1, 0})); },
               {64, 1000},
               2 * row,
               1},
          Case{"transpose of a stack",
               [](Tensor x) { return transpose(x, {2, 0, 1}) * 2; },
               {8, 40, 200},
               2 * row,
               1},
          Case{"elementwise", [](Tensor x) { return tanh(x) * x + 1; }, {64, 1000}, 2 * row, 1},
          Case{"elementwise, 16 bytes at once",
               [](Tensor x) { return x * x + 1; },
               {1024, 512},
               2 * 1024 * 512 * 4,
               1},
          Case{"sum of rows",
               [](Tensor x) { return sum(x, {-1}); },
               {64, 1024},
               64 * 1024 * 4 + 256,
               1},
          Case{"sum of columns",
               [](Tensor x) { return sum(x, {0}); },
               {64, 1024},
               64 * 1024 * 4 + 4096,
               1},
          // Gamma and beta are read for every row, from the cache.
          Case{"layer norm",
               [](Tensor x) { return nn::layer_norm(x, ones({1000}), zeros({1000})); },
               {64, 1000},
               4 * row,
               1}}) {
      const weft_emulator_counters_t cost = cost_of(body, shape);
      EXPECT_EQ(cost.launches, launches) << name;
      EXPECT_LE(cost.global_sectors * 32, bytes * 1.05) << name;
      // All of the sectors that a request touches.
      EXPECT_LE(cost.global_sectors * 32,
                (cost.global_bytes_loaded + cost.global_bytes_stored) * 1.05)
          << name;
      EXPECT_EQ(cost.shared_bank_conflicts, 0U) << name;
    }
  });
}

TEST(Kernels, ProductsMeetNoBankTwice) {
  on_gpu("", [] {
    for (const int form : {0, 1, 2, 3}) {
      const weft_emulator_counters_t cost = cost_of(
          [form](Tensor x) {
            return matmul(form & 1 ? transpose(x, {1, 0}) : x, form & 2 ? transpose(x, {1, 0}) : x);
          },
          {128, 128});
      EXPECT_EQ(cost.shared_bank_conflicts, 0U) << form;
      EXPECT_LE(cost.global_sectors * 32,
                (cost.global_bytes_loaded + cost.global_bytes_stored) * 1.03)
          << form;
      // Both operands are copied 16 bytes at a time, for four tiles, and stored once.
      EXPECT_LE(cost.global_bytes_loaded, 4U * 2 * 64 * 128 * 4) << form;
    }
  });
}

TEST(Kernels, ConvolutionsReadTilesOnce) {
  on_gpu("", [] {
    const Tensor kernel = samples({3, 3, 16, 64}).to("gpu:0");
    const auto convolve = [&](Tensor x) {
      return convolution(x, kernel, {.padding = Padding::same});
    };
    const weft_emulator_counters_t cost = cost_of(convolve, {2, 16, 16, 16});
    // 8 tiles of 64 positions and 64 channels, each of 144 products.
    EXPECT_LE(cost.global_bytes_loaded, 8U * (64 + 64) * 144 * 4);
    EXPECT_EQ(cost.launches, 1U);
    EXPECT_EQ(cost.shared_bank_conflicts, 0U);
    // Of bf16 too, on tensor cores.
    const auto narrow = [&](Tensor x) {
      return cast(
          convolution(cast(x, DType::bf16), cast(kernel, DType::bf16), {.padding = Padding::same}),
          DType::f32);
    };
    EXPECT_EQ(cost_of(narrow, {2, 16, 16, 16}).shared_bank_conflicts, 0U);
    const Tensor x = samples({2, 16, 16, 16}), there = narrow(x.to("gpu:0"));
    EXPECT_LE(difference(there.to("cpu"),
                         cast(convolution(cast(x, DType::bf16), cast(kernel.to("cpu"), DType::bf16),
                                          {.padding = Padding::same}),
                              DType::f32)),
              0x1p-8);
    // Its gradients too; of the kernel's the long sums are made of parts.
    const auto gradients = [&](Tensor x) {
      return grad([&](Tensor y) { return sum(square(convolve(y))); })(x);
    };
    EXPECT_EQ(cost_of(gradients, {2, 16, 16, 16}).shared_bank_conflicts, 0U);
  });
}

TEST(Kernels, ProductsOfEverySizeOfTile) {
  // The chip with tensor cores of which a block has the least shared memory.
  on_gpu("chip=sm_86", [] {
    // As many matrices as make tiles of 128 x 128, and of 256 x 128, enough.
    for (const std::int64_t rows : {128, 256})
      for (const int form : {0, 1, 2, 3}) {
        const bool lhs = (form & 1) != 0, rhs = (form & 2) != 0;
        if (!long_tests() && (rows == 128) != (lhs == rhs)) continue;
        auto multiply = function([=](Tensor x, Tensor y) {
          return matmul(x, y, {.transpose_lhs = lhs, .transpose_rhs = rhs});
        });
        const DType dtype = rows == 128 && form == 0 ? DType::f32 : DType::bf16;
        const Tensor x = samples(lhs ? Shape{128, 40, rows} : Shape{128, rows, 40}, dtype),
                     y = samples(rhs ? Shape{128, 40} : Shape{40, 128}, dtype);
        const Tensor there = multiply(x.to("gpu:0"), y.to("gpu:0"));
        const Counters counters;
        counters.reset();
        multiply(x.to("gpu:0"), y.to("gpu:0")).to("cpu");
        EXPECT_EQ(counters.read().shared_bank_conflicts, 0U) << rows << " form " << form;
        EXPECT_LE(difference(there, multiply(x, y)), dtype == DType::f32 ? 1e-6 : 0x1p-7)
            << rows << " form " << form;
      }
  });
}

TEST(Kernels, ProductsOfNarrowFloatsAreOnTensorCores) {
  on_gpu("", [] {
    for (const DType dtype : {DType::bf16, DType::f16})
      for (const int form : {0, 1, 2, 3}) {
        const bool lhs = (form & 1) != 0, rhs = (form & 2) != 0;
        auto multiply = function([=](Tensor x, Tensor y) {
          return matmul(x, y, {.transpose_lhs = lhs, .transpose_rhs = rhs});
        });
        // Sizes that no tile divides, and a batch.
        const Tensor x = samples(lhs ? Shape{2, 50, 70} : Shape{2, 70, 50}, dtype),
                     y = samples(rhs ? Shape{90, 50} : Shape{50, 90}, dtype);
        const Tensor there = multiply(x.to("gpu:0"), y.to("gpu:0"));
        const Counters counters;
        counters.reset();
        multiply(x.to("gpu:0"), y.to("gpu:0")).to("cpu");
        EXPECT_EQ(counters.read().shared_bank_conflicts, 0U) << form;
        // Sums in other orders: less than a unit of bf16 apart.
        const double unit = dtype == DType::bf16 ? 0x1p-8 : 0x1p-11;
        EXPECT_LE(difference(there.to("cpu"), multiply(x, y)), unit) << form;
      }
  });
}

TEST(Kernels, PartsOfProductsAreCopiedAhead) {
  // Of 7 parts, the last of which is no whole one, in stages that come round.
  for (const std::string words : {"seed=1", "stress,seed=2,chip=sm_80", "stress,seed=3"})
    on_gpu(words, [&] {
      for (const DType dtype : {DType::bf16, DType::f16})
        for (const int form : {0, 1, 2, 3}) {
          const bool lhs = (form & 1) != 0, rhs = (form & 2) != 0;
          auto multiply = function([=](Tensor x, Tensor y) {
            return matmul(x, y, {.transpose_lhs = lhs, .transpose_rhs = rhs});
          });
          const Tensor x = samples(lhs ? Shape{200, 72} : Shape{72, 200}, dtype),
                       y = samples(rhs ? Shape{88, 200} : Shape{200, 88}, dtype);
          EXPECT_NE(multiply.ir(x.to("gpu:0"), y.to("gpu:0"), Phase::ptx).find("cp.async.cg"),
                    std::string::npos)
              << form;
          const Tensor there = multiply(x.to("gpu:0"), y.to("gpu:0"));
          EXPECT_LE(difference(there, multiply(x, y)), dtype == DType::bf16 ? 0x1p-8 : 0x1p-11)
              << words << " form " << form;
          const Counters counters;
          counters.reset();
          multiply(x.to("gpu:0"), y.to("gpu:0")).to("cpu");
          EXPECT_EQ(counters.read().shared_bank_conflicts, 0U) << form;
        }
      // What is around an image is zeros that are copied as well.
      auto convolve = function(
          [](Tensor x, Tensor k) { return convolution(x, k, {.padding = Padding::same}); });
      const Tensor image = samples({2, 9, 11, 16}, DType::bf16),
                   kernel = samples({3, 3, 16, 24}, DType::bf16);
      EXPECT_NE(convolve.ir(image.to("gpu:0"), kernel.to("gpu:0"), Phase::ptx).find("cp.async.cg"),
                std::string::npos);
      EXPECT_LE(
          difference(convolve(image.to("gpu:0"), kernel.to("gpu:0")), convolve(image, kernel)),
          0x1p-7);
    });
}

} // namespace
} // namespace weft::device
