// Gradients of loops that collect what their iterations give: the bits of the tape, each iteration
// touching its own slices alone, whatever is read and written beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include <weft/weft.h>

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

constexpr std::int64_t kIterations = 13, kBatch = 5, kFeatures = 3, kUnits = 7;

/// Numbers of both signs that repeat late.
Tensor wave(const Shape &shape, double step) {
  std::int64_t size = 1;
  for (const std::int64_t n : shape) size *= n;
  return reshape(sin(arange(static_cast<int>(size), DType::f32) * step), shape);
}

void expect_same_bits(const Tensors &found, const Tensors &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("tensor " + std::to_string(i));
    ASSERT_EQ(to_string(found[i].type()), to_string(expected[i].type()));
    const auto a = found[i].to_vector<float>(), b = expected[i].to_vector<float>();
    EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0)
        << found[i] << " and " << expected[i];
  }
}

/// The lines in loops of bufferized code that copy or allocate all iterations' slices, or a number
/// of slices that is not known. Stacks that double when they are full do so in a branch.
std::string whole_stacks_in_loops(const std::string &text, std::int64_t iterations) {
  const std::string all = "memref<" + std::to_string(iterations) + "x";
  std::istringstream lines(text);
  std::string line, found;
  std::vector<std::pair<std::size_t, bool>>
      around; // indents of regions, and whether they are loops
  while (std::getline(lines, line)) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    while (!around.empty() && indent <= around.back().first && line[indent] == '}') {
      if (line.back() == '{') break; // the other branch, or the other half of a loop
      around.pop_back();
    }
    if (line.find("memref.copy") != std::string::npos ||
        line.find("memref.alloc(") != std::string::npos) {
      const bool inside =
          std::any_of(around.begin(), around.end(), [](auto &region) { return region.second; });
      const std::size_t type = line.rfind(':');
      const bool grows = line.find("memref<?x", type) != std::string::npos;
      if (inside && (line.find(all, type) != std::string::npos || (grows && around.back().second)))
        found += line + "\n";
    }
    if (line.back() == '{' && line[indent] != '}')
      around.emplace_back(indent, line.find("scf.for") != std::string::npos ||
                                      line.find("scf.while") != std::string::npos);
  }
  return found;
}

/// The same up to rounding: where an iteration's result is state and output, the tape, which sees
/// the iterations one by one, adds in another order.
void expect_close(const Tensors &found, const Tensors &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float scale = 1 + max(abs(expected[i])).item<float>();
    EXPECT_LT(max(abs(found[i] - expected[i])).item<float>(), 1e-5F * scale) << "tensor " << i;
  }
}

/// Expects of the traced function the bits of the eager one, and no work on whole stacks in an
/// iteration.
template <class F, class... Args>
void expect_linear(const F &f, const FunctionOptions &options, const Args &...args) {
  const auto traced = function(f, options);
  expect_same_bits(traced(args...), f(args...));
  EXPECT_EQ(whole_stacks_in_loops(traced.ir(args..., Phase::bufferize), kIterations), "");
}

struct Weights {
  Tensor u = wave({kFeatures, kUnits}, 0.37), w = wave({kUnits, kUnits}, 0.53) * 0.4F,
         b = wave({kUnits}, 0.71);
};

Tensor cell(const Weights &p, const Tensor &h, const Tensor &x) {
  return tanh(matmul(x, p.u) + matmul(h, p.w) + p.b);
}

/// The loss of `run(weights, xs)` and its gradients by the weights and what the loop goes along.
template <class Run>
auto gradients_of(const Run &run) {
  return [run](const Tensor &u, const Tensor &w, const Tensor &b, const Tensor &xs) -> Tensors {
    const auto [value, slopes] = value_and_grad<0, 1, 2, 3>(
        [&](const Tensor &u1, const Tensor &w1, const Tensor &b1, const Tensor &xs1) {
          return run(Weights{u1, w1, b1}, xs1);
        })(u, w, b, xs);
    return {value, std::get<0>(slopes), std::get<1>(slopes), std::get<2>(slopes),
            std::get<3>(slopes)};
  };
}

template <class Run>
void expect_linear_gradients(const Run &run, std::int64_t iterations = kIterations,
                             const FunctionOptions &options = {}) {
  const Weights p;
  expect_linear(gradients_of(run), options, p.u, p.w, p.b,
                wave({iterations, kBatch, kFeatures}, 0.29));
}

Tensor all_states(const Weights &p, const Tensor &xs, bool reverse = false) {
  return scan(
             [&](const Tensor &h, const Tensor &x) {
               const Tensor next = cell(p, h, x);
               return std::pair(next, next);
             },
             zeros({kBatch, kUnits}), xs, {.reverse = reverse})
      .second;
}

TEST(ScanGradients, OneOutput) {
  expect_linear_gradients(
      [](const Weights &p, const Tensor &xs) { return sum(square(all_states(p, xs))); });
}

TEST(ScanGradients, FromTheLastIterationToTheFirst) {
  expect_linear_gradients([](const Weights &p, const Tensor &xs) {
    return sum(square(all_states(p, xs, /*reverse=*/true)));
  });
}

TEST(ScanGradients, NoIterationsAndOne) {
  for (const std::int64_t iterations : {0, 1})
    expect_linear_gradients(
        [](const Weights &p, const Tensor &xs) { return sum(square(all_states(p, xs))); },
        iterations);
}

TEST(ScanGradients, IterationsThatOnlyRunTimeKnows) {
  expect_linear_gradients(
      [](const Weights &p, const Tensor &xs) { return sum(square(all_states(p, xs))); },
      kIterations,
      {.signature = {spec(f32, {kFeatures, kUnits}), spec(f32, {kUnits, kUnits}),
                     spec(f32, {kUnits}), spec(f32, {unknown, kBatch, kFeatures})}});
}

// Two pieces of state, three outputs of other shapes, one of which the loss does not use.
TEST(ScanGradients, StructuresOfStatesAndOutputs) {
  const auto f = gradients_of([](const Weights &p, const Tensor &xs) {
    const auto [last, all] = scan(
        [&](const std::pair<Tensor, Tensor> &state, const Tensor &x) {
          const auto [h, c] = state;
          const Tensor gate = cell(p, h, x), kept = gate * c + h;
          const Tensor next = tanh(kept) * gate;
          return std::pair(std::pair(next, kept),
                           std::tuple(next, sum(kept, {.axes = Ints{0}}), gate));
        },
        std::pair(zeros({kBatch, kUnits}), ones({kBatch, kUnits})), xs);
    return sum(square(std::get<0>(all))) + sum(sin(std::get<1>(all))) + sum(last.second);
  });
  const Weights p;
  const Tensor xs = wave({kIterations, kBatch, kFeatures}, 0.29);
  const auto traced = function(f);
  expect_close(traced(p.u, p.w, p.b, xs), f(p.u, p.w, p.b, xs));
  EXPECT_EQ(whole_stacks_in_loops(traced.ir(p.u, p.w, p.b, xs, Phase::bufferize), kIterations), "");
}

TEST(ScanGradients, ScansInScans) {
  expect_linear_gradients([](const Weights &p, const Tensor &xs) {
    const auto [last, all] = scan(
        [&](const Tensor &h, const Tensor &x) {
          const auto [inner, states] = scan(
              [&](const Tensor &g, const Tensor &row) {
                const Tensor next = cell(p, g, reshape(row, {1, kFeatures}));
                return std::pair(next, next);
              },
              h, x);
          return std::pair(inner, sum(square(states)) + states);
        },
        zeros({1, kUnits}), xs);
    return sum(square(all));
  });
}

TEST(ScanGradients, ScansInBranches) {
  for (const float sign : {1.F, -1.F})
    expect_linear_gradients([sign](const Weights &p, const Tensor &xs) {
      return cond(
          sum(p.u) * sign > 0, [&] { return sum(square(all_states(p, xs))); },
          [&] { return sum(all_states(p, xs, true) * 2); });
    });
}

// An element that the iteration before wrote is read: the cotangent of the array changes from
// iteration to iteration, and is read before it is cleared.
TEST(ScanGradients, ArraysThatAreReadAsWell) {
  expect_linear_gradients([](const Weights &p, const Tensor &xs) {
    TensorArray states(f32, {kBatch, kUnits}, kIterations + 1, {.dynamic_size = false});
    states = for_loop(
        kIterations,
        [&](const Tensor &i, const TensorArray &array) {
          return array.write(i + 1, cell(p, array.read(i), gather(xs, i)));
        },
        states);
    return sum(square(states.stack()));
  });
}

TEST(ScanGradients, ArraysThatAreOnlyWritten) {
  expect_linear_gradients([](const Weights &p, const Tensor &xs) {
    TensorArray states(f32, {kBatch, kUnits}, kIterations, {.dynamic_size = false});
    const auto [last, all] = for_loop(
        kIterations,
        [&](const Tensor &i, const Tensor &h, const TensorArray &array) {
          const Tensor next = cell(p, h, gather(xs, i));
          return std::tuple(next, array.write(kIterations - 1 - i, next));
        },
        zeros({kBatch, kUnits}), states);
    return sum(square(all.stack()));
  });
}

TEST(ScanGradients, ArraysOfWhileLoops) {
  expect_linear_gradients([](const Weights &p, const Tensor &xs) {
    const TensorArray states(f32, {kBatch, kUnits}, kIterations, {.dynamic_size = false});
    const auto all = while_loop(
        [](const Tensor &i, const Tensor &, const TensorArray &) { return i < kIterations; },
        [&](const Tensor &i, const Tensor &h, const TensorArray &array) {
          const Tensor next = cell(p, h, gather(xs, i));
          return std::tuple(i + 1, next, array.write(i, next));
        },
        0, zeros({kBatch, kUnits}), states);
    return sum(square(std::get<2>(all).stack()));
  });
}

// The second iteration that fills an element takes the cotangent away from the first.
TEST(ScanGradients, ElementsThatAreFilledTwice) {
  expect_linear_gradients([](const Weights &p, const Tensor &xs) {
    const auto [last, all] = for_loop(
        kIterations,
        [&](const Tensor &i, const Tensor &h, const Tensor &array) {
          const Tensor next = cell(p, h, gather(xs, i));
          return std::tuple(next, update_slice(array, i - i % 2, next));
        },
        zeros({kBatch, kUnits}), zeros({kIterations, kBatch, kUnits}));
    return sum(square(all)) + sum(last);
  });
}

// What was there before has a cotangent where no iteration filled the element.
TEST(ScanGradients, OutputsThatBeginWithSomething) {
  expect_linear_gradients([](const Weights &p, const Tensor &xs) {
    const auto [last, all] = for_loop(
        {2, kIterations, 3},
        [&](const Tensor &i, const Tensor &h, const Tensor &array) {
          const Tensor next = cell(p, h, gather(xs, i));
          return std::tuple(next, update_slice(array, i, sum(next, {.axes = Ints{1}})));
        },
        zeros({kBatch, kUnits}), sum(square(xs), {.axes = Ints{2}}));
    return sum(square(all)) + sum(last);
  });
}

// A slice is replaced, and another of the tensor before is read behind it in the iteration.
TEST(ScanGradients, OldValuesAreReadAfterTheWrite) {
  const auto run = [](const Weights &p, const Tensor &xs) {
    const auto [last, all] = for_loop(
        kIterations,
        [&](const Tensor &i, const Tensor &h, const Tensor &array) {
          const Tensor next = cell(p, h, gather(xs, i));
          const Tensor after = update_slice(array, i, next * gather(array, i));
          return std::tuple(next * gather(array, kIterations - 1 - i) + sum(gather(array, i)),
                            after);
        },
        ones({kBatch, kUnits}), ones({kIterations, kBatch, kUnits}) * 0.5F);
    return sum(square(all)) + sum(last);
  };
  const auto forward = [&](const Tensor &w, const Tensor &xs) -> Tensors {
    return {run({wave({kFeatures, kUnits}, 0.37), w, wave({kUnits}, 0.7)}, xs)};
  };
  const Weights p;
  const Tensor xs = wave({kIterations, kBatch, kFeatures}, 0.29);
  expect_linear(forward, {}, p.w, xs);
  const auto f = gradients_of(run);
  expect_same_bits(function(f)(p.u, p.w, p.b, xs), f(p.u, p.w, p.b, xs));
}

TEST(ScanGradients, BudgetsHaveTheSameBits) {
  for (const char *budget : {"sqrt", "binomial<3>", "bytes<4000>"}) {
    SCOPED_TRACE(budget);
    expect_linear_gradients(
        [](const Weights &p, const Tensor &xs) { return sum(square(all_states(p, xs))); },
        kIterations, {.checkpoint = budget});
  }
}

// Weights that each iteration uses twice, in batches, and as a vector.
TEST(ScanGradients, ProductsAddUpInPlace) {
  const Weights p;
  const auto f = [](const Tensor &w, const Tensor &v, const Tensor &xs) -> Tensors {
    const auto slopes = grad<0, 1>([&](const Tensor &w1, const Tensor &v1) {
      const auto [last, all] = scan(
          [&](const Tensor &h, const Tensor &x) {
            const Tensor next = tanh(matmul(matmul(h, w1) + sum(x), w1));
            return std::pair(next, matmul(next, v1));
          },
          zeros({2, kBatch, kUnits}), xs);
      return sum(square(all));
    })(w, v);
    return {std::get<0>(slopes), std::get<1>(slopes)};
  };
  const Tensor xs = wave({kIterations, kFeatures}, 0.29);
  expect_linear(f, {}, p.w, wave({kUnits}, 0.3), xs);
  expect_linear(f, {}, wave({2, kUnits, kUnits}, 0.11), wave({kUnits, 1}, 0.3), xs);
  const std::string text = function(f)(p.w, wave({kUnits}, 0.3), xs).empty()
                               ? ""
                               : function(f).ir(p.w, wave({kUnits}, 0.3), xs, Phase::bufferize);
  EXPECT_NE(text.find("call @weft_rt_matmul_add_f32("), std::string::npos);
}

// The copies of an iteration do not grow with the number of iterations: what is moved is linear in
// it.
TEST(ScanGradients, AsManyBytesPerIterationWhateverTheirNumber) {
  const auto f = gradients_of(
      [](const Weights &p, const Tensor &xs) { return sum(square(all_states(p, xs))); });
  const Weights p;
  const auto iteration = [&](std::int64_t iterations) {
    const std::string text = function(f).ir(
        p.u, p.w, p.b, wave({iterations, kBatch, kFeatures}, 0.29), Phase::bufferize);
    std::istringstream lines(text);
    std::string line, copies;
    while (std::getline(lines, line))
      if (line.rfind("      ", 0) == 0 && line.find("memref.copy") != std::string::npos)
        copies += line.substr(line.rfind(" : ")) + "\n";
    EXPECT_EQ(text.find("weft_rt_outside"), std::string::npos) << "an index that loops count";
    return copies;
  };
  EXPECT_EQ(iteration(11), iteration(97));
}

TEST(ScanGradients, SecondDerivatives) {
  const auto along = [](const Tensor &w, const Tensor &xs, const Tensor &v) {
    const auto loss = [&](const Tensor &w1) {
      return sum(
          square(all_states({wave({kFeatures, kUnits}, 0.37), w1, wave({kUnits}, 0.7)}, xs)));
    };
    const Tensor curve = grad([&](const Tensor &w1) { return sum(grad(loss)(w1) * v); })(w);
    const Tensor push = jvp(grad(loss), w, v).second;
    return Tensors{curve, push};
  };
  const Weights p;
  const Tensor xs = wave({kIterations, kBatch, kFeatures}, 0.29), v = wave({kUnits, kUnits}, 0.17);
  const auto traced = function(along);
  const Tensors eager = along(p.w, xs, v), compiled = traced(p.w, xs, v);
  for (const Tensor &found : {eager[1], compiled[0], compiled[1]})
    EXPECT_LT(max(abs(found - eager[0])).item<float>(), 2e-4F * max(abs(eager[0])).item<float>());
  EXPECT_EQ(whole_stacks_in_loops(traced.ir(p.w, xs, v, Phase::bufferize), kIterations), "");
}

} // namespace
} // namespace weft
