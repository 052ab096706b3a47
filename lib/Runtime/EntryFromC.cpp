// The doors of ahead-of-time programs: calls of compiled entries from C, on the processor and on
// GPUs, where exceptions stop; and memory of GPUs for such programs.
#include <weft/c/gpu.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "Runtime/DeviceCalls.h"
#include "Support/Fault.h"
#include "Support/Ptx.h"

namespace weft {

namespace {

/// The lines that weft-compile wrote into the header: "17 step.mlir:7".
class WrittenLocations final : public LocationTable {
public:
  WrittenLocations(const char *const *locations, std::int64_t count)
      : locations_(locations), count_(count) {}

  SourceLocation location(std::int64_t site) const override {
    const std::string number = std::to_string(site) + " ";
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::string_view text = locations_[i];
      if (!text.starts_with(number)) continue;
      const std::size_t colon = text.rfind(':');
      if (colon == std::string_view::npos) break;
      return {std::string(text.substr(number.size(), colon - number.size())),
              static_cast<std::uint32_t>(std::strtoul(text.data() + colon + 1, nullptr, 10))};
    }
    return {};
  }

private:
  const char *const *locations_;
  std::int64_t count_;
};

void write_message(const char *text, char *message, std::int64_t message_size) {
  if (message == nullptr || message_size <= 0) return;
  std::strncpy(message, text, static_cast<std::size_t>(message_size) - 1);
  message[message_size - 1] = '\0';
}

/// Runs `body`; 0, or 1 with the reason in `message` if it throws.
template <class Body>
std::int32_t in_c(char *message, std::int64_t message_size, const Body &body) {
  try {
    body();
    return 0;
  } catch (const std::exception &error) {
    write_message(error.what(), message, message_size);
    return 1;
  }
}

void check_sizes(const char *function, const std::int64_t *dims, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    if (dims[i] < 0)
      throw ShapeError(std::string(function) + ": an input cannot have the size " +
                       std::to_string(dims[i]));
}

device::Runtime &gpu_of(std::int32_t number) {
  if (number < 0 || number > 255)
    raise(ErrorKind::device, "cannot use gpu:" + std::to_string(number) + ": there is none");
  return device::runtime_of({DeviceKind::gpu, static_cast<std::uint8_t>(number)});
}

/// The GPU that a function shall run on; says for which it was compiled where it cannot.
device::Runtime &gpu_for(const std::string &function, const std::string &chip,
                         std::int32_t number) {
  device::Runtime *found = nullptr;
  try {
    found = &gpu_of(number);
  } catch (const DeviceError &error) {
    raise(ErrorKind::device, function + ", which was compiled for GPUs of " + chip +
                                 " by weft-compile: " + std::string(error.message()));
  }
  const device::Facts &facts = found->facts();
  if (!runs_code_for(facts, chip))
    raise(ErrorKind::device, function + ": its kernels are for GPUs of " + chip + ", and " +
                                 to_string(found->device()) + " (" + facts.name + ") is one of " +
                                 chip_of(facts) + ": compile it with --chip=" + chip_of(facts));
  return *found;
}

/// The kernels of an object on a device, which the first call there loads for good. Another object
/// may come to lie where one was unloaded, so its digest, the first line, is compared.
DeviceCode &code_on(device::Runtime &runtime, const char *ptx, const std::string &function) {
  using Key = std::tuple<const char *, std::string, int>;
  static auto &mutex = *new forks::Mutex<std::mutex>;
  static auto &loaded = *new std::map<Key, std::unique_ptr<DeviceCode>>;
  const forks::Delay whole;
  const std::lock_guard one(mutex);
  std::unique_ptr<DeviceCode> &found =
      loaded[{ptx, std::string(ptx, std::strcspn(ptx, "\n")), runtime.device().index}];
  if (!found) found = std::make_unique<DeviceCode>(runtime, ptx, function);
  return *found;
}

/// The buffers of a call as the device has them.
class DeviceBuffers {
public:
  DeviceBuffers(DeviceCall &call, const char *function, void *const *buffers,
                const std::int64_t *bytes, const char *uses, std::int64_t count)
      : call_(call) {
    for (std::int64_t i = 0; i < count; ++i)
      there_.push_back(uses[i] == '-' || bytes[i] == 0
                           ? buffers[i]
                           : place(function, i, static_cast<std::byte *>(buffers[i]),
                                   static_cast<std::size_t>(bytes[i]), uses[i]));
  }

  void *const *data() const { return there_.data(); }

  /// Copies what the code wrote to where it belongs; after a failure only what it updates, of which
  /// the caller has what it was assigned before.
  void bring_back(bool failed) {
    for (const Copy &copy : copies_) {
      if (copy.use == 'r' || (failed && copy.use != 'u')) continue;
      if (copy.on_device) call_.runtime().copy(copy.given, copy.there, copy.bytes);
      else call_.runtime().copy_out(copy.given, copy.there, copy.bytes);
    }
  }

private:
  struct Copy {
    std::byte *given, *there;
    std::size_t bytes;
    char use;
    bool on_device;
  };

  void *place(const char *function, std::int64_t number, std::byte *given, std::size_t bytes,
              char use) {
    const std::string which = std::string(function) + ": array " + std::to_string(number);
    if (given == nullptr) throw ValueError(which + " is NULL");
    device::Runtime &runtime = call_.runtime();
    const Device where = runtime.place_of(given);
    const bool on_device = where == runtime.device();
    if (!on_device && where != Device())
      raise(ErrorKind::device, which + " is on " + to_string(where) + ", and the call is for " +
                                   to_string(runtime.device()) + ": copy it there");
    if (on_device && reinterpret_cast<std::uintptr_t>(given) % kKernelAlignment == 0) {
      runtime.use(given, use != 'r');
      return given;
    }
    std::byte *const there = call_.allocate(bytes);
    if (use != 'w') {
      if (on_device) runtime.copy(there, given, bytes);
      else runtime.copy_in(there, given, bytes);
    }
    copies_.push_back({given, there, bytes, use, on_device});
    return there;
  }

  DeviceCall &call_;
  std::vector<void *> there_;
  std::vector<Copy> copies_;
};

/// The context of a call, with what a caller in C says of it.
struct ContextOfC : CallContext {
  ContextOfC(const char *of, const char *const *lines, std::int64_t line_count, COutputs outputs)
      : written(lines, line_count), created(outputs) {
    function = of;
    locations = &written;
    c_outputs = &created;
  }
  ContextOfC(const ContextOfC &) = delete;
  ContextOfC &operator=(const ContextOfC &) = delete;

  WrittenLocations written;
  COutputs created;
};

} // namespace
} // namespace weft

using namespace weft;

std::int32_t weft_rt_call(CompiledEntry entry, void *const *buffers, const std::int64_t *dims,
                          std::int64_t dim_count, void **outputs, std::int64_t *const *output_dims,
                          std::int64_t output_count, std::int64_t arena_bytes, const char *function,
                          const char *const *locations, std::int64_t location_count, char *message,
                          std::int64_t message_size) {
  std::fill_n(outputs, output_count, nullptr);
  void *arena = nullptr;
  const std::int32_t failed = in_c(message, message_size, [&] {
    check_sizes(function, dims, dim_count);
    if (arena_bytes > 0) {
      arena = std::aligned_alloc(64, static_cast<std::size_t>((arena_bytes + 63) / 64 * 64));
      if (arena == nullptr)
        throw OutOfMemory(std::string(function) + ": there are no " + std::to_string(arena_bytes) +
                          " bytes for temporaries");
    }
    ContextOfC context(function, locations, location_count, {outputs, output_dims, output_count});
    context.arena = static_cast<std::byte *>(arena);
    entry(buffers, dims, &context);
  });
  if (failed != 0)
    for (std::int64_t i = 0; i < output_count; ++i) std::free(std::exchange(outputs[i], nullptr));
  std::free(arena);
  return failed;
}

std::int32_t weft_rt_gpu_call(CompiledEntry entry, const char *ptx, std::int32_t gpu,
                              void *const *buffers, const std::int64_t *bytes, const char *uses,
                              std::int64_t buffer_count, const std::int64_t *dims,
                              std::int64_t dim_count, void **outputs,
                              std::int64_t *const *output_dims, std::int64_t output_count,
                              std::int64_t arena_bytes, const char *function,
                              const char *const *locations, std::int64_t location_count,
                              char *message, std::int64_t message_size) {
  std::fill_n(outputs, output_count, nullptr);
  return in_c(message, message_size, [&] {
    check_sizes(function, dims, dim_count);
    device::Runtime &runtime = gpu_for(function, ptx_target(ptx), gpu);
    DeviceCall call(code_on(runtime, ptx, function));
    DeviceBuffers there(call, function, buffers, bytes, uses, buffer_count);
    ContextOfC context(function, locations, location_count, {outputs, output_dims, output_count});
    context.device = &call;
    try {
      if (arena_bytes > 0) context.arena = call.allocate(static_cast<std::size_t>(arena_bytes));
      entry(there.data(), dims, &context);
      there.bring_back(/*failed=*/false);
    } catch (...) {
      for (std::int64_t i = 0; i < output_count; ++i)
        runtime.release(static_cast<std::byte *>(std::exchange(outputs[i], nullptr)));
      try {
        there.bring_back(/*failed=*/true);
      } catch (const Error &) { // the device is lost, and with it what was there
      }
      throw;
    }
  });
}

std::int32_t weft_gpu_count(char *message, std::int64_t message_size) {
  std::size_t count = 0;
  in_c(message, message_size, [&] {
    count = device::gpus().size();
    if (count == 0) write_message(device::why_none().c_str(), message, message_size);
  });
  return static_cast<std::int32_t>(count);
}

void *weft_gpu_alloc(std::int32_t gpu, std::int64_t bytes, char *message,
                     std::int64_t message_size) {
  void *memory = nullptr;
  in_c(message, message_size, [&] {
    if (bytes < 0)
      throw ValueError("weft_gpu_alloc: there cannot be " + std::to_string(bytes) + " bytes");
    memory = gpu_of(gpu).allocate(static_cast<std::size_t>(bytes));
  });
  return memory;
}

void weft_gpu_free(std::int32_t gpu, void *memory) {
  if (memory == nullptr) return;
  in_c(nullptr, 0, [&] { gpu_of(gpu).release(static_cast<std::byte *>(memory)); });
}

std::int32_t weft_gpu_copy(std::int32_t gpu, void *to, const void *from, std::int64_t bytes,
                           char *message, std::int64_t message_size) {
  return in_c(message, message_size, [&] {
    if (bytes < 0)
      throw ValueError("weft_gpu_copy: there cannot be " + std::to_string(bytes) + " bytes");
    if (bytes > 0 && (to == nullptr || from == nullptr))
      throw ValueError("weft_gpu_copy: " + std::string(to == nullptr ? "to" : "from") + " is NULL");
    device::Runtime &runtime = gpu_of(gpu);
    const auto count = static_cast<std::size_t>(bytes);
    auto *const target = static_cast<std::byte *>(to);
    const auto *const source = static_cast<const std::byte *>(from);
    const auto is_there = [&](const void *memory, const char *which) {
      const Device where = runtime.place_of(memory);
      if (where != Device() && where != runtime.device())
        raise(ErrorKind::device, "weft_gpu_copy: " + std::string(which) + " is memory of " +
                                     to_string(where) + ", and the call is for " +
                                     to_string(runtime.device()));
      return where != Device();
    };
    if (bytes == 0) return;
    const bool there = is_there(to, "to");
    if (is_there(from, "from")) {
      if (there) runtime.copy(target, source, count);
      else runtime.copy_out(to, source, count);
    } else if (there) {
      runtime.copy_in(target, from, count);
    } else {
      std::memmove(to, from, count);
    }
  });
}

std::int32_t weft_gpu_wait(std::int32_t gpu, char *message, std::int64_t message_size) {
  return in_c(message, message_size, [&] { gpu_of(gpu).wait(); });
}
