// Attention as one kernel on the emulator, beside the definition in f64: lengths that no tile
// divides, causal rows, masks, heads that share keys, depths, formats; gradients; what the kernel
// does not take.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "OnGpu.h"
#include <weft/weft.h>

namespace weft::device {
namespace {

using nn::Causal;

constexpr double kNone = -std::numeric_limits<double>::infinity();

struct Case {
  std::int64_t heads, key_heads, queries, keys, depth;
  Causal causal = Causal::no;
  Shape mask = {};   ///< of bools, if it has axes
  bool adds = false; ///< a mask of floats instead
  DType dtype = DType::bf16;
  std::optional<double> scale = std::nullopt;
};

std::string text(const Case &c) {
  return to_string(Shape{c.heads, c.key_heads, c.queries, c.keys, c.depth}) + " causal " +
         std::to_string(static_cast<int>(c.causal)) + " mask " + to_string(c.mask) +
         (c.adds ? " added" : "");
}

struct Inputs {
  Tensor q, k, v, mask;

  explicit Inputs(const Case &c) {
    const auto drawn = [&](std::int64_t heads, std::int64_t length, std::int64_t seed) {
      return cast(random::normal({2, heads, length, c.depth}, {.seed = seed}), c.dtype);
    };
    q = drawn(c.heads, c.queries, 1);
    k = drawn(c.key_heads, c.keys, 2);
    v = drawn(c.key_heads, c.keys, 3);
    if (c.mask.size() == 0) return;
    mask = random::uniform(c.mask, {.seed = 4}) < 0.7;
    if (c.adds)
      mask = cast(select(mask, random::normal(mask.shape(), {.seed = 5}), kNone), c.dtype);
  }
};

/// The definition in f64, with the whole matrix of weights, of the numbers that there are.
Tensor plain(const Case &c, const Inputs &in) {
  const std::int64_t group = c.heads / c.key_heads;
  const auto wide = [](const Tensor &x) { return cast(x, DType::f64); };
  const auto repeated = [&](const Tensor &x) {
    const Shape s = x.shape();
    return reshape(
        broadcast(reshape(wide(x), {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], group, s[2], s[3]}),
        {s[0], s[1] * group, s[2], s[3]});
  };
  Tensor s = matmul(wide(in.q), repeated(in.k), {.transpose_rhs = true}) *
             c.scale.value_or(1 / std::sqrt(static_cast<double>(c.depth)));
  if (in.mask.defined()) s = c.adds ? s + wide(in.mask) : select(in.mask, s, kNone);
  if (c.causal != Causal::no) {
    const std::int64_t shift = c.causal == Causal::bottom_right ? c.keys - c.queries : 0;
    s = select(iota(DType::i64, {c.keys}) <=
                   reshape(iota(DType::i64, {c.queries}), {-1, 1}) + shift,
               s, kNone);
  }
  const Tensor top = max(s, {.axes = Ints{-1}, .keepdims = true});
  const Tensor e = exp(s - select(top > kNone, top, 0));
  const Tensor total = sum(e, {.axes = Ints{-1}, .keepdims = true});
  return matmul(e / select(total > 0, total, 1), repeated(in.v));
}

Tensor there(const Tensor &x) { return x.defined() ? x.to("gpu:0") : x; }

double distance(const Tensor &given, const Tensor &wanted) {
  EXPECT_EQ(given.shape(), wanted.shape());
  if (given.size() == 0) return 0;
  return max(abs(cast(given.to("cpu"), DType::f64) - cast(wanted, DType::f64))).item<double>();
}

bool every(const Tensor &holds) { return min(cast(holds, DType::i32)).item<std::int32_t>() == 1; }

/// Rounding of weights and of results, of values about 4.
double tolerance(DType dtype) { return dtype == DType::bf16 ? 0x1p-6 : 0x1p-9; }

Tensor computed(const Case &c, const Inputs &in) {
  auto f = function([&](const Tensor &q, const Tensor &k, const Tensor &v) {
    return nn::attention(q, k, v, there(in.mask), {.causal = c.causal, .scale = c.scale});
  });
  return f(there(in.q), there(in.k), there(in.v));
}

/// The definition's numbers, compiled and at once.
void expect_definition(const Case &c) {
  const Inputs in(c);
  const Tensor wanted = plain(c, in);
  const Tensor y = computed(c, in);
  EXPECT_LE(distance(y, wanted), tolerance(c.dtype)) << text(c);
  // Called at once it is the same program.
  const Tensor eager = nn::attention(there(in.q), there(in.k), there(in.v), there(in.mask),
                                     {.causal = c.causal, .scale = c.scale});
  EXPECT_EQ(cast(eager, DType::f32).to_vector<float>(), cast(y, DType::f32).to_vector<float>())
      << text(c);
}

TEST(AttentionKernel, IsTheDefinition) {
  on_gpu("stress,seed=3", [] {
    for (const Case &c : {
             Case{2, 2, 128, 64, 64},
             Case{2, 2, 200, 130, 16},
             Case{1, 1, 1, 1, 32},
             Case{2, 2, 17, 300, 128},
             Case{2, 2, 130, 65, 48},
             Case{1, 1, 70, 63, 96},
             Case{4, 2, 33, 70, 32},
             Case{4, 1, 65, 64, 80, Causal::top_left},
             Case{2, 2, 200, 200, 64, Causal::top_left},
             Case{2, 2, 200, 120, 64, Causal::top_left},
             Case{2, 2, 100, 200, 64, Causal::bottom_right},
             Case{2, 2, 300, 100, 32, Causal::bottom_right}, // the first rows see nothing
             Case{2, 2, 70, 70, 64, Causal::no, {2, 1, 70, 70}},
             Case{2, 2, 70, 90, 64, Causal::no, {90}},
             Case{4, 2, 70, 90, 32, Causal::no, {2, 4, 70, 90}},
             Case{2, 2, 70, 90, 64, Causal::top_left, {2, 70, 1}},
             Case{2, 2, 70, 90, 64, Causal::no, {70, 90}, true},
             Case{2, 2, 140, 100, 64, Causal::no, {}, false, DType::f16},
             Case{2, 2, 140, 100, 128, Causal::top_left, {140, 100}, true, DType::f16},
             Case{2, 2, 64, 64, 32, Causal::no, {}, false, DType::bf16, 1.5},
         })
      expect_definition(c);
  });
}

/// Gradients of sum(y * by) of what `attention` gives.
template <class OfAttention>
std::vector<Tensor> gradients_of(const OfAttention &attention, const Tensor &by,
                                 const std::vector<Tensor> &x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(sum(attention(x) * by), x);
}

TEST(AttentionKernel, IsOneLaunchThatMeetsNoBankTwice) {
  on_gpu("", [] {
    for (const Case &c :
         {Case{2, 2, 128, 128, 128}, Case{2, 2, 130, 70, 32}, Case{2, 2, 100, 70, 48},
          Case{2, 2, 70, 70, 16}, Case{2, 1, 130, 130, 64, Causal::top_left}}) {
      const Inputs in(c);
      const Tensor q = there(in.q), k = there(in.k), v = there(in.v), none;
      const auto launches_of = [&](auto f) {
        f();
        const Counters counters;
        counters.reset();
        f();
        EXPECT_EQ(counters.read().shared_bank_conflicts, 0U) << text(c);
        return counters.read().launches;
      };
      auto f = function([&](const Tensor &x, const Tensor &y, const Tensor &z) {
        return nn::attention(x, y, z, none, {.causal = c.causal});
      });
      EXPECT_EQ(launches_of([&] { f(q, k, v).to("cpu"); }), 1U) << text(c);
      // Beside the sums of rows of results times cotangents, and of groups of heads nothing else.
      auto g = function([&](const std::vector<Tensor> &x) {
        return gradients_of(
            [&](const std::vector<Tensor> &y) {
              return nn::attention(y[0], y[1], y[2], none, {.causal = c.causal});
            },
            q, x);
      });
      EXPECT_EQ(launches_of([&] { g(std::vector{q, k, v})[0].to("cpu"); }), 3U) << text(c);
    }
  });
}

TEST(AttentionKernel, HasTheSameBitsInEveryOrder) {
  std::vector<std::vector<float>> found;
  const Case c{4, 2, 150, 200, 64, Causal::top_left};
  // In processes of their own: what they give is compared with the first one's, through a file.
  for (const char *options : {"seed=1", "seed=2,stress"})
    on_gpu(options, [&] {
      const Inputs in(c);
      const std::vector<float> y = cast(computed(c, in), DType::f32).to_vector<float>();
      const std::string path = testing::TempDir() + "/attention-" + std::to_string(getppid());
      if (options == std::string("seed=1")) {
        std::FILE *file = std::fopen(path.c_str(), "wb");
        ASSERT_EQ(std::fwrite(y.data(), sizeof(float), y.size(), file), y.size());
        std::fclose(file);
        return;
      }
      std::vector<float> first(y.size());
      std::FILE *file = std::fopen(path.c_str(), "rb");
      ASSERT_EQ(std::fread(first.data(), sizeof(float), first.size(), file), first.size());
      std::fclose(file);
      std::remove(path.c_str());
      EXPECT_EQ(y, first);
    });
}

TEST(AttentionKernel, LetsNothingThroughAMask) {
  on_gpu("", [] {
    const Case c{1, 1, 70, 70, 32, Causal::top_left};
    Inputs in(c);
    // The last key and value are seen by the last row alone, the first by all.
    const Tensor last = reshape(iota(DType::i64, {70}), {70, 1}) == 69;
    for (const double bad : {std::nan(""), -kNone}) {
      Inputs behind = in;
      behind.v = select(last, cast(tensor(bad), c.dtype), in.v);
      const Tensor y = cast(computed(c, behind), DType::f32).to("cpu");
      EXPECT_TRUE(every(isfinite(y[{ellipsis, slice(0, 69), all}])));
      EXPECT_TRUE(every(isnan(y[{ellipsis, slice(69, 70), all}])));
      behind = in;
      behind.k = select(last, cast(tensor(bad), c.dtype), in.k);
      const Tensor z = cast(computed(c, behind), DType::f32).to("cpu");
      EXPECT_TRUE(every(isfinite(z[{ellipsis, slice(0, 69), all}])));
      EXPECT_TRUE(every(isnan(z[{ellipsis, slice(69, 70), all}])));
    }
    const Case none{1, 1, 16, 16, 16, Causal::no, {16, 16}};
    Inputs hidden(none);
    hidden.mask = zeros({16, 16}, DType::boolean);
    EXPECT_EQ(max(abs(cast(computed(none, hidden), DType::f32))).item<float>(), 0);
  });
}

/// The definition's gradients, compiled and maybe at once; of the kernel's 5 products of rounded
/// numbers within their rounding, relative to the largest.
void expect_gradients(const Case &c, bool eager) {
  const Inputs in(c);
  const Tensor by = random::normal({2, c.heads, c.queries, c.depth}, {.seed = 6});
  const Tensor rounded = cast(by, c.dtype);
  const std::vector<Tensor> wanted = gradients_of(
      [&](const std::vector<Tensor> &x) {
        Inputs wide = in;
        wide.q = x[0];
        wide.k = x[1];
        wide.v = x[2];
        return plain(c, wide);
      },
      cast(rounded, DType::f64),
      {cast(in.q, DType::f64), cast(in.k, DType::f64), cast(in.v, DType::f64)});
  const Tensor mask = there(in.mask), there_by = there(rounded);
  const auto gradients = [&](const std::vector<Tensor> &x) {
    return gradients_of(
        [&](const std::vector<Tensor> &y) {
          return nn::attention(y[0], y[1], y[2], mask, {.causal = c.causal, .scale = c.scale});
        },
        there_by, x);
  };
  const std::vector<Tensor> x = {there(in.q), there(in.k), there(in.v)};
  auto traced = function(gradients);
  const std::vector<Tensor> compiled = traced(x);
  if (eager) {
    const std::vector<Tensor> at_once = gradients(x);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(cast(at_once[i], DType::f32).to_vector<float>(),
                cast(compiled[i], DType::f32).to_vector<float>())
          << text(c) << " number " << i;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double scale = std::max(max(abs(wanted[i])).item<double>(), 1e-3);
    EXPECT_LE(distance(compiled[i], wanted[i]), tolerance(c.dtype) * scale)
        << text(c) << " number " << i;
  }
}

TEST(AttentionKernel, HasTheDefinitionsGradients) {
  on_gpu("stress,seed=5", [] {
    for (const Case &c : {
             Case{1, 1, 1, 1, 32},
             Case{2, 2, 130, 65, 48},
             Case{1, 1, 70, 63, 96},
             Case{4, 2, 33, 150, 128},
             Case{2, 2, 130, 130, 64, Causal::top_left},
             Case{1, 1, 130, 90, 128, Causal::top_left},
             Case{2, 2, 50, 200, 16, Causal::top_left},      // the last keys are seen by none
             Case{2, 2, 200, 100, 32, Causal::bottom_right}, // the first rows see nothing
             Case{4, 2, 50, 90, 64, Causal::bottom_right},
             Case{4, 2, 70, 90, 32, Causal::no, {2, 4, 70, 90}},
             Case{4, 2, 70, 90, 128, Causal::top_left, {70, 90}},
             Case{2, 2, 70, 90, 64, Causal::no, {70, 90}, true},
             Case{2, 2, 70, 90, 80, Causal::top_left, {70, 90}, true, DType::f16},
             Case{2, 2, 64, 64, 32, Causal::no, {}, false, DType::bf16, 1.5},
         })
      expect_gradients(c, /*eager=*/c.mask.size() != 0);
  });
}

// What a row does not see is not in its gradients, nor the row in those of what it does not see.
TEST(AttentionKernel, LetsNoGradientThroughAMask) {
  on_gpu("", [] {
    const Case c{1, 1, 70, 70, 32, Causal::top_left};
    const Inputs in(c);
    const Tensor position = reshape(iota(DType::i64, {70}), {70, 1});
    const Tensor by = there(cast(random::normal({2, 1, 70, 32}, {.seed = 6}), c.dtype));
    const auto gradients = [&](const Inputs &of, const Tensor &dy) {
      auto f = function([&](const std::vector<Tensor> &x) {
        return gradients_of(
            [&](const std::vector<Tensor> &y) {
              return nn::attention(y[0], y[1], y[2], Tensor(), {.causal = c.causal});
            },
            dy, x);
      });
      std::vector<Tensor> found = f(std::vector{there(of.q), there(of.k), there(of.v)});
      for (Tensor &x : found) x = cast(x, DType::f32).to("cpu");
      return found;
    };
    const auto rows = [](const Tensor &x, std::int64_t from, std::int64_t to) {
      return x[{ellipsis, slice(from, to), all}];
    };
    for (const double bad : {std::nan(""), -kNone}) {
      const auto spoilt = [&](const Tensor &x, std::int64_t at) {
        return select(position == at, cast(tensor(bad), c.dtype), x);
      };
      // Key and value 40 are seen by rows 40 to 69.
      for (const bool is_value : {false, true}) {
        Inputs other = in;
        (is_value ? other.v : other.k) = spoilt(is_value ? in.v : in.k, 40);
        const std::vector<Tensor> found = gradients(other, by);
        EXPECT_TRUE(every(isfinite(rows(found[0], 0, 40))));
        EXPECT_TRUE(every(isnan(rows(found[0], 40, 70))));
      }
      // Row 20 sees keys 0 to 20.
      for (const bool is_query : {false, true}) {
        Inputs other = in;
        if (is_query) other.q = spoilt(in.q, 20);
        const std::vector<Tensor> found =
            gradients(other, is_query ? by : there(spoilt(by.to("cpu"), 20)));
        EXPECT_TRUE(every(isfinite(rows(found[0], 0, 20))));
        EXPECT_TRUE(every(isfinite(rows(found[0], 21, 70))));
        for (std::size_t i : {1U, 2U}) {
          EXPECT_TRUE(every(isnan(rows(found[i], 0, 21)))) << i;
          EXPECT_TRUE(every(isfinite(rows(found[i], 21, 70)))) << i;
        }
      }
    }
  });
}

TEST(AttentionKernel, HasGradientsOfGradients) {
  on_gpu("", [] {
    const Case c{2, 1, 20, 30, 16, Causal::bottom_right};
    const Inputs in(c);
    const auto twice = [&](const std::vector<Tensor> &x) {
      GradientTape tape;
      tape.watch(x);
      const std::vector<Tensor> once = gradients_of(
          [&](const std::vector<Tensor> &y) {
            return cast(nn::attention(y[0], y[1], y[2], Tensor(), {.causal = c.causal}),
                        DType::f32);
          },
          tensor(1.0F), x);
      Tensor all = tensor(0.0F);
      for (const Tensor &one : once) all = all + sum(square(cast(one, DType::f32)));
      return tape.gradient(all, x);
    };
    const std::vector<Tensor> here = twice({in.q, in.k, in.v}),
                              on_device = twice({there(in.q), there(in.k), there(in.v)});
    for (std::size_t i = 0; i < here.size(); ++i) {
      ASSERT_TRUE(here[i].defined()) << i;
      ASSERT_TRUE(on_device[i].defined()) << i;
      const double scale = max(abs(cast(here[i], DType::f64))).item<double>();
      EXPECT_LE(distance(on_device[i], here[i]), 0.1 * scale) << " number " << i;
    }
  });
}

// Of other depths and types, of many at once, and on older chips it is what it was.
TEST(AttentionKernel, IsTheOpsWhereThereIsNone) {
  for (const char *options : {"", "chip=sm_75"})
    on_gpu(options, [] {
      for (const Case &c : {Case{2, 2, 20, 30, 24}, Case{2, 2, 20, 30, 16, Causal::top_left},
                            Case{2, 2, 20, 30, 16, Causal::no, {}, false, DType::f32},
                            Case{2, 2, 20, 30, 16, Causal::no, {}, false, DType::bf16, -0.5}}) {
        const Inputs in(c);
        EXPECT_LE(distance(computed(c, in), plain(c, in)), 4 * tolerance(DType::bf16)) << text(c);
      }
      const Case c{2, 2, 20, 30, 16};
      const Inputs in(c);
      auto mapped = vmap(
          [](const Tensor &q, const Tensor &k, const Tensor &v) { return nn::attention(q, k, v); });
      EXPECT_LE(distance(mapped(there(in.q), there(in.k), there(in.v)), plain(c, in)),
                4 * tolerance(DType::bf16));
    });
}

} // namespace
} // namespace weft::device
