// Functions for graphs.
#include <algorithm>

#include "Emulator/Driver/Driver.h"
#include "Emulator/Driver/Exports.h"
#include "Emulator/Driver/Launches.h"
#include "Emulator/Driver/Transfers.h"

namespace weft::cuda {

using namespace emulator;

namespace {

GraphNode *node_of(CUgraphNode handle) { return reinterpret_cast<GraphNode *>(handle); }

CUresult add_node(Graph *graph, NodeCall call, const CUgraphNode *dependencies, std::size_t count,
                  CUgraphNode *out) {
  if (graph == nullptr || out == nullptr || (count > 0 && dependencies == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  auto node = std::make_unique<GraphNode>();
  node->call = std::move(call);
  for (std::size_t i = 0; i < count; ++i) {
    const std::ptrdiff_t number = graph->number_of(node_of(dependencies[i]));
    if (number < 0) return CUDA_ERROR_INVALID_VALUE;
    node->before.push_back(static_cast<std::size_t>(number));
  }
  *out = reinterpret_cast<CUgraphNode>(node.get());
  graph->nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

CUresult read_kernel(Driver &driver, Device &device, const CUDA_KERNEL_NODE_PARAMS &parameters,
                     KernelCall &call) {
  const Function *function = driver.functions.find(parameters.func);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Shape shape;
  shape.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
  shape.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
  shape.dynamic_shared = parameters.sharedMemBytes;
  if (function->kernel->cluster[0] != 0) shape.cluster = function->kernel->cluster;
  return make_kernel_call(driver, device, *function, shape, parameters.kernelParams,
                          parameters.extra, call);
}

CUresult read_copy(const Driver &driver, const CUDA_MEMCPY3D &parameters, CopyCall &call) {
  const auto side = [](CUmemorytype type, const void *host, CUdeviceptr device, std::size_t x,
                       std::size_t y, std::size_t z, std::size_t pitch, std::size_t height) {
    CopyCall::Side made;
    made.host = type == CU_MEMORYTYPE_HOST;
    made.row = pitch;
    made.layer = pitch * height;
    made.address = (made.host ? reinterpret_cast<std::uint64_t>(host) : device) + x + y * made.row +
                   z * made.layer;
    return made;
  };
  const auto known = [](CUmemorytype type) {
    return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE;
  };
  if (!known(parameters.srcMemoryType) || !known(parameters.dstMemoryType))
    return CUDA_ERROR_INVALID_VALUE;
  call.from = side(parameters.srcMemoryType, parameters.srcHost, parameters.srcDevice,
                   parameters.srcXInBytes, parameters.srcY, parameters.srcZ, parameters.srcPitch,
                   parameters.srcHeight);
  call.to = side(parameters.dstMemoryType, parameters.dstHost, parameters.dstDevice,
                 parameters.dstXInBytes, parameters.dstY, parameters.dstZ, parameters.dstPitch,
                 parameters.dstHeight);
  call.width = parameters.WidthInBytes;
  call.height = parameters.Height;
  call.depth = parameters.Depth;
  return check_copy(driver, call).empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <class Parameters>
CUresult read_fill(const Driver &driver, const Parameters &parameters, FillCall &call) {
  call = {parameters.dst,   parameters.value,  parameters.elementSize,
          parameters.width, parameters.height, parameters.pitch};
  return check_fill(driver, call).empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult add_conditional(Driver &driver, Graph &graph, CUDA_CONDITIONAL_NODE_PARAMS &parameters,
                         const CUgraphNode *dependencies, std::size_t count, CUgraphNode *out) {
  if (!driver.conditions.contains(parameters.handle) || parameters.size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const unsigned most = parameters.type == CU_GRAPH_COND_TYPE_WHILE ? 1
                        : parameters.type == CU_GRAPH_COND_TYPE_IF  ? 2
                                                                    : 256;
  if (parameters.size > most) return CUDA_ERROR_INVALID_VALUE;
  // IF with an else, and SWITCH, came with 12.8.
  if (driver.options.driver_version < 12080 &&
      (parameters.size > 1 || parameters.type == CU_GRAPH_COND_TYPE_SWITCH))
    return CUDA_ERROR_INVALID_VALUE;
  ConditionalCall call{parameters.handle, parameters.type, {}};
  std::vector<CUgraph> handles;
  for (unsigned i = 0; i < parameters.size; ++i) {
    auto body = std::make_shared<Graph>();
    body->device = graph.device;
    handles.push_back(reinterpret_cast<CUgraph>(body.get()));
    call.bodies.push_back(std::move(body));
  }
  const CUresult result = add_node(&graph, std::move(call), dependencies, count, out);
  if (result != CUDA_SUCCESS) return result;
  // The caller gets an array of handles that lives as long as the graph.
  auto kept = std::make_shared<std::vector<CUgraph>>(std::move(handles));
  parameters.phGraph_out = kept->data();
  graph.handle_lists.push_back(std::move(kept));
  return CUDA_SUCCESS;
}

/// What differs between two graphs that are to be the same but for arguments, and in which node.
CUgraphExecUpdateResult difference(const Graph &old, const Graph &now, std::size_t &node) {
  node = 0;
  if (old.nodes.size() != now.nodes.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (node = 0; node < old.nodes.size(); ++node) {
    const GraphNode &a = *old.nodes[node], &b = *now.nodes[node];
    if (a.before != b.before) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (a.call.index() != b.call.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

} // namespace

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = driver.graphs.make();
    driver.graphs.find(*graph)->device = &device;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return call([&](Driver &driver) {
    if (driver.graphs.find(graph) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    driver.graphs.erase(graph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    KernelCall call;
    if (const CUresult result = read_kernel(driver, device, *parameters, call);
        result != CUDA_SUCCESS)
      return result;
    return add_node(driver.find_graph(graph), std::move(call), dependencies, count, node);
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              std::size_t count, const CUDA_MEMCPY3D *parameters, CUcontext) {
  return call_on_device([&](Driver &driver, Device &) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CopyCall call;
    if (const CUresult result = read_copy(driver, *parameters, call); result != CUDA_SUCCESS)
      return result;
    return add_node(driver.find_graph(graph), call, dependencies, count, node);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS *parameters,
                              CUcontext) {
  return call_on_device([&](Driver &driver, Device &) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    FillCall call;
    if (const CUresult result = read_fill(driver, *parameters, call); result != CUDA_SUCCESS)
      return result;
    return add_node(driver.find_graph(graph), call, dependencies, count, node);
  });
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *, std::size_t count,
                           CUgraphNodeParams *parameters) {
  return call_on_device([&](Driver &driver, Device &device) {
    Graph *found = driver.find_graph(graph);
    if (parameters == nullptr || found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    const auto add = [&](NodeCall call) {
      return result != CUDA_SUCCESS ? result
                                    : add_node(found, std::move(call), dependencies, count, node);
    };
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      KernelCall call;
      result = read_kernel(driver, device, parameters->kernel, call);
      return add(std::move(call));
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
      CopyCall call;
      result = read_copy(driver, parameters->memcpy.copyParams, call);
      return add(call);
    }
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      FillCall call;
      result = read_fill(driver, parameters->memset, call);
      return add(call);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      const Graph *child = driver.find_graph(parameters->graph.graph);
      if (child == nullptr || child == found) return CUDA_ERROR_INVALID_VALUE;
      return add(ChildCall{std::make_shared<Graph>(copy_of(*child))});
    }
    case CU_GRAPH_NODE_TYPE_EMPTY: return add(NoCall());
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return add_conditional(driver, *found, parameters->conditional, dependencies, count, node);
    }
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext,
                                        unsigned value, unsigned flags) {
  return call_on_device([&](Driver &driver, Device &) {
    Graph *found = driver.find_graph(graph);
    if (handle == nullptr || found == nullptr || (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    *handle = driver.conditions.empty() ? 1 : driver.conditions.rbegin()->first + 1;
    driver.conditions[*handle] = value;
    found->conditions.push_back({*handle, value, (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0});
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  return call_on_device([&](Driver &driver, Device &) {
    const Graph *found = driver.graphs.find(graph); // not the body of a node
    if (exec == nullptr || found == nullptr || parameters == nullptr)
      return CUDA_ERROR_INVALID_VALUE;
    GraphExec made;
    made.graph = copy_of(*found);
    for (const auto &node : found->nodes) made.originals.push_back(node.get());
    *exec = driver.graph_execs.make(std::move(made));
    parameters->hErrNode_out = nullptr;
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return call_on_device([&](Driver &driver, Device &device) {
    GraphExec *found = driver.graph_execs.find(exec);
    if (found == nullptr || parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto original =
        std::find(found->originals.begin(), found->originals.end(), node_of(node));
    if (original == found->originals.end()) return CUDA_ERROR_INVALID_VALUE;
    GraphNode &mine =
        *found->graph.nodes[static_cast<std::size_t>(original - found->originals.begin())];
    if (!std::holds_alternative<KernelCall>(mine.call)) return CUDA_ERROR_INVALID_VALUE;
    KernelCall call;
    if (const CUresult result = read_kernel(driver, device, *parameters, call);
        result != CUDA_SUCCESS)
      return result;
    mine.call = std::move(call);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                              CUgraphExecUpdateResultInfo *result) {
  return call_on_device([&](Driver &driver, Device &) {
    GraphExec *found = driver.graph_execs.find(exec);
    const Graph *now = driver.graphs.find(graph);
    if (found == nullptr || now == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::size_t node = 0;
    result->result = difference(found->graph, *now, node);
    result->errorNode = result->errorFromNode = nullptr;
    if (result->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
      if (node < now->nodes.size())
        result->errorNode = reinterpret_cast<CUgraphNode>(now->nodes[node].get());
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    found->graph = copy_of(*now);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (driver.graph_execs.find(exec) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return driver.find_stream(handle, device) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    const GraphExec *found = driver.graph_execs.find(exec);
    Stream *stream = driver.find_stream(handle, device);
    if (found == nullptr || found->graph.device != &device) return CUDA_ERROR_INVALID_VALUE;
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    // As it is now: later updates are for later launches.
    auto graph = std::make_shared<Graph>(copy_of(found->graph));
    driver.scheduler.enqueue(*stream, "a graph", [&driver, &device, graph] {
      return run_graph(driver, device, *graph);
    });
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return call([&](Driver &driver) {
    if (driver.graph_execs.find(exec) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    driver.graph_execs.erase(exec);
    return CUDA_SUCCESS;
  });
}

} // namespace weft::cuda
