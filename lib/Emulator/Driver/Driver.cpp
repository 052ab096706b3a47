// Devices and their memory, and the frame around each function of the driver.
#include "Emulator/Driver/Driver.h"

#include <unistd.h>

#include <cstdio>
#include <new>

namespace weft::emulator {

using namespace cuda;

Driver &Driver::get() {
  static Driver &driver = *new Driver; // objects that are destroyed late still call it
  return driver;
}

Device *&current_device() {
  thread_local Device *device = nullptr;
  return device;
}

Device *Driver::find_device(CUdevice ordinal) const {
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices.size()
             ? devices[static_cast<std::size_t>(ordinal)].get()
             : nullptr;
}

Device *Driver::find_device(CUcontext context) const {
  for (const auto &device : devices)
    if (device->context() == context) return device.get();
  return nullptr;
}

Stream *Driver::find_stream(CUstream handle, Device &device) {
  const auto legacy = reinterpret_cast<CUstream>(1);
  if (handle == nullptr || handle == legacy) return &scheduler.default_stream(device);
  const auto found = streams.find(handle);
  return found != streams.end() && found->second->device == &device ? found->second : nullptr;
}

namespace {

Graph *find_inside(const Graph &graph, CUgraph handle) {
  for (const auto &node : graph.nodes)
    if (const auto *conditional = std::get_if<ConditionalCall>(&node->call))
      for (const auto &body : conditional->bodies) {
        if (reinterpret_cast<CUgraph>(body.get()) == handle) return body.get();
        if (Graph *found = find_inside(*body, handle)) return found;
      }
  return nullptr;
}

} // namespace

Graph *Driver::find_graph(CUgraph handle) const {
  Graph *found = graphs.find(handle);
  if (found == nullptr)
    graphs.for_each([&](const Graph &graph) {
      if (found == nullptr) found = find_inside(graph, handle);
    });
  return found;
}

void Driver::report(const std::string &text) {
  if (!options.quiet) std::fprintf(stderr, "weft-gpu-emulator: %s\n", text.c_str());
  reports.push_back(text);
}

void Driver::fail(Device &device, const Fault &fault) {
  report(fault.text);
  if (device.error == CUDA_SUCCESS) device.error = result_of(fault.kind);
  scheduler.drop(device);
}

CUresult result_of(FaultKind kind) {
  switch (kind) {
  case FaultKind::illegal_address: return CUDA_ERROR_ILLEGAL_ADDRESS;
  case FaultKind::misaligned_address: return CUDA_ERROR_MISALIGNED_ADDRESS;
  case FaultKind::illegal_instruction: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case FaultKind::timeout: return CUDA_ERROR_LAUNCH_TIMEOUT;
  // What no real device notices, and what has no code of its own.
  case FaultKind::uninitialised:
  case FaultKind::race:
  case FaultKind::deadlock:
  case FaultKind::trap: return CUDA_ERROR_LAUNCH_FAILED;
  }
  return CUDA_ERROR_UNKNOWN;
}

void Driver::reset(Device &device) {
  scheduler.drop(device);
  const auto of_device = [&](const auto &object) { return object.device == &device; };
  functions.erase_if([&](const Function &function) { return function.module->device == &device; });
  modules.erase_if(of_device);
  events.erase_if(of_device);
  graph_execs.erase_if([&](const GraphExec &exec) { return exec.graph.device == &device; });
  graphs.erase_if(of_device);
  pools.erase_if(of_device);
  std::erase_if(streams, [&](const auto &entry) { return entry.second->device == &device; });
  std::vector<Allocation *> gone;
  for (const auto &[address, allocation] : space.live())
    if (allocation->backing == Backing::device && allocation->device == device.ordinal)
      gone.push_back(allocation.get());
  for (Allocation *allocation : gone) space.free(*allocation);
  device.used = 0;
  device.error = CUDA_SUCCESS;
}

std::uint64_t Driver::left(const Device &device) const {
  std::uint64_t taken = device.used; // by itself and in pools
  pools.for_each([&](const Pool &pool) {
    if (pool.device == &device) taken += pool.reserved - pool.used;
  });
  return taken < device.total ? device.total - taken : 0;
}

std::uint64_t Driver::allocate(Device &device, std::uint64_t bytes, Pool *pool) {
  const std::uint64_t idle = pool == nullptr ? 0 : pool->reserved - pool->used;
  if (bytes > left(device) + idle) return 0;
  Allocation *made = space.allocate(bytes, device.ordinal, pool);
  if (made == nullptr) return 0;
  device.used += bytes;
  device.used_high = std::max(device.used_high, device.used);
  if (pool != nullptr) {
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    pool->reserved = std::max(pool->reserved, pool->used);
    pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  }
  return made->region.address;
}

void Driver::free(Allocation &allocation) {
  if (allocation.backing == Backing::device) {
    const std::uint64_t bytes = allocation.region.size;
    devices[static_cast<std::size_t>(allocation.device)]->used -= bytes;
    const auto handle =
        reinterpret_cast<CUmemoryPool>(const_cast<void *>(allocation.pool)); // may be gone
    if (Pool *pool = pools.find(handle)) {
      pool->used -= bytes;
      pool->reserved = std::max(pool->used, std::min(pool->reserved, pool->threshold));
    }
  }
  space.free(allocation);
}

Footprint Driver::run(Device &device, const KernelCall &call) {
  Launch launch;
  launch.kernel = call.kernel;
  launch.shape = call.shape;
  launch.limits = options.chip->limits;
  launch.parameters = call.parameters;
  launch.space = &space;
  launch.device = device.ordinal;
  launch.schedule = options.schedule;
  launch.conditions = &conditions;
  launch.first_serial = serials.take(call.shape.blocks());
  if (launch.first_serial == 0) {
    for (const auto &[address, allocation] : space.live())
      allocation->region.shadow.forget_records();
    serials.restart();
    launch.first_serial = serials.take(call.shape.blocks());
  }
  device.machine.run(launch);
  device.counters += launch.counters;
  counters_by_kernel[call.kernel->name] += launch.counters;
  if (!launch.reports.empty()) {
    for (std::size_t i = 0; i + 1 < launch.reports.size(); ++i) report(launch.reports[i].text);
    throw Fault{launch.reports.back().kind, launch.reports.back().text};
  }
  return options.schedule.check_races
             ? footprint_of_launch(space, make_record(launch.first_serial, 0, 0))
             : Footprint();
}

CUresult call(const std::function<CUresult(Driver &)> &body) {
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  if (driver.process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  try {
    return body(driver);
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    driver.report(error.what());
    return CUDA_ERROR_UNKNOWN;
  }
}

CUresult call_on_device(const std::function<CUresult(Driver &, Device &)> &body) {
  return call([&](Driver &driver) {
    Device *device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (device->retained == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (device->error != CUDA_SUCCESS) return device->error;
    return body(driver, *device);
  });
}

} // namespace weft::emulator
