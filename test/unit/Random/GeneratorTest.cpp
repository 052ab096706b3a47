// Generators: their stream is the same eager and traced, in branches, loops and other threads.
#include "../Testing.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>

#include <weft/weft.h>

namespace weft {
namespace {

using random::Generator;
using random::like;

using Draw = std::function<Tensor(const Generator &)>;

struct Named {
  const char *name;
  Draw draw;
};

/// Every distribution, of every dtype and of odd sizes.
std::vector<Named> all_draws() {
  return {
      {"uniform f32", [](const Generator &g) { return g.uniform({7, 5}); }},
      {"uniform f64", [](const Generator &g) { return g.uniform({33}, {.dtype = f64}); }},
      {"uniform range", [](const Generator &g) { return g.uniform({1001}, {-2.5, 0.1}); }},
      {"uniform scalar", [](const Generator &g) { return g.uniform({}); }},
      {"uniform empty", [](const Generator &g) { return g.uniform({0, 3}); }},
      {"uniform long", [](const Generator &g) { return g.uniform({300, 401}); }},
      {"uniform long range", [](const Generator &g) { return g.uniform({5001}, {-2, 7, f64}); }},
      {"normal f32", [](const Generator &g) { return g.normal({3, 11}, {1, 0.5}); }},
      {"normal f64", [](const Generator &g) { return g.normal({65}, {.dtype = f64}); }},
      {"normal long", [](const Generator &g) { return g.normal({4097}, {0, 3}); }},
      {"normal long f64", [](const Generator &g) { return g.normal({2049}, {-1, 1, f64}); }},
      {"truncated f32", [](const Generator &g) { return g.truncated_normal({17, 3}, {3, 2}); }},
      {"truncated f64", [](const Generator &g) { return g.truncated_normal({9}, {.dtype = f64}); }},
      {"bernoulli", [](const Generator &g) { return g.bernoulli({19, 4}, 0.3); }},
      {"bernoulli f64",
       [](const Generator &g) { return g.bernoulli({5, 3}, tensor({0.0, 0.25, 1.0})); }},
      {"randint i64", [](const Generator &g) { return g.randint({31}, -5, 1000000007); }},
      {"randint i32", [](const Generator &g) { return g.randint({31}, 2, 9, i32); }},
      {"randint long", [](const Generator &g) { return g.randint({100, 70}, -9, 9); }},
      {"randint long i32", [](const Generator &g) { return g.randint({6145}, 0, 1000, i32); }},
      {"permutation long", [](const Generator &g) { return g.permutation(70001); }},
      {"permutation", [](const Generator &g) { return g.permutation(101); }},
      {"permutation i32", [](const Generator &g) { return g.permutation(1, i32); }},
      {"shuffle", [](const Generator &g) { return g.shuffle(arange(60).reshape({20, 3})); }},
  };
}

void expect_same(const Tensor &a, const Tensor &b, const std::string &what) {
  ASSERT_EQ(a.type(), b.type()) << what;
  const Tensor x = a.contiguous(), y = b.contiguous();
  const auto bytes = static_cast<std::size_t>(a.size()) * item_size(a.dtype());
  if (bytes != 0) EXPECT_EQ(std::memcmp(x.impl()->data, y.impl()->data, bytes), 0) << what;
}

TEST(Generator, EagerAndTracedDrawTheSame) {
  for (const auto &[name, draw] : all_draws()) {
    const Generator eager(42), traced(42);
    auto f = function([&, &draw = draw] { return draw(traced); });
    for (int call = 0; call < 3; ++call)
      expect_same(draw(eager), f(), name + std::string(", call ") + std::to_string(call));
    expect_same(eager.state().value(), traced.state().value(), name);
  }
}

// Where a tape records the steps of a distribution they are ops; else they are one pass.
TEST(Generator, StepsAndOnePassDrawTheSame) {
  for (const auto &[name, draw] : all_draws()) {
    const Generator alone(42), recorded(42);
    const Tensor at_once = draw(alone);
    GradientTape tape;
    expect_same(at_once, draw(recorded), name);
  }
}

TEST(Generator, AllInOneTrace) {
  const Generator eager(7), traced(7);
  const auto all = [](const Generator &g) {
    std::vector<Tensor> values;
    for (const auto &[name, draw] : all_draws()) values.push_back(draw(g));
    return values;
  };
  auto f = function([&] { return all(traced); });
  for (int call = 0; call < 2; ++call) {
    const std::vector<Tensor> a = all(eager), b = f();
    for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i], all_draws()[i].name);
  }
}

TEST(Generator, SameSeedSameStream) {
  const Generator a(5), b(5), c(6);
  const auto first = a.uniform({8}).to_vector<float>();
  EXPECT_EQ(first, b.uniform({8}).to_vector<float>());
  EXPECT_NE(first, c.uniform({8}).to_vector<float>());
  EXPECT_NE(first, a.uniform({8}).to_vector<float>());
  // As functions with this seed.
  EXPECT_EQ(first, random::uniform({8}, {.seed = 5}).to_vector<float>());
  a.reset(5);
  EXPECT_EQ(first, a.uniform({8}).to_vector<float>());
  // Interleaved draws of another generator change nothing.
  const auto second = b.uniform({8}).to_vector<float>();
  c.uniform({3});
  EXPECT_EQ(second, a.uniform({8}).to_vector<float>());
  // Copies are one generator.
  const Generator copy = a; // NOLINT(performance-unnecessary-copy-initialization)
  copy.uniform({1});
  b.uniform({1});
  EXPECT_EQ(a.uniform({2}).to_vector<float>(), b.uniform({2}).to_vector<float>());
}

TEST(Generator, TheStateIsAVariable) {
  const Generator g(9);
  g.normal({3});
  EXPECT_EQ(g.state().value().to_vector<std::int64_t>(), (std::vector<std::int64_t>{9, 2}));
  const Tensor saved = g.state();
  const auto next = g.uniform({4}).to_vector<float>();
  g.state().assign(saved);
  EXPECT_EQ(next, g.uniform({4}).to_vector<float>());
  const Generator restored{Variable(saved)};
  EXPECT_EQ(next, restored.uniform({4}).to_vector<float>());
  EXPECT_FALSE(g.state().trainable());
}

TEST(Generator, LoopsDrawAsTheyIteration) {
  const Generator eager(1), traced(1);
  const auto sum_of = [](const Generator &g, const Tensor &iterations) {
    return for_loop(
        iterations,
        [&](const Tensor &i, const Tensor &s) { return s + g.normal({5}) * cast(i + 1, f32); },
        zeros({5}));
  };
  auto f = function([&](const Tensor &iterations) { return sum_of(traced, iterations); });
  for (const int iterations : {3, 0, 10})
    expect_same(sum_of(eager, tensor(iterations)), f(tensor(iterations)), "loop");
  Tensor by_hand = zeros({5});
  const Generator again(1);
  for (int i = 0; i < 3; ++i) by_hand = by_hand + again.normal({5}) * static_cast<float>(i + 1);
  const Generator third(1);
  expect_same(by_hand, sum_of(third, tensor(3)), "by hand");
}

TEST(Generator, OnlyTheTakenBranchDraws) {
  const Generator eager(1), traced(1);
  const auto maybe = [](const Generator &g, const Tensor &yes) {
    return cond(yes, [&] { return g.uniform({2}); }, [&] { return zeros({2}); });
  };
  auto f = function([&](const Tensor &yes) { return maybe(traced, yes); });
  for (const bool yes : {true, false, true, true})
    expect_same(maybe(eager, tensor(yes)), f(tensor(yes)), "branch");
  EXPECT_EQ(traced.state().value()[1].item<std::int64_t>(), 3);
}

TEST(Generator, UnknownSizes) {
  const Generator eager(3), traced(3);
  const auto draw = [](const Generator &g, const Tensor &x) {
    return std::tuple(g.normal(like(x)), g.bernoulli(like(x), 0.5), g.shuffle(x),
                      g.randint(like(x), 0, 10, i32), g.uniform(like(x), {.dtype = f64}));
  };
  auto f = function([&](const Tensor &x) { return draw(traced, x); },
                    {.signature = {spec(f32, {unknown, unknown})}});
  for (const Shape &shape : {Shape{4, 3}, Shape{7, 7}, Shape{0, 2}, Shape{1, 1}}) {
    const Tensor x = arange(shape[0] * shape[1]).astype(f32).reshape(shape);
    const auto a = draw(eager, x);
    const auto b = f(x);
    expect_same(std::get<0>(a), std::get<0>(b), "normal");
    expect_same(std::get<1>(a), std::get<1>(b), "bernoulli");
    expect_same(std::get<2>(a), std::get<2>(b), "shuffle");
    expect_same(std::get<3>(a), std::get<3>(b), "randint");
    expect_same(std::get<4>(a), std::get<4>(b), "uniform");
  }
}

TEST(Generator, ThreadsDrawDifferentNumbers) {
  const Generator g(4);
  constexpr int kThreads = 4, kDraws = 200;
  std::vector<std::vector<double>> drawn(kThreads);
  std::vector<std::thread> threads;
  for (auto &own : drawn)
    threads.emplace_back([&g, &own] {
      for (int i = 0; i < kDraws; ++i) own.push_back(g.uniform({}, {.dtype = f64}).item<double>());
    });
  for (std::thread &thread : threads) thread.join();
  std::set<double> all;
  for (const auto &own : drawn) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), std::size_t{kThreads * kDraws});
  EXPECT_EQ(g.state().value()[1].item<std::int64_t>(), kThreads * kDraws);
}

TEST(Generator, OfTheProcess) {
  // Without a seed a traced function draws new numbers at each call.
  random::set_seed(11);
  auto f = function([] { return random::uniform({3}); });
  const auto first = f().to_vector<float>(), second = f().to_vector<float>();
  EXPECT_NE(first, second);
  random::set_seed(11);
  EXPECT_EQ(random::uniform({3}).to_vector<float>(), first);
  EXPECT_EQ(random::uniform({3}).to_vector<float>(), second);
  // With one it holds the same ones as constants, also as the first value of a variable.
  auto g = function([](const Tensor &x) { return x + random::normal({3}, {.seed = 2}); });
  expect_same(g(zeros({3})), random::normal({3}, {.seed = 2}), "constant");
  expect_same(g(zeros({3})), random::normal({3}, {.seed = 2}), "constant");
  auto h = function([](const Tensor &x) { return random::uniform(like(x), {.seed = 2}); },
                    {.signature = {spec(f32, {unknown})}});
  expect_same(h(zeros({5})), random::uniform({5}, {.seed = 2}), "unknown size");
}

TEST(Generator, WrongStates) {
  EXPECT_THROWS(Generator(Variable(tensor({1.f, 2.f}), "w")), DTypeError,
                "random::Generator: the state must be i64(2,), but the variable 'w' is f32(2,)");
  EXPECT_THROWS(Generator(Variable(zeros({3}, i64), "w")), ShapeError,
                "random::Generator: the state must be i64(2,), but the variable 'w' is i64(3,)");
  const Tensor x = zeros({2});
  EXPECT_THROWS(draw_uniform(zeros({3}, i64), {2}, f32), ShapeError,
                "draw_uniform: state must be a seed and the number of a stream, of shape (2,), but "
                "has (3,)");
  EXPECT_THROWS(draw_uniform(x, {2}, f32), DTypeError,
                "draw_uniform: state must be an integer of 64 bits (i64), but it is f32(2,)");
  EXPECT_THROWS(draw_permutation(zeros({2}, i64), {2}, f32), DTypeError,
                "draw_permutation: dtype must be an integer (i32, i64), but it is f32");
  EXPECT_THROWS(draw_permutation(zeros({2}, i64), {2, 3}, i32), ShapeError,
                "draw_permutation: the shape is (2, 3): one size is wanted");
  EXPECT_THROWS(draw_uniform(zeros({2}, i64), {-1}, f32), ShapeError,
                "draw_uniform: the shape has a size of -1, which is negative");
}

struct Simulation {
  Tensor position;
  random::Generator noise;
  WEFT_FIELDS(Simulation, position, noise)
};

TEST(Generator, IsAStructure) {
  auto draw =
      function([](const Tensor &x, const random::Generator &g) { return x + g.uniform({3}); });
  const random::Generator own(5), other(6), same(5);
  const Tensor x = zeros({3});
  EXPECT_EQ(draw(x, own).to_vector<float>(), same.uniform({3}).to_vector<float>());
  EXPECT_EQ(draw(x, own).to_vector<float>(), same.uniform({3}).to_vector<float>());
  EXPECT_EQ(draw(x, other).to_vector<float>(),
            random::Generator(6).uniform({3}).to_vector<float>());
  EXPECT_EQ(draw.trace_count(), 1u);

  auto step = function([](const Simulation &now) {
    return Simulation{now.position + now.noise.normal({2}), now.noise};
  });
  Simulation simulation{zeros({2}), random::Generator(9)};
  simulation = step(step(simulation));
  const random::Generator expected(9);
  const Tensor first = expected.normal({2}), second = expected.normal({2});
  EXPECT_EQ(simulation.position.to_vector<float>(), (first + second).to_vector<float>());
}

TEST(Generator, ContinuesWhereACheckpointWas) {
  const std::string folder = testing::TempDir() + "generator_checkpoint";
  Simulation one{zeros({2}), random::Generator(3)};
  static_cast<void>(one.noise.uniform({5}));
  CheckpointManager(folder).save(one);
  const Tensor next = one.noise.uniform({5});
  Simulation two{zeros({2}), random::Generator(4)};
  EXPECT_TRUE(CheckpointManager(folder).restore_latest(two));
  EXPECT_EQ(two.noise.uniform({5}).to_vector<float>(), next.to_vector<float>());
}

} // namespace
} // namespace weft
