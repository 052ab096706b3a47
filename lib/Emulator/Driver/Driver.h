// The state behind the driver's functions: devices, what they have handed out, and what went wrong.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "Cuda/Driver.h"
#include "Emulator/Driver/Graph.h"
#include "Emulator/Driver/Options.h"
#include "Emulator/Driver/Streams.h"
#include "Emulator/Machine/Machine.h"
#include "Emulator/Program/Program.h"

namespace weft::emulator {

/// A pool of memory, as far as it is counted.
struct Pool {
  Device *device = nullptr;
  std::uint64_t threshold = 0;
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};

struct Module {
  Device *device = nullptr;
  std::shared_ptr<Program> program;
  std::vector<std::uint64_t> globals; ///< their addresses
};

struct Function {
  Module *module = nullptr;
  const Kernel *kernel = nullptr;
  std::uint32_t most_dynamic_shared = 0; ///< beyond the usual 48 KB only if it was asked for
  std::uint32_t cluster_limit = 8;
};

/// Objects that callers have as opaque pointers, which may be wrong.
template <class T, class Handle>
class Handles {
public:
  template <class... Arguments>
  Handle make(Arguments &&...arguments) {
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T *object = made.get();
    owned_.emplace(object, std::move(made));
    return reinterpret_cast<Handle>(object);
  }
  /// Null if the handle is none, or no longer.
  T *find(Handle handle) const {
    const auto found = owned_.find(reinterpret_cast<T *>(handle));
    return found == owned_.end() ? nullptr : found->second.get();
  }
  void erase(Handle handle) { owned_.erase(reinterpret_cast<T *>(handle)); }
  template <class Test>
  void erase_if(const Test &test) {
    std::erase_if(owned_, [&](const auto &entry) { return test(*entry.second); });
  }

  template <class Take>
  void for_each(const Take &take) const {
    for (const auto &entry : owned_) take(*entry.second);
  }

private:
  std::unordered_map<T *, std::unique_ptr<T>> owned_;
};

struct Device {
  int ordinal = 0;
  Machine machine;
  int retained = 0; ///< how often its primary context is
  std::uint64_t used = 0, used_high = 0, total = 0;
  /// What a kernel did wrong: every call answers it from then on, until the context is reset.
  cuda::CUresult error = cuda::CUDA_SUCCESS;
  Counters counters;

  cuda::CUcontext context() { return reinterpret_cast<cuda::CUcontext>(this); }
};

struct Driver {
  std::recursive_mutex mutex;
  long process = 0; ///< which initialized it: a child of fork has no driver
  Options options;
  AddressSpace space;
  Serials serials;
  std::vector<std::unique_ptr<Device>> devices;
  Scheduler scheduler;
  Handles<Pool, cuda::CUmemoryPool> pools;
  Handles<Module, cuda::CUmodule> modules;
  Handles<Function, cuda::CUfunction> functions;
  Handles<Event, cuda::CUevent> events;
  Handles<Graph, cuda::CUgraph> graphs;
  Handles<GraphExec, cuda::CUgraphExec> graph_execs;
  std::unordered_map<const void *, Stream *> streams; ///< those that have handles
  std::map<cuda::CUgraphConditionalHandle, unsigned> conditions;
  std::vector<std::string> reports; ///< that nobody has taken yet
  std::map<std::string, Counters, std::less<>> counters_by_kernel;

  static Driver &get();

  Device *find_device(cuda::CUdevice ordinal) const;
  Device *find_device(cuda::CUcontext context) const;
  /// The stream of a handle, of the context's device; null if there is none.
  Stream *find_stream(cuda::CUstream handle, Device &device);
  /// A graph, or the body of a node of one.
  Graph *find_graph(cuda::CUgraph handle) const;

  void report(const std::string &text);
  /// Notes what an operation did wrong.
  void fail(Device &device, const Fault &fault);
  void reset(Device &device);

  /// Memory of a device; 0 where it has not that much left.
  std::uint64_t allocate(Device &device, std::uint64_t bytes, Pool *pool);
  void free(Allocation &allocation);
  std::uint64_t left(const Device &device) const;

  /// Runs a kernel now. Throws Fault where its launch reports anything.
  Footprint run(Device &device, const KernelCall &call);
};

/// The device of the calling thread's context.
Device *&current_device();

/// Runs the body of a function of the driver with its lock, if the driver is initialized in this
/// process; exceptions become results.
cuda::CUresult call(const std::function<cuda::CUresult(Driver &)> &body);
/// The same with the device of the current context. If something went wrong on it before, that is
/// the result.
cuda::CUresult call_on_device(const std::function<cuda::CUresult(Driver &, Device &)> &body);

/// The result for a fault.
cuda::CUresult result_of(FaultKind kind);

} // namespace weft::emulator
