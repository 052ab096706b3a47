// Contexts, streams, copies, and what becomes of the driver's results.
#include "Device/Gpu.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "Support/Fault.h"
#include "Support/Fork.h"
#include "Support/ThreadExit.h"

namespace weft::device {

using namespace cuda;

namespace {

/// The least compute capability: what kernels are written for.
constexpr int kLeastMajor = 7, kLeastMinor = 5;

/// The streams of this thread, by the numbers of devices.
thread_local constinit std::array<Stream *, kMaxGpus> own_streams = {};

/// Threads to come take over the streams of one that ends.
void end_thread() noexcept {
  for (Runtime *gpu : gpus()) {
    Stream *&stream = own_streams[gpu->device().index];
    if (stream != nullptr) static_cast<Gpu *>(gpu)->retire(std::exchange(stream, nullptr));
  }
}

/// Whether the driver refuses all that comes after it.
bool is_sticky(CUresult result) {
  switch (result) {
  case CUDA_ERROR_DEINITIALIZED:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_UNKNOWN: return true;
  default: return false;
  }
}

/// For the emulator, which then sees each access outside of what was asked for, and each after its
/// end.
bool wants_cache() {
  const char *value = std::getenv("WEFT_GPU_CACHE"); // NOLINT(concurrency-mt-unsafe): not set here
  return value == nullptr || (std::string_view(value) != "off" && std::string_view(value) != "0");
}

std::string text_of(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

} // namespace

Gpu::Gpu(const Driver &driver, CUdevice handle, std::uint8_t index, std::string &why)
    : driver_(driver), handle_(handle), index_(index), generation_(forks::generation()),
      cached_(wants_cache()) {
  CUresult result = CUDA_SUCCESS;
  const auto ask = [&](CUdevice_attribute attribute) {
    int value = 0;
    if (result == CUDA_SUCCESS) result = driver_.cuDeviceGetAttribute(&value, attribute, handle_);
    return value;
  };
  std::array<char, 256> text{};
  result = driver_.cuDeviceGetName(text.data(), static_cast<int>(text.size()), handle_);
  facts_.name = text.data();
  facts_.major = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  facts_.minor = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts_.multiprocessors = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const bool pools = ask(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
  if (result == CUDA_SUCCESS) result = driver_.cuDeviceTotalMem(&facts_.memory_bytes, handle_);
  facts_.driver_version = driver_.version;
  facts_.graphs = driver_.graphs;
  facts_.conditional_nodes = driver_.conditional_nodes;
  facts_.tensor_maps =
      driver_.tensor_maps && ask(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) != 0;
  const std::pair own(facts_.major, facts_.minor);
  if (result != CUDA_SUCCESS) {
    why = "the driver does not say what it is (" + words(driver_, result) + ")";
  } else if (own < std::pair(kLeastMajor, kLeastMinor)) {
    why = facts_.name + " has compute capability " + std::to_string(facts_.major) + "." +
          std::to_string(facts_.minor) + ", and " + std::to_string(kLeastMajor) + "." +
          std::to_string(kLeastMinor) + " is the least that will do";
  } else if (!pools) {
    why = facts_.name + " has no memory pools";
  }
}

bool Gpu::usable() const noexcept {
  return lost_.load(std::memory_order_acquire) == nullptr && generation_ == forks::generation();
}

void Gpu::wait_for_all() const {
  const Entered entered(*this);
  check(driver_.cuCtxSynchronize(), "waiting for its work");
}

void Gpu::make_context() const {
  const std::lock_guard lock(context_mutex_);
  if (context_.load(std::memory_order_relaxed) != nullptr) return;
  CUcontext context = nullptr;
  check(driver_.cuDevicePrimaryCtxRetain(&context, handle_), "making its context");
  const CUmemPoolProps properties{
      .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
      .handleTypes = CU_MEM_HANDLE_TYPE_NONE,
      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = handle_},
      .win32SecurityAttributes = nullptr,
      .maxSize = 0,
      .usage = 0,
      .reserved = {},
  };
  check(driver_.cuMemPoolCreate(&pool_, &properties), "making its memory pool");
  cuuint64_t most = std::numeric_limits<cuuint64_t>::max(); // nothing goes back by itself
  check(driver_.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most),
        "setting up its memory pool");
  context_.store(context, std::memory_order_release);
}

Gpu::Entered::Entered(const Gpu &gpu) : driver_(gpu.driver_) {
  if (gpu.generation_ != forks::generation())
    raise(ErrorKind::device,
          gpu.name() +
              " cannot be used in a child of fork(), as its parent used CUDA before; start "
              "the process anew, as Python's multiprocessing does with \"spawn\"");
  if (const std::string *lost = gpu.lost_.load(std::memory_order_acquire))
    raise(ErrorKind::device, *lost);
  CUcontext context = gpu.context_.load(std::memory_order_acquire);
  if (context == nullptr) {
    gpu.make_context();
    context = gpu.context_.load(std::memory_order_acquire);
  }
  // Other libraries use the same thread, maybe with another device.
  gpu.check(driver_.cuCtxGetCurrent(&outer_), "asking for the thread's context");
  if (outer_ == context) return;
  gpu.check(driver_.cuCtxSetCurrent(context), "setting the thread's context");
  changed_ = outer_ != nullptr;
}

Gpu::Entered::~Entered() {
  if (changed_) driver_.cuCtxSetCurrent(outer_);
}

void Gpu::check(CUresult result, const std::string &what) const {
  if (result == CUDA_SUCCESS) return;
  if (is_sticky(result)) lose(result, what);
  raise(result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorKind::out_of_memory : ErrorKind::device,
        name() + ": " + what + " failed (" + words(driver_, result) + ")");
}

void Gpu::lose(CUresult result, const std::string &what) const {
  std::string text = name() + " cannot be used any more in this process: " + what + " failed (" +
                     words(driver_, result) + "). Tensors of the host are unharmed";
  auto *made = new std::string(std::move(text)); // for good: the first is what later errors say
  const std::string *none = nullptr;
  if (!lost_.compare_exchange_strong(none, made, std::memory_order_acq_rel)) delete made;
  raise(ErrorKind::device, *lost_.load(std::memory_order_acquire));
}

Stream &Gpu::stream() {
  Stream *&own = own_streams[index_];
  if (own == nullptr) {
    at_thread_end<end_thread>();
    own = make_stream();
  }
  return *own;
}

bool Gpu::only_stream_is_own() const {
  return streams_made_.load(std::memory_order_acquire) == 1 && own_streams[index_] != nullptr;
}

Stream *Gpu::make_stream() {
  const std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    Stream *stream = idle_.back();
    idle_.pop_back();
    return stream;
  }
  auto made = std::make_unique<Stream>();
  streams_.reserve(streams_.size() + 1);
  idle_.reserve(streams_.size() + 1);
  check(driver_.cuStreamCreate(&made->handle, CU_STREAM_NON_BLOCKING), "making a stream");
  check(driver_.cuEventCreate(&made->event, CU_EVENT_DISABLE_TIMING), "making an event");
  streams_.push_back(made.get());
  streams_made_.store(streams_.size(), std::memory_order_release);
  return made.release();
}

void Gpu::retire(Stream *stream) noexcept {
  if (generation_ != forks::generation()) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(stream); // there is room
}

std::string Gpu::last_launched(const Stream &stream) const {
  return stream.last_launched == nullptr
             ? std::string()
             : ", behind " + *stream.last_launched + " as the last launch of this thread";
}

void Gpu::wait() {
  const Entered entered(*this);
  const Stream &own = stream();
  if (const CUresult result = driver_.cuStreamSynchronize(own.handle); result != CUDA_SUCCESS)
    check(result, "the wait for its work" + last_launched(own));
}

Device Gpu::place_of(const void *address) const {
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  const Entered entered(*this);
  unsigned kind = 0;
  int ordinal = 0;
  // Memory that the driver does not know is the host's.
  if (driver_.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS ||
      kind != CU_MEMORYTYPE_DEVICE)
    return {};
  check(driver_.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at),
        "asking whose memory an address is of");
  return {DeviceKind::gpu, static_cast<std::uint8_t>(ordinal)};
}

void Gpu::copy_in(std::byte *to, const void *from, std::size_t bytes) {
  if (bytes == 0) return;
  use(to, /*writes=*/true);
  const Entered entered(*this);
  Stream &own = stream();
  const auto *source = static_cast<const std::byte *>(from);
  const auto failed = [&] {
    return "the copy of " + text_of(bytes) + " to it" + last_launched(own);
  };
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = std::min(bytes - done, Staging::kSlotBytes);
    Staging::Slot *slot = nullptr;
    std::byte *staged = nullptr;
    if (own.staging.take(driver_, own.handle, part, slot, staged) == CUDA_SUCCESS) {
      std::memcpy(staged, source + done, part);
    } else {
      staged = const_cast<std::byte *>(source) + done; // the driver stages it itself
    }
    const CUresult result = driver_.cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to + done),
                                                      staged, part, own.handle);
    if (result != CUDA_SUCCESS) check(result, failed());
    done += part;
  }
}

void Gpu::copy_out(void *to, const std::byte *from, std::size_t bytes) {
  if (bytes == 0) return;
  use(from, /*writes=*/false);
  const Entered entered(*this);
  Stream &own = stream();
  auto *target = static_cast<std::byte *>(to);
  const auto failed = [&] {
    return "the copy of " + text_of(bytes) + " from it" + last_launched(own);
  };
  struct Part {
    Staging::Slot *slot = nullptr;
    std::byte *staged = nullptr;
    std::size_t begin = 0, bytes = 0;
  };
  // While one part is copied on, the next one comes.
  const auto fetch = [&](std::size_t begin) {
    Part part{.begin = begin, .bytes = std::min(bytes - begin, Staging::kSlotBytes)};
    if (own.staging.take(driver_, own.handle, part.bytes, part.slot, part.staged) != CUDA_SUCCESS)
      part.slot = nullptr, part.staged = target + begin; // the driver stages it itself
    CUresult result = driver_.cuMemcpyDtoHAsync(
        part.staged, reinterpret_cast<CUdeviceptr>(from + begin), part.bytes, own.handle);
    if (result == CUDA_SUCCESS && part.slot != nullptr) {
      result = driver_.cuEventRecord(part.slot->done, own.handle);
      part.slot->pending = true;
    }
    if (result != CUDA_SUCCESS) check(result, failed());
    return part;
  };
  const auto take = [&](const Part &part) {
    const CUresult result = part.slot != nullptr ? driver_.cuEventSynchronize(part.slot->done)
                                                 : driver_.cuStreamSynchronize(own.handle);
    if (result != CUDA_SUCCESS) check(result, failed());
    if (part.slot == nullptr) return;
    part.slot->pending = false;
    std::memcpy(target + part.begin, part.staged, part.bytes);
  };
  Part part = fetch(0);
  while (part.begin + part.bytes < bytes) {
    const Part next = fetch(part.begin + part.bytes);
    take(part);
    part = next;
  }
  take(part);
}

void Gpu::copy(std::byte *to, const std::byte *from, std::size_t bytes) {
  if (bytes == 0) return;
  use(from, /*writes=*/false);
  use(to, /*writes=*/true);
  const Entered entered(*this);
  const Stream &own = stream();
  const CUresult result = driver_.cuMemcpyDtoDAsync(
      reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from), bytes, own.handle);
  if (result != CUDA_SUCCESS)
    check(result, "a copy of " + text_of(bytes) + " on it" + last_launched(own));
}

void Gpu::copy_from(std::byte *to, Runtime &source, const std::byte *from, std::size_t bytes) {
  if (bytes == 0) return;
  if (&source == this) return copy(to, from, bytes);
  auto &other = static_cast<Gpu &>(source);
  other.use(from, /*writes=*/false);
  other.wait();
  use(to, /*writes=*/true);
  const Entered entered(*this);
  const Stream &own = stream();
  CUresult result = driver_.cuMemcpyPeerAsync(reinterpret_cast<CUdeviceptr>(to), context_,
                                              reinterpret_cast<CUdeviceptr>(from), other.context_,
                                              bytes, own.handle);
  if (result == CUDA_SUCCESS) result = driver_.cuStreamSynchronize(own.handle);
  if (result != CUDA_SUCCESS)
    check(result, "the copy of " + text_of(bytes) + " from " + other.name() + last_launched(own));
}

void Gpu::clear(std::byte *to, std::size_t bytes) {
  if (bytes == 0) return;
  use(to, /*writes=*/true);
  const Entered entered(*this);
  const Stream &own = stream();
  const CUresult result =
      driver_.cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to), 0, bytes, own.handle);
  if (result != CUDA_SUCCESS) check(result, "clearing " + text_of(bytes) + last_launched(own));
}

} // namespace weft::device
