// Exported programs give what their functions give, bit for bit: models, state, control flow,
// dtypes.
#include "ExportFixture.h"

#include <atomic>
#include <thread>

namespace weft {
namespace {

class Programs : public ExportFixture {};

TEST_F(Programs, ADenseModel) {
  const nn::Sequential model{nn::Dense(32, {.activation = relu}), nn::Dense(10)};
  const auto predict = function([&](const Tensor &x) { return nn::softmax(model(x)); },
                                {.name = "predict", .signature = {spec(f32, {unknown, 20})}});
  const Tensor x = numbers({7, 20});
  const Tensor wanted = predict(x);
  export_program(predict, file());
  const LoadedProgram program = load_program(file());
  EXPECT_EQ(program.name(), "predict");
  EXPECT_EQ(program.weft_version(), "0.1.0");
  ASSERT_EQ(program.entries().size(), 1u);
  EXPECT_EQ(to_string(program.entries()[0].inputs[0]), "f32(?, 20)");
  EXPECT_EQ(to_string(program.entries()[0].outputs[0]), "f32(?, 10)");
  EXPECT_EQ(program.entries()[0].processors.size(), 1u);
  expect_same(program(x)[0], wanted);
  const Tensor one = numbers({1, 20}), none = numbers({0, 20});
  expect_same(program(one)[0], predict(one));
  expect_same(program(none)[0], predict(none));
}

TEST_F(Programs, AConvolutionalModelWithBatchNorm) {
  const nn::Sequential model{nn::Conv2D(8, 3, {.activation = relu}), nn::BatchNorm(),
                             nn::MaxPooling2D(2), nn::Flatten(), nn::Dense(10)};
  const auto train = function([&](const Tensor &x) { return model(x, {.training = true}); });
  for (int i = 0; i < 3; ++i) train(numbers({4, 12, 12, 1}) * static_cast<float>(i + 1));
  const auto predict = function([&](const Tensor &x) { return model(x); });
  const Tensor x = numbers({5, 12, 12, 1});
  const Tensor wanted = predict(x);
  export_program(predict, file(), {.name = "digits", .signatures = {{spec(f32, {5, 12, 12, 1})}}});
  const LoadedProgram program = load_program(file());
  EXPECT_EQ(program.name(), "digits");
  expect_same(program(x)[0], wanted);
  // The moving statistics are among what it reads.
  const auto variables = program.variables();
  EXPECT_EQ(variables.size(), 8u); // two kernels and biases, gamma, beta, mean, variance
}

TEST_F(Programs, TheNarrowestEntryIsChosen) {
  // Each trace knows its sizes: what it sees is what the result tells.
  const auto sizes = function([](const Tensor &x) {
    const Shape shape = x.shape();
    return tensor(std::vector<std::int64_t>(shape.begin(), shape.end())) +
           0 * size_of(x, {.axis = 0});
  });
  export_program(sizes, file(),
                 {.signatures = {{spec(f32, {unknown, unknown})},
                                 {spec(f32, {unknown, 4})},
                                 {spec(f32, {2, 4})},
                                 {spec(f32, {unknown})}}});
  const LoadedProgram program = load_program(file());
  const auto seen = [&](const Shape &shape) {
    return program(numbers(shape))[0].to_vector<std::int64_t>();
  };
  EXPECT_THAT(seen({2, 4}), testing::ElementsAre(2, 4));
  EXPECT_THAT(seen({3, 4}), testing::ElementsAre(-1, 4));
  EXPECT_THAT(seen({2, 5}), testing::ElementsAre(-1, -1));
  EXPECT_THAT(seen({9}), testing::ElementsAre(-1));
  EXPECT_EQ(to_string(program.entries()[2].inputs[0]), "f32(2, 4)"); // in their own order
}

TEST_F(Programs, AWrittenVariableIsTheirOwn) {
  const Variable count(tensor(std::int64_t{5}), "count");
  const auto next = function([&] {
    count.assign_add(1);
    return count.value() * 10;
  });
  export_program(next, file());
  const LoadedProgram program = load_program(file()), other = load_program(file());
  const LoadedProgram copy = program; // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(program()[0].item<std::int64_t>(), 60);
  EXPECT_EQ(copy()[0].item<std::int64_t>(), 70);
  EXPECT_EQ(other()[0].item<std::int64_t>(), 60);
  EXPECT_EQ(count.value().item<std::int64_t>(), 5);
  EXPECT_EQ(program.variables().at("count").value().item<std::int64_t>(), 7);
  EXPECT_EQ(load_program(file())()[0].item<std::int64_t>(), 60); // the file is as it was
}

TEST_F(Programs, AStepOfTrainingGoesOn) {
  const nn::Sequential model{nn::Dense(8, {.activation = relu}), nn::Dense(1)};
  const Tensor x = numbers({16, 4}), y = numbers({16, 1});
  model(x);
  optimizers::Adam adam(model, {.learning_rate = 0.01});
  const auto step = function(
      [&](const Tensor &input, const Tensor &wanted) {
        GradientTape tape;
        const Tensor loss = mean(square(model(input) - wanted));
        adam.apply_gradients(tape.gradient(loss, model));
        return loss;
      },
      {.signature = {spec(f32, {16, 4}), spec(f32, {16, 1})}});
  step(x, y);
  export_program(step, file());
  const LoadedProgram program = load_program(file());
  for (int i = 0; i < 5; ++i) expect_same(program(x, y)[0], step(x, y));
}

TEST_F(Programs, HandlesThatWereMovedFromStayGood) {
  export_program(function([](const Tensor &x) { return x * 2; }), file(),
                 {.signatures = {{spec(f32, {2})}}});
  LoadedProgram program = load_program(file());
  const LoadedProgram other = std::move(program);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  expect_same(program(ones({2}))[0], other(ones({2}))[0]);
}

TEST_F(Programs, OtherWeightsCanBeBound) {
  const Variable w(numbers({3, 2}), "w");
  const auto multiply = function([&](const Tensor &x) { return matmul(x, w); },
                                 {.signature = {spec(f32, {unknown, 3})}});
  export_program(multiply, file());
  const LoadedProgram program = load_program(file());
  const Tensor x = numbers({4, 3});
  expect_same(program(x)[0], multiply(x));
  program.variables().at("w").assign(ones({3, 2}));
  expect_same(program(x)[0], matmul(x, ones({3, 2})));
  expect_same(load_program(file())(x)[0], multiply(x));
}

TEST_F(Programs, VariablesOfOneNameHaveTwo) {
  const Variable a(1.0f, "w"), b(2.0f, "w");
  export_program(function([&] { return a - b; }), file());
  const LoadedProgram program = load_program(file());
  EXPECT_EQ(program.variables().at("w").value().item<float>(), 1);
  EXPECT_EQ(program.variables().at("w_1").value().item<float>(), 2);
  EXPECT_EQ(program()[0].item<float>(), -1);
}

TEST_F(Programs, BranchesAndLoops) {
  const auto collatz = function(
      [](const Tensor &n) {
        const Tensor zero = tensor(std::int64_t{0});
        auto [last, steps] = while_loop([](const Tensor &at, const Tensor &) { return at != 1; },
                                        [](const Tensor &at, const Tensor &count) {
                                          const Tensor next = cond(
                                              at % 2 == 0, [&] { return (at / 2).astype(i64); },
                                              [&] { return 3 * at + 1; });
                                          return std::tuple(next, count + 1);
                                        },
                                        n, zero);
        return std::pair(last, steps);
      },
      {.signature = {spec(i64, {})}});
  export_program(collatz, file());
  const LoadedProgram program = load_program(file());
  for (const std::int64_t n : {1, 6, 27, 97}) {
    const auto [last, steps] = collatz(tensor(n));
    const std::vector<Tensor> found = program(tensor(n));
    ASSERT_EQ(found.size(), 2u);
    expect_same(found[0], last);
    expect_same(found[1], steps);
  }
}

TEST_F(Programs, CapturedTensorsAreStoredOnce) {
  const Tensor table = numbers({64, 64});
  const auto scale =
      function([&](const Tensor &x) { return matmul(x, table) + matmul(x, table * 2); });
  export_program(scale, file(), {.signatures = {{spec(f32, {unknown, 64})}, {spec(f32, {3, 64})}}});
  export_program(scale, file("one"), {.signatures = {{spec(f32, {unknown, 64})}}});
  const LoadedProgram program = load_program(file());
  for (const std::int64_t rows : {2, 3}) {
    const auto exact =
        function([&](const Tensor &x) { return matmul(x, table) + matmul(x, table * 2); });
    expect_same(program(numbers({rows, 64}))[0], exact(numbers({rows, 64})));
  }
  const std::string bytes = read(file()), elements = bytes_of(table);
  const std::size_t first = bytes.find(elements);
  ASSERT_NE(first, bytes.npos);
  EXPECT_EQ(bytes.find(elements, first + 1), bytes.npos);
}

TEST_F(Programs, EveryDtypeAndStructures) {
  struct Pair {
    Tensor a, b;
    WEFT_FIELDS(Pair, a, b)
  };
  const auto mixed =
      function([](const Pair &p, const std::array<Tensor, 2> &q, const Tensor &flag) {
        return std::tuple(select(flag, p.a, -p.a), p.b.astype(f64) / 2, q[0] + q[1], !flag);
      });
  export_program(mixed, file(),
                 {.signatures = {{spec(f32, {unknown}), spec(i32, {2}), spec(i64, {}),
                                  spec(i64, {}), spec(boolean, {unknown})}}});
  const LoadedProgram program = load_program(file());
  const Tensor a = tensor({1.f, 2.f, 3.f}), b = tensor(std::vector<std::int32_t>{3, 4}),
               c = tensor(std::int64_t{1} << 40),
               flag = tensor(std::vector<bool>{true, false, true});
  const auto [w, x, y, z] = mixed(Pair{a, b}, std::array{c, c}, flag);
  const std::vector<Tensor> found = program(a, b, c, c, flag);
  ASSERT_EQ(found.size(), 4u);
  expect_same(found[0], w);
  expect_same(found[1], x);
  expect_same(found[2], y);
  expect_same(found[3], z);
}

TEST_F(Programs, GenericLambdasAndFunctionPointers) {
  export_program(function([](auto x, auto y) { return x + y; }), file(),
                 {.signatures = {{spec(f32, {2}), spec(f32, {2})}}});
  expect_same(load_program(file())(ones({2}), ones({2}))[0], 2 * ones({2}));
  Tensor (*twice)(const Tensor &) = [](const Tensor &x) { return 2 * x; };
  export_program(function(twice), file(), {.signatures = {{spec(f32, {2})}}});
  expect_same(load_program(file())(ones({2}))[0], 2 * ones({2}));
  // A layer has a parameter with a default behind its tensor.
  const nn::Dense dense(3);
  const auto layer = function(dense);
  const Tensor wanted = layer(numbers({2, 4}));
  export_program(layer, file(), {.signatures = {{spec(f32, {2, 4})}}});
  expect_same(load_program(file())(numbers({2, 4}))[0], wanted);
}

TEST_F(Programs, FrozenVariablesAreConstants) {
  const nn::Sequential model{nn::Dense(16, {.activation = relu}), nn::Dense(4)};
  const auto inner = function([&](const Tensor &x) { return model(x); });
  const auto predict = function([&](const Tensor &x) { return inner(x) + inner(x * 2); },
                                {.signature = {spec(f32, {unknown, 8})}});
  const Tensor x = numbers({5, 8});
  const Tensor wanted = predict(x);
  export_program(predict, file(), {.freeze = true});
  const LoadedProgram program = load_program(file());
  EXPECT_TRUE(program.variables().empty());
  const std::vector<float> found = program(x)[0].to_vector<float>(),
                           expected = wanted.to_vector<float>();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
}

TEST_F(Programs, AWrittenVariableCannotBeFrozen) {
  const Variable count(0, "count");
  const auto next = function([&] { return count.assign_add(1).value(); }, {.name = "next"});
  EXPECT_THROWS(export_program(next, file(), {.freeze = true}), ValueError,
                "export_program: the variable 'count' cannot be frozen: next assigns it");
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(Programs, RandomStateIsKept) {
  const random::Generator generator(3);
  const auto draw = function([&] { return generator.uniform({4}); });
  const Variable twin(generator.state().value(), "twin");
  export_program(draw, file());
  const LoadedProgram program = load_program(file());
  const Tensor first = draw(), second = draw();
  expect_same(program()[0], first);
  expect_same(program()[0], second);
}

TEST_F(Programs, PrintsAndAssertsNameTheLines) {
  const auto checked = function(
      [](const Tensor &x) {
        check(all(x > 0), "all are positive");
        return sqrt(x);
      },
      {.name = "roots", .signature = {spec(f32, {unknown})}});
  export_program(checked, file());
  const LoadedProgram program = load_program(file());
  SourceLocation wanted, found;
  try {
    checked(tensor({1.f, -1.f}));
  } catch (const AssertionError &error) {
    wanted = error.location();
  }
  try {
    program(tensor({1.f, -1.f}));
    ADD_FAILURE() << "it did not throw";
  } catch (const AssertionError &error) {
    found = error.location();
    EXPECT_EQ(words_of(error), "assertion failed in roots: all are positive");
  }
  EXPECT_TRUE(wanted.known());
  EXPECT_EQ(found, wanted);
}

// What a routine of the library throws, too, after which variables hold what was assigned before.
TEST_F(Programs, MatricesWithoutInverseNameTheFunctionAndItsLine) {
  const Variable last(zeros({2, 2}), "last");
  const auto inverse = function(
      [&](const Tensor &x) {
        last.assign(x * 2);
        last.assign(linalg::inv(x));
        return last.value();
      },
      {.signature = {spec(f32, {2, 2})}});
  export_program(inverse, file());
  const LoadedProgram program = load_program(file());
  const Tensor singular = tensor({{1.f, 2.f}, {2.f, 4.f}});
  const auto said = [&](const auto &call) -> std::string {
    try {
      call(singular);
    } catch (const LinAlgError &error) {
      EXPECT_TRUE(error.location().known());
      return error.what();
    }
    return "";
  };
  const std::string words = said(inverse);
  EXPECT_NE(words.find("error: linalg.inv: the matrix has no inverse"), words.npos) << words;
  EXPECT_EQ(said(program), words);
  expect_same(program.variables().at("last").value(), singular * 2);
  expect_same(last.value(), singular * 2);
}

TEST_F(Programs, ConcurrentCallsAndUpdates) {
  const Variable sum(0.0f, "sum"), w(numbers({64, 64}), "w");
  const auto step = function(
      [&](const Tensor &x) {
        sum.assign_add(1.0f);
        return matmul(x, w);
      },
      {.signature = {spec(f32, {unknown, 64})}});
  const Tensor x = numbers({8, 64});
  const Tensor wanted = step(x);
  sum.assign(0.0f);
  export_program(step, file());
  const LoadedProgram program = load_program(file());
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> different = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) different += bytes_of(program(x)[0]) != bytes_of(wanted);
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(different, 0);
  EXPECT_EQ(program.variables().at("sum").value().item<float>(), 200);
}

} // namespace
} // namespace weft
