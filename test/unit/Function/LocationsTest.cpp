// Traced functions know the user's line of every op call, and tell it when they fail.
#include "../Testing.h"

#include <weft/weft.h>

#include "Function/Tracer.h"
#include "Program/Sites.h"

namespace weft {
namespace {

/// Where the error that `run` throws happened.
template <class E, class F>
SourceLocation location_of_error(const F &run) {
  try {
    run();
  } catch (const Error &error) {
    if (dynamic_cast<const E *>(&error) != nullptr) return error.location();
    ADD_FAILURE() << "another error: " << error.what();
  }
  return {};
}

#define EXPECT_LINE(location, number)                                                              \
  do {                                                                                             \
    const SourceLocation found = location;                                                         \
    EXPECT_EQ(found.file, __FILE__);                                                               \
    EXPECT_EQ(found.line, number);                                                                 \
  } while (false)

constexpr std::uint32_t kNone = 0;

// Everything that a training step computes belongs to a line of the step: no layer, loss, gradient
// or optimizer leaves an op without one, or with a line of the library.
TEST(TracedLocations, OfAllOpsOfATrainingStep) {
  const nn::Sequential model{nn::Dense(4, 8, {.activation = relu, .name = "a"}),
                             nn::Dense(8, 3, {.name = "b"})};
  const optimizers::Adam adam(model.parameters());
  const random::Generator generator(1);
  Tracer tracer({.name = "step"});
  const Tensor x = tracer.input(spec(f32, {5, 4})), y = tracer.input(spec(i32, {5}));
  push_interpreter(&tracer);
  Tensor loss;
  const std::uint32_t first = __LINE__;
  {
    GradientTape tape;
    const Tensor dropped = nn::dropout(x, 0.5, generator);
    loss = losses::softmax_cross_entropy(y, model(dropped));
    const std::vector<Tensor> gradients = tape.gradient(loss, model.parameters());
    adam.apply_gradients(gradients);
    check(loss < 1e9, "loss is finite");
    if_(loss > 10, [&] { print("loss is", loss); });
    loss = while_loop([](Tensor l) { return l > 1; }, [](Tensor l) { return l * 0.5; }, loss);
  }
  const std::uint32_t last = __LINE__;
  pop_interpreter(&tracer);
  const Tensor results[] = {loss};
  const Program program = tracer.finish(results);
  const Sites sites(program);
  ASSERT_GT(sites.all().size(), 100U);
  for (const Site &site : sites.all()) {
    const SourceLocation location = site.location();
    EXPECT_EQ(location.file, __FILE__) << site.name();
    EXPECT_GT(location.line, first) << site.name();
    EXPECT_LT(location.line, last) << site.name();
  }
  // The derivative of an op belongs to the line of the op.
  std::size_t products = 0;
  for (const Site &site : sites.all())
    if (site.name() == "matmul") products += site.location().line == first + 4;
  EXPECT_EQ(products, 5U); // two forwards; three backwards, as nobody asks for dx
}

// Calls of functions and loops with any number of parts have the line that they stand on; what goes
// wrong inside has a line of its own.
TEST(TracedLocations, OfCallsAndLoops) {
  const auto here = [](std::uint32_t line, const auto &run) {
    const SourceLocation location = location_of_error<Error>(run);
    EXPECT_EQ(location.line, line);
    EXPECT_TRUE(location.file.ends_with("LocationsTest.cpp")) << location.file;
  };
  const auto f = function([](Tensor x) { return x; }, {.signature = {spec(f32, {2})}});
  const auto two = function([](Tensor x, Tensor y) { return x + y; });
  here(__LINE__, [&] { f(ones({3})); });
  here(__LINE__, [&] { two(ones({3}), Tensor()); });
  here(__LINE__, [&] { function([&](Tensor x) { return two(x, Tensor()); })(ones({3})); });
  {
    const GradientTape tape;
    here(__LINE__, [&] { two(ones({3}), Tensor()); });
  }
  const auto iteration = [](Tensor x) { return x; };
  here(__LINE__, [&] { while_loop([](Tensor x) { return x; }, iteration, ones({2})); });
  here(__LINE__, [&] { while_loop([](Tensor) { return 1; }, iteration, 1); });
  here(__LINE__, [&] { while_loop([](Tensor) { return true; }, [](Tensor) { return 1.F; }, 1); });
  here(__LINE__, [&] { for_loop(2, [](Tensor, Tensor) { return 1.F; }, 1); });
  here(__LINE__, [&] { cond(tensor(1), [] { return 1; }, [] { return 2; }); });
  const auto traced_loop = function([&](Tensor x) {
    return while_loop([](Tensor y) { return y < 1; }, [](Tensor) { return 1.F; }, x);
  });
  here(__LINE__ - 2, [&] { traced_loop(tensor(0)); });
  const auto list = [](std::vector<Tensor> x) {
    x.push_back(x[0]);
    return x;
  };
  const auto go = [](const std::vector<Tensor> &x) { return sum(x[0]) < 1; };
  here(__LINE__, [&] { while_loop(go, list, std::vector{zeros({2})}); });
}

TEST(TracedLocations, OfDerivatives) {
  const auto here = [](std::uint32_t line, const auto &run) {
    const SourceLocation location = location_of_error<Error>(run);
    EXPECT_EQ(location.line, line);
    EXPECT_TRUE(location.file.ends_with("LocationsTest.cpp")) << location.file;
  };
  const auto whole = [](Tensor x) { return x * 2; };
  const auto vector = [](Tensor x) { return x * ones({2}); };
  here(__LINE__, [&] { grad(whole)(1); });
  here(__LINE__, [&] { grad(vector)(1.F); });
  here(__LINE__, [&] { grad(grad(vector))(1.F); });
  here(__LINE__, [&] { hessian(whole)(1); });
  here(__LINE__, [&] { vjp(whole, 1); });
  here(__LINE__, [&] { vjp(whole, 1.F).second(ones({2})); });
  here(__LINE__, [&] { jvp(whole, 1.F, ones({2})); });
  here(__LINE__, [&] { jvp(whole, 1, 1); });
  const auto none = custom_gradient([](Tensor x) { return Pullback{x, [](Tensor) { return 1; }}; });
  here(__LINE__, [&] { none(Tensor()); });
  // What the library calls has the line of the user's call, rather than one of <tuple>.
  here(__LINE__, [&] { function(grad(vector))(tensor(1.F)); });
}

TEST(TracedLocations, OfShapeErrors) {
  std::uint32_t line = 0;
  auto f = function([&](Tensor x) {
    Tensor y = x + 1;
    return line = __LINE__, y + ones({7});
  });
  EXPECT_LINE(location_of_error<ShapeError>([&] { f(ones({3})); }), line);
}

TEST(TracedLocations, OfAsserts) {
  std::uint32_t line = 0, next = 0;
  const auto twice = [&](Tensor x) {
    line = __LINE__, check(all(x > 0), "x is positive, but is {}", x);
    next = __LINE__, check(all(x < 9), "x is small");
    return x * 2;
  };
  auto f = function(twice, {.name = "twice"});
  EXPECT_EQ(f(tensor({1.f, 2.f})).to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_LINE(location_of_error<AssertionError>([&] { f(tensor({1.f, 9.f})); }), next);
  try {
    f(tensor({-1.f, 2.f}));
    FAIL() << "nothing was thrown";
  } catch (const AssertionError &error) {
    EXPECT_EQ(error.what(), "LocationsTest.cpp:" + std::to_string(line) +
                                ": assertion failed in twice: x is positive, but is tensor([-1, "
                                "2], shape=(2,), dtype=f32)");
  }
}

TEST(TracedLocations, OfIndices) {
  std::uint32_t line = 0;
  auto f = function([&](Tensor x, Tensor i) {
    Tensor y = exp(x);
    return line = __LINE__, gather(y, i) + 1;
  });
  f(ones({4}), tensor({3, 0}));
  EXPECT_LINE(location_of_error<IndexError>([&] { f(ones({4}), tensor({4, 0})); }), line);
}

TEST(TracedLocations, OfSizesThatDoNotFit) {
  std::uint32_t line = 0;
  const auto sum = [&](Tensor x, Tensor y) {
    Tensor z = x * 2;
    return line = __LINE__, z + y;
  };
  auto f = function(sum, {.signature = {spec(f32, {unknown}), spec(f32, {unknown})}});
  f(ones({4}), ones({4}));
  EXPECT_LINE(location_of_error<ShapeError>([&] { f(ones({4}), ones({3})); }), line);
}

TEST(TracedLocations, InsideControlFlowAndCalls) {
  std::uint32_t in_callee = 0, in_loop = 0, in_branch = 0;
  auto inner = function([&](Tensor x) {
    in_callee = __LINE__, check(all(x < 5), "x is below 5");
    return x + 1;
  });
  auto outer = function([&](Tensor x, Tensor n) {
    const auto body = [&](Tensor, Tensor s) {
      in_loop = __LINE__, check(all(s < 3), "s is below 3");
      return inner(s);
    };
    Tensor y = for_loop(n, body, x);
    if_(all(y > 1), [&] { in_branch = __LINE__, check(all(y < 2), "y is below 2"); });
    return inner(y * 3);
  });
  const auto at = [&](float x, int n) {
    return location_of_error<AssertionError>([&] { outer(tensor({x}), tensor(n)); });
  };
  EXPECT_EQ(outer(tensor({0.f}), tensor(1)).to_vector<float>(), std::vector<float>{4});
  EXPECT_LINE(at(0, 4), in_loop);
  EXPECT_LINE(at(0, 2), in_branch);
  EXPECT_LINE(at(2, 0), in_branch);
  EXPECT_LINE(at(2, 2), in_loop);
  EXPECT_LINE(at(1.7F, 0), in_callee);
}

// Functions that are equal but for their lines share code, and each tells its own.
TEST(TracedLocations, OfCodeThatIsShared) {
  std::uint32_t line_of_f = 0, line_of_g = 0;
  auto f = function([&](Tensor x) {
    line_of_f = __LINE__, check(all(x > 0), "x is positive");
    return x * 3;
  });
  auto g = function([&](Tensor x) {
    line_of_g = __LINE__, check(all(x > 0), "x is positive");
    return x * 3;
  });
  EXPECT_LINE(location_of_error<AssertionError>([&] { f(tensor({-1.f})); }), line_of_f);
  EXPECT_LINE(location_of_error<AssertionError>([&] { g(tensor({-1.f})); }), line_of_g);
  EXPECT_EQ(g.report(tensor({-1.f})).cache, "shared");
}

// Errors of constructs name them, those of bodies the line in the body.
TEST(TracedLocations, OfControlFlow) {
  std::uint32_t line = 0;
  auto f = function([&](Tensor x) {
    const auto same = [&] { return x; };
    return line = __LINE__, cond(x, same, same);
  });
  EXPECT_LINE(location_of_error<DTypeError>([&] { f(ones({2})); }), line);
  auto g = function([&](Tensor x) {
    const auto body = [&](Tensor s) { return line = __LINE__, s + ones({9}); };
    return while_loop([](Tensor s) { return all(s < 3); }, body, x);
  });
  EXPECT_LINE(location_of_error<ShapeError>([&] { g(ones({2})); }), line);
}

// A host call that breaks its promise names its own line, whoever calls it; the callable's own ops
// have theirs.
TEST(TracedLocations, OfHostCalls) {
  std::uint32_t line = 0, inside = 0;
  const auto wrong = [&](Tensor x) {
    Tensor y = x * 2;
    const auto negate = [](const Tensor &t) { return -t; };
    return line = __LINE__, host_call(negate, {.results = {spec(f32, {3})}}, y);
  };
  const auto failing = [&](Tensor x) {
    const auto add = [&](const Tensor &t) { return inside = __LINE__, t + ones({7}); };
    return host_call(add, {.results = {spec(f32, {2})}}, x);
  };
  EXPECT_LINE(location_of_error<ShapeError>([&] { wrong(ones({2})); }), line);
  EXPECT_LINE(location_of_error<ShapeError>([&] { function(wrong)(ones({2})); }), line);
  EXPECT_LINE(location_of_error<ShapeError>([&] { failing(ones({2})); }), inside);
  EXPECT_LINE(location_of_error<ShapeError>([&] { function(failing)(ones({2})); }), inside);
}

TEST(TracedLocations, OfTapesAndOptions) {
  const Tensor x = ones({2});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * 2;
  EXPECT_LINE(location_of_error<StateError>([&] { tape.watch(Tensor()); }), __LINE__);
  {
    const auto paused = tape.stop_recording();
    EXPECT_LINE(location_of_error<StateError>([&] { static_cast<void>(tape.stop_recording()); }),
                __LINE__);
  }
  static_cast<void>(tape.gradient(y, x));
  EXPECT_LINE(location_of_error<StateError>([&] { static_cast<void>(tape.explain(y, x)); }),
              __LINE__);
  const auto same = [](const Tensor &t) { return t; };
  EXPECT_LINE(location_of_error<ValueError>([&] { function(same, {.max_traces = 0}); }), __LINE__);
}

// What is thrown outside of op calls has no line.
TEST(TracedLocations, OfOtherErrors) {
  auto f = function([](Tensor x) -> Tensor { throw ValueError("mine"); });
  EXPECT_EQ(location_of_error<ValueError>([&] { f(ones({2})); }).line, kNone);
}

} // namespace
} // namespace weft
