// What a function takes from around it: eager tensors by value, variables by identity.
#include "../Testing.h"

#include <thread>

#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(FunctionCaptures, TensorsByValue) {
  Tensor weight = tensor({1.f, 2.f, 3.f}), scale = tensor(10.f);
  auto f = function([&](const Tensor &x) { return x * weight * scale + weight[0]; });
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (Floats{11, 21, 31}));
  // What the names stand for later does not matter to the trace that is there.
  weight = tensor({7.f, 7.f, 7.f});
  scale = tensor(0.f);
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (Floats{11, 21, 31}));
}

TEST(FunctionCaptures, ViewsAndLargeTensors) {
  const Tensor table = arange(12, f32).reshape({3, 4}), column = table[{all, 1}],
               turned = table.mT();
  auto f = function([&](const Tensor &x) { return std::pair{x + column, matmul(turned, x)}; });
  const auto [sum, product] = f(ones({3}));
  EXPECT_EQ(sum.to_vector<float>(), (Floats{2, 6, 10}));
  EXPECT_EQ(product.to_vector<float>(), (Floats{12, 15, 18, 21}));
}

TEST(FunctionCaptures, VariablesByIdentity) {
  const Variable count(tensor({1.f, 2.f}), "count");
  auto f = function([&](const Tensor &x) { return x + count; });
  EXPECT_EQ(f(zeros({2})).to_vector<float>(), (Floats{1, 2}));
  count.assign({5.f, 6.f});
  EXPECT_EQ(f(zeros({2})).to_vector<float>(), (Floats{5, 6}));
  EXPECT_EQ(f.trace_count(), 1u);
}

TEST(FunctionCaptures, VariablesAsArguments) {
  auto bump = function([](const Variable &v, const Tensor &by) {
    v.assign_add(by);
    return v.value();
  });
  const Variable a(0.f, "a"), b(100.f, "b");
  EXPECT_EQ(bump(a, tensor(1.f)).item<float>(), 1);
  EXPECT_EQ(bump(a, tensor(2.f)).item<float>(), 3);
  EXPECT_EQ(bump(b, tensor(1.f)).item<float>(), 101);
  EXPECT_EQ(a.value().item<float>(), 3);
  EXPECT_EQ(bump.trace_count(), 1u);
}

TEST(FunctionCaptures, ReadsAndAssignsKeepTheirOrder) {
  const Variable v(tensor({1.f, 2.f}), "v"), w(tensor({0.f, 0.f}), "w");
  const auto steps = [&](const Tensor &x) {
    const Tensor before = v.value();
    v.assign_add(x);
    const Tensor between = v.value();
    v.assign(between * 2);
    w.assign(v);
    v.assign_sub(1);
    return std::vector{before, between, v.value(), w.value(), w + v};
  };
  const auto run = [&](auto &&f) {
    v.assign({1.f, 2.f});
    w.assign({0.f, 0.f});
    std::vector<Tensor> all = f(tensor({10.f, 20.f}));
    for (Tensor &more : f(tensor({1.f, 1.f}))) all.push_back(more);
    all.push_back(v.value());
    all.push_back(w.value());
    return all;
  };
  const std::vector<Tensor> eager = run(steps), traced = run(function(steps));
  ASSERT_EQ(eager.size(), traced.size());
  for (std::size_t i = 0; i < eager.size(); ++i)
    EXPECT_EQ(eager[i].to_vector<float>(), traced[i].to_vector<float>()) << i;
  EXPECT_EQ(traced[0].to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(traced[1].to_vector<float>(), (Floats{11, 22}));
  EXPECT_EQ(traced[2].to_vector<float>(), (Floats{21, 43}));
}

TEST(FunctionCaptures, OldValuesOfVariablesStay) {
  const Variable v(tensor({1.f}), "v");
  auto f = function([&] { v.assign_add(1); });
  const Tensor before = v.value();
  f();
  const Tensor after = v.value();
  f();
  EXPECT_EQ(before.item<float>(), 1);
  EXPECT_EQ(after.item<float>(), 2);
  EXPECT_EQ(v.value().item<float>(), 3);
}

TEST(FunctionCaptures, SwapOfVariables) {
  const Variable a(tensor({1.f, 2.f}), "a"), b(tensor({3.f, 4.f}), "b");
  auto swap = function([&] {
    const Tensor old = a.value();
    a.assign(b);
    b.assign(old);
  });
  swap();
  EXPECT_EQ(a.value().to_vector<float>(), (Floats{3, 4}));
  EXPECT_EQ(b.value().to_vector<float>(), (Floats{1, 2}));
  swap();
  EXPECT_EQ(a.value().to_vector<float>(), (Floats{1, 2}));
}

TEST(FunctionCaptures, UpdatesFromManyThreadsAreWhole) {
  const Variable a(zeros({64}), "a"), b(zeros({64}), "b");
  auto f = function([&](const Tensor &x) {
    a.assign_add(x);
    b.assign_sub(x);
    return a + b;
  });
  auto backwards = function([&](const Tensor &x) {
    b.assign_sub(x);
    a.assign_add(x);
    return b + a;
  });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const Tensor sum = t % 2 == 0 ? f(ones({64})) : backwards(ones({64}));
        for (float value : sum.to_vector<float>()) wrong += value != 0;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (float value : a.value().to_vector<float>()) EXPECT_EQ(value, 800);
}

// Each of two calls reads what the other one writes: neither may hold what it writes while it waits
// for what it reads.
TEST(FunctionCaptures, CallsThatReadWhatTheOtherWritesDoNotWaitForEachOther) {
  std::vector<Variable> a, b;
  for (int i = 0; i < 64; ++i) {
    a.emplace_back(ones({1}), "a");
    b.emplace_back(ones({1}), "b");
  }
  const auto copies = [](const std::vector<Variable> &from, const std::vector<Variable> &to) {
    return function([from, to] {
      for (std::size_t i = 0; i < to.size(); ++i) to[i].assign(from[i].value());
    });
  };
  const auto there = copies(a, b), back = copies(b, a);
  std::atomic<int> ready = 0;
  const auto repeat = [&ready](const auto &f) {
    return std::thread([&] {
      f();
      for (++ready; ready < 2;) std::this_thread::yield();
      for (int i = 0; i < 20'000; ++i) f();
    });
  };
  std::thread one = repeat(there), other = repeat(back);
  one.join();
  other.join();
  for (const Variable &v : a) EXPECT_EQ(v.value().to_vector<float>(), (Floats{1}));
}

TEST(FunctionCaptures, OutliveTheirOwners) {
  auto f = [] {
    const Variable v(tensor({2.f}), "v");
    const Tensor t = tensor({3.f, 4.f});
    return function([v, t](const Tensor &x) { return x * v + t; });
  }();
  EXPECT_EQ(f(ones({2})).to_vector<float>(), (Floats{5, 6}));
  EXPECT_EQ(f(ones({2})).to_vector<float>(), (Floats{5, 6}));
}

} // namespace
} // namespace weft
