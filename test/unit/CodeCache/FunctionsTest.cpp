// Functions and the cache: hits, misses, sharing, and what a hit must keep.
#include "CacheFixture.h"

#include <sys/stat.h>

#include <thread>

namespace weft::cache {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class CachedFunctions : public CacheFixture {};

TEST_F(CachedFunctions, AreCompiledOnceAndReadAfterwards) {
  EXPECT_EQ(compile(), "miss");
  EXPECT_EQ(compile(), "hit");
  EXPECT_EQ(compile(2), "miss");
  EXPECT_EQ(files().size(), 2U);
  EXPECT_THAT(lines_, ElementsAre(StartsWith("cache miss: scaled: "),
                                  AllOf(StartsWith("cache hit: scaled: "), HasSubstr("ms")),
                                  StartsWith("cache miss: scaled: ")));
}

TEST_F(CachedFunctions, LieInAFolderOfTheUserAlone) {
  use(root_ + "/not/there/yet");
  EXPECT_EQ(compile(), "miss");
  for (const char *folder : {"/not", "/not/there", "/not/there/yet"}) {
    struct stat status;
    ASSERT_EQ(stat((root_ + folder).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U) << folder;
  }
  struct stat status;
  ASSERT_EQ(stat(files().at(0).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(CachedFunctions, DoNotDependOnNames) {
  EXPECT_EQ(compile(1, "one"), "miss");
  EXPECT_EQ(compile(1, "two"), "hit");
}

// Code from the disk was compiled for other lines, and errors name those of the caller all the
// same.
TEST_F(CachedFunctions, FailAtTheirOwnLines) {
  const Tensor bad = tensor(std::vector<float>{-1, 2}, {2});
  const auto location_of_failure = [&](const auto &f, const std::string &cache) {
    SourceLocation location;
    try {
      static_cast<void>(f(bad));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const AssertionError &error) {
      location = error.location();
    }
    EXPECT_EQ(f.report(bad).cache, cache);
    EXPECT_EQ(location.file, __FILE__);
    return location.line;
  };
  std::uint32_t line = 0;
  {
    const auto first = weft::function([&](Tensor x) {
      line = __LINE__, check(all(x > 0), "x is positive");
      return x * 5;
    });
    EXPECT_EQ(location_of_failure(first, "miss"), line);
  }
  const auto second = weft::function([&](Tensor x) {
    line = __LINE__, check(all(x > 0), "x is positive");
    return x * 5;
  });
  EXPECT_EQ(location_of_failure(second, "hit"), line);
}

TEST_F(CachedFunctions, OfOneContentShareTheirCode) {
  const auto body = [](Tensor x) { return exp(x) - x; };
  const auto first = weft::function(body, {.name = "first"});
  const auto second = weft::function(body, {.name = "second"});
  const Tensor x = tensor(std::vector<float>{0, 0}, {2});
  static_cast<void>(first(x));
  EXPECT_EQ(second(x).to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(first.report(x).cache, "miss");
  EXPECT_EQ(second.report(x).cache, "shared");
  EXPECT_THAT(lines_.back(), HasSubstr("second shares code of this process"));
}

TEST_F(CachedFunctions, AreCompiledOnceByManyThreads) {
  std::vector<std::thread> threads;
  std::vector<std::string> found(4);
  for (std::string &cache : found)
    threads.emplace_back([&cache] {
      const auto function = weft::function([](Tensor x) { return tanh(x) * x; });
      const Tensor x = tensor(std::vector<float>{0, 0, 0}, {3});
      static_cast<void>(function(x));
      cache = function.report(x).cache;
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(std::count(found.begin(), found.end(), "miss"), 1);
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(CachedFunctions, AreNotKeptWhereTheCacheIsOff) {
  setenv("WEFT_CACHE", "off", 1);
  EXPECT_EQ(compile(), "off");
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(lines_.empty());
}

TEST_F(CachedFunctions, UpdateTheirOwnVariables) {
  for (const float start : {1.0f, 10.0f}) {
    const Variable total(tensor(std::vector<float>{start, start}, {2}));
    const Variable unused(tensor(std::vector<float>{0}, {1}));
    const auto add = weft::function([&](Tensor x) {
      unused.assign(unused.value());
      total.assign(total.value() + x);
      return total.value() * 2.0f;
    });
    const Tensor x = tensor(std::vector<float>{1, 2}, {2});
    EXPECT_EQ(add(x).to_vector<float>(), (std::vector<float>{2 * start + 2, 2 * start + 4}));
    EXPECT_EQ(total.value().to_vector<float>(), (std::vector<float>{start + 1, start + 2}));
    EXPECT_EQ(add.report(x).cache, start == 1 ? "miss" : "hit");
  }
}

// The library's matrix product is called through the loader's jumps, and an index error unwinds
// through code that the loader told the unwinder of.
TEST_F(CachedFunctions, CallTheLibraryAndLetItsErrorsPass) {
  for (const char *expected : {"miss", "hit"}) {
    const auto function = weft::function(
        [](Tensor x, Tensor index) { return matmul(gather(x, index), x); }, {.name = "chosen"});
    const Tensor x = tensor(std::vector<float>{1, 2, 3, 4}, {2, 2});
    const Tensor index = tensor(std::vector<std::int32_t>{1, 0}, {2});
    EXPECT_EQ(function(x, index).to_vector<float>(), (std::vector<float>{15, 22, 7, 10}));
    EXPECT_EQ(function.report(x, index).cache, expected);
    EXPECT_THROW(static_cast<void>(function(x, tensor(std::vector<std::int32_t>{1, 7}, {2}))),
                 IndexError);
  }
}

TEST_F(CachedFunctions, KeepTheReportOnMemory) {
  std::vector<MemoryNote> cold;
  for (const char *expected : {"miss", "hit"}) {
    const Variable total(tensor(std::vector<float>{1, 2}, {2}), "total");
    const auto function = weft::function([&](Tensor x) {
      total.assign(total.value() + x);
      return std::vector<Tensor>{x, exp(x)};
    });
    const CompileReport report = function.report(tensor(std::vector<float>{1, 2}, {2}));
    EXPECT_EQ(report.cache, expected);
    EXPECT_EQ(report.copies(), 1u);
    EXPECT_EQ(report.memory.size(), 4u)
        << report.memory_text(); // two outputs and an update as well
    if (cold.empty()) cold = report.memory;
    EXPECT_EQ(report.memory, cold);
  }
}

// Under a tape the halves of the derivative are entries of their own, which tell what is saved: an
// argument, a result, a value that is neither and of unknown size.
TEST_F(CachedFunctions, KeepDerivativesForTapes) {
  const auto slope = [] {
    const auto f =
        weft::function([](const Tensor &x) { return exp(x) * sin(x) + sum(matmul(x, x)); },
                       {.name = "wave", .signature = {spec(f32, {unknown, unknown})}});
    const Tensor x = tensor(std::vector<float>{1, 2, 3, 4}, {2, 2});
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x), {x})[0].to_vector<float>();
  };
  const std::vector<float> cold = slope();
  EXPECT_EQ(files().size(), 2U);
  lines_.clear();
  EXPECT_EQ(slope(), cold);
  EXPECT_THAT(lines_, ElementsAre(StartsWith("cache hit: wave: "),
                                  StartsWith("cache hit: gradient of wave: ")));
}

TEST_F(CachedFunctions, KeepTheReportOnDerivatives) {
  std::vector<SavedNote> cold;
  const auto slope = [](const Tensor &x) {
    return grad([](const Tensor &t) {
      return for_loop(9, [](const Tensor &, const Tensor &h) { return sin(h); }, t);
    })(x);
  };
  const Tensor x = tensor(0.5f);
  for (const char *expected : {"miss", "hit"}) {
    const CompileReport report = weft::function(slope, {.checkpoint = "sqrt"}).report(x);
    EXPECT_EQ(report.cache, expected);
    EXPECT_FALSE(report.saved.empty());
    if (cold.empty()) cold = report.saved;
    EXPECT_EQ(report.saved, cold);
  }
  EXPECT_EQ(weft::function(slope).report(x).cache, "miss"); // another budget, another program
}

TEST_F(CachedFunctions, GiveTheSameBitsColdAndWarm) {
  std::vector<std::vector<float>> results;
  for (int i = 0; i < 2; ++i) {
    const auto function = weft::function([](Tensor x) {
      const Tensor shifted = x - max(x, {.axes = Ints{1}, .keepdims = true});
      return exp(shifted) / sum(exp(shifted), {.axes = Ints{1}, .keepdims = true}) +
             sin(x) * tanh(x);
    });
    std::vector<float> values(1000);
    for (std::size_t n = 0; n < values.size(); ++n)
      values[n] = static_cast<float>(n * n % 97) / 13.0f - 3.0f;
    const Tensor x = tensor(values, {10, 100});
    results.push_back(function(x).to_vector<float>());
    EXPECT_EQ(function.report(x).cache, i == 0 ? "miss" : "hit");
  }
  EXPECT_EQ(results[0], results[1]);
}

} // namespace
} // namespace weft::cache
