// Graphs: nodes and edges, updates, conditional nodes, and edges that are missing.
#include "EmulatedDriver.h"

namespace weft::emulator {
namespace {

class Graphs : public ::testing::Test {
protected:
  EmulatedDriver driver;
  CUgraph graph = nullptr;
  CUfunction add = nullptr;
  CUdeviceptr a = 0;

  void SetUp() override {
    driver.start();
    add = driver.function(kAdd);
    a = driver.put(std::vector<std::uint32_t>(64));
    ASSERT_EQ(driver.cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  }

  CUDA_KERNEL_NODE_PARAMS adding(CUdeviceptr to, std::uint64_t number) {
    to_ = to;
    number_ = number;
    return {add, 1, 1, 1, 64, 1, 1, 0, pointers_, nullptr, nullptr, nullptr};
  }
  CUgraphNode add_kernel(CUgraph into, CUdeviceptr to, std::uint64_t number,
                         const std::vector<CUgraphNode> &after = {}) {
    const CUDA_KERNEL_NODE_PARAMS parameters = adding(to, number);
    CUgraphNode node = nullptr;
    EXPECT_EQ(driver.cuGraphAddKernelNode(&node, into, after.data(), after.size(), &parameters),
              CUDA_SUCCESS);
    return node;
  }
  CUgraphNode add_fill(CUgraph into, CUdeviceptr to, unsigned value,
                       const std::vector<CUgraphNode> &after = {}) {
    const CUDA_MEMSET_NODE_PARAMS parameters{to, 0, value, 4, 64, 1};
    CUgraphNode node = nullptr;
    EXPECT_EQ(
        driver.cuGraphAddMemsetNode(&node, into, after.data(), after.size(), &parameters, nullptr),
        CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiate() {
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    CUgraphExec exec = nullptr;
    EXPECT_EQ(driver.cuGraphInstantiateWithParams(&exec, graph, &parameters), CUDA_SUCCESS);
    EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    return exec;
  }
  std::uint32_t first(CUdeviceptr from) { return driver.get<std::uint32_t>(from, 64)[0]; }

private:
  CUdeviceptr to_ = 0;
  std::uint64_t number_ = 0;
  void *pointers_[2] = {&to_, &number_};
};

TEST_F(Graphs, NodesComeAfterThoseThatTheyDependOn) {
  const CUgraphNode fill = add_fill(graph, a, 5), one = add_kernel(graph, a, 10, {fill});
  add_kernel(graph, a, 100, {one});
  const CUgraphExec exec = instantiate();
  const CUstream stream = driver.stream();
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphUpload(exec, stream), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(driver.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.get<std::uint32_t>(a, 64, stream), std::vector<std::uint32_t>(64, 115));
  }
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS); // which leaves what was made of it
  EXPECT_EQ(driver.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, AMissingEdgeIsARace) {
  const CUgraphNode fill = add_fill(graph, a, 5);
  add_kernel(graph, a, 10, {fill});
  add_kernel(graph, a, 100, {fill});
  EXPECT_EQ(driver.cuGraphLaunch(instantiate(), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  const std::string text = driver.next_report();
  EXPECT_NE(text.find("kernel k (node "), std::string::npos) << text;
  EXPECT_NE(text.find("there is no path between them"), std::string::npos) << text;
}

TEST_F(Graphs, BranchesThatMeetAreFine) {
  const CUdeviceptr b = driver.put(std::vector<std::uint32_t>(64));
  const CUgraphNode fill = add_fill(graph, a, 5);
  const CUgraphNode other = add_fill(graph, b, 7);
  const CUgraphNode one = add_kernel(graph, a, 10, {fill}),
                    two = add_kernel(graph, b, 100, {other});
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a;
  copy.dstDevice = b;
  copy.srcPitch = copy.dstPitch = 64;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  copy.Depth = 1;
  const CUgraphNode both[] = {one, two};
  CUgraphNode node = nullptr;
  EXPECT_EQ(driver.cuGraphAddMemcpyNode(&node, graph, both, 2, &copy, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphLaunch(instantiate(), nullptr), CUDA_SUCCESS);
  const auto result = driver.get<std::uint32_t>(b, 64);
  EXPECT_EQ(result[0], 15U);
  EXPECT_EQ(result[4], 107U);
  EXPECT_EQ(result[16], 15U);
  EXPECT_EQ(result[32], 107U);
}

TEST_F(Graphs, ParametersOfNodesChange) {
  const CUdeviceptr b = driver.put(std::vector<std::uint32_t>(64));
  const CUgraphNode node = add_kernel(graph, a, 10);
  const CUgraphExec exec = instantiate();
  const CUDA_KERNEL_NODE_PARAMS parameters = adding(b, 3);
  EXPECT_EQ(driver.cuGraphExecKernelNodeSetParams(exec, node, &parameters), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(first(a), 0U);
  EXPECT_EQ(first(b), 3U);
  EXPECT_EQ(driver.cuGraphExecKernelNodeSetParams(exec, reinterpret_cast<CUgraphNode>(&driver),
                                                  &parameters),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, AreUpdatedToOthersOfTheSameForm) {
  add_kernel(graph, a, 10);
  const CUgraphExec exec = instantiate();
  CUgraph same = nullptr, other = nullptr;
  driver.cuGraphCreate(&same, 0);
  driver.cuGraphCreate(&other, 0);
  add_kernel(same, a, 20);
  add_fill(other, a, 1);
  CUgraphExecUpdateResultInfo result{};
  EXPECT_EQ(driver.cuGraphExecUpdate(exec, other, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(driver.cuGraphExecUpdate(exec, same, &result), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(first(a), 20U);
  add_kernel(same, a, 1);
  EXPECT_EQ(driver.cuGraphExecUpdate(exec, same, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

TEST_F(Graphs, HoldOtherGraphs) {
  CUgraph inner = nullptr;
  driver.cuGraphCreate(&inner, 0);
  add_kernel(inner, a, 7);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = inner;
  CUgraphNode child = nullptr, empty = nullptr;
  EXPECT_EQ(driver.cuGraphAddNode(&child, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  parameters = {};
  parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_EQ(driver.cuGraphAddNode(&empty, graph, &child, nullptr, 1, &parameters), CUDA_SUCCESS);
  add_kernel(graph, a, 1, {empty});
  EXPECT_EQ(driver.cuGraphLaunch(instantiate(), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(first(a), 8U);
}

TEST_F(Graphs, NodesOfOthersAreNoDependencies) {
  CUgraph other = nullptr;
  driver.cuGraphCreate(&other, 0);
  const CUgraphNode node = add_fill(other, a, 1);
  const CUDA_KERNEL_NODE_PARAMS parameters = adding(a, 1);
  CUgraphNode mine = nullptr;
  EXPECT_EQ(driver.cuGraphAddKernelNode(&mine, graph, &node, 1, &parameters),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuGraphAddKernelNode(&mine, reinterpret_cast<CUgraph>(&driver), nullptr, 0,
                                        &parameters),
            CUDA_ERROR_INVALID_VALUE);
}

/// Sets the condition p0 to whether the number at p1 is below p2.
const std::string kCondition =
    driver_kernel(3, R"(.reg .b64 %h, %x, %n, %v; .reg .b32 %w, %c; .reg .pred %p;
ld.param.u64 %h, [p0]; ld.param.u64 %x, [p1]; ld.param.u64 %n, [p2];
ld.global.u32 %w, [%x]; cvt.u64.u32 %v, %w; setp.lt.u64 %p, %v, %n; selp.u32 %c, 1, 0, %p;
{ .param .b64 handle; st.param.b64 [handle], %h; .param .b32 value; st.param.b32 [value], %c;
call.uni cudaGraphSetConditional, (handle, value); }
ret;)",
                  ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);");

TEST_F(Graphs, ALoopRunsWhileItsConditionHolds) {
  const CUfunction condition = driver.function(kCondition);
  CUgraphConditionalHandle handle = 0;
  ASSERT_EQ(driver.cuGraphConditionalHandleCreate(&handle, graph, nullptr, 1,
                                                  CU_GRAPH_COND_ASSIGN_DEFAULT),
            CUDA_SUCCESS);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = handle;
  parameters.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  parameters.conditional.size = 1;
  CUgraphNode loop = nullptr;
  ASSERT_EQ(driver.cuGraphAddNode(&loop, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  const CUgraph body = parameters.conditional.phGraph_out[0];
  const CUgraphNode step = add_kernel(body, a, 3);
  std::uint64_t arguments[] = {handle, a, 100};
  void *pointers[] = {&arguments[0], &arguments[1], &arguments[2]};
  const CUDA_KERNEL_NODE_PARAMS test{condition, 1, 1,        1,       1,       1,
                                     1,         0, pointers, nullptr, nullptr, nullptr};
  CUgraphNode tested = nullptr;
  EXPECT_EQ(driver.cuGraphAddKernelNode(&tested, body, &step, 1, &test), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate();
  EXPECT_EQ(driver.cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(first(a), 102U);
  EXPECT_EQ(driver.cuGraphLaunch(exec, nullptr), CUDA_SUCCESS); // the default holds once
  EXPECT_EQ(first(a), 105U);
  EXPECT_EQ(driver.next_report(), "");
}

TEST_F(Graphs, BranchesAndSwitches) {
  for (const auto type : {CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH})
    for (const unsigned value : {0U, 1U, 2U}) {
      driver.cuGraphCreate(&graph, 0);
      CUgraphConditionalHandle handle = 0;
      ASSERT_EQ(driver.cuGraphConditionalHandleCreate(&handle, graph, nullptr, value,
                                                      CU_GRAPH_COND_ASSIGN_DEFAULT),
                CUDA_SUCCESS);
      CUgraphNodeParams parameters{};
      parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
      parameters.conditional = {handle, type, 2, nullptr, nullptr};
      CUgraphNode node = nullptr;
      ASSERT_EQ(driver.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters),
                CUDA_SUCCESS);
      add_fill(parameters.conditional.phGraph_out[0], a, 10);
      add_fill(parameters.conditional.phGraph_out[1], a, 20);
      driver.cuMemsetD32Async(a, 30, 64, nullptr);
      EXPECT_EQ(driver.cuGraphLaunch(instantiate(), nullptr), CUDA_SUCCESS);
      const unsigned expected = type == CU_GRAPH_COND_TYPE_IF ? (value != 0 ? 10 : 20)
                                : value == 0                  ? 10
                                : value == 1                  ? 20
                                                              : 30;
      EXPECT_EQ(first(a), expected);
    }
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional = {12345, CU_GRAPH_COND_TYPE_IF, 1, nullptr, nullptr};
  CUgraphNode node = nullptr;
  EXPECT_EQ(driver.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters),
            CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace weft::emulator
