// When a function is traced anew: dtypes, shapes, structure, other arguments by type and value; and
// what comes back: structures of results, reports, texts.
#include "../Testing.h"

#include <atomic>
#include <thread>

#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

struct Layer {
  Tensor weight;
  std::optional<Tensor> bias;
  int units = 0;
  WEFT_FIELDS(Layer, weight, bias, units)
};

enum class Mode : std::uint8_t { train, test };

TEST(FunctionCache, ByDTypeAndShape) {
  int runs = 0;
  auto twice = function(
      [&](const Tensor &x) {
        ++runs;
        return x + x;
      },
      {.reduce_retracing = false});
  EXPECT_EQ(twice.trace_count(), 0u);
  EXPECT_EQ(twice(tensor({1.f, 2.f})).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(twice(tensor({3.f, 4.f})).to_vector<float>(), (Floats{6, 8}));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(twice(tensor({1, 2})).type(), spec(i32, {2}));
  EXPECT_EQ(twice(tensor({1.f})).type(), spec(f32, {1}));
  EXPECT_EQ(twice(tensor(1.f)).type(), spec(f32, {}));
  EXPECT_EQ(twice(zeros({0})).type(), spec(f32, {0}));
  EXPECT_EQ(twice(zeros({2, 1})).type(), spec(f32, {2, 1}));
  EXPECT_EQ(twice(zeros({1, 2})).type(), spec(f32, {1, 2}));
  EXPECT_EQ(runs, 7);
  EXPECT_EQ(twice.trace_count(), 7u);
  // Any tensor of a known signature, views too, runs the code that is there.
  EXPECT_EQ(twice(tensor({1.f, 9.f, 2.f})[slice({}, {}, -2)]).to_vector<float>(), (Floats{4, 2}));
  EXPECT_EQ(twice(tensor({1, 2})).to_vector<int>(), (std::vector<int>{2, 4}));
  EXPECT_EQ(runs, 7);
}

TEST(FunctionCache, LiteralsByTypeAndValue) {
  int runs = 0;
  auto scaled = function([&](const Tensor &x, auto by) {
    ++runs;
    return x * by;
  });
  const Tensor x = tensor({1, 2});
  EXPECT_EQ(scaled(x, 2).to_vector<int>(), (std::vector<int>{2, 4}));
  EXPECT_EQ(scaled(x, 3).to_vector<int>(), (std::vector<int>{3, 6}));
  EXPECT_EQ(scaled(x, 2).to_vector<int>(), (std::vector<int>{2, 4}));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(scaled(x, 2.0).dtype(), f32);
  EXPECT_EQ(scaled(x, true).dtype(), i32);
  EXPECT_EQ(scaled(x, 2l).dtype(), i32);
  EXPECT_EQ(runs, 5);

  int named_runs = 0;
  auto named = function([&](const Tensor &x, const std::string &how, Mode mode) {
    ++named_runs;
    const Tensor y = how == "a name longer than a machine word" ? exp(x) : negate(x);
    return mode == Mode::train ? y : y + 1;
  });
  const Tensor one = tensor({1.f});
  const std::string how = "a name longer than a machine word";
  EXPECT_EQ(named(one, std::string("negate"), Mode::train).item<float>(), -1);
  EXPECT_EQ(named(one, std::string("negate"), Mode::test).item<float>(), 0);
  EXPECT_EQ(named(one, how, Mode::train).item<float>(), exp(one).item<float>());
  EXPECT_EQ(named(one, std::string("negate"), Mode::train).item<float>(), -1);
  EXPECT_EQ(named_runs, 3);
}

TEST(FunctionCache, Structures) {
  int runs = 0;
  auto apply =
      function([&](const std::vector<Layer> &layers, const std::map<std::string, Tensor> &inputs,
                   const std::tuple<Tensor, int> &last) {
        ++runs;
        Tensor x = inputs.at("x");
        for (const Layer &layer : layers) {
          x = matmul(x, layer.weight);
          if (layer.bias) x = x + *layer.bias;
        }
        return x * std::get<0>(last) + std::get<1>(last);
      });
  const Layer plain{eye(2), std::nullopt, 2}, biased{eye(2) * 2, tensor({1.f, 2.f}), 2};
  const std::map<std::string, Tensor> x{{"x", tensor({{1.f, 2.f}})}};
  const std::tuple<Tensor, int> last{tensor(10.f), 1};
  EXPECT_EQ(apply(std::vector{plain}, x, last).to_vector<float>(), (Floats{11, 21}));
  EXPECT_EQ(apply(std::vector{biased}, x, last).to_vector<float>(), (Floats{31, 61}));
  EXPECT_EQ(apply(std::vector{plain, biased}, x, last).to_vector<float>(), (Floats{31, 61}));
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(apply(std::vector{plain, biased}, x, last).to_vector<float>(), (Floats{31, 61}));
  EXPECT_EQ(runs, 3);
  // The same tensors, but elsewhere: an option, a key of a map, a number in a tuple.
  Layer wider = plain;
  wider.units = 3;
  EXPECT_EQ(apply(std::vector{wider}, x, last).to_vector<float>(), (Floats{11, 21}));
  EXPECT_EQ(apply(std::vector{plain}, x, std::tuple{tensor(10.f), 2}).to_vector<float>(),
            (Floats{12, 22}));
  EXPECT_EQ(runs, 5);
}

TEST(FunctionCache, StructuresOfResults) {
  struct Result {
    Tensor sum;
    std::vector<Tensor> parts;
    std::string label;
    WEFT_FIELDS(Result, sum, parts, label)
  };
  auto split =
      function([](const Tensor &x, const Tensor &y) { return Result{x + y, {x, y, x}, "split"}; });
  for (float value : {1.f, 2.f}) {
    const Result result = split(tensor({value}), tensor({10.f}));
    EXPECT_EQ(result.sum.item<float>(), value + 10);
    ASSERT_EQ(result.parts.size(), 3u);
    EXPECT_EQ(result.parts[0].item<float>(), value);
    EXPECT_EQ(result.parts[1].item<float>(), 10);
    EXPECT_EQ(result.parts[2].item<float>(), value);
    EXPECT_EQ(result.label, "split");
    EXPECT_FALSE(result.sum.traced());
  }
  auto pair =
      function([](const Tensor &x) { return std::pair{x * 2, std::optional<Tensor>(x * 3)}; });
  const auto [two, three] = pair(tensor({1.f}));
  EXPECT_EQ(two.item<float>(), 2);
  EXPECT_EQ(three->item<float>(), 3);
  auto nothing = function([](const Tensor &) {});
  nothing(tensor({1.f}));
  auto constant = function([] { return full({2}, 3); });
  EXPECT_EQ(constant().to_vector<float>(), (Floats{3, 3}));
}

TEST(FunctionCache, ArgumentsAndResultsMayBeTheSame) {
  auto same = function([](const Tensor &x, const Tensor &y) { return std::vector{y, x, x}; });
  const Tensor x = tensor({1.f, 2.f});
  const std::vector<Tensor> result = same(x, x);
  for (const Tensor &tensor : result) EXPECT_EQ(tensor.to_vector<float>(), (Floats{1, 2}));
}

TEST(FunctionCache, ResultsMayShareElements) {
  const auto work = [](const Tensor &x) {
    const Tensor y = x + 1;
    return std::vector{
        y,    reshape(y, {3, 2}), y, y[1], y.mT(), x, reshape(x, {6}), y[{all, slice({}, {}, 2)}],
        y * 2};
  };
  const Tensor x = arange(6, f32).reshape({2, 3});
  const std::vector<Tensor> eager = work(x), traced = function(work)(x);
  ASSERT_EQ(eager.size(), traced.size());
  for (std::size_t i = 0; i < eager.size(); ++i)
    EXPECT_EQ(to_string(traced[i]), to_string(eager[i])) << i;
}

TEST(FunctionCache, CallsInsideAnotherTraceHaveTheirOwnCache) {
  int runs = 0;
  auto inner = function([&](const Tensor &x) {
    ++runs;
    return x * 2;
  });
  auto outer = function([&](const Tensor &x) { return inner(x) + inner(x + 1); });
  EXPECT_EQ(outer(tensor({1.f})).item<float>(), 6);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(inner.trace_count(), 1u);
  EXPECT_EQ(outer(tensor({2.f})).item<float>(), 10);
  EXPECT_EQ(inner(tensor({2.f})).item<float>(), 4); // compiled only now
  EXPECT_EQ(runs, 1);
}

TEST(FunctionCache, ReportAndText) {
  auto f = function([](const Tensor &x) { return exp(x) * 2; }, {.name = "doubled"});
  const Tensor x = tensor({1.f, 2.f});
  EXPECT_NE(f.ir(x, Phase::trace).find("func.func @doubled"), std::string::npos);
  EXPECT_NE(f.ir(x, Phase::trace).find("weft.exp"), std::string::npos);
  EXPECT_EQ(f.trace_count(), 0u);
  const CompileReport report = f.report(x);
  EXPECT_EQ(f.trace_count(), 1u);
  EXPECT_EQ(report.traced_ops, 3); // the constant 2, too
  EXPECT_GT(report.code_bytes, 0u);
  EXPECT_GE(report.total_ms, report.trace_ms);
  std::vector<std::string> phases;
  for (const auto &phase : report.phases) phases.push_back(phase.phase);
  for (const char *phase : {"simplify", "linalg", "bufferize", "llvm"})
    EXPECT_NE(std::find(phases.begin(), phases.end(), phase), phases.end()) << phase;
}

TEST(FunctionCache, ConcurrentFirstCalls) {
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> runs = 0;
    auto f = function([&](const Tensor &x, int n) {
      ++runs;
      return std::vector{x + n, x * n};
    });
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::vector<Tensor> result = f(full({5}, i), t % 2);
          for (float value : result[0].to_vector<float>()) wrong += value != float(i + t % 2);
          for (float value : result[1].to_vector<float>()) wrong += value != float(i * (t % 2));
        }
      });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(f.trace_count(), 2u);
  }
}

} // namespace
} // namespace weft
