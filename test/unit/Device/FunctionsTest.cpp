// Compiled functions on GPUs: where they run, what moves, state, effects, derivatives.
#include <string>
#include <vector>

#include "OnGpu.h"
#include "Runtime/Variable.h"
#include "Support/Cpu.h"
#include <weft/weft.h>

namespace weft::device {
namespace {

using Floats = std::vector<float>;

TEST(Functions, RunWhereTheirArgumentsAre) {
  on_gpu("devices=2,stress", [] {
    auto f = function([](Tensor x, Tensor w) { return matmul(x, w) + 1; }, {.name = "f"});
    const Tensor x = reshape(arange(6, DType::f32), {2, 3}), w = ones({3, 2});
    const Floats wanted = f(x, w).to_vector<float>();
    const Tensor there = f(x.to("gpu:1"), w.to("gpu:1"));
    EXPECT_EQ(there.device(), "gpu:1");
    EXPECT_EQ(there.to_vector<float>(), wanted);
    EXPECT_EQ(f(x, w).device(), "cpu:0");
    EXPECT_EQ(said([&] { f(x.to("gpu:0"), w); }),
              "f: argument 0 is on gpu:0 and argument 1 on cpu:0: move one with .to()");
    EXPECT_EQ(said([&] { f(x.to("gpu:0"), w.to("gpu:1")); }),
              "f: argument 0 is on gpu:0 and argument 1 on gpu:1: move one with .to()");
    EXPECT_EQ(f.trace_count(), 1U);
  });
}

TEST(Functions, ShowTheCodeOfTheirGpu) {
  on_gpu("chip=sm_86", [] {
    const auto f = function([](Tensor x) { return exp(x) + 1; }, {.name = "f"});
    const Tensor x = ones({4});
    for (const Tensor &input : {x, x.to("gpu:0")}) {
      const std::string ptx = f.ir(input, Phase::ptx);
      EXPECT_NE(ptx.find("\n.target sm_86"), ptx.npos) << ptx;
      EXPECT_NE(ptx.find(".visible .entry f_0("), ptx.npos) << ptx;
    }
    EXPECT_EQ(f.ir(x, Phase::llvm).find("weft_rt_gpu_launch"), std::string::npos);
    EXPECT_NE(f.ir(x.to("gpu:0"), Phase::llvm).find("weft_rt_gpu_launch"), std::string::npos);
    EXPECT_NE(f.ir(x.to("gpu:0"), Phase::object).find("weft_rt_gpu_launch"), std::string::npos);
    EXPECT_EQ(f.trace_count(), 0U);
  });
  on_gpu("devices=0", [] {
    const auto f = function([](Tensor x) { return exp(x); }, {.name = "f"});
    EXPECT_NE(f.ir(ones({4}), Phase::ptx).find("\n.target sm_90a"), std::string::npos);
  });
}

TEST(Functions, TakeViewsAndScalarsOfTheHost) {
  on_gpu("", [] {
    auto scaled = function([](Tensor x, Tensor s) { return x * s; });
    const Tensor x = transpose(reshape(arange(6, DType::f32), {2, 3}), {1, 0}).to("gpu:0");
    EXPECT_EQ(scaled(x[slice({}, {}, -1)], tensor(2.F)).to_vector<float>(),
              (Floats{4, 10, 2, 8, 0, 6}));
  });
}

TEST(Functions, MoveAllByTheirOption) {
  on_gpu("", [] {
    Variable total(zeros({2}));
    const Tensor kept = tensor({10.F, 20.F});
    auto step = function(
        [&](Tensor x) {
          total.assign_add(x);
          return total.value() + kept;
        },
        {.device = "gpu:0"});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(step(ones({2})).device(), "gpu:0");
    EXPECT_EQ(total.value().device(), "gpu:0");
    EXPECT_EQ(total.value().to_vector<float>(), (Floats{3, 3}));
    EXPECT_EQ(step(ones({2})).to_vector<float>(), (Floats{14, 24}));
  });
}

TEST(Functions, AreTracedInAScopeAsOutsideOfIt) {
  on_gpu("", [] {
    // What is known while a function is traced is the host's: it looks at it.
    auto step = function([](Tensor x, Tensor w) {
      GradientTape tape;
      tape.watch(w);
      const Tensor loss = sum(matmul(x, w));
      return tape.gradient(loss, {w})[0];
    });
    auto repeated = function([](Tensor x) {
      const DeviceScope inner("gpu:0");
      return matmul(x, broadcast(tensor(1.F), {3, 3}));
    });
    const Tensor x = ones({8, 6}), w = ones({6, 3}), y = ones({3, 3});
    const DeviceScope scope("gpu:0");
    for (const Device device : {Device(), Device("gpu:0")}) {
      EXPECT_EQ(step(x.to(device), w.to(device)).to_vector<float>(), std::vector<float>(18, 8));
      EXPECT_EQ(repeated(y.to(device)).to_vector<float>(), std::vector<float>(9, 3));
      EXPECT_EQ(repeated(y.to(device)).device(), device);
    }
  });
}

TEST(Functions, VariablesAreNotMovedByThemselves) {
  on_gpu("", [] {
    Variable weight(ones({2}), "weight");
    Variable counter(tensor(0.F));
    auto f = function([&](Tensor x) { return x * weight.value(); }, {.name = "f"});
    auto g = function(
        [&](Tensor x) {
          counter.assign_add(tensor(1.F));
          return x * counter.value();
        },
        {.name = "g"});
    const Tensor x = ones({2}).to("gpu:0");
    EXPECT_EQ(said([&] { f(x); }),
              "f: an argument is on gpu:0 and the variable 'weight' on cpu:0: make it there "
              "(DeviceScope), or let the function have all there by its option device");
    EXPECT_EQ(g(x).to_vector<float>(), (Floats{1, 1}));
    EXPECT_EQ(g(x).to_vector<float>(), (Floats{2, 2}));
  });
}

/// A part may move to the GPU of the function that uses it, and the whole is there again.
TEST(Functions, PartsOfVariablesMove) {
  on_gpu("", [] {
    const Variable weight(ones({4}), "weight"), part(tensor({1.F, 2.F}), "weight");
    part.state()->is_piece({.whole = {4}, .begin = 0, .ranks = 2});
    weight.state()->cut({.part = part.state(), .group = 0, .ranks = 2, .gather = {}});
    EXPECT_EQ(weight.state()->device(), Device());
    EXPECT_FALSE(weight.state()->elsewhere());
    static_cast<void>(part.state()->load_on(Device("gpu:0")));
    EXPECT_EQ(weight.state()->device(), Device("gpu:0"));
    EXPECT_TRUE(weight.state()->elsewhere());
    weight.state()->join(tensor({1.F, 2.F, 3.F, 4.F}));
    EXPECT_EQ(weight.value().device(), Device("gpu:0"));
    EXPECT_EQ(weight.value().to("cpu").to_vector<float>(), (Floats{1, 2, 3, 4}));
  });
}

TEST(Functions, WhatTheyUseSaysWhereTheyRun) {
  on_gpu("", [] {
    const Tensor kept = tensor({1.F, 2.F}).to("gpu:0");
    auto f = function([&](Tensor x) { return x + kept; }, {.name = "f"});
    EXPECT_EQ(f(kept).to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(f(tensor(1.F)).device(), "gpu:0");
    EXPECT_EQ(said([&] { f(kept.to("cpu")); }),
              "f: argument 0 is on cpu:0 and what the function uses on gpu:0: move one with .to()");
    const Variable weight(kept);
    auto g = function([&](Tensor x) { return x * weight.value(); }, {.name = "g"});
    EXPECT_EQ(g(kept).to_vector<float>(), (Floats{1, 4}));
    EXPECT_EQ(said([&] { g(kept.to("cpu")); }),
              "g: argument 0 is on cpu:0 and what the function uses on gpu:0: move one with .to()");
  });
}

TEST(Functions, SteerByWhatTheDeviceComputes) {
  on_gpu("stress,seed=3", [] {
    auto halve = function([](Tensor x) {
      auto [y, n] =
          while_loop([](Tensor y, Tensor) { return sum(y) > 1; },
                     [](Tensor y, Tensor n) { return std::tuple(y / 2, n + 1); }, x, tensor(0));
      return std::tuple(y, n);
    });
    const auto [y, n] = halve(full({4}, 8.F).to("gpu:0"));
    EXPECT_EQ(y.to_vector<float>(), (Floats{.25F, .25F, .25F, .25F}));
    EXPECT_EQ(n.item<int>(), 5);
    EXPECT_EQ(n.device(), "gpu:0");
  });
}

TEST(Functions, HaveOpenSizes) {
  on_gpu("", [] {
    auto f = function([](Tensor x) { return concatenate({x, x * 2}, 0); },
                      {.signature = {spec(DType::f32, {unknown})}});
    for (const std::int64_t n : {0, 1, 300}) {
      const Tensor x = arange(n, DType::f32);
      const Tensor y = f(x.to("gpu:0"));
      EXPECT_EQ(y.device(), "gpu:0");
      EXPECT_EQ(y.to_vector<float>(), f(x).to_vector<float>());
    }
  });
}

TEST(Functions, EffectsAreInOrder) {
  on_gpu("", [] {
    const DeviceScope scope("gpu:0");
    Variable seen(zeros({2}));
    auto f = function([&](Tensor x) {
      seen.assign(x);
      print("x is {}", x);
      const Tensor y =
          host_call([](const Tensor &t) { return t + 1; }, {.results = {spec(DType::f32, {2})}}, x);
      print("y is {}", y);
      check(all(y < 4), "y is {}", y);
      seen.assign(y);
      return gather(y, cast(x, DType::i32));
    });
    testing::internal::CaptureStdout();
    EXPECT_EQ(f(tensor({1.F, 0.F})).to_vector<float>(), (Floats{1, 2}));
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "x is tensor([1, 0], shape=(2,), dtype=f32)\n"
              "y is tensor([2, 1], shape=(2,), dtype=f32)\n");
    testing::internal::CaptureStdout();
    EXPECT_NE(said<AssertionError>([&] { f(tensor({3.F, 0.F})); }).find("y is tensor([4, 1]"),
              std::string::npos);
    EXPECT_EQ(seen.value().to_vector<float>(), (Floats{3, 0})); // what was written before
    EXPECT_NE(said<IndexError>([&] {
                f(tensor({2.F, 0.F}));
              }).find("index 2 is out of range for an axis of size 2"),
              std::string::npos);
    testing::internal::GetCapturedStdout();
  });
}

TEST(Functions, HostCallsMayGiveTensorsOfTheDevice) {
  on_gpu("", [] {
    const Tensor there = tensor({1.F, 2.F}).to("gpu:0");
    auto f = function([&](Tensor x) {
      return x * host_call([&](const Tensor &) { return there; },
                           {.results = {spec(DType::f32, {2})}}, x);
    });
    EXPECT_EQ(f(there).to_vector<float>(), (Floats{1, 4}));
    EXPECT_EQ(f(there.to("cpu")).to_vector<float>(), (Floats{1, 4}));
  });
}

TEST(Functions, RoutinesOfTheLibraryWork) {
  on_gpu("stress", [] {
    auto f = function([](Tensor a, Tensor x) {
      return std::tuple(linalg::solve(a, x), cumsum(x, {.axis = 0}), sort(x, {.axis = 1}));
    });
    const Tensor a = tensor({{2.F, 1.F}, {1.F, 3.F}}), x = tensor({{3.F, 1.F}, {5.F, 2.F}});
    const auto here = f(a, x);
    const auto there = f(a.to("gpu:0"), x.to("gpu:0"));
    EXPECT_EQ(std::get<0>(there).to_vector<float>(), std::get<0>(here).to_vector<float>());
    EXPECT_EQ(std::get<1>(there).to_vector<float>(), std::get<1>(here).to_vector<float>());
    EXPECT_EQ(std::get<2>(there).to_vector<float>(), std::get<2>(here).to_vector<float>());
  });
}

TEST(Functions, HaveDerivativesThere) {
  on_gpu("", [] {
    auto f = function([](Tensor x) { return sum(x * x * x); });
    const Tensor x = tensor({1.F, 2.F}).to("gpu:0");
    GradientTape tape;
    tape.watch(x);
    const Tensor gradient = tape.gradient(f(x), x);
    EXPECT_EQ(gradient.device(), "gpu:0");
    EXPECT_EQ(gradient.to_vector<float>(), (Floats{3, 12}));
  });
}

TEST(Functions, ProductsHaveTheBitsOfTheProcessor) {
  if (host_cpu_level() < CpuLevel::v3) GTEST_SKIP() << "it rounds products and sums apart";
  on_gpu("", [] {
    auto product = function([](Tensor a, Tensor b) { return matmul(a, b); });
    const Tensor a = random::normal({64, 96}, {.seed = 1}),
                 b = random::normal({96, 48}, {.seed = 2});
    EXPECT_EQ(product(a.to("gpu:0"), b.to("gpu:0")).to_vector<float>(),
              product(a, b).to_vector<float>());
  });
}

TEST(Functions, GiveBackTheirMemory) {
  on_gpu("", [] {
    auto f = function([](Tensor x) {
      check(all(x > 0), "positive");
      return concatenate({x, x}, 0);
    });
    for (const float sign : {1.F, -1.F, 1.F}) {
      const Tensor x = full({4}, sign).to("gpu:0");
      if (sign > 0) EXPECT_EQ(f(x).size(), 8);
      else static_cast<void>(said<AssertionError>([&] { f(x); }));
    }
    EXPECT_EQ(gpu().memory().current, 0U);
  });
}

} // namespace
} // namespace weft::device
