// Functions with a signature: one trace for all sizes of the dimensions it leaves unknown.
#include "../Testing.h"

#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(UnknownSizes, OneTraceForAllBatches) {
  int runs = 0;
  const Tensor weight = arange(6, f32).reshape({2, 3}), bias = tensor({1.f, 2.f, 3.f});
  const auto work = [&](const Tensor &x) {
    ++runs;
    const Tensor y = relu(matmul(x, weight) + bias);
    return std::tuple{y, sum(y), mean(y, {.axes = Ints{0}}), argmax(y), y.mT()};
  };
  auto f = function(work, {.name = "predict", .signature = {spec(f32, {unknown, 2})}});
  for (std::int64_t batch : {1, 2, 17, 64, 1000, 0}) {
    const Tensor x = arange(2 * batch, f32).reshape({batch, 2}) * 0.25 - 3;
    const auto [y, total, mean, best, turned] = f(x);
    runs -= batch == 1;
    EXPECT_EQ(runs, 0);
    const auto [ey, etotal, emean, ebest, eturned] = work(x);
    --runs;
    EXPECT_EQ(y.type(), spec(f32, {batch, 3}));
    EXPECT_EQ(y.to_vector<float>(), ey.to_vector<float>());
    EXPECT_EQ(total.to_vector<float>(), etotal.to_vector<float>());
    EXPECT_EQ(to_string(mean), to_string(emean)); // of nothing it is NaN
    EXPECT_EQ(best.to_vector<int>(), ebest.to_vector<int>());
    EXPECT_EQ(turned.to_vector<float>(), eturned.to_vector<float>());
  }
  EXPECT_EQ(f.trace_count(), 1u);
}

// A slice with a step is no row-major memory, though its type does not say so.
TEST(UnknownSizes, SlicesWithSteps) {
  const auto every_other = [](const Tensor &x) { return x[{slice({}, {}, 2)}]; };
  const auto through = [&](const Tensor &x) {
    return for_loop(2, [&](Tensor, Tensor y) { return every_other(y); }, x);
  };
  const auto chosen = [&](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return every_other(x); }, [&] { return x; });
  };
  const auto open = std::vector{spec(f32, {unknown, unknown, unknown})};
  for (const std::int64_t n : {1, 5, 8}) {
    const Tensor x = arange(n * 6, f32).reshape({n, 3, 2}) + 1;
    EXPECT_EQ(to_string(function(every_other, {.signature = open})(x)), to_string(every_other(x)));
    EXPECT_EQ(to_string(function(through, {.signature = open})(x)), to_string(through(x)));
    EXPECT_EQ(to_string(function(chosen, {.signature = open})(x)), to_string(chosen(x)));
  }
}

// What does not fit where it is put is found before it is computed there, past the end of the
// place.
TEST(UnknownSizes, NothingIsWrittenBeforeItsSizesAreChecked) {
  const std::int64_t large = 1 << 20;
  auto join = function([](const Tensor &x, const Tensor &y) { return concatenate({x + 1, y * 2}); },
                       {.signature = std::vector(2, spec(f32, {unknown, unknown}))});
  EXPECT_THROW(static_cast<void>(join(ones({2, 1}), ones({2, large}))), ShapeError);
  auto grow = function(
      [](const Tensor &start, const Tensor &xs) {
        return scan([](Tensor c, Tensor x) { return std::pair(concatenate({c, c}), c * x); }, start,
                    xs)
            .second;
      },
      {.signature = {spec(f32, {unknown}), spec(f32, {unknown})}});
  EXPECT_THROW(static_cast<void>(grow(ones({large}), ones({3}))), ShapeError);
  auto put =
      function([](const Tensor &x, const Tensor &at,
                  const Tensor &row) { return update_slice(x + 1, at, row * 2); },
               {.signature = {spec(f32, {unknown, unknown}), spec(i64, {}), spec(f32, {unknown})}});
  const Tensor x = ones({2, 3});
  EXPECT_THROW(static_cast<void>(put(x, tensor(large << 20), ones({3}))), IndexError);
  EXPECT_THROW(static_cast<void>(put(x, tensor(std::int64_t{1}), ones({large}))), ShapeError);
  EXPECT_EQ(put(x, tensor(std::int64_t{1}), ones({3})).to_vector<float>(),
            (Floats{2, 2, 2, 2, 2, 2}));
}

// What an iteration gives has sizes that only run time knows: those of the first iteration,
// stacked.
TEST(UnknownSizes, ScansOfOpenBatches) {
  for (const bool reverse : {false, true}) {
    const auto run = [&](const Tensor &xs, const Tensor &start) {
      GradientTape tape;
      tape.watch(xs);
      const auto [last, ys] = scan(
          [](Tensor state, Tensor x) {
            const Tensor next = tanh(state * 0.5 + x);
            return std::pair(next, std::tuple(next * 2, sum(next)));
          },
          start, xs, {.reverse = reverse});
      const Tensor loss = sum(std::get<0>(ys) * std::get<0>(ys)) + sum(last);
      return std::tuple(last, std::get<0>(ys), std::get<1>(ys), tape.gradient(loss, xs));
    };
    auto f =
        function(run, {.signature = {spec(f32, {unknown, unknown, 2}), spec(f32, {unknown, 2})}});
    for (const auto &[iterations, batch] :
         {std::pair<std::int64_t, std::int64_t>{4, 3}, {1, 5}, {3, 1}}) {
      const Tensor xs =
          arange(iterations * batch * 2, f32).reshape({iterations, batch, 2}) * 0.1 - 0.3;
      const Tensor start = ones({batch, 2}) * 0.25;
      EXPECT_EQ(to_string(std::get<0>(f(xs, start))), to_string(std::get<0>(run(xs, start))));
      EXPECT_EQ(to_string(std::get<1>(f(xs, start))), to_string(std::get<1>(run(xs, start))));
      EXPECT_EQ(to_string(std::get<2>(f(xs, start))), to_string(std::get<2>(run(xs, start))));
      const Floats traced = std::get<3>(f(xs, start)).to_vector<float>(),
                   eager = std::get<3>(run(xs, start)).to_vector<float>();
      ASSERT_EQ(traced.size(), eager.size());
      for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_NEAR(traced[i], eager[i], 1e-5F);
    }
    const auto [last, ys, totals, gradient] = f(zeros({0, 3, 2}), ones({3, 2}));
    EXPECT_EQ(last.to_vector<float>(), Floats(6, 1));
    EXPECT_EQ(ys.shape()[0], 0);
    EXPECT_EQ(totals.shape(), (Shape{0}));
    EXPECT_EQ(gradient.shape(), (Shape{0, 3, 2}));
  }
}

TEST(UnknownSizes, LiteralsAndStructureStillCount) {
  auto f =
      function([](const Tensor &x, int n) { return x * n; }, {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(f(tensor({1.f, 2.f}), 2).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(f(tensor({1.f}), 3).to_vector<float>(), (Floats{3}));
  EXPECT_EQ(f(tensor({1.f, 2.f, 3.f}), 2).to_vector<float>(), (Floats{2, 4, 6}));
  EXPECT_EQ(f.trace_count(), 2u);
  const Variable a(1.f, "a"), b(10.f, "b");
  auto g = function([](const Variable &v, const Tensor &x) { return x + v; },
                    {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(g(a, tensor({1.f})).item<float>(), 2);
  EXPECT_EQ(g(b, tensor({1.f})).item<float>(), 11);
}

TEST(UnknownSizes, SizesThatDoNotFitAreErrors) {
  const std::vector<TensorType> two = {spec(f32, {unknown}), spec(f32, {unknown})};
  auto add = function([](const Tensor &x, const Tensor &y) { return x + y; },
                      {.name = "sum2", .signature = two});
  EXPECT_EQ(add(ones({5}), ones({5})).to_vector<float>(), (Floats{2, 2, 2, 2, 2}));
  for (const auto &[a, b] : {std::pair<std::int64_t, std::int64_t>{3, 5}, {5, 3}, {0, 5}, {100, 7}})
    EXPECT_THROW(static_cast<void>(add(ones({a}), ones({b}))), ShapeError) << a << " and " << b;
  const Tensor seven = ones({7});
  auto captured =
      function([&](const Tensor &x) { return x * seven; }, {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(captured(seven).size(), 7);
  EXPECT_THROW(static_cast<void>(captured(ones({3}))), ShapeError);
  auto product =
      function([](const Tensor &x, const Tensor &y) { return matmul(x, y); },
               {.signature = {spec(f32, {unknown, unknown}), spec(f32, {unknown, unknown})}});
  EXPECT_EQ(product(ones({2, 3}), ones({3, 4})).type(), spec(f32, {2, 4}));
  EXPECT_THROW(static_cast<void>(product(ones({2, 3}), ones({4, 4}))), ShapeError);
  auto reshaped = function([](const Tensor &x) { return reshape(x, {2, 3}); },
                           {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(reshaped(ones({6})).type(), spec(f32, {2, 3}));
  EXPECT_THROW(static_cast<void>(reshaped(ones({5}))), ShapeError);
  auto joined =
      function([](const Tensor &x, const Tensor &y) { return concatenate({x, y}, {.axis = 1}); },
               {.signature = {spec(f32, {unknown, 2}), spec(f32, {unknown, 1})}});
  EXPECT_EQ(joined(ones({4, 2}), ones({4, 1})).type(), spec(f32, {4, 3}));
  EXPECT_THROW(static_cast<void>(joined(ones({4, 2}), ones({5, 1}))), ShapeError);
  auto cut = function([](const Tensor &x) { return slice(x, {1}, {5}, {2}); },
                      {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(cut(arange(9, f32)).to_vector<float>(), (Floats{1, 3}));
  EXPECT_THROW(static_cast<void>(cut(ones({3}))), Error);
  auto recurrence =
      function([](const Tensor &a, const Tensor &x) { return linear_recurrence(a, x); },
               {.signature = {spec(f32, {unknown}), spec(f32, {unknown})}});
  EXPECT_EQ(recurrence(full({3}, 2.f), ones({3})).to_vector<float>(), (Floats{1, 3, 7}));
  EXPECT_THROWS(static_cast<void>(recurrence(ones({2}), ones({3}))), ShapeError,
                "linear_recurrence: a is not of the shape of x: 3 meets 2 in axis 0");
  auto best = function([](const Tensor &x) { return top_k(x, 2).values; },
                       {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(best(tensor({3.f, 9.f, 4.f, 9.f})).to_vector<float>(), (Floats{9, 9}));
  EXPECT_THROW(static_cast<void>(best(ones({1}))), Error);
  auto taken = function(
      [](const Tensor &x, const Tensor &at) { return take_along_axis(x, at, {.axis = 0}); },
      {.signature = {spec(f32, {unknown, unknown}), spec(i64, {unknown, unknown})}});
  EXPECT_EQ(taken(ones({2, 3}), zeros({1, 3}, i64)).type(), spec(f32, {1, 3}));
  EXPECT_THROWS(
      static_cast<void>(taken(ones({2, 3}), zeros({1, 2}, i64))), ShapeError,
      "take_along_axis: the sizes of indices differ from x's outside the axis: 3 meets 2 in "
      "axis 1");
  EXPECT_EQ(add(ones({2}), ones({2})).to_vector<float>(), (Floats{2, 2}));
}

// Numbers so large that what follows them, or their opposite, is none.
TEST(UnknownSizes, IndicesBeyondEverySize) {
  const auto of = [](const Index &index) {
    return function([=](const Tensor &x) { return x[index]; },
                    {.signature = {spec(f32, {unknown})}});
  };
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Tensor x = arange(5, f32);
  EXPECT_THROWS(static_cast<void>(of(most)(x)), IndexError,
                "index: 9223372036854775807 is out of range for axis 0 of a tensor of shape (?,)");
  EXPECT_THROW(static_cast<void>(of(most - 1)(x)), IndexError);
  EXPECT_EQ(of(slice({}, {}, -most - 1))(x).to_vector<float>(), (Floats{4}));
  EXPECT_EQ(of(slice({}, {}, -most))(x).to_vector<float>(), (Floats{4}));
  EXPECT_EQ(of(slice({}, {}, most))(x).to_vector<float>(), (Floats{0}));
}

// What counts from the end does so by the size of the call.
TEST(UnknownSizes, IndicesFromTheEnd) {
  const auto work = [](const Tensor &x) {
    return std::tuple{x[{slice(-2, {})}],      x[{slice({}, -1), slice({}, {}, -1)}],
                      x[{slice(-3, 2)}],       x[{slice(-1, 0, -2)}],
                      x[{slice({}, {}), -1}],  x[{ellipsis, newaxis, slice(1, -1)}],
                      x[{slice(-5, -1, 2), 0}]};
  };
  auto f = function(work, {.signature = {spec(f32, {unknown, unknown})}});
  auto last = function([](const Tensor &x) { return x[-2]; },
                       {.signature = {spec(f32, {unknown, unknown})}});
  const auto texts = [](const auto &...tensors) { return std::vector{to_string(tensors)...}; };
  for (std::int64_t rows : {0, 1, 2, 3, 7}) {
    const Tensor x = arange(3 * rows, f32).reshape({rows, 3});
    EXPECT_EQ(std::apply(texts, f(x)), std::apply(texts, work(x)));
    if (rows > 1) EXPECT_EQ(to_string(last(x)), to_string(x[-2]));
    else EXPECT_THROW(last(x), IndexError);
  }
  EXPECT_EQ(f.trace_count(), 1u);
}

// Bounds are clipped by the size of the call, in one trace for all sizes.
TEST(UnknownSizes, BoundsBehindTheEnd) {
  const auto work = [](const Tensor &x) {
    return std::tuple{x[{slice({}, 5)}],          x[{slice(4, {})}],
                      x[{slice(2, 5), newaxis}],  x[{slice(1, 6, 2)}],
                      x[{slice(9, 2, -2)}],       x[{all, slice(0, 7)}],
                      x[{slice(5, {}, 3)}],       x[{slice(1, std::int64_t{1} << 62), -1}],
                      x[{slice(4, 2), all}].mT(), x[{slice(0, 2), slice(2, 4)}]};
  };
  const auto loss = [&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    Tensor total = sum(x);
    std::apply([&](const auto &...parts) { ((total = total + sum(parts * parts)), ...); }, work(x));
    return tape.gradient(total, x);
  };
  const FunctionOptions open{.signature = {spec(f32, {unknown, unknown})}};
  auto f = function(work, open);
  auto gradient = function(loss, open);
  const auto texts = [](const auto &...tensors) { return std::vector{to_string(tensors)...}; };
  for (std::int64_t rows : {0, 1, 2, 3, 5, 9}) {
    const Tensor x = arange(3 * rows, f32).reshape({rows, 3});
    EXPECT_EQ(std::apply(texts, f(x)), std::apply(texts, work(x)));
    EXPECT_EQ(to_string(gradient(x)), to_string(loss(x)));
  }
  EXPECT_EQ(f.trace_count(), 1u);
  auto end = function([](const Tensor &x) { return slice(x, {4}, {-1}, {2}); },
                      {.signature = {spec(f32, {unknown})}});
  for (const std::int64_t size : {3, 4, 5, 8})
    EXPECT_EQ(to_string(end(arange(size, f32))),
              to_string(slice(arange(size, f32), {4}, {-1}, {2})));
}

// Beside a 0 no size follows from the number of elements.
TEST(UnknownSizes, SizesBesideNothing) {
  const auto work = [](const Tensor &x) {
    const Tensor none = x[{all, slice(0, 0)}];
    return std::tuple{none[{newaxis, all, all, 0}], none[{all, all, newaxis}],
                      reshape(none, {-1, 0}), reshape(transpose(none, {1, 0, 2}), {0, -1, 1})};
  };
  for (const TensorType &type : {spec(f32, {unknown, unknown, unknown}), spec(f32, {unknown, 2, 3}),
                                 spec(f32, {2, unknown, unknown})}) {
    auto f = function(work, {.signature = {type}});
    for (std::int64_t size : {2, 3}) {
      const Tensor x = zeros({type.shape[0] == unknown ? size : 2, 2, 3});
      const std::int64_t rows = x.size(0);
      const auto [front, inside, joined, back] = f(x);
      EXPECT_EQ(front.shape(), (Shape{1, rows, 0}));
      EXPECT_EQ(inside.shape(), (Shape{rows, 0, 1, 3}));
      EXPECT_EQ(joined.shape(), (Shape{rows * 3, 0}));
      EXPECT_EQ(back.shape(), (Shape{0, rows * 3, 1}));
    }
  }
  for (const Ints &shape : {Ints{0, -1}, Ints{-1, 0, 3}}) {
    auto f = function([&](const Tensor &x) { return reshape(x, shape); },
                      {.signature = {spec(f32, {unknown, 3})}});
    EXPECT_THROW(f(zeros({0, 3})), ShapeError);
    EXPECT_THROW(f(zeros({2, 3})), ShapeError);
    EXPECT_THROW(reshape(zeros({2, 3}), shape), ShapeError);
  }
}

TEST(UnknownSizes, AssignsThatDoNotFitAreErrors) {
  const Variable v(zeros({3}), "state");
  auto assign =
      function([&](const Tensor &x) { v.assign(x); }, {.signature = {spec(f32, {unknown})}});
  auto add =
      function([&](const Tensor &x) { v.assign_add(x); }, {.signature = {spec(f32, {unknown})}});
  assign(tensor({1.f, 2.f, 3.f}));
  add(tensor({1.f, 1.f, 1.f}));
  EXPECT_EQ(v.value().to_vector<float>(), (Floats{2, 3, 4}));
  EXPECT_THROW(assign(ones({1000})), ShapeError);
  EXPECT_THROW(assign(ones({1})), ShapeError);
  EXPECT_THROW(add(ones({1000})), ShapeError);
  EXPECT_EQ(v.value().to_vector<float>(), (Floats{2, 3, 4}));
}

TEST(UnknownSizes, EffectsSeeTheSizesOfTheCall) {
  auto f = function(
      [](const Tensor &x) {
        print("x is {}", x);
        check(x > 0, "not positive");
        return x[{slice(1, {})}];
      },
      {.name = "tail", .signature = {spec(f32, {unknown})}});
  std::vector<std::string> lines;
  PrintSink before = set_print_sink([&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(f(tensor({1.f, 2.f, 3.f})).to_vector<float>(), (Floats{2, 3}));
  EXPECT_EQ(f(tensor({1.f})).size(), 0);
  EXPECT_THROWS(f(tensor({1.f, -2.f})), AssertionError, "assertion failed in tail: not positive");
  set_print_sink(std::move(before));
  EXPECT_EQ(lines, (std::vector<std::string>{"x is tensor([1, 2, 3], shape=(3,), dtype=f32)",
                                             "x is tensor([1], shape=(1,), dtype=f32)",
                                             "x is tensor([1, -2], shape=(2,), dtype=f32)"}));
}

// Loops ran over the axis before the one without elements, for years.
TEST(UnknownSizes, NothingIsDoneForTensorsWithoutElements) {
  const std::int64_t many = std::int64_t{1} << 62;
  const FunctionOptions any{.signature = {spec(f32, {unknown, unknown})}};
  const auto shape_of = [&](auto op) { return function(op, any)(zeros({many, 0})).shape(); };
  const Shape same = {many, 0};
  EXPECT_EQ(shape_of([](const Tensor &x) { return sort(x, {.axis = 1}); }), same);
  for (const int axis : {0, 1})
    EXPECT_EQ(shape_of([=](const Tensor &x) { return cumsum(x, {.axis = axis}); }), same);
  EXPECT_EQ(shape_of([](const Tensor &x) { return x + sum(x, {.axes = Ints{0}}); }), same);
  EXPECT_EQ(shape_of([](const Tensor &x) { return x.mT() * 2; }), (Shape{0, many}));
  auto repeated = function([](const Tensor &x, const Tensor &n) { return broadcast(x, {n, 0}); });
  EXPECT_EQ(repeated(zeros({0}), tensor(many)).shape(), same);
}

TEST(UnknownSizes, TheNumberThatStandsForThemIsNoSize) {
  const Sizes sizes{std::numeric_limits<std::int64_t>::min()};
  EXPECT_THROWS(static_cast<void>(sizes[0]), ShapeError,
                "a size is -9223372036854775808, which is negative");
  EXPECT_THROWS(Size(tensor(std::numeric_limits<std::int64_t>::min())), ShapeError,
                "Size: a size is -9223372036854775808, which is negative");
}

TEST(UnknownSizes, ProductsThatDoNotFitAreNoOtherSizes) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((Size(most / 2) * 3).number(), most);
  EXPECT_EQ((Size(most / 2) * -3).number(), -most);
  EXPECT_EQ((Size(7) * 3).number(), 21);
  const auto f = [](const Tensor &n, const Tensor &m) {
    return std::tuple((Size(n) * Size(m)).tensor(), (Size(n) * 3).tensor());
  };
  auto traced = function(f);
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{7}, most / 2})
    for (const std::int64_t m : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5}}) {
      const auto [product, tripled] = traced(tensor(n), tensor(m));
      EXPECT_EQ(product.item<std::int64_t>(), (Size(n) * Size(m)).number());
      EXPECT_EQ(tripled.item<std::int64_t>(), (Size(n) * 3).number());
    }
}

TEST(UnknownSizes, SignaturesHaveNoNegativeOnes) {
  EXPECT_THROWS(
      function([](const Tensor &x) { return x; }, {.name = "f", .signature = {spec(f32, {2, -3})}}),
      ShapeError,
      "f: the signature has a size of -3, which is negative: one that may be any is `unknown`");
  const Shape large{2, std::numeric_limits<std::int64_t>::min() + 1}; // no name of a size either
  EXPECT_EQ(to_string(large), "(2, -9223372036854775807)");
  EXPECT_THROWS(function([](const Tensor &x) { return x; }, {.signature = {spec(f32, large)}}),
                ShapeError,
                "function: the signature has a size of -9223372036854775807, which is negative: "
                "one that may be any is `unknown`");
}

// As a number beside the dtype, or the size wraps around.
TEST(UnknownSizes, ThoseThatDoNotFitADtypeAreRefused) {
  auto f = function([](const Tensor &x) { return maximum(x, x.size(0)); },
                    {.name = "f", .signature = {spec(u8, {unknown})}});
  EXPECT_EQ(f(zeros({255}, u8)).to_vector<std::uint8_t>()[0], 255);
  EXPECT_THROWS(f(zeros({300}, u8)), ShapeError, "maximum: the size 300 does not fit the dtype u8");
  auto g = function([](const Tensor &x) { return full({2}, x.size(0), i8); },
                    {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(g(zeros({7})).to_vector<std::int8_t>(), (std::vector<std::int8_t>{7, 7}));
  EXPECT_THROWS(g(zeros({128})), ShapeError, "full: the size 128 does not fit the dtype i8");
}

TEST(UnknownSizes, FillTensors) {
  auto f = function([](const Tensor &x) { return full({2}, x.size(0)); });
  for (const std::int64_t size : {3, 4, 5})
    EXPECT_EQ(f(ones({size})).to_vector<float>(),
              (std::vector<float>(2, static_cast<float>(size))));
}

// Sizes of one name are equal: that is looked at when the function is called, and not again.
TEST(UnknownSizes, NamesOfSizes) {
  auto f = function(
      [](const Tensor &x, const Tensor &y) { return x + y * x.size(0); },
      {.name = "step", .signature = {spec(f32, {dim("batch"), 2}), spec(f32, {dim("batch"), 2})}});
  for (const std::int64_t size : {3, 1, 4})
    EXPECT_EQ(f(ones({size, 2}), ones({size, 2})).to_vector<float>()[0],
              static_cast<float>(1 + size));
  EXPECT_THROWS(f(ones({3, 2}), ones({4, 2})), ShapeError,
                "step: the size 'batch' is 3 in axis 0 of tensor 0 of the arguments, but 4 in axis "
                "0 of tensor 1");
  EXPECT_THROWS(f(ones({3, 2}), ones({3})), ShapeError,
                "step: tensor 1 of the arguments is f32(3,), but the signature says f32(batch, 2)");
  EXPECT_THROWS(dim("1 b"), ValueError,
                "dim: '1 b' is no name of a size: letters, digits and _ are wanted");
  EXPECT_EQ(f.trace_count(), 1u);
}

} // namespace
} // namespace weft
