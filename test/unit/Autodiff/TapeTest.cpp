// The tape's semantics. Tests named G1 to G24 are the rows of the table of gradient cases that
// straight-line C++ can express.
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include <weft/composites.h>
#include <weft/gradient_tape.h>

namespace weft {
namespace {

std::vector<double> numbers(const Tensor &tensor) {
  return tensor.defined() ? tensor.astype(f64).to_vector<double>() : std::vector<double>{-999};
}
using Numbers = std::vector<double>;

/// Runs `f` and gives the message of the E it throws.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E &error) {
    return std::string(error.message());
  } catch (const std::exception &error) {
    return std::string("another exception: ") + error.what();
  }
  return "no exception";
}

TEST(Tape, G1_SquareAndPolynomial) {
  Variable w(tensor({{1.f}}));
  {
    GradientTape tape;
    const auto [dw] = tape.gradient(w * w, {w});
    EXPECT_EQ(numbers(dw), Numbers{2});
    EXPECT_EQ(dw.shape(), (Shape{1, 1}));
  }
  GradientTape tape;
  const auto [dw] = tape.gradient(w * w + 2 * w + 5, {w});
  EXPECT_EQ(numbers(dw), Numbers{4});
}

TEST(Tape, G2_PersistentTapeAnswersTwice) {
  const Tensor x = tensor({1.f, 3.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x, z = y * y;
  EXPECT_EQ(numbers(tape.gradient(z, {x})[0]), (Numbers{4, 108}));
  EXPECT_EQ(numbers(tape.gradient(y, {x})[0]), (Numbers{2, 6}));
  EXPECT_EQ(numbers(tape.gradient(z, {y})[0]), (Numbers{2, 18}));
}

TEST(Tape, G3_SecondGradientOfASpentTape) {
  const Tensor x = tensor(2.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  (void)tape.gradient(y, {x});
  EXPECT_EQ(message_of<StateError>([&] { (void)tape.gradient(y, {x}); }),
            "GradientTape: gradient was already called on this tape, which is not persistent; make "
            "it with {.persistent = true}, or reset it");
}

TEST(Tape, G4_SeveralTargetsCountTogether) {
  const Tensor x = tensor(2.f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor a = x * x, b = 1 / x;
  EXPECT_EQ(numbers(tape.gradient(a, {x})[0]), Numbers{4});
  EXPECT_EQ(numbers(tape.gradient(b, {x})[0]), Numbers{-0.25});
  EXPECT_EQ(numbers(tape.gradient({a, b}, {x})[0]), Numbers{3.75});
  EXPECT_EQ(numbers(tape.gradient(std::vector<Tensor>{a, b, b}, {x})[0]), Numbers{3.5});
}

TEST(Tape, G5_TargetIsSummed) {
  const Tensor x = tensor(2.f);
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(numbers(tape.gradient(x * Tensor(tensor({3.f, 4.f})), {x})[0]), Numbers{7});
}

TEST(Tape, G7_StopRecording) {
  const Tensor x = tensor(2.f), y = tensor(3.f);
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const Tensor x_sq = x * x;
  Tensor y_sq;
  {
    const auto pause = tape.stop_recording();
    y_sq = y * y;
    EXPECT_EQ(message_of<StateError>([&] { (void)tape.stop_recording(); }),
              "GradientTape: stop_recording was called on a tape that does not record");
  }
  const auto [dx, dy] = tape.gradient(x_sq + y_sq, {x, y});
  EXPECT_EQ(numbers(dx), Numbers{4});
  EXPECT_FALSE(dy.defined());
}

TEST(Tape, G7_Reset) {
  const Tensor x = tensor(2.f), y = tensor(3.f);
  GradientTape tape;
  tape.watch(y);
  const Tensor y_sq = y * y;
  tape.reset();
  tape.watch(x);
  const auto [dx, dy] = tape.gradient(x * x + y_sq, {x, y});
  EXPECT_EQ(numbers(dx), Numbers{4});
  EXPECT_FALSE(dy.defined());
  // A spent tape begins anew as well.
  tape.reset();
  tape.watch(x);
  EXPECT_EQ(numbers(tape.gradient(x * x * x, {x})[0]), Numbers{12});
}

TEST(Tape, G7_StopGradient) {
  const Tensor x = tensor(2.f), y = tensor(3.f);
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const auto [dx, dy] = tape.gradient(x * x + stop_gradient(y * y), {x, y});
  EXPECT_EQ(numbers(dx), Numbers{4});
  EXPECT_FALSE(dy.defined());
}

TEST(Tape, G9_NestedTapes) {
  const Tensor x = tensor(1.0);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    first = inner.gradient(x * x * x, {x})[0];
  }
  EXPECT_EQ(numbers(first), Numbers{3});
  EXPECT_EQ(numbers(outer.gradient(first, {x})[0]), Numbers{6});
}

TEST(Tape, G9_ThreeDeep) {
  const Tensor x = tensor(2.0);
  GradientTape a, b, c;
  for (GradientTape *tape : {&a, &b, &c}) tape->watch(x);
  const Tensor y = x * x * x * x;
  const Tensor first = c.gradient(y, {x})[0];
  const Tensor second = b.gradient(first, {x})[0];
  EXPECT_EQ(numbers(first), Numbers{32});
  EXPECT_EQ(numbers(second), Numbers{48});
  EXPECT_EQ(numbers(a.gradient(second, {x})[0]), Numbers{48});
}

TEST(Tape, G9_TheOlderTapeMayGoFirst) {
  const Tensor x = tensor(1.0);
  GradientTape first, second;
  first.watch(x);
  second.watch(x);
  const Tensor slope = first.gradient(x * x * x, {x})[0];
  EXPECT_EQ(numbers(second.gradient(slope, {x})[0]), Numbers{6});
}

TEST(Tape, G10_TwoTapesOnOneComputation) {
  const Tensor a = tensor(0.f), b = tensor(0.f);
  GradientTape tape_a, tape_b;
  tape_a.watch(a);
  tape_b.watch(b);
  const Tensor y = sin(a), z = logistic(b);
  EXPECT_EQ(numbers(tape_a.gradient(y, {a})[0]), Numbers{1});
  EXPECT_EQ(numbers(tape_b.gradient(z, {b})[0]), Numbers{0.25});
}

TEST(Tape, G13_UnconnectedSources) {
  const Tensor x = tensor({1.f, 2.f}), y = tensor({{3.0}});
  Variable v(tensor({1.f, 2.f, 3.f}));
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(y);
  const Tensor z = x * x;
  const auto [dy, dv] = tape.gradient(z, {y, v});
  EXPECT_FALSE(dy.defined());
  EXPECT_FALSE(dv.defined());
  const auto [zy, zv] = tape.gradient(z, {y, v}, {.unconnected = Unconnected::zero});
  EXPECT_EQ(numbers(zy), Numbers{0});
  EXPECT_EQ(zy.type(), y.type());
  EXPECT_EQ(numbers(zv), (Numbers{0, 0, 0}));
}

TEST(Tape, G14_LogOneExp) {
  const auto slope = [](float at) {
    const Tensor x = tensor(at);
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(log(1 + exp(x)), {x})[0].item<float>();
  };
  EXPECT_EQ(slope(0), 0.5f);
  // exp(100) is infinite in f32, and infinity / infinity is NaN: nothing may assume it away.
  EXPECT_TRUE(std::isnan(slope(100)));
}

TEST(Tape, G23_EveryReadOfAVariableCounts) {
  Variable v(tensor(2.f), "v");
  GradientTape tape;
  const Tensor first = v * v; // 2 * 2: two reads
  v.assign(5.f);
  const Tensor second = v * 3;
  EXPECT_EQ(numbers(second), Numbers{15});
  EXPECT_EQ(numbers(tape.gradient(first + second, {v})[0]), Numbers{2 + 2 + 3});
}

TEST(Tape, G24_PrintingDisturbsNothing) {
  const Tensor x = tensor(3.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  std::ostringstream text;
  text << y;
  EXPECT_EQ(y.item<float>(), 9);
  const Tensor z = y * y.item<float>(); // a C++ number has no history
  EXPECT_EQ(numbers(tape.gradient(z, {x})[0]), Numbers{54});
}

//===----------------------------------------------------------------------===//
// Sources and targets
//===----------------------------------------------------------------------===//

TEST(Tape, NothingWatchedGivesNoGradient) {
  const Tensor x = tensor(2.f);
  GradientTape tape;
  EXPECT_FALSE(tape.gradient(x * x, {x})[0].defined());
}

// What another tape or another thread recorded, and what was computed before or while this tape
// did not record, is a constant to it.
TEST(Tape, TargetsRecordedElsewhere) {
  const Tensor x = tensor(2.f), before = x * x;
  Tensor other, on_a_thread, paused;
  {
    GradientTape first;
    first.watch(x);
    other = x * x;
  }
  GradientTape tape({.persistent = true});
  tape.watch(x);
  std::thread([&] { on_a_thread = x * x; }).join();
  {
    const auto pause = tape.stop_recording();
    paused = x * x;
  }
  for (const Tensor &target : {before, other, on_a_thread, paused}) {
    EXPECT_FALSE(tape.gradient(target, {x})[0].defined());
    EXPECT_EQ(numbers(tape.gradient(target, {x}, {.unconnected = Unconnected::zero})[0]),
              Numbers{0});
    EXPECT_TRUE(tape.explain(target, x).starts_with("the tape saw no path from the source"));
    // It is one of the factors of what comes of it.
    EXPECT_EQ(numbers(tape.gradient(target * x, {x})[0]), Numbers{4});
  }
}

TEST(Tape, OnlyWatchedOperandsHaveGradients) {
  const Tensor x = tensor(2.f), c = tensor(5.f);
  GradientTape tape;
  tape.watch(x);
  const auto [dx, dc] = tape.gradient(x * c, {x, c});
  EXPECT_EQ(numbers(dx), Numbers{5});
  EXPECT_FALSE(dc.defined());
}

TEST(Tape, TargetMayBeASource) {
  const Tensor x = tensor({2.f, 3.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * 2;
  const auto [dx, dy] = tape.gradient(y, {x, y});
  EXPECT_EQ(numbers(dx), (Numbers{2, 2}));
  EXPECT_EQ(numbers(dy), (Numbers{1, 1}));
}

TEST(Tape, SourcesMayBeOnOnePath) {
  const Tensor x = tensor(3.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x, z = y * x;
  const auto [dx, dy] = tape.gradient(z, {x, y});
  EXPECT_EQ(numbers(dx), Numbers{27});
  EXPECT_EQ(numbers(dy), Numbers{3});
}

TEST(Tape, SourcesMayRepeat) {
  const Tensor x = tensor(3.f);
  GradientTape tape;
  tape.watch(x);
  const auto [a, b] = tape.gradient(x * x, {x, x});
  EXPECT_EQ(numbers(a), Numbers{6});
  EXPECT_EQ(numbers(b), Numbers{6});
}

TEST(Tape, VectorsOfSources) {
  const std::vector<Tensor> tensors = {tensor(2.f), tensor(3.f)};
  const std::vector<Variable> variables = {Variable(tensor(5.f))};
  GradientTape tape({.persistent = true});
  for (const Tensor &t : tensors) tape.watch(t);
  const Tensor y = tensors[0] * tensors[1] * variables[0];
  const std::vector<Tensor> by_tensors = tape.gradient(y, tensors);
  ASSERT_EQ(by_tensors.size(), 2u);
  EXPECT_EQ(numbers(by_tensors[0]), Numbers{15});
  EXPECT_EQ(numbers(by_tensors[1]), Numbers{10});
  EXPECT_EQ(numbers(tape.gradient(y, variables)[0]), Numbers{6});
  EXPECT_TRUE(tape.gradient(y, std::vector<Tensor>()).empty());
}

struct Line {
  Tensor slope, height;
  int degree = 1;
  WEFT_FIELDS(Line, slope, height, degree)
};
struct Layer {
  Variable weight;
  WEFT_FIELDS(Layer, weight)
};
// A struct has a place for the derivative of a tensor, and none for that of a variable.
static_assert(!detail::holds_variables<std::map<int, std::vector<Line>>>());
static_assert(detail::holds_variables<std::tuple<int, std::optional<Layer>>>());

TEST(Tape, StructuresOfSources) {
  const Line line{tensor(2.f), tensor(3.f)};
  const Variable v(tensor(5.f), "v", /*trainable=*/false);
  const std::map<std::string, Tensor> table{{"a", tensor(7.f)}, {"b", tensor(1.f)}};
  const std::vector<Tensor> list{tensor(1.f), tensor(2.f)};
  GradientTape tape({.persistent = true});
  tape.watch(std::tuple(line, v));
  tape.watch(table);
  tape.watch(list);
  const Tensor y = line.slope * line.slope * v * table.at("a") + line.height * list[1];
  const Line by_line = tape.gradient(y, line);
  EXPECT_EQ(numbers(by_line.slope), Numbers{140});
  EXPECT_EQ(numbers(by_line.height), Numbers{2});
  EXPECT_EQ(by_line.degree, 1);
  const auto [dv, rest] = tape.gradient(y, std::tuple(v, std::pair(table, list)));
  EXPECT_EQ(numbers(dv), Numbers{28});
  EXPECT_EQ(numbers(rest.first.at("a")), Numbers{20});
  EXPECT_FALSE(rest.first.at("b").defined());
  EXPECT_FALSE(rest.second[0].defined());
  EXPECT_EQ(numbers(rest.second[1]), Numbers{3});
  const auto zeros = tape.gradient(y, table, {.unconnected = Unconnected::zero});
  EXPECT_EQ(numbers(zeros.at("b")), Numbers{0});
}

TEST(Tape, IntegersHaveNoGradient) {
  const Tensor n = tensor({1, 2}), x = tensor({1.f, 2.f});
  GradientTape tape({.persistent = true});
  tape.watch(n);
  tape.watch(x);
  EXPECT_FALSE(tape.gradient(n * n, {n})[0].defined());
  // Through an integer nothing flows; beside one it does.
  EXPECT_FALSE(tape.gradient(x.astype(i32).astype(f32), {x})[0].defined());
  EXPECT_EQ(numbers(tape.gradient(x * n, {x})[0]), (Numbers{1, 2}));
  EXPECT_FALSE(tape.gradient(floor(x), {x})[0].defined());
}

TEST(Tape, OutputGradientsWeighTheTarget) {
  const Tensor x = tensor({1.f, 2.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  const Tensor weights = tensor({10.f, 100.f});
  EXPECT_EQ(numbers(tape.gradient(y, {x}, {.output_gradients = {weights}})[0]), (Numbers{20, 400}));
  EXPECT_EQ(message_of<ShapeError>(
                [&] { (void)tape.gradient(y, {x}, {.output_gradients = {tensor(1.f)}}); }),
            "GradientTape: output gradient 0 is f32(), but its target is f32(2,)");
  EXPECT_EQ(message_of<DTypeError>(
                [&] { (void)tape.gradient(y, {x}, {.output_gradients = {weights.astype(f64)}}); }),
            "GradientTape: output gradient 0 is f64(2,), but its target is f32(2,)");
  EXPECT_EQ(message_of<ValueError>(
                [&] { (void)tape.gradient(y, {x}, {.output_gradients = {weights, weights}}); }),
            "GradientTape: there are 2 output gradients for 1 targets");
}

/// The gradient of a weighted sum is the weights, and yet a tensor of its own.
TEST(Tape, GradientsOfWeightedSums) {
  const Tensor x = tensor({1.f, 2.f, 3.f}), weights = tensor({4.f, -0.f, 6.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor slope = tape.gradient(sum(x * weights), x);
  EXPECT_EQ(numbers(slope), (Numbers{4, 0, 6}));
  EXPECT_TRUE(std::signbit(slope.to_vector<float>()[1]));
  EXPECT_TRUE(slope.is_contiguous());
  EXPECT_EQ(slope.span<float>().data(), weights.span<float>().data()); // nothing was multiplied
  GradientTape second;
  second.watch(slope);
  const Tensor y = sum(slope * slope) + sum(weights * 100.f);
  EXPECT_EQ(numbers(second.gradient(y, slope)), (Numbers{8, 0, 12}));
  // The weights of several elements that one repeats for.
  GradientTape third;
  const Tensor one = tensor(2.f);
  third.watch(one);
  EXPECT_EQ(numbers(third.gradient(sum(one * weights), one)), Numbers{10});
}

TEST(Tape, UndefinedTensors) {
  const Tensor x = tensor(1.f);
  GradientTape tape({.persistent = true});
  EXPECT_EQ(message_of<StateError>([&] { tape.watch(Tensor()); }),
            "GradientTape: an undefined tensor cannot be watched");
  EXPECT_EQ(message_of<StateError>([&] { (void)tape.gradient(Tensor(), {x}); }),
            "GradientTape: a target is undefined");
  EXPECT_EQ(message_of<StateError>([&] { (void)tape.gradient(x, {Tensor()}); }),
            "GradientTape: a source is undefined");
}

TEST(Tape, OpsThatDoNothingKeepTheGradient) {
  const Tensor x = tensor({{1.f, 2.f}});
  GradientTape tape;
  tape.watch(x);
  Tensor y = x.reshape({1, 2}).astype(f32).contiguous().transpose({0, 1});
  y = broadcast(y, {1, 2});
  EXPECT_EQ(numbers(tape.gradient(y * y, {x})[0]), (Numbers{2, 4}));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

TEST(Tape, VariablesOnOneTensorAreTwo) {
  const Tensor value = tensor(3.f);
  Variable a(value), b(value);
  GradientTape tape;
  tape.watch(value);
  const auto [da, db, dvalue] = tape.gradient(a * a * b + 2 * value, {a, b, value});
  EXPECT_EQ(numbers(da), Numbers{18});
  EXPECT_EQ(numbers(db), Numbers{9});
  EXPECT_EQ(numbers(dvalue), Numbers{2});
}

TEST(Tape, UntrainableVariablesAreWatchedOnRequest) {
  Variable v(tensor(3.f), "v", /*trainable=*/false);
  {
    GradientTape tape;
    EXPECT_FALSE(tape.gradient(v * v, {v})[0].defined());
  }
  GradientTape tape;
  tape.watch(v);
  EXPECT_EQ(numbers(tape.gradient(v * v, {v})[0]), Numbers{6});
}

TEST(Tape, AccessedVariablesNeedNotBeWatched) {
  Variable v(tensor(3.f)), w(tensor(4.f));
  GradientTape tape({.watch_accessed_variables = false});
  tape.watch(w);
  const auto [dv, dw] = tape.gradient(v * w, {v, w});
  EXPECT_FALSE(dv.defined());
  EXPECT_EQ(numbers(dw), Numbers{3});
}

TEST(Tape, SecondOrderOfAVariable) {
  Variable v(tensor(2.0));
  GradientTape outer;
  Tensor slope;
  {
    GradientTape inner;
    slope = inner.gradient(v * v * v, {v})[0];
  }
  EXPECT_EQ(numbers(outer.gradient(slope, {v})[0]), Numbers{12});
}

TEST(Tape, UpdatesDoNotReachWhatWasSaved) {
  Variable v(tensor({2.f, 3.f}));
  GradientTape tape;
  const Tensor y = v * v;
  v.assign_add(Tensor(tensor({10.f, 10.f})));
  EXPECT_EQ(numbers(tape.gradient(y, {v})[0]), (Numbers{4, 6}));
}

//===----------------------------------------------------------------------===//
// Lives and threads
//===----------------------------------------------------------------------===//

TEST(Tape, StopEndsRecording) {
  const Tensor x = tensor(2.f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  tape.stop();
  const Tensor z = x * x;
  EXPECT_EQ(numbers(tape.gradient(y, {x})[0]), Numbers{4});
  EXPECT_FALSE(tape.gradient(z, {x})[0].defined());
}

TEST(Tape, TapesNeedNotEndInOrder) {
  const Tensor x = tensor(2.f);
  auto first = std::make_unique<GradientTape>();
  GradientTape second;
  second.watch(x);
  first.reset();
  EXPECT_EQ(numbers(second.gradient(x * x, {x})[0]), Numbers{4});
}

TEST(Tape, BelongsToItsThread) {
  const Tensor x = tensor(2.f);
  auto tape = std::make_unique<GradientTape>();
  tape->watch(x);
  const Tensor y = x * x;
  std::thread([&] {
    const std::string where = " was called on another thread than the one the tape was created on";
    EXPECT_EQ(message_of<StateError>([&] { tape->watch(x); }), "GradientTape: watch" + where);
    EXPECT_EQ(message_of<StateError>([&] { (void)tape->gradient(y, {x}); }),
              "GradientTape: gradient" + where);
    EXPECT_EQ(message_of<StateError>([&] { tape->reset(); }), "GradientTape: reset" + where);
    EXPECT_EQ(message_of<StateError>([&] { tape->stop(); }), "GradientTape: stop" + where);
    // What this thread computes the tape does not see.
    const Tensor elsewhere = x * 10;
    EXPECT_EQ(elsewhere.item<float>(), 20);
  }).join();
  EXPECT_EQ(numbers(tape->gradient(y, {x})[0]), Numbers{4});
}

TEST(Tape, MayDieOnAnotherThread) {
  const Tensor x = tensor(2.f);
  std::thread([&] {
    auto tape = std::make_unique<GradientTape>();
    tape->watch(x);
    std::thread([&] { tape.reset(); }).join();
    EXPECT_EQ((x * x).item<float>(), 4); // its thread goes on without it
    GradientTape next;
    next.watch(x);
    EXPECT_EQ(numbers(next.gradient(x * x, {x})[0]), Numbers{4});
  }).join();
}

TEST(Tape, MayOutliveItsThread) {
  const Tensor x = tensor(2.f);
  std::unique_ptr<GradientTape> tape;
  std::thread([&] {
    tape = std::make_unique<GradientTape>();
    tape->watch(x);
    (void)(x * x);
  }).join();
  EXPECT_EQ(message_of<StateError>([&] { tape->stop(); }),
            "GradientTape: stop was called on another thread than the one the tape was created on");
  tape.reset();
}

TEST(Tape, ErrorsInsideLeaveItUsable) {
  const Tensor x = tensor({2.f, 3.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  EXPECT_THROW((void)matmul(x, tensor({1.f, 2.f, 3.f})), ShapeError);
  EXPECT_EQ(numbers(tape.gradient(y, {x})[0]), (Numbers{4, 6}));
}

//===----------------------------------------------------------------------===//
// Where derivatives are special
//===----------------------------------------------------------------------===//

Tensor slope_of(Tensor (*f)(const Tensor &), const Tensor &x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), {x})[0];
}

TEST(Derivative, ProductWithZeros) {
  const auto slope = [](Tensor x) { return slope_of([](const Tensor &t) { return prod(t); }, x); };
  EXPECT_EQ(numbers(slope(tensor({2.0, 3.0, 4.0}))), (Numbers{12, 8, 6}));
  EXPECT_EQ(numbers(slope(tensor({2.0, 0.0, 4.0}))), (Numbers{0, 8, 0}));
  EXPECT_EQ(numbers(slope(tensor({0.0, 3.0, 0.0}))), (Numbers{0, 0, 0}));
  EXPECT_EQ(numbers(slope(tensor({{2.0, 0.0}, {3.0, 4.0}}))), (Numbers{0, 24, 0, 0}));
}

TEST(Derivative, SecondOfProductWithZeros) {
  // The mixed derivative by two elements is the product of the others, by one twice it is 0.
  const Tensor x = tensor({{2.0, 0.0, 3.0}, {0.0, 5.0, 7.0}});
  const Numbers elements = numbers(x);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Numbers expected(elements.size());
    for (std::size_t j = 0; j < elements.size(); ++j) {
      expected[j] = i == j ? 0 : 1;
      for (std::size_t k = 0; k < elements.size() && i != j; ++k)
        if (k != i && k != j) expected[j] *= elements[k];
    }
    GradientTape outer;
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    const Tensor slope = inner.gradient(prod(x), {x})[0];
    const Tensor one = reshape(slope, {6})[static_cast<std::int64_t>(i)];
    EXPECT_EQ(numbers(outer.gradient(one, {x})[0]), expected) << "element " << i;
  }
}

TEST(Derivative, TiesShareTheGradient) {
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return max(t); }, tensor({3.0, 1.0, 3.0, 2.0}))),
            (Numbers{0.5, 0, 0.5, 0}));
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return min(t, {.axes = Ints{1}}); },
                             tensor({{1.0, 1.0}, {2.0, 1.0}}))),
            (Numbers{0.5, 0.5, 0, 1}));
  EXPECT_EQ(
      numbers(slope_of([](const Tensor &t) { return maximum(t, 1); }, tensor({0.0, 1.0, 2.0}))),
      (Numbers{0, 0.5, 1}));
}

TEST(Derivative, AtTheEdgesOfDomains) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return sqrt(t); }, tensor(0.0))), Numbers{inf});
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return abs(t); }, tensor(0.0))), Numbers{0});
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return power(t, 0); }, tensor(0.0))),
            Numbers{0});
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return power(t, 1); }, tensor(0.0))),
            Numbers{1});
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return power(t, 2); }, tensor(-3.0))),
            Numbers{-6});
  EXPECT_EQ(numbers(slope_of([](const Tensor &t) { return power(2, t); }, tensor(0.0))),
            Numbers{std::log(2.0)});
}

} // namespace
} // namespace weft
