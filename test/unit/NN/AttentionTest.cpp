// Attention against the plain composition of ops, in blocks and whole, values and gradients, eager
// and traced; masks, groups, dropout; the layers around it; what they refuse.
#include "../Testing.h"

#include <cmath>
#include <limits>

#include <weft/weft.h>

namespace weft {
namespace {

using namespace nn;

struct Inputs {
  Tensor q, k, v;
};

Inputs drawn(std::int64_t heads, std::int64_t key_heads, std::int64_t queries, std::int64_t keys,
             DType dtype = f64) {
  return {random::normal({2, heads, queries, 6}, {.seed = 1, .dtype = dtype}),
          random::normal({2, key_heads, keys, 6}, {.seed = 2, .dtype = dtype}),
          random::normal({2, key_heads, keys, 5}, {.seed = 3, .dtype = dtype})};
}

/// The definition, with the whole matrix of weights.
Tensor plain(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &mask, Causal causal) {
  const std::int64_t group = q.size(1) / k.size(1);
  const auto repeated = [&](const Tensor &x) {
    const Shape s = x.shape();
    return reshape(
        broadcast(reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], group, s[2], s[3]}),
        {s[0], s[1] * group, s[2], s[3]});
  };
  Tensor s = matmul(q, repeated(k), {.transpose_rhs = true}) / std::sqrt(6.);
  const double none = -std::numeric_limits<double>::infinity();
  if (mask.defined()) s = mask.dtype() == boolean ? select(mask, s, none) : s + mask;
  if (causal != Causal::no) {
    const std::int64_t shift = causal == Causal::bottom_right ? k.shape()[2] - q.shape()[2] : 0;
    s = select(iota(i64, {k.size(2)}) <= reshape(iota(i64, {q.size(2)}), {-1, 1}) + shift, s, none);
  }
  const Tensor top = max(s, {.axes = Ints{-1}, .keepdims = true});
  const Tensor e = exp(s - select(top > none, top, 0));
  const Tensor total = sum(e, {.axes = Ints{-1}, .keepdims = true});
  return matmul(e / select(total > 0, total, 1), repeated(v));
}

double distance(const Tensor &a, const Tensor &b) {
  EXPECT_EQ(a.shape(), b.shape());
  return max(abs(a - b)).item<double>();
}

/// Values and gradients, in four ways: ours and plain, eager and traced.
void compare(const Inputs &in, const Tensor &mask, Causal causal) {
  const auto with_gradients = [&](const auto &f) {
    return [&f](const Tensor &q, const Tensor &k, const Tensor &v) {
      GradientTape tape;
      tape.watch(std::tuple(q, k, v));
      const Tensor y = f(q, k, v);
      const Tensor weight = reshape(cos(iota(f64, {y.size()})), y.shape());
      const auto [dq, dk, dv] = tape.gradient(sum(y * weight), {q, k, v});
      return std::vector<Tensor>{y, dq, dk, dv};
    };
  };
  const auto ours = [&](const Tensor &q, const Tensor &k, const Tensor &v) {
    return attention(q, k, v, mask, {.causal = causal});
  };
  const auto theirs = [&](const Tensor &q, const Tensor &k, const Tensor &v) {
    return plain(q, k, v, mask, causal);
  };
  const std::vector<Tensor> expected = with_gradients(theirs)(in.q, in.k, in.v);
  const auto own = with_gradients(ours);
  auto traced = function(own);
  const std::vector<Tensor> eager = own(in.q, in.k, in.v), compiled = traced(in.q, in.k, in.v);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(distance(eager[i], expected[i]), 1e-12) << "eager, number " << i;
    EXPECT_LT(distance(compiled[i], expected[i]), 1e-12) << "compiled, number " << i;
  }
}

TEST(Attention, IsItsDefinition) {
  for (const Causal causal : {Causal::no, Causal::top_left, Causal::bottom_right}) {
    compare(drawn(4, 4, 7, 9), {}, causal);
    compare(drawn(4, 2, 7, 9), {}, causal);
    compare(drawn(4, 1, 9, 4), {}, causal);
  }
}

// Of many scores some heads are computed at a time, or some rows of one head; something is left
// over of both.
TEST(Attention, InParts) {
  for (const Causal causal : {Causal::no, Causal::top_left}) {
    compare(drawn(7, 7, 200, 300), {}, causal);
    compare(drawn(4, 2, 530, 300), {}, causal);
    compare(drawn(2, 2, 1100, 600), {}, causal);
  }
}

// Whatever axes a mask has, each part finds its rows.
TEST(Attention, MasksInParts) {
  struct Case {
    std::int64_t heads, queries, keys;
  };
  for (const auto [heads, queries, keys] : {Case{7, 200, 300}, Case{2, 600, 600}}) {
    const Inputs in = drawn(heads, heads, queries, keys);
    for (const Shape &shape :
         {Shape{keys}, Shape{queries, 1}, Shape{queries, keys}, Shape{2, 1, 1, keys},
          Shape{heads, 1, keys}, Shape{1, heads, queries, 1}, Shape{2, 1, queries, keys},
          Shape{2, heads, queries, keys}})
      compare(in, random::uniform(shape, {.seed = 9}) < 0.8, Causal::no);
  }
  compare(drawn(4, 2, 530, 300), random::uniform({2, 1, 530, 300}, {.seed = 9}) < 0.8, Causal::no);
}

TEST(Attention, Masks) {
  const Inputs in = drawn(4, 2, 7, 9);
  const Tensor some = random::uniform({2, 4, 7, 9}, {.seed = 4}) < 0.6;
  compare(in, some, Causal::no);
  compare(in, random::normal({2, 1, 7, 9}, {.seed = 5, .dtype = f64}), Causal::top_left);
  compare(in, random::normal({9}, {.seed = 6, .dtype = f64}), Causal::no);
  // Of a row that may see nothing the result is 0, and so are its gradients.
  const Tensor none = concatenate({zeros({2, 9}, boolean), ones({5, 9}, boolean)});
  compare(in, none, Causal::no);
  const Tensor y = attention(in.q, in.k, in.v, none);
  EXPECT_EQ(max(abs(y[{all, all, slice(0, 2)}])).item<double>(), 0);
}

// Of scores of a hundred, too, the weights that gradients compute again sum up to 1: what a row's
// sum of exponentials is known by keeps more bits than numbers of 16 have.
TEST(Attention, GradientsOfNarrowNumbersHaveTheWeights) {
  for (const DType dtype : {bf16, f16}) {
    const Inputs in = drawn(2, 2, 1, 40, f32);
    const auto narrow = [&](const Tensor &x) { return cast(x, dtype); };
    const Tensor q = narrow(in.q + 10), k = narrow(0.1 * in.k + 4), v = narrow(in.v);
    const Tensor dy = narrow(cos(iota(f32, {5})));
    const auto gradient = [&](const Tensor &x) {
      GradientTape tape;
      tape.watch(x);
      return tape.gradient(sum(attention(q, k, x) * dy), x);
    };
    auto traced = function(gradient);
    for (const Tensor &dv : {gradient(v), traced(v)}) {
      const Tensor all = sum(cast(dv, f32), {.axes = Ints{-2}});
      EXPECT_LT(max(abs(all - cast(dy, f32))).item<float>(), 0.01F) << static_cast<int>(dtype);
    }
  }
}

// All weights of a row that sees NaN are NaN, so all values that it sees have NaN for gradients.
TEST(Attention, WhatIsSeenReachesEveryGradient) {
  const Inputs in = drawn(1, 1, 3, 4, f32);
  const Tensor k = select(reshape(iota(i64, {4}), {4, 1}) == 1, NAN, in.k);
  const auto gradient = [&](const Tensor &v) {
    GradientTape tape;
    tape.watch(v);
    return tape.gradient(sum(attention(in.q, k, v)), v);
  };
  auto traced = function(gradient);
  for (const Tensor &dv : {gradient(in.v), traced(in.v)})
    EXPECT_EQ(min(cast(isnan(dv), i32)).item<std::int32_t>(), 1);
}

TEST(Attention, OpenSizes) {
  const Inputs in = drawn(4, 4, 7, 9, f32);
  const auto call = [](const Tensor &q, const Tensor &k, const Tensor &v) {
    return attention(q, k, v);
  };
  auto open = function(
      call, {.signature = {spec(f32, {unknown, 4, unknown, 6}), spec(f32, {unknown, 4, unknown, 6}),
                           spec(f32, {unknown, 4, unknown, 5})}});
  EXPECT_LT(distance(open(in.q, in.k, in.v), call(in.q, in.k, in.v)), 1e-6);
}

// What is behind a mask has no influence, be it NaN or infinite; what is seen has.
TEST(Attention, NothingGetsThroughAMask) {
  const auto nan = static_cast<double>(NAN), infinity = static_cast<double>(INFINITY);
  for (const bool traced : {false, true})
    for (const std::int64_t length : {6, 600})
      for (const Causal causal : {Causal::no, Causal::top_left})
        for (const double bad : {nan, infinity}) {
          const Inputs in = drawn(2, 1, length, length);
          const Tensor last = iota(i64, {length}) == length - 1;
          const Tensor column = reshape(last, {length, 1});
          // The last key is behind the mask; without one the last query alone sees it.
          const Tensor visible = select(last, zeros({}, f64), 1.) > 0;
          const Tensor mask = causal == Causal::no ? visible : Tensor();
          const auto run = [&](const Tensor &q, const Tensor &k, const Tensor &v) {
            GradientTape tape;
            tape.watch(std::vector<Tensor>{q, k, v});
            const Tensor y = attention(q, k, v, mask, {.causal = causal});
            // Of the last query nothing is asked.
            const auto [dq, dk, dv] =
                tape.gradient(sum(select(column, zeros({}, f64), square(y))), {q, k, v});
            return std::vector<Tensor>{y, dq, dk, dv};
          };
          auto compiled = function(run);
          const auto apply = [&](const Tensor &k, const Tensor &v) {
            return traced ? compiled(in.q, k, v) : run(in.q, k, v);
          };
          const std::vector<Tensor> clean = apply(in.k, in.v),
                                    k = apply(select(column, bad, in.k), in.v),
                                    v = apply(in.k, select(column, bad, in.v));
          for (const std::vector<Tensor> &found : {k, v}) {
            // All rows that do not see it.
            const std::int64_t rows = causal == Causal::no ? length : length - 1;
            const auto shown = [&](const Tensor &t) {
              return t[{ellipsis, slice(0, rows), slice({}, {})}];
            };
            EXPECT_EQ(distance(shown(found[0]), shown(clean[0])), 0);
            EXPECT_EQ(distance(shown(found[1]), shown(clean[1])), 0);
            if (causal == Causal::no)
              for (const std::size_t i : {2u, 3u}) EXPECT_EQ(distance(found[i], clean[i]), 0);
            else EXPECT_FALSE(all(found[0] == found[0]).item<bool>());
          }
        }
  // A query that sees nothing may be anything.
  const Inputs in = drawn(2, 2, 4, 4);
  const Tensor nothing = reshape(iota(i64, {4}) > 0, {4, 1});
  GradientTape tape;
  const Tensor q = select(nothing, in.q, nan);
  tape.watch(std::vector<Tensor>{q, in.k, in.v});
  const Tensor y = attention(q, in.k, in.v, nothing);
  const auto [dq, dk, dv] = tape.gradient(sum(square(y)), {q, in.k, in.v});
  for (const Tensor &t : {y, dq, dk, dv}) EXPECT_TRUE(all(t == t).item<bool>());
  // Numbers of -infinity hide as bools do.
  const Tensor hidden = select(iota(i64, {4}) == 3, -infinity, zeros({}, f64)),
               bad = select(reshape(iota(i64, {4}) == 3, {4, 1}), nan, in.v);
  EXPECT_EQ(distance(attention(in.q, in.k, bad, hidden), attention(in.q, in.k, in.v, hidden)), 0);
}

// Means stay, the gradient drops what the value dropped, and calls differ.
TEST(Attention, Dropout) {
  const Inputs in = drawn(4, 4, 600, 300);
  const random::Generator g(1);
  const Tensor ones_in = ones_like(in.v);
  const auto run = [&](const Tensor &v) {
    return attention(in.q, in.k, v, {}, {.dropout = 0.25, .generator = g});
  };
  EXPECT_NEAR(mean(run(ones_in)).item<double>(), 1, 0.01);
  GradientTape tape;
  tape.watch(in.v);
  const Tensor y = run(in.v);
  const auto [dv] = tape.gradient(sum(y), {in.v});
  // It is linear in v.
  EXPECT_NEAR(sum(dv * in.v).item<double>(), sum(y).item<double>(), 1e-8);
  EXPECT_GT(distance(run(in.v), y), 0);
  // With a key the numbers are a function of it.
  const auto of_key = [&](const Tensor &key) {
    return attention(in.q, in.k, in.v, {}, {.dropout = 0.25, .dropout_key = key});
  };
  const Tensor key = random::key(1);
  EXPECT_EQ(distance(of_key(key), of_key(key)), 0);
  EXPECT_EQ(distance(of_key(key), function(of_key)(key)), 0);
  EXPECT_GT(distance(of_key(key), of_key(random::key(2))), 0);
}

TEST(Attention, WhatItRefuses) {
  const Inputs in = drawn(4, 3, 7, 9, f32);
  EXPECT_THROWS(attention(in.q, in.k, in.v), ShapeError,
                "attention: the 3 heads of keys do not divide the 4 heads of queries");
  EXPECT_THROWS(attention(in.q, in.q.astype(f64), in.q), DTypeError,
                "attention: query, key and value must be floating and of one dtype, but are "
                "f32(2, 4, 7, 6), f64(2, 4, 7, 6) and f32(2, 4, 7, 6)");
  EXPECT_THROWS(attention(in.q[0][0], in.k[0][0], in.v[0][0]), ShapeError,
                "attention: query, key and value must be (batch.., heads, length, depth), but are "
                "f32(7, 6), f32(9, 6) and f32(9, 5)");
  EXPECT_THROW(attention(in.q, in.q, in.v), ShapeError);
  EXPECT_THROW(attention(in.q, in.q, in.q, zeros({3}, i32)), DTypeError);
  EXPECT_THROW(attention(in.q, in.q, in.q, zeros({3}, boolean)), ShapeError);
  EXPECT_THROWS(attention(in.q, in.q, in.q, {}, {.dropout = 1}), ValueError,
                "attention: dropout is 1, but must be at least 0 and below 1");
  EXPECT_THROWS(attention(in.q, in.q, in.q, {},
                          {.generator = random::Generator(1), .dropout_key = random::key(1)}),
                ValueError, "attention: a generator and a key are given: one of them is wanted");
  EXPECT_THROWS(attention(in.q, in.q, in.q, {}, {.dropout = 0.5, .dropout_key = zeros({2})}),
                DTypeError, "attention: random::randint: a key is of dtype u64, but it is f32");
  EXPECT_THROWS(MultiHeadAttention(10, {.heads = 4}), ValueError,
                "MultiHeadAttention: the 4 heads do not divide the size 10: give the depth of a "
                "head");
  EXPECT_THROWS(MultiHeadAttention(8, {.heads = 4})(zeros({3, 8})), ShapeError,
                "MultiHeadAttention: x must be (batch, length, size), but is f32(3, 8)");
  EXPECT_THROWS(rotary(zeros({3, 5})), ShapeError,
                "rotary: x must be (.., length, depth) of an even depth, but is f32(3, 5)");
}

TEST(MultiHeadAttention, IsDenseLayersAroundAttention) {
  const MultiHeadAttention layer(8, {.heads = 4, .key_heads = 2});
  const Tensor x = random::normal({2, 5, 8}, {.seed = 1}),
               other = random::normal({2, 7, 6}, {.seed = 2});
  const Tensor mask = random::uniform({2, 5, 7}, {.seed = 3}) < 0.7;
  const Tensor y = layer(x, other, {.mask = mask});
  EXPECT_EQ(y.shape(), (Shape{2, 5, 8}));
  const auto heads = [](const Tensor &t, std::int64_t count) {
    return transpose(reshape(t, {2, -1, count, 2}), {0, 2, 1, 3});
  };
  const Tensor by_hand = attention(heads(layer.query(x), 4), heads(layer.key(other), 2),
                                   heads(layer.value(other), 2), reshape(mask, {2, 1, 5, 7}));
  EXPECT_LT(distance(layer.output(reshape(transpose(by_hand, {0, 2, 1, 3}), {2, 5, 8})), y), 1e-6);
  std::vector<std::string> paths;
  for (const NamedVariable &entry : named_variables(layer)) paths.push_back(entry.path);
  EXPECT_EQ(paths[0], "query.kernel");
  EXPECT_EQ(paths[7], "output.bias");
}

// No position sees what is behind it.
TEST(Transformer, ACausalLayerDoesNotLookAhead) {
  const TransformerEncoderLayer layer(16,
                                      {.heads = 2, .norm_first = true, .causal = Causal::top_left});
  const TransformerDecoderLayer decoder(16, {.heads = 2});
  const Tensor x = random::normal({1, 6, 16}, {.seed = 1}),
               e = random::normal({1, 4, 16}, {.seed = 2});
  const Tensor changed =
      concatenate({x[{all, slice(0, 4)}], x[{all, slice(4, 6)}] + 1}, {.axis = 1});
  const Tensor a = layer(x), b = layer(changed), c = decoder(x, e), d = decoder(changed, e);
  EXPECT_EQ(distance(a[{all, slice(0, 4)}], b[{all, slice(0, 4)}]), 0);
  EXPECT_GT(distance(a, b), 0);
  EXPECT_EQ(distance(c[{all, slice(0, 4)}], d[{all, slice(0, 4)}]), 0);
  EXPECT_EQ(c.shape(), x.shape());
}

TEST(Transformer, TrainsTracedAsEager) {
  std::vector<float> losses[2];
  for (const bool traced : {false, true}) {
    const Sequential model{Dense(16), TransformerEncoderLayer(16, {.heads = 2, .dropout = 0.1}),
                           Dense(1)};
    nn::seed(model, 5);
    const optimizers::AdamW adam(model, {.learning_rate = 0.01});
    const auto step = [&](const Tensor &x) {
      GradientTape tape;
      const Tensor loss = mean(square(model(x, {.training = true}) - 1));
      adam.apply_gradients(tape.gradient(loss, model));
      return loss;
    };
    auto compiled = function(step);
    const Tensor x = random::normal({2, 5, 3}, {.seed = 1});
    for (int i = 0; i < 5; ++i)
      losses[traced].push_back((traced ? compiled(x) : step(x)).item<float>());
    EXPECT_LT(losses[traced].back(), losses[traced].front());
  }
  for (std::size_t i = 0; i < losses[0].size(); ++i)
    EXPECT_NEAR(losses[0][i], losses[1][i], 1e-4 * losses[0][i]) << i;
}

TEST(Transformer, Positions) {
  const Tensor p = positional_encoding(3, 5, 10'000, f64);
  EXPECT_EQ(p.shape(), (Shape{3, 5}));
  EXPECT_EQ((p[{0, 1}].item<double>()), 1);
  EXPECT_NEAR((p[{2, 2}].item<double>()), std::sin(2 / std::pow(1e4, 2. / 5)), 1e-15);
  EXPECT_NEAR((p[{2, 3}].item<double>()), std::cos(2 / std::pow(1e4, 2. / 5)), 1e-15);
  // Products of turned vectors depend on how far apart they are alone, and lengths stay.
  const Tensor q = random::normal({6}, {.seed = 1, .dtype = f64}),
               k = random::normal({6}, {.seed = 2, .dtype = f64});
  for (const bool interleaved : {false, true}) {
    const Tensor a = rotary(broadcast(q, {9, 6}), interleaved),
                 b = rotary(broadcast(k, {9, 6}), interleaved);
    const auto dot = [](const Tensor &s, const Tensor &t) { return sum(s * t).item<double>(); };
    EXPECT_NEAR(dot(a[2], b[5]), dot(a[4], b[7]), 1e-12);
    EXPECT_NEAR(dot(a[8], a[8]), dot(q, q), 1e-12);
    EXPECT_EQ(distance(a[0], q), 0);
  }
}

} // namespace
} // namespace weft
