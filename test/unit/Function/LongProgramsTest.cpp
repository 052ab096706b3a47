// Programs of thousands of ops, which are compiled in parts, give the bits of eager execution.
#include "../Testing.h"

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

Tensor matrix(std::uint64_t seed) { return random::normal({6, 6}, {.seed = seed}) * 0.3f; }

TEST(LongPrograms, ProductsAndLoopsInALine) {
  const auto line = [](const Tensor &x) {
    Tensor y = x, sums = zeros({});
    for (int i = 0; i < 400; ++i) {
      y = tanh(matmul(y, x) + x);
      // A number that passes from part to part, beside what is stored.
      if (i % 16 == 0) sums = sums * 0.5f + sum(y);
    }
    return std::tuple(y, sums);
  };
  const auto f = function(line);
  const auto [y, sums] = f(matrix(3));
  const auto [eager_y, eager_sums] = line(matrix(3));
  EXPECT_EQ(y.to_vector<float>(), eager_y.to_vector<float>());
  EXPECT_EQ(sums.item<float>(), eager_sums.item<float>());
  EXPECT_EQ(f.report(matrix(3)).copies(), 0u) << f.report(matrix(3)).memory_text();
}

TEST(LongPrograms, AVariableThatManyReadIsOverwrittenBehindThem) {
  const auto run = [](const Variable &w, const Tensor &x) {
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = tanh(matmul(y, w.value()));
    const Tensor before = w.value();
    w.assign(before * 0.5f + y);
    for (int i = 0; i < 100; ++i) y = tanh(matmul(y, w.value()) + before);
    w.assign_add(y);
    return std::tuple(y, before);
  };
  const Variable mine(matrix(4), "mine"), theirs(matrix(4), "theirs");
  const auto f = function([&](const Tensor &x) { return run(mine, x); });
  for (int call = 0; call < 2; ++call) {
    const auto [y, before] = f(matrix(5));
    const auto [eager_y, eager_before] = run(theirs, matrix(5));
    EXPECT_EQ(y.to_vector<float>(), eager_y.to_vector<float>());
    EXPECT_EQ(before.to_vector<float>(), eager_before.to_vector<float>());
    EXPECT_EQ(mine.value().to_vector<float>(), theirs.value().to_vector<float>());
  }
}

TEST(LongPrograms, ManyTensorsJoined) {
  for (const std::int64_t axis : {0, 1}) {
    const auto join = [&](const Tensor &x) {
      std::vector<Tensor> parts;
      for (int i = 0; i < 120; ++i) {
        // Some have no elements.
        const Ints end = axis == 0 ? Ints{i % 7, 4} : Ints{-1, i % 5};
        parts.push_back(i == 17 ? x : tanh(slice(x, {0, 0}, end, {1, 1})) + float(i));
      }
      return concatenate(parts, {.axis = axis});
    };
    const auto both = [&](const Tensor &x) {
      const auto [y, slope] =
          value_and_grad([&](const Tensor &at) { return sum(square(join(at))); })(x);
      return std::tuple(join(x), y, slope);
    };
    const Tensor x = random::normal({6, 4}, {.seed = 9});
    const auto [joined, y, slope] = both(x);
    for (const Shape &known : {Shape{6, 4}, Shape{unknown, 4}}) {
      SCOPED_TRACE(to_string(known));
      const auto f = function(both, {.signature = {spec(f32, known)}});
      const auto [compiled, compiled_y, compiled_slope] = f(x);
      EXPECT_EQ(compiled.to_vector<float>(), joined.to_vector<float>());
      EXPECT_EQ(compiled_y.item<float>(), y.item<float>());
      EXPECT_EQ(compiled_slope.to_vector<float>(), slope.to_vector<float>());
    }
  }
}

TEST(LongPrograms, UnknownSizesBranchesAndChecks) {
  const auto work = [](const Tensor &x) {
    Tensor y = x;
    for (int i = 0; i < 120; ++i) {
      y = matmul(y, x) * 0.5f;
      if (i % 8 == 0) y = cond(sum(y) > 0, [&] { return y - 0.25f; }, [&] { return y + 0.25f; });
      if (i % 32 == 0) check(sum(y) < 1e30f, "it grows", sum(y));
      y = tanh(y);
    }
    return y;
  };
  const auto f = function(work, {.signature = {spec(f32, {unknown, unknown})}});
  for (std::int64_t n : {1, 6, 9}) {
    const Tensor x = random::normal({n, n}, {.seed = 6});
    EXPECT_EQ(f(x).to_vector<float>(), work(x).to_vector<float>()) << n;
  }
}

TEST(LongPrograms, AFailedCheckInAPartLeavesWhatWasAssigned) {
  const Variable w(matrix(4), "w");
  const auto f = function([&](const Tensor &x, const Tensor &limit) {
    Tensor y = x;
    for (int i = 0; i < 300; ++i) y = tanh(matmul(y, x) + x);
    w.assign(y);
    check(sum(abs(y)) < limit, "too large");
    for (int i = 0; i < 300; ++i) y = tanh(matmul(y, x) + x);
    w.assign(y);
    return y;
  });
  const Tensor x = matrix(7);
  Tensor half = x;
  for (int i = 0; i < 300; ++i) half = tanh(matmul(half, x) + x);
  EXPECT_THROW(static_cast<void>(f(x, tensor(0.f))), Error);
  EXPECT_EQ(w.value().to_vector<float>(), half.to_vector<float>());
  const Tensor whole = f(x, tensor(1e9f));
  EXPECT_EQ(w.value().to_vector<float>(), whole.to_vector<float>());
}

} // namespace
} // namespace weft
