// Functions made of ops as C++ users call them: operands that are left out, weak numbers, options,
// and errors in their name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include <weft/weft.h>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What an error of a kind says.
template <class Kind, class Call>
std::string error_of(const Call &call) {
  try {
    call();
  } catch (const Kind &error) {
    return error.what();
  }
  return "no such error";
}

TEST(Composites, OperandsMayBeLeftOut) {
  const Tensor x = tensor({1.f, 5.f, 9.f});
  EXPECT_THAT(clip(x, 2, 6).to_vector<float>(), ElementsAre(2, 5, 6));
  EXPECT_THAT(clip(x, {}, 6).to_vector<float>(), ElementsAre(1, 5, 6));
  EXPECT_THAT(clip(x, 2).to_vector<float>(), ElementsAre(2, 5, 9));
  EXPECT_THAT(clip(x, tensor({0.f, 6.f, 0.f}), std::nullopt).to_vector<float>(),
              ElementsAre(1, 6, 9));
  EXPECT_THAT(clip(x).to_vector<float>(), ElementsAre(1, 5, 9));
  EXPECT_THAT(clip(x, {0, 6, 0}).to_vector<float>(), ElementsAre(1, 6, 9));
  EXPECT_EQ(average(x, {1, 0, 1}).item<float>(), 5);
}

TEST(Composites, NumbersAreWeak) {
  const Tensor x = tensor({3.0, 6.0});
  EXPECT_EQ(hypot(x, 0.1).to_vector<double>()[0], std::hypot(3.0, 0.1));
  EXPECT_EQ(hypot(tensor({3, 4}), 4).dtype(), f32);
  EXPECT_EQ(clip(tensor({1, 5}), 2, 6).dtype(), i32);
  EXPECT_EQ(clip(tensor({1, 5}), 2.5).dtype(), f32);
  EXPECT_EQ(floor_divide(tensor({7, -7}), 2).to_vector<int>(), (std::vector{3, -4}));
  EXPECT_EQ(hypot(3, 4).item<float>(), 5);
}

TEST(Composites, OperatorsOfBits) {
  const Tensor x = tensor({12, -5}), bools = tensor({true, false});
  EXPECT_THAT((x & 6).to_vector<int>(), ElementsAre(4, 2));
  EXPECT_THAT((x | 1).to_vector<int>(), ElementsAre(13, -5));
  EXPECT_THAT((x ^ x).to_vector<int>(), ElementsAre(0, 0));
  EXPECT_THAT((~x).to_vector<int>(), ElementsAre(-13, 4));
  EXPECT_THAT((bools & true).to_vector<bool>(), ElementsAre(true, false));
  EXPECT_THAT((~bools).to_vector<bool>(), ElementsAre(false, true));
  EXPECT_EQ((bools | x).dtype(), i32); // as 0 and 1
  EXPECT_THAT(error_of<DTypeError>([&] { (void)(x & 1.5F); }), HasSubstr("bitwise_and: lhs must"));
}

TEST(Composites, PaddingOfItsOwn) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_THAT(pad(x, 1).to_vector<int>(), ElementsAre(0, 1, 2, 3, 0));
  EXPECT_THAT(pad(x, {{1, 2}}, {.mode = PadMode::wrap}).to_vector<int>(),
              ElementsAre(3, 1, 2, 3, 1, 2));
  EXPECT_THAT(pad(x, 7, {0}, {1}, {1}).to_vector<int>(), ElementsAre(1, 7, 2, 7, 3, 7));
  EXPECT_THAT(error_of<ValueError>([&] { (void)pad(x, {{1, 2}, {3, 4}}); }),
              HasSubstr("pad: pad_width has 2 pairs for a tensor of rank 1"));
}

TEST(Composites, OptionsAreNamed) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = tensor({1.f, inf, -inf, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(nan_to_num(x, {.nan = 7, .posinf = 8, .neginf = 9}).to_vector<float>(),
              ElementsAre(1, 8, 9, 7));
  EXPECT_EQ(nan_to_num(x).to_vector<float>()[1], std::numeric_limits<float>::max());
  EXPECT_NEAR(round(3.14159, 2).item<float>(), 3.14, 1e-6);
  EXPECT_EQ(round(tensor({1234}), -2).item<int>(), 1200);
}

TEST(Composites, AxesAndListsAreNumbersOrBraces) {
  const Tensor x = tensor({{1.f, 2.f, 3.f, 4.f}, {5.f, 6.f, 8.f, 9.f}});
  EXPECT_NEAR(var(x, {.axes = {1}, .correction = 1}).to_vector<float>()[0], 5.0 / 3, 1e-6);
  EXPECT_EQ(var(x, {.axes = 1}).shape(), Shape({2}));
  EXPECT_EQ(stddev(x, {.axes = {0, -1}, .keepdims = true}).shape(), Shape({1, 1}));
  EXPECT_EQ(var(x).rank(), 0);
  EXPECT_EQ(expand_dims(x, 0).shape(), Shape({1, 2, 4}));
  EXPECT_EQ(expand_dims(x, {0, -1}).shape(), Shape({1, 2, 4, 1}));
  EXPECT_EQ(squeeze(expand_dims(x, 1), 1).shape(), Shape({2, 4}));
  EXPECT_THAT(repeat(tensor({1, 2}), {2, 1}, 0).to_vector<int>(), ElementsAre(1, 1, 2));
  EXPECT_THAT(roll(tensor({1, 2, 3}), 1).to_vector<int>(), ElementsAre(3, 1, 2));
  EXPECT_THAT(quantile(tensor({1.f, 2.f, 3.f}), {0.0, 0.5}).to_vector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(quantile(tensor({1.f, 2.f, 3.f}), 0.5).to_vector<float>(), ElementsAre(2));
  EXPECT_THAT(error_of<IndexError>([&] { var(x, {.axes = 2}); }),
              HasSubstr("var: axis 2 is out of range for a tensor of rank 2"));
  EXPECT_THAT(error_of<ValueError>([&] { var(x, {.axes = {1, -1}}); }),
              HasSubstr("var: axis has an axis twice: (1, -1)"));
}

TEST(Composites, JoinAndTakeApart) {
  const Tensor a = tensor({1, 2}), b = tensor({3, 4});
  EXPECT_THAT(stack({a, b}, 1).to_vector<int>(), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(stack(std::vector{a, b}).shape(), Shape({2, 2}));
  EXPECT_EQ(stack({a, 2.5 * b}).dtype(), f32);
  const std::vector<Tensor> thirds = split(arange(6), 3), parts = split(arange(6), {1, 4});
  EXPECT_EQ(thirds.size(), 3U);
  EXPECT_THAT(parts[1].to_vector<int>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(unstack(stack({a, b}))[1].to_vector<int>(), (std::vector{3, 4}));
  EXPECT_THAT(error_of<ShapeError>([&] { split(arange(5), 3); }),
              HasSubstr("split: axis 0 of size 5 is not 3 equal parts"));
  EXPECT_THAT(error_of<ValueError>([] { stack(std::vector<Tensor>()); }),
              HasSubstr("stack: xs is empty"));
}

TEST(Composites, ChooseAndCompare) {
  const Tensor x = tensor({-1.f, 0.f, 2.f});
  EXPECT_THAT(where(x > 0, x, 0).to_vector<float>(), ElementsAre(0, 0, 2));
  EXPECT_THAT(where(x, 1, 2).to_vector<int>(), ElementsAre(1, 2, 1));
  EXPECT_THAT(take(x, {0, -1}).to_vector<float>(), ElementsAre(-1, 2));
  EXPECT_EQ(norm(tensor({{3.f, 4.f}}), {.ord = "fro"}).item<float>(), 5);
  EXPECT_EQ(norm(tensor({3.f, 4.f}), {.ord = 1}).item<float>(), 7);
  EXPECT_TRUE(allclose(x, x * (1 + 1e-7)).item<bool>());
  EXPECT_THAT(searchsorted({1, 2, 3}, {2}, {}, SearchSide::right).to_vector<std::int64_t>(),
              ElementsAre(2));
}

TEST(Composites, AreTheirOpsToTapesAndTraces) {
  const Tensor x = tensor({0.25f, 0.5f});
  GradientTape tape;
  tape.watch(x);
  const Tensor slope = tape.gradient(sum(atan(x)), x);
  EXPECT_NEAR(slope.to_vector<float>()[1], 0.8, 1e-6);
  const auto traced = function([](const Tensor &t) { return atan2(t, clip(t, 0.3)); });
  const std::vector<float> expected = atan2(x, clip(x, 0.3)).to_vector<float>();
  EXPECT_EQ(traced(x).to_vector<float>(), expected);
}

// As ops have them: a number or several in braces where options would stand, and lists of one.
TEST(Composites, TakeAxesInAllSpellings) {
  const Tensor x = arange(6.0).reshape({2, 3});
  const auto values = [](const Tensor &y) { return y.to_vector<float>(); };
  const std::vector<float> rows = values(var(x, {.axes = 1}));
  EXPECT_EQ(values(var(x, 1)), rows);
  EXPECT_EQ(values(var(x, {1})), rows);
  EXPECT_EQ(values(var(x, {.axes = {-1}})), rows);
  EXPECT_EQ(var(x, {0, 1}).item<float>(), var(x).item<float>());
  EXPECT_NEAR(var(x, {.axes = {0, 1}, .correction = 1}).item<float>(), 3.5, 1e-5);
  EXPECT_EQ(values(median(x, 0)), values(median(x, {.axes = Ints{-2}})));
  EXPECT_EQ(quantile(x, {0.25, 0.5}, 1).shape(), (Shape{2, 2}));
  EXPECT_EQ(quantile(x, 0.5, {.axes = Ints{1}, .keepdims = true}).shape(), (Shape{2, 1}));
  EXPECT_EQ(stack({x, x}, 1).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(stack(std::vector<Tensor>{x, x}).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(split(x, 3, 1).size(), 3U);
  EXPECT_EQ(split(x, {1}).back().shape(), (Shape{1, 3}));
  EXPECT_EQ(values(roll(x, {1, 1}, {0, 1})), values(roll(roll(x, 1, 0), 1, 1)));
  EXPECT_EQ(expand_dims(x, {0, 3}).shape(), (Shape{1, 2, 3, 1}));
  EXPECT_EQ(squeeze(expand_dims(x, 0)).shape(), x.shape());
  EXPECT_EQ(average(x, {}, {.axes = 0}).shape(), (Shape{3}));
  EXPECT_THAT(error_of<ShapeError>([] { ptp(zeros({2, 0}), 1); }),
              HasSubstr("ptp: x has the shape (2, 0): there is no element to choose along axis 1"));
}

TEST(Composites, ErrorsHaveTheirNameAndTheUsersLine) {
  const Tensor two = zeros({2}), three = zeros({3}), bools = tensor({true});
  EXPECT_THAT(error_of<ShapeError>([&] { hypot(two, three); }), HasSubstr("hypot: "));
  const int line = __LINE__ + 1;
  const std::string said = error_of<DTypeError>([&] { clip(bools, true); });
  EXPECT_THAT(said,
              HasSubstr("clip: x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, "
                        "f16, bf16, f32, f64), but it is bool(1,)"));
  EXPECT_THAT(said, HasSubstr("CompositesTest.cpp:" + std::to_string(line)));
  EXPECT_THAT(error_of<StateError>([] { round(Tensor()); }),
              HasSubstr("round: x is an undefined tensor: it was never given a value"));
  EXPECT_THAT(error_of<ValueError>([] { clip(tensor({1}), std::int64_t{1} << 40); }),
              HasSubstr("clip: the scalar 1099511627776 does not fit the dtype i32"));
}

TEST(Composites, SumsOfProducts) {
  const Tensor a = tensor({{1, 2}, {3, 4}}), b = tensor({{1, 0}, {1, 1}}), v = tensor({5, 6});
  EXPECT_THAT(dot(a, v).to_vector<int>(), ElementsAre(17, 39));
  EXPECT_EQ(dot(v, 2).to_vector<int>(), (std::vector{10, 12}));
  EXPECT_THAT(inner(a, b).to_vector<int>(), ElementsAre(1, 3, 3, 7));
  EXPECT_EQ(vdot(a, b).item<int>(), 8);
  EXPECT_EQ(tensordot(a, b).item<int>(), 8);
  EXPECT_THAT(tensordot(a, b, 1).to_vector<int>(), ElementsAre(3, 2, 7, 4));
  EXPECT_THAT(tensordot(a, b, {{0}, {1}}).to_vector<int>(), ElementsAre(1, 4, 2, 6));
  EXPECT_THAT(tensordot(a, v, {-1, 0}).to_vector<int>(), ElementsAre(17, 39));
  EXPECT_THAT(einsum("ij,jk->ik", {a, b}).to_vector<int>(), ElementsAre(3, 2, 7, 4));
  EXPECT_THAT(einsum("i j, j", {a, v}).to_vector<int>(), ElementsAre(17, 39));
  EXPECT_THAT(einsum("...i,...i->...", {a, v}).to_vector<int>(), ElementsAre(17, 39));
  const std::vector<Tensor> several = {a, b, v};
  EXPECT_EQ(einsum("ij,jk,k->", several).item<int>(), 86);
  EXPECT_EQ(einsum("ii", {a}).item<int>(), 5);
  EXPECT_THAT(einsum("ij,jk->ik", a, b).to_vector<int>(), ElementsAre(3, 2, 7, 4));
  EXPECT_EQ(einsum(std::string("ii"), a).item<int>(), 5);
  EXPECT_EQ(einsum("ij,jk,k->", a, b, Variable(v)).item<int>(), 86);
  EXPECT_EQ(einsum("i,->i", tensor({0.5}), 0.1).item<double>(), 0.05); // a weak number
  EXPECT_THAT(einsum("ji", {a}).to_vector<int>(), ElementsAre(1, 3, 2, 4));
}

TEST(Composites, SeveralResultsHaveNames) {
  const Tensor x = tensor({1.f, 5.f, 3.f, 5.f});
  const auto best = function([](const Tensor &x) { return top_k(x, 3); });
  const TopK eager = top_k(x, 3, 0), compiled = best(x);
  for (const TopK &found : {eager, compiled}) {
    EXPECT_THAT(found.values.to_vector<float>(), ElementsAre(5, 5, 3));
    EXPECT_THAT(found.indices.to_vector<std::int64_t>(), ElementsAre(1, 3, 2));
  }
  // NaN is largest, and of equal ones the first comes first, either way.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor odd = tensor({nan, 1.f, nan, 2.f, 1.f});
  EXPECT_THAT(top_k(odd, 4).indices.to_vector<std::int64_t>(), ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(top_k(odd, 3, {.smallest = true}).indices.to_vector<std::int64_t>(),
              ElementsAre(1, 4, 3));
  // A derivative of the values alone: the indices have none.
  GradientTape tape;
  tape.watch(x);
  const auto [values, indices] = top_k(x, 2);
  EXPECT_THAT(tape.gradient(sum(values * tensor({2.f, 7.f})), {x})[0].to_vector<float>(),
              ElementsAre(0, 2, 0, 7));
}

// Texts are no lists of numbers.
static_assert(!std::is_constructible_v<RealList, std::string> &&
              !std::is_constructible_v<Sizes, const char (&)[4]>);

TEST(Composites, ListsAreAnyRangeOfIntegersOrTensors) {
  const Tensor x = arange(6).reshape(std::array{2, 3}), y = x + 6;
  const std::vector<int> both = {0, 1};
  std::int64_t axis[] = {1};
  std::array<Tensor, 2> tensors = {x, y};
  const std::vector<std::size_t> sizes = {3, 2};
  EXPECT_EQ(sum(x, both).item<int>(), 15);
  EXPECT_THAT(sum(x, std::span(axis)).to_vector<int>(), ElementsAre(3, 12));
  EXPECT_THAT(sum(x, axis).to_vector<int>(), ElementsAre(3, 12));
  EXPECT_THAT(sum(x, {.axes = std::array{1}}).to_vector<int>(), ElementsAre(3, 12));
  EXPECT_TRUE(all(x > -1, both).item<bool>());
  EXPECT_EQ(max(x, Ints{0, 1}).item<int>(), 5);
  EXPECT_EQ(reshape(x, sizes).shape(), (Shape{3, 2}));
  EXPECT_EQ(zeros(sizes).shape(), Shape(sizes));
  EXPECT_EQ(transpose(x, std::array{1, 0}).shape(), (Shape{3, 2}));
  EXPECT_EQ(roll(x, both, both).shape(), x.shape());
  EXPECT_EQ(split(x, std::array{1}, 1).size(), 2u);
  EXPECT_EQ(quantile(x, std::array{0.25, 0.5}).shape(), Shape{2});
  EXPECT_EQ(stack(tensors).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(stack(std::span(tensors), 1).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(concatenate(tensors, 1).shape(), (Shape{2, 6}));
  EXPECT_EQ(einsum("ij,ij->", tensors).item<int>(), einsum("ij,ij->", x, y).item<int>());
  const int line = __LINE__ + 1;
  const std::string said = error_of<ValueError>([&] { einsum("ij->k", x); });
  EXPECT_THAT(said, HasSubstr("CompositesTest.cpp:" + std::to_string(line)));
}

TEST(Composites, SumsOfProductsThatAreRefused) {
  const Tensor a = ones({2, 3}), b = ones({2, 4});
  EXPECT_THAT(error_of<ValueError>([&] { einsum("ij->k", {a}); }),
              HasSubstr("einsum: 'ij->k' has a result of other axes than its terms"));
  EXPECT_THAT(error_of<ValueError>([&] { einsum("ij", {a, b}); }),
              HasSubstr("einsum: 'ij' has 1 terms for 2 tensors"));
  EXPECT_THAT(error_of<ValueError>([&] { einsum("i1->i", {a}); }),
              HasSubstr("einsum: 'i1->i' has '1': an axis is a letter, and others are ..."));
  EXPECT_THAT(error_of<ShapeError>([&] { einsum("ijk", {a}); }),
              HasSubstr("einsum: the term 'ijk' does not fit a tensor of rank 2"));
  EXPECT_THAT(error_of<ShapeError>([&] { einsum("ij,ij", {a, b}); }),
              HasSubstr("einsum: the axis 'j' is of size 3 and of 4"));
  EXPECT_THAT(error_of<ShapeError>([&] { einsum("ii", {a}); }),
              HasSubstr("einsum: the axes 'i' of 'ii' are not of one size"));
  EXPECT_THAT(error_of<ShapeError>([&] { inner(a, b); }),
              HasSubstr("inner: axis 1 of a is of size 3 and axis 1 of b of 4"));
  EXPECT_THAT(error_of<ValueError>([&] { tensordot(a, b, 3); }),
              HasSubstr("tensordot: axes is 3: a has 2 axes and b 2"));
  EXPECT_THAT(error_of<ValueError>([&] { tensordot(a, b, {{0, 0}, {0, 1}}); }),
              HasSubstr("tensordot: axes has an axis twice: (0, 0)"));
  EXPECT_THAT(error_of<DTypeError>([&] { dot(a > 0, b > 0); }),
              HasSubstr("dot: a must be a number"));
}

TEST(Composites, TilesAndGrids) {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  EXPECT_THAT(tile(tensor({1, 2}), 2).to_vector<int>(), ElementsAre(1, 2, 1, 2));
  EXPECT_EQ(tile(x, {2, 1, 3}).shape(), Shape({2, 2, 6}));
  EXPECT_EQ(tile(x, {0, 1}).shape(), Shape({0, 2}));
  EXPECT_THAT(error_of<ValueError>([&] { tile(x, -1); }), HasSubstr("tile: reps has -1"));
  EXPECT_THAT(error_of<ShapeError>([&] { tile(x, std::int64_t{1} << 62); }),
              HasSubstr("tile: 2 elements"));
  const std::vector<Tensor> grid = meshgrid({tensor({1, 2}), tensor({3.f, 4.f, 5.f})});
  EXPECT_EQ(grid[0].shape(), Shape({3, 2}));
  EXPECT_EQ(grid[1].dtype(), f32);
  EXPECT_THAT(meshgrid({tensor({1, 2}), tensor({3})}, GridIndexing::ij)[0].to_vector<int>(),
              ElementsAre(1, 2));
}

TEST(Composites, WhereElementsAre) {
  const Tensor x = tensor({{1, 5}, {5, 2}});
  EXPECT_THAT(argmax(x).to_vector<int>(), ElementsAre(1, 0)) << "along the last axis";
  EXPECT_EQ(argmax(x, {.axis = std::nullopt}).item<int>(), 1);
  EXPECT_THAT(argmin(x, 0).to_vector<int>(), ElementsAre(0, 1));
  EXPECT_EQ(argmin(tensor({true, false})).item<int>(), 1);
  EXPECT_TRUE(max(tensor({true, false})).item<bool>());
  EXPECT_EQ(max(x, {1}).to_vector<int>(), (std::vector{5, 5}));
  EXPECT_THAT(error_of<ShapeError>([] { max(zeros({0, 3}), 0); }),
              HasSubstr("max: x has the shape (0, 3): there is no element to choose along axis 0"));
  EXPECT_THAT(argwhere(x > 2).to_vector<int>(), ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(argwhere(tensor(3)).shape(), Shape({1, 0}));
  const std::vector<Tensor> found = where(x > 2);
  EXPECT_THAT(found[0].to_vector<int>(), ElementsAre(0, 1));
  EXPECT_THAT(found[1].to_vector<int>(), ElementsAre(1, 0));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Tensor> parts =
      unique(tensor({nan, 2.f, nan, 1.f, 2.f}),
             {.return_index = true, .return_inverse = true, .return_counts = true});
  EXPECT_EQ(parts[0].shape(), Shape({3}));
  EXPECT_THAT(parts[1].to_vector<int>(), ElementsAre(3, 1, 0));
  EXPECT_THAT(parts[2].to_vector<int>(), ElementsAre(2, 1, 2, 0, 1));
  EXPECT_THAT(parts[3].to_vector<int>(), ElementsAre(1, 2, 2));
  EXPECT_THAT(error_of<ShapeError>([] { nonzero(1); }), HasSubstr("nonzero: x is a scalar"));
}

TEST(Composites, ResultsAsLargeAsValuesSayInOneTrace) {
  auto positions = function(
      [](const Tensor &x) {
        return std::vector{argwhere(x), where(x, {.size = 3, .fill_value = -1})[0]};
      },
      {.signature = {spec(i32, {unknown, 2})}});
  auto masked = function(
      [](const Tensor &x, const Tensor &y) {
        const Tensor kept = compress(x > 1, y, {.axis = 0});
        return std::pair(kept, sum(kept) + cast(Size(size_of(kept, {.axis = 0})).tensor(), f32));
      },
      {.signature = {spec(i32, {unknown}), spec(f32, {unknown, 2})}});
  auto gradient = function(
      [](const Tensor &x) {
        return grad([](const Tensor &y) { return sum(square(compress(y > 1, y))); })(x);
      },
      {.signature = {spec(f32, {unknown})}});
  for (const std::int64_t n : {3, 0, 1, 5}) {
    const Tensor x = reshape(arange(2 * n), {n, 2}) % 3;
    const std::vector<Tensor> found = positions(x);
    EXPECT_EQ(to_string(found[0]), to_string(argwhere(x)));
    EXPECT_EQ(to_string(found[1]), to_string(nonzero(x, {.size = 3, .fill_value = -1})[0]));
    const Tensor c = arange(n), y = cast(x, f32);
    const auto [kept, total] = masked(c, y);
    EXPECT_EQ(to_string(kept), to_string(y[slice(std::min<std::int64_t>(n, 2), {})]));
    EXPECT_EQ(total.item<float>(), sum(kept).item<float>() + static_cast<float>(kept.size(0)));
    const Tensor z = cast(c, f32);
    EXPECT_EQ(to_string(gradient(z)), to_string(select(z > 1, z * 2, 0)));
  }
  EXPECT_EQ(positions.trace_count() + masked.trace_count() + gradient.trace_count(), 3);
}

TEST(Composites, CountsAndShiftsThatATraceComputes) {
  auto moved = function(
      [](const Tensor &x) {
        const Size n = size_of(x, {.axis = 0});
        std::vector<Tensor> all = split(x, {n / 2, n - 1});
        all.push_back(roll(x, n / 2, 0));
        all.push_back(roll(x, {n, 1}, {0, 0}));
        all.push_back(repeat(x, n));
        all.push_back(repeat(x, x, 0));
        all.push_back(diag(x, 1));
        all.push_back(cast(random::permutation(n, {.seed = 1}), i32));
        all.push_back(cast(random::uniform({n, 2}, {.seed = 1}) * 100, i32));
        all.push_back(nn::one_hot(x, n, i32));
        return all;
      },
      {.signature = {spec(i32, {unknown})}});
  for (const std::int64_t n : {4, 1, 0, 7}) {
    const Tensor x = arange(n);
    const std::vector<Tensor> found = moved(x);
    const std::vector<std::int64_t> counts = x.to_vector<std::int64_t>();
    std::vector<Tensor> expected = split(x, {n / 2, n - 1});
    for (const Tensor &each :
         {roll(x, n / 2, 0), roll(x, {n, std::int64_t{1}}, {0, 0}), repeat(x, n),
          repeat(x, Ints(counts.begin(), counts.end()), 0), diag(x, 1),
          cast(random::permutation(n, {.seed = 1}), i32),
          cast(random::uniform({n, 2}, {.seed = 1}) * 100, i32), nn::one_hot(x, n, i32)})
      expected.push_back(each);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(to_string(found[i]), to_string(expected[i])) << i << " of " << n;
  }
  EXPECT_EQ(moved.trace_count(), 1);
}

TEST(Composites, PositionsOfValuesThatATraceCapturesAreFound) {
  const Tensor x = tensor({3, 0, 1, 3});
  const auto all = [&] { return std::vector{argwhere(x), nonzero(x)[0], unique(x)[0]}; };
  auto traced = function(all);
  const std::vector<Tensor> expected = all(), actual = traced();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(to_string(actual[i]), to_string(expected[i]));
}

} // namespace
} // namespace weft
