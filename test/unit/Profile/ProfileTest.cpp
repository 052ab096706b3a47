// What profiles note: ops, compiled functions from inside, lines, threads, memory.
#include <algorithm>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "../Testing.h"
#include <weft/weft.h>

namespace weft {
namespace {

/// All entries of that kind and name; a failure if there is none.
ProfileEntry entry_of(const Profile &profile, const std::string &kind, const std::string &name) {
  ProfileEntry sum;
  for (const ProfileEntry &entry : profile.entries()) {
    if (entry.kind != kind || entry.name != name) continue;
    sum.location = entry.location;
    sum.count += entry.count;
    sum.total_ms += entry.total_ms;
    sum.self_ms += entry.self_ms;
  }
  EXPECT_GT(sum.count, 0) << kind << " " << name << "\n" << profile.text(100);
  return sum;
}

bool has(const Profile &profile, const std::string &kind) {
  const std::vector<ProfileEntry> entries = profile.entries();
  return std::ranges::any_of(entries, [&](const auto &entry) { return entry.kind == kind; });
}

TEST(Profile, CountsEagerOpsByLine) {
  const Tensor x = ones({4, 3});
  add(x, x); // before: not noted
  Profile profile;
  std::uint32_t line = 0;
  for (int i = 0; i < 3; ++i) {
    line = __LINE__ + 1;
    add(x, x);
  }
  exp(x);
  profile.stop();
  add(x, x); // behind: not noted
  const ProfileEntry adds = entry_of(profile, "op", "add");
  EXPECT_EQ(adds.count, 3);
  EXPECT_EQ(adds.location.line, line);
  EXPECT_TRUE(adds.location.file.ends_with("ProfileTest.cpp"));
  EXPECT_EQ(entry_of(profile, "op", "exp").count, 1);
  EXPECT_GT(adds.total_ms, 0);
  EXPECT_LE(adds.total_ms, 1e3 * profile.seconds());
  EXPECT_EQ(profile.events() >= 4, true);
}

TEST(Profile, SameBitsWithAndWithout) {
  const Tensor x = arange(100, f32) / 7;
  const auto f = [](const Tensor &x) { return sum(relu(x * x - 3) / (1 + exp(-x)) + 2 * x); };
  const auto compiled = function(f, {.name = "f"});
  const float eager = f(x).item<float>(), fast = compiled(x).item<float>();
  Profile profile;
  EXPECT_EQ(f(x).item<float>(), eager);
  EXPECT_EQ(compiled(x).item<float>(), fast);
}

TEST(Profile, SeesInsideOfCompiledFunctions) {
  const Tensor x = ones({32, 8}), w = ones({8, 4});
  const auto step = function(
      [&](const Tensor &x, const Tensor &w) {
        const Tensor h = tanh(matmul(x, w)) * 2;
        return h - sum(h);
      },
      {.name = "step"});
  step(x, w);
  Profile profile;
  for (int i = 0; i < 5; ++i) step(x, w);
  profile.stop();
  const ProfileEntry call = entry_of(profile, "function", "step");
  EXPECT_EQ(call.count, 5);
  EXPECT_TRUE(call.location.file.ends_with("ProfileTest.cpp"));
  const ProfileEntry product = entry_of(profile, "code", "matmul");
  EXPECT_EQ(product.count, 5);
  EXPECT_TRUE(product.location.known());
  EXPECT_LE(product.total_ms, call.total_ms);
  // What was traced for the profile is compiled in it, once.
  EXPECT_EQ(entry_of(profile, "compile", "for the profile: step").count, 1);
  double inside = 0;
  std::string fused;
  for (const ProfileEntry &entry : profile.entries()) {
    if (entry.kind != "code") continue;
    inside += entry.total_ms;
    fused += entry.name + "\n";
  }
  EXPECT_NE(fused.find("tanh multiply"), std::string::npos) << fused;
  // But for the compile, which is inside of the first call.
  const double compiled = entry_of(profile, "compile", "for the profile: step").total_ms;
  EXPECT_NEAR(call.self_ms, call.total_ms - inside - compiled, 1e-3 + 0.01 * call.total_ms);
}

TEST(Profile, OnlyCallsIfToldSo) {
  const auto f = function([](const Tensor &x) { return exp(x); }, {.name = "outside"});
  f(ones({4}));
  Profile profile({.inside_functions = false});
  f(ones({4}));
  profile.stop();
  EXPECT_EQ(entry_of(profile, "function", "outside").count, 1);
  EXPECT_FALSE(has(profile, "code"));
}

TEST(Profile, LoopsBranchesAndDerivativesInside) {
  const auto f = function(
      [](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        const auto [count, y] =
            while_loop([](Tensor i, Tensor) { return i < 3; },
                       [&](Tensor i, Tensor s) { return std::pair(i + 1, s + exp(x * s)); },
                       zeros({}, i64), zeros({16}));
        return tape.gradient(sum(y), x);
      },
      {.name = "loops"});
  const Tensor x = ones({16}) * 0.1;
  const std::vector<float> wanted = f(x).to_vector<float>();
  Profile profile;
  EXPECT_EQ(f(x).to_vector<float>(), wanted);
  profile.stop();
  EXPECT_TRUE(has(profile, "code")) << profile.text();
}

TEST(Profile, HalvesOfDerivativesUnderTapes) {
  const auto f = function([](const Tensor &x) { return sum(x * exp(x)); }, {.name = "taped"});
  const Tensor x = ones({64});
  const auto slope = [&] {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x), x).to_vector<float>();
  };
  const auto wanted = slope();
  Profile profile;
  EXPECT_EQ(slope(), wanted);
  profile.stop();
  EXPECT_EQ(entry_of(profile, "function", "gradient of taped").count, 1);
  EXPECT_EQ(entry_of(profile, "gradient", "gradient").count, 1);
  EXPECT_TRUE(has(profile, "code"));
}

TEST(Profile, ErrorsInsideLeaveIt) {
  const auto f = function(
      [](const Tensor &x) {
        const Tensor y = exp(x);
        check(all(y < 2), "small");
        return y + 1;
      },
      {.name = "checked"});
  f(zeros({4}));
  Profile profile;
  EXPECT_THROW(f(ones({4})), AssertionError);
  f(zeros({4}));
  profile.stop();
  EXPECT_EQ(entry_of(profile, "function", "checked").count, 2);
}

TEST(Profile, LayersCompilesTracesHostCallsAndData) {
  nn::Dense dense(3);
  const auto f = function(
      [&](const Tensor &x) {
        host_call([](const Tensor &) {}, {.name = "told"}, x);
        return dense(x);
      },
      {.name = "whole"});
  Profile profile;
  f(ones({2, 2}));
  for (auto x : data::from_range(std::vector<float>{1, 2, 3})) dense(ones({1, 2}) * x);
  profile.stop();
  EXPECT_GE(entry_of(profile, "layer", "Dense").count, 4);
  EXPECT_EQ(entry_of(profile, "trace", "whole").count, 1);
  EXPECT_GE(entry_of(profile, "compile", "whole").count, 1);
  EXPECT_EQ(entry_of(profile, "host", "told").count, 1);
  EXPECT_EQ(entry_of(profile, "data", "next element").count, 4); // and the end
}

TEST(Profile, MemoryOverTime) {
  Profile profile;
  const auto before = static_cast<double>(memory_stats().current);
  {
    const Tensor large = zeros({1 << 20});
    EXPECT_EQ(large.size(), 1 << 20);
  }
  profile.stop();
  const auto points = profile.memory();
  ASSERT_GE(points.size(), 2U);
  double most = 0;
  for (const auto &[seconds, bytes] : points) {
    EXPECT_GE(seconds, 0);
    EXPECT_LE(seconds, profile.seconds());
    most = std::max(most, bytes);
  }
  EXPECT_GE(most, before + (4 << 20));
  EXPECT_LT(points.back().second, most);
  EXPECT_GE(entry_of(profile, "allocation", "allocate").count, 1);
}

TEST(Profile, ManyThreadsAndManyEvents) {
  constexpr int kThreads = 4, kEach = 3000; // lists are handed on in between
  Profile profile;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      const Tensor x = ones({4});
      for (int j = 0; j < kEach; ++j) negate(x);
    });
  for (std::thread &thread : threads) thread.join();
  profile.stop();
  EXPECT_EQ(entry_of(profile, "op", "negate").count, kThreads * kEach);
}

TEST(Profile, OneAtATimeAndAgain) {
  {
    Profile first;
    EXPECT_THROW(Profile(), StateError);
    first.stop();
    first.stop();
    Profile second;
    exp(ones({2}));
    second.stop();
    EXPECT_EQ(entry_of(second, "op", "exp").count, 1);
    EXPECT_FALSE(has(first, "op"));
  }
  Profile third; // the destructors of the others have not stopped it
  exp(ones({2}));
  Profile moved = std::move(third);
  moved.stop();
  EXPECT_EQ(entry_of(moved, "op", "exp").count, 1);
  EXPECT_TRUE(third.entries().empty()); // NOLINT(bugprone-use-after-move): as documented
  EXPECT_THROW(Profile({.max_events = 0}), ValueError);
}

TEST(Profile, AChildOfAForkIsNotNoted) {
  Profile profile;
  exp(ones({2}));
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10'000; ++i) exp(ones({2}));
    profile.stop();
    Profile own;
    tanh(ones({2}));
    own.stop();
    _exit(entry_of(own, "op", "tanh").count == 1 && !has(own, "layer") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  profile.stop();
  EXPECT_EQ(entry_of(profile, "op", "exp").count, 1);
}

} // namespace
} // namespace weft
