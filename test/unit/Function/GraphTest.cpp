// The graph of a traced function: nodes, edges, groups.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "../Testing.h"
#include <weft/weft.h>

namespace weft {
namespace {

using ::testing::ElementsAre;

std::map<std::string, GraphNode> by_name(const Graph &graph) {
  std::map<std::string, GraphNode> nodes;
  for (const GraphNode &node : graph.nodes) {
    EXPECT_TRUE(nodes.emplace(node.name, node).second) << "twice: " << node.name;
    // What a node takes is there before it, so that it can be drawn in one go.
    for (const std::string &input : node.inputs)
      EXPECT_TRUE(nodes.contains(input.substr(0, input.find(':')))) << node.name << ": " << input;
  }
  return nodes;
}

TEST(Graph, OpsArgumentsVariablesAndLines) {
  Variable w(ones({3, 2}), "w");
  const Tensor captured = ones({4, 2});
  const auto f = function(
      [&](const Tensor &x) {
        const Tensor y = matmul(x, w) + captured;
        w.assign_add(ones({3, 2}));
        return exp(y);
      },
      {.name = "f"});
  const std::uint32_t line = __LINE__ - 5;
  const Graph graph = f.graph(ones({4, 3}));
  EXPECT_EQ(graph.name, "f");
  EXPECT_EQ(f.trace_count(), 0U);
  const auto nodes = by_name(graph);
  EXPECT_EQ(nodes.at("argument").types[0], (TensorType{f32, {4, 3}}));
  EXPECT_THAT(nodes.at("read").inputs, ElementsAre("w"));
  EXPECT_THAT(nodes.at("matmul").inputs, ElementsAre("argument", "read"));
  EXPECT_EQ(nodes.at("matmul").location.line, line);
  EXPECT_THAT(nodes.at("add").inputs, ElementsAre("matmul", "captured"));
  EXPECT_EQ(nodes.at("assign_add").inputs[0], "w");
  EXPECT_THAT(nodes.at("result").inputs, ElementsAre("exp"));
}

TEST(Graph, ControlFlowAndCallsAreGroups) {
  const auto inner = function([](const Tensor &x) { return tanh(x) * x; }, {.name = "inner"});
  const auto f = function([&](const Tensor &x) {
    const Tensor y = cond(sum(x) > 0, [&] { return exp(x); }, [&] { return inner(x); });
    const auto [i, s] =
        while_loop([](Tensor i, Tensor) { return i < 3; },
                   [&](Tensor i, Tensor s) { return std::pair(i + 1, s * y); }, zeros({}, i32), x);
    return s;
  });
  const auto nodes = by_name(f.graph(ones({3})));
  EXPECT_THAT(nodes.at("cond/then/exp").inputs, ElementsAre("argument"));
  EXPECT_THAT(nodes.at("cond/else/call/inner/tanh").inputs,
              ElementsAre("cond/else/call/inner/argument"));
  EXPECT_THAT(nodes.at("cond/else/call/inner/argument").inputs, ElementsAre("argument"));
  const GraphNode &branch = nodes.at("cond/end");
  EXPECT_THAT(branch.inputs, ElementsAre("greater", "cond/then/exp", "cond/else/call/end"));
  EXPECT_TRUE(nodes.contains("while_loop/condition/less"));
  EXPECT_EQ(nodes.at("while_loop/body/multiply").inputs[1], "cond/end");
  EXPECT_EQ(nodes.at("while_loop/end").types.size(), 2U);
  EXPECT_THAT(nodes.at("result").inputs, ElementsAre("while_loop/end:1"));
}

TEST(Graph, EveryConstructHasOne) {
  const auto f = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const auto g = custom_gradient(
        [](const Tensor &x) { return Pullback{exp(x), [](const Tensor &dy) { return dy * 2; }}; });
    const Tensor a = switch_case(zeros({}, i32), [&] { return x; }, [&] { return -x; });
    const Tensor b = g(for_loop(3, [](Tensor, Tensor s) { return s + 1; }, a));
    const Tensor c = host_call([](const Tensor &t) { return t; }, {.results = {spec(f32, {3})}}, b);
    return tape.gradient(sum(g(b) + stop_gradient(c)), x, {.unconnected = Unconnected::zero});
  });
  by_name(f.graph(ones({3})));
}

} // namespace
} // namespace weft
