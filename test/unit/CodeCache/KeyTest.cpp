// What keys are made of: the digest itself, programs, the CPU's features, the build.
#include "CacheFixture.h"
#include "Support/Cpu.h"

namespace weft::cache {
namespace {

std::string sha256(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return hex(sha.finish());
}

// The examples of FIPS 180-4 and of its test vectors.
TEST(Keys, DigestIsSha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Keys, DigestDoesNotDependOnThePieces) {
  const std::string text(500, 'q');
  for (std::size_t piece = 1; piece < 200; piece += 13) {
    Sha256 sha;
    for (std::size_t at = 0; at < text.size(); at += piece)
      sha.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(hex(sha.finish()), sha256(text)) << piece;
  }
}

TEST(Keys, FeaturesAreThoseOfTheCpu) {
  __builtin_cpu_init();
  const auto has = [](const std::string &name) { return missing_cpu_feature(name).empty(); };
  EXPECT_EQ(has("sse4.2"), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(has("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(has("avx512vnni"), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(has("vaes"), __builtin_cpu_supports("vaes") != 0);
  EXPECT_EQ(missing_cpu_feature(host_cpu_features_text()), "");
  EXPECT_EQ(missing_cpu_feature("sse4.2,avx9000,avx9001"), "avx9000");
}

TEST(Keys, DependOnEveryPart) {
  const Key key{{}, "cpu", "build", "avx"};
  EXPECT_EQ(key.digest(), (Key{{}, "cpu", "build", "avx"}.digest()));
  EXPECT_NE(key.digest(), (Key{{1}, "cpu", "build", "avx"}.digest()));
  EXPECT_NE(key.digest(), (Key{{}, "gpu", "build", "avx"}.digest()));
  EXPECT_NE(key.digest(), (Key{{}, "cpu", "other", "avx"}.digest()));
  EXPECT_NE(key.digest(), (Key{{}, "cpu", "build", "avx2"}.digest()));
  EXPECT_NE(key.digest(), (Key{{}, "cpubuil", "d", "avx"}.digest()));
}

TEST(Keys, KnowTheBuild) {
  ASSERT_TRUE(build_id().has_value());
  // Two build ids of at least eight bytes in hexadecimal digits.
  EXPECT_GE(build_id()->size(), 33U) << *build_id();
}

class ProgramKeys : public CacheFixture {
protected:
  /// Whether a second trace finds the first one's entry.
  template <class First, class Second>
  bool same(First first, Second second, const Tensor &a, const Tensor &b) {
    std::filesystem::remove_all(folder_);
    {
      const auto function = weft::function(first);
      static_cast<void>(function(a));
    }
    const auto function = weft::function(second);
    static_cast<void>(function(b));
    return function.report(b).cache == "hit";
  }
};

// Op calls of a function that is called twice have one number, those of two functions have two.
TEST_F(ProgramKeys, TellOneFunctionFromTwoEqualOnes) {
  const auto body = [](Tensor x) { return x * 3.0f + 1.0f; };
  const auto one = weft::function(body), other = weft::function(body);
  const auto same_twice = [&](Tensor x) { return one(one(x)); };
  const auto both = [&](Tensor x) { return one(other(x)); };
  const Tensor x = ones({4});
  EXPECT_TRUE(same(same_twice, same_twice, x, x));
  EXPECT_TRUE(same(both, both, x, x));
  EXPECT_FALSE(same(same_twice, both, x, x));
}

TEST_F(ProgramKeys, DependOnWhatTheCodeDependsOn) {
  const Tensor x = ones({4}), wider = ones({5}), whole = ones({4}, i32), matrix = ones({2, 2});
  const auto plus = [](Tensor t) { return t + t; };
  EXPECT_TRUE(same(plus, [](Tensor t) { return t + t; }, x, x));
  EXPECT_FALSE(same(plus, [](Tensor t) { return t * t; }, x, x));
  EXPECT_FALSE(same(plus, plus, x, wider));
  EXPECT_FALSE(same(plus, plus, x, whole));
  EXPECT_FALSE(same(plus, [](Tensor t) { return t + 1.0f; }, x, x));
  EXPECT_FALSE(same([](Tensor t) { return t + 1.0f; }, [](Tensor t) { return t + 2.0f; }, x, x));
  EXPECT_FALSE(same([](Tensor t) { return sum(t, {.axes = Ints{0}}); },
                    [](Tensor t) { return sum(t, {.axes = Ints{1}}); }, matrix, matrix));
  EXPECT_FALSE(same([](Tensor t) { return t - t * t; }, [](Tensor t) { return t * t - t; }, x, x));
}

TEST_F(ProgramKeys, LookIntoControlFlow) {
  const Tensor x = ones({4});
  const auto loop = [](float step) {
    return
        [step](Tensor t) { return for_loop(3, [step](Tensor, Tensor y) { return y + step; }, t); };
  };
  EXPECT_TRUE(same(loop(1), loop(1), x, x));
  EXPECT_FALSE(same(loop(1), loop(2), x, x));
}

TEST_F(ProgramKeys, KnowCallablesByNameAlone) {
  const Tensor x = ones({4});
  const auto scaled = [](float by, HostCallOptions options) {
    options.results = {spec(f32, {4})};
    return [by, options](Tensor t) {
      return host_call([by](const Tensor &value) { return value * by; }, options, t);
    };
  };
  EXPECT_TRUE(same(scaled(2, {}), scaled(3, {}), x, x));
  EXPECT_TRUE(same(scaled(2, {.name = "a"}), scaled(3, {.name = "a"}), x, x));
  EXPECT_FALSE(same(scaled(2, {.name = "a"}), scaled(2, {.name = "b"}), x, x));
  EXPECT_FALSE(same(scaled(2, {}), scaled(2, {.pure = true}), x, x));
  // Which of two callables is called where, also by functions that are called.
  const auto two = [](bool swap) {
    return [swap](Tensor t) {
      const auto call = [](float by) { return [by](const Tensor &value) { return value + by; }; };
      auto inner = function([&, first = call(1)](Tensor y) {
        return host_call(first, {.results = {spec(f32, {4})}}, y);
      });
      const Tensor outer = host_call(call(2), {.results = {spec(f32, {4})}}, t);
      return swap ? inner(t) - outer : outer - inner(t);
    };
  };
  EXPECT_TRUE(same(two(false), two(false), x, x));
  EXPECT_FALSE(same(two(false), two(true), x, x));
  // Code that was found calls the callables of the function that found it.
  {
    auto first = function(scaled(2, {}));
    static_cast<void>(first(x));
  }
  auto second = function(scaled(3, {}));
  EXPECT_EQ(second(x)[0].item<float>(), 3);
  EXPECT_EQ(second.report(x).cache, "hit");
}

TEST_F(ProgramKeys, ExceptionsPassThroughCodeThatWasFound) {
  const auto throwing = [](Tensor t) {
    return host_call([](const Tensor &) -> Tensor { throw std::out_of_range("gone"); },
                     {.results = {spec(f32, {4})}}, t);
  };
  for (const char *const expected : {"miss", "hit"}) {
    auto f = function(throwing);
    EXPECT_THROW(static_cast<void>(f(ones({4}))), std::out_of_range);
    EXPECT_EQ(f.report(ones({4})).cache, expected);
  }
}

} // namespace
} // namespace weft::cache
