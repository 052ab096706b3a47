// The functions that compiled code calls, and interrupts of its loops.
#include "Runtime/CallContext.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "OpDefs/CollectiveSymbol.h"
#include "Runtime/DeviceCalls.h"
#include "Runtime/Elements.h"
#include "Runtime/HostFunction.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Printing.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include <weft/detail/interrupts.h>

namespace weft {

/// Stands before a dynamic temporary; they are on a list that their call owns.
struct alignas(allocator::kAlignment) Temporary {
  Temporary *newer, *older;
  std::uint8_t size_class;
};

void CallContext::free_temporaries() noexcept {
  while (temporaries != nullptr) weft_rt_free(this, temporaries + 1);
}

namespace {

/// Copies bytes to the host from where the call's buffers are.
void copy_to_host(const CallContext *context, void *to, const void *from, std::size_t bytes) {
  if (bytes == 0) return; // there may be no memory either
  if (context->device != nullptr)
    context->device->runtime().copy_out(to, static_cast<const std::byte *>(from), bytes);
  else std::memcpy(to, from, bytes);
}

std::size_t bytes_of(const RuntimeValue &value) {
  std::size_t bytes = item_size(static_cast<DType>(value.dtype));
  for (std::int32_t axis = 0; axis < value.rank; ++axis)
    bytes *= static_cast<std::size_t>(value.dims[axis]);
  return bytes;
}

/// Compiled values as arrays for printing; their strides are computed here because compiled code
/// passes sizes only.
class Values {
public:
  Values(const CallContext *context, const RuntimeValue *values, std::int64_t count) {
    std::size_t ranks = 0;
    for (std::int64_t i = 0; i < count; ++i) ranks += static_cast<std::size_t>(values[i].rank);
    strides_.resize(ranks); // now, because the arrays below point into it
    std::int64_t *strides = strides_.data();
    for (std::int64_t i = 0; i < count; ++i) {
      const RuntimeValue &value = values[i];
      const auto rank = static_cast<std::size_t>(value.rank);
      std::uint64_t stride = 1;
      for (std::size_t axis = rank; axis-- > 0;) {
        strides[axis] = static_cast<std::int64_t>(stride);
        stride *= static_cast<std::uint64_t>(value.dims[axis]);
      }
      arrays_.push_back({static_cast<DType>(value.dtype),
                         {value.dims, rank},
                         {strides, rank},
                         on_host(context, value),
                         {}});
      strides += rank;
    }
  }
  operator std::span<const PrintedArray>() const { return arrays_; }

private:
  const std::byte *on_host(const CallContext *context, const RuntimeValue &value) {
    if (context->device == nullptr) return static_cast<const std::byte *>(value.data);
    std::vector<std::byte> &copy = copies_.emplace_back(bytes_of(value));
    copy_to_host(context, copy.data(), value.data, copy.size());
    return copy.data();
  }

  std::vector<std::int64_t> strides_;
  std::vector<PrintedArray> arrays_;
  std::vector<std::vector<std::byte>> copies_; ///< of what is on a device
};

/// Moves between variables, through memory of the host where there is no other way.
class Mover {
public:
  explicit Mover(DeviceCall *device) : runtime_(device != nullptr ? &device->runtime() : nullptr) {}

  /// Makes moves as if all at once. Needs no memory, which may be what ran out, and leaves no bytes
  /// to move.
  void make(std::span<RuntimeMove> moves) {
    const auto is_read = [&](const RuntimeMove &move) {
      return std::any_of(moves.begin(), moves.end(), [&](const RuntimeMove &other) {
        return &other != &move && other.bytes > 0 && other.from == move.to;
      });
    };
    for (bool progress = true; progress;) {
      progress = false;
      for (RuntimeMove &move : moves) {
        if (move.bytes <= 0 || (move.to != move.from && is_read(move))) continue;
        if (move.to != move.from)
          copy(at(move.to, 0), at(move.from, 0), static_cast<std::size_t>(move.bytes));
        move.bytes = 0;
        progress = true;
      }
    }
    // What is left are variables that trade their values in circles.
    for (RuntimeMove &first : moves) turn(first, moves);
  }

private:
  static std::byte *at(const void *buffer, std::int64_t offset) {
    return static_cast<std::byte *>(const_cast<void *>(buffer)) + offset;
  }

  /// The circle of which `first` is one move, in pieces for which there is room.
  void turn(RuntimeMove &first, std::span<RuntimeMove> moves) {
    const auto into = [&](const void *buffer) {
      return std::find_if(moves.begin(), moves.end(), [&](const RuntimeMove &move) {
        return move.bytes > 0 && move.to == buffer;
      });
    };
    std::array<std::byte, 1024> aside;
    for (std::int64_t offset = 0; offset < first.bytes;) {
      const auto count = std::min(aside.size(), static_cast<std::size_t>(first.bytes - offset));
      if (runtime_ != nullptr) runtime_->copy_out(aside.data(), at(first.to, offset), count);
      else std::memcpy(aside.data(), at(first.to, offset), count);
      const RuntimeMove *move = &first;
      for (; move->from != first.to; move = &*into(move->from))
        copy(at(move->to, offset), at(move->from, offset), count);
      if (runtime_ != nullptr) runtime_->copy_in(at(move->to, offset), aside.data(), count);
      else std::memcpy(at(move->to, offset), aside.data(), count);
      offset += static_cast<std::int64_t>(count);
    }
    if (first.bytes <= 0) return;
    for (const void *next = first.from; next != first.to;) {
      const auto move = into(next);
      next = move->from;
      move->bytes = 0;
    }
    first.bytes = 0;
  }

  void copy(std::byte *to, const std::byte *from, std::size_t bytes) {
    if (runtime_ != nullptr) runtime_->copy(to, from, bytes);
    else std::memcpy(to, from, bytes);
  }

  device::Runtime *runtime_;
};

/// What was told by weft_rt_on_stop, which is forgotten with this.
std::span<RuntimeMove> told(CallContext *context) {
  return {std::exchange(context->moves, nullptr),
          static_cast<std::size_t>(std::exchange(context->move_count, 0))};
}

/// What becomes of them when a call stops.
void make_moves(std::span<RuntimeMove> moves, DeviceCall *device) noexcept {
  try {
    Mover(device).make(moves);
    // NOLINTNEXTLINE(bugprone-empty-catch)
  } catch (const Error &) { // a device is lost, and with it its variables
  }
}

/// The same, carried out when an exception leaves the function that holds it.
class MovesOnThrow {
public:
  explicit MovesOnThrow(CallContext *context)
      : moves_(told(context)), exceptions_(std::uncaught_exceptions()), device_(context->device) {}
  ~MovesOnThrow() {
    if (!moves_.empty() && std::uncaught_exceptions() > exceptions_) make_moves(moves_, device_);
  }
  MovesOnThrow(const MovesOnThrow &) = delete;
  MovesOnThrow &operator=(const MovesOnThrow &) = delete;

private:
  std::span<RuntimeMove> moves_;
  int exceptions_;
  DeviceCall *device_;
};

template <class Check>
void for_indices(std::int32_t dtype, const void *indices, const Check &check) {
  if (static_cast<DType>(dtype) == DType::i32) check(static_cast<const std::int32_t *>(indices));
  else check(static_cast<const std::int64_t *>(indices));
}

/// Indices on the host that are on a device; none if they are on the host.
std::vector<std::byte> indices_of_device(const CallContext *context, std::int32_t dtype,
                                         const void *indices, std::int64_t count) {
  if (context->device == nullptr) return {};
  std::vector<std::byte> copy(static_cast<std::size_t>(count) *
                              item_size(static_cast<DType>(dtype)));
  copy_to_host(context, copy.data(), indices, copy.size());
  return copy;
}

TensorType type_of(const RuntimeValue &value) {
  return {static_cast<DType>(value.dtype),
          Shape(std::span(value.dims, static_cast<std::size_t>(value.rank)))};
}

/// A tensor with the same elements: the callable may keep it, and compiled code uses the memory
/// again.
Tensor copy_of(const CallContext *context, const RuntimeValue &value) {
  const TensorType type = type_of(value);
  Tensor copy = detail::new_tensor(type.dtype, type.shape);
  copy_to_host(context, copy.impl()->data, value.data, bytes_of(value));
  return copy;
}

const Tensor &host_result(const CallContext &context, std::int64_t result) {
  WEFT_INVARIANT(result >= 0 && static_cast<std::size_t>(result) < context.host_results.size(),
                 "the host call gave no such result");
  return context.host_results[static_cast<std::size_t>(result)];
}

std::string_view view(const char *text, std::int64_t length) {
  return {text, static_cast<std::size_t>(length)};
}

void *c_output(COutputs &outputs, DeviceCall *device, std::int64_t index, DType dtype,
               std::span<const std::int64_t> dims) {
  WEFT_INVARIANT(index >= 0 && index < outputs.count, "compiled code has no such output");
  const std::size_t alignment = allocator::kAlignment;
  const std::size_t bytes = detail::checked_tensor_bytes(dtype, dims);
  if (device != nullptr) {
    std::byte *const made = device->runtime().allocate(bytes);
    device->runtime().release(static_cast<std::byte *>(std::exchange(outputs.data[index], made)));
    std::copy(dims.begin(), dims.end(), outputs.dims[index]);
    return made;
  }
  // Also of no elements it is memory, so that null means that there is none.
  const std::size_t whole = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  void *memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr)
    throw OutOfMemory("there are no " + std::to_string(bytes) + " bytes for an output");
  std::free(std::exchange(outputs.data[index], memory));
  std::copy(dims.begin(), dims.end(), outputs.dims[index]);
  return memory;
}

SourceLocation location_of(const CallContext *context, std::int64_t site) {
  return context->locations == nullptr || site < 0 ? SourceLocation()
                                                   : context->locations->location(site);
}

/// A message with the function before it that the user called: as the same error reads when no code
/// is compiled.
std::string of_function(const CallContext *context, std::int64_t site, const std::string &message) {
  const char *const function =
      context->locations == nullptr || site < 0 ? nullptr : context->locations->function(site);
  return CallSite::of_function(function, message);
}

} // namespace

void rethrow_at_site(CallContext *context, std::int64_t site, std::string_view op) {
  make_moves(told(context), context->device);
  try {
    throw;
  } catch (const Error &error) {
    std::string message(error.message());
    // Whoever calls the compiled function, and is named in place of the op, did not call the op.
    if (const char *const caller = CallSite::function(); caller != nullptr) {
      const std::string_view all = caller;
      const std::string name = std::string(all.substr(0, all.find(": "))) + ": ";
      if (message.starts_with(name)) message.replace(0, name.size(), std::string(op) + ": ");
    }
    raise(error.kind(), of_function(context, site, message), location_of(context, site));
  }
}

} // namespace weft

using namespace weft;

void weft_rt_on_stop(CallContext *context, RuntimeMove *moves, std::int64_t count) {
  context->moves = moves;
  context->move_count = count;
}

void weft_rt_print(CallContext *context, const char *format, std::int64_t length,
                   const RuntimeValue *values, std::int64_t count) {
  const MovesOnThrow moves(context);
  print_line(format_values(view(format, length), Values(context, values, count)));
}

void weft_rt_interrupt(CallContext *context) {
  const MovesOnThrow moves(context);
  detail::handle_interrupt();
}

void weft_rt_assert_fail(CallContext *context, std::int64_t site, const char *message,
                         std::int64_t message_length, const RuntimeValue *values,
                         std::int64_t count) {
  const MovesOnThrow moves(context);
  throw AssertionError(
      std::string("assertion failed in ") + context->function + ": " +
          format_values(view(message, message_length), Values(context, values, count), "; "),
      location_of(context, site));
}

void weft_rt_index_error(CallContext *context, std::int64_t site, const char *op,
                         std::int64_t index, std::int64_t size) {
  const MovesOnThrow moves(context);
  throw IndexError(of_function(context, site,
                               std::string(op) + ": index " + std::to_string(index) +
                                   " is out of range for an axis of size " + std::to_string(size)),
                   location_of(context, site));
}

bool weft_rt_outside(std::int32_t dtype, const void *indices, std::int64_t count,
                     std::int64_t size) {
  bool found = false;
  for_indices(dtype, indices,
              [&](const auto *values) { found = any_outside(values, count, size); });
  return found;
}

void weft_rt_check_indices(CallContext *context, std::int64_t site, const char *op,
                           std::int32_t dtype, const void *indices, std::int64_t count,
                           std::int64_t size) {
  const std::vector<std::byte> copy = indices_of_device(context, dtype, indices, count);
  for_indices(dtype, copy.empty() ? indices : copy.data(), [&](const auto *values) {
    if (!any_outside(values, count, size)) return;
    for (std::int64_t i = 0; i < count; ++i)
      if (values[i] < 0 || values[i] >= size)
        weft_rt_index_error(context, site, op, values[i], size);
  });
}

/// Ends the call with a message in which each {} is one of the sizes.
[[noreturn]] static void fail_by_sizes(ErrorKind kind, CallContext *context, std::int64_t site,
                                       const char *message, const std::int64_t *sizes,
                                       std::int64_t count) {
  const MovesOnThrow moves(context);
  std::string text = message;
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count && (at = text.find("{}", at)) != std::string::npos; ++i)
    text.replace(at, 2, std::to_string(sizes[i]));
  raise(kind, of_function(context, site, text), location_of(context, site));
}

void weft_rt_shape_error(CallContext *context, std::int64_t site, const char *message,
                         const std::int64_t *sizes, std::int64_t count) {
  fail_by_sizes(ErrorKind::shape, context, site, message, sizes, count);
}

void weft_rt_value_error(CallContext *context, std::int64_t site, const char *message,
                         const std::int64_t *sizes, std::int64_t count) {
  fail_by_sizes(ErrorKind::value, context, site, message, sizes, count);
}

void weft_rt_bounds_error(CallContext *context, std::int64_t site, const char *message,
                          const std::int64_t *sizes, std::int64_t count) {
  fail_by_sizes(ErrorKind::index, context, site, message, sizes, count);
}

void *weft_rt_alloc(CallContext *context, std::int64_t bytes) {
  if (context->device != nullptr) return context->device->allocate(static_cast<std::size_t>(bytes));
  const allocator::Block block =
      allocator::allocate(sizeof(Temporary) + static_cast<std::size_t>(bytes));
  auto *temporary = new (block.memory) Temporary{nullptr, context->temporaries, block.size_class};
  if (temporary->older != nullptr) temporary->older->newer = temporary;
  context->temporaries = temporary;
  return temporary + 1;
}

void weft_rt_free(CallContext *context, void *memory) {
  if (context->device != nullptr) return context->device->free(static_cast<std::byte *>(memory));
  Temporary *temporary = static_cast<Temporary *>(memory) - 1;
  (temporary->newer != nullptr ? temporary->newer->older : context->temporaries) = temporary->older;
  if (temporary->older != nullptr) temporary->older->newer = temporary->newer;
  allocator::deallocate(temporary, temporary->size_class);
}

void weft_rt_host_call(CallContext *context, std::int64_t site, const char *name,
                       std::int64_t length, const RuntimeValue *operands, std::int64_t count,
                       const RuntimeValue *types, std::int64_t type_count) {
  const MovesOnThrow moves(context);
  const std::string_view symbol = view(name, length);
  const HostBinding *const end = context->hosts + context->host_count;
  const HostBinding *const found = std::find_if(
      context->hosts, end, [&](const HostBinding &host) { return host.symbol == symbol; });
  std::vector<Tensor> tensors;
  for (std::int64_t i = 0; i < count; ++i) tensors.push_back(copy_of(context, operands[i]));
  const auto location = [&] { return location_of(context, site); };
  context->host_results.clear();
  if (found == end) {
    const LibraryCall library = library_call();
    if (library == nullptr && symbol.starts_with(kCollectivePrefix))
      throw StateError(std::string(context->function) + ": " +
                           std::string(symbol.substr(kCollectivePrefix.size())) +
                           ": collectives need libweft, and this program has its runtime alone",
                       location());
    if (library == nullptr || !library(symbol, tensors, location, context->host_results))
      throw StateError(std::string(context->function) + ": host_call @" + std::string(symbol) +
                           ": there is no callable of that name here; they come with functions "
                           "that are traced in C++",
                       location());
  } else {
    std::vector<TensorType> wanted;
    for (std::int64_t i = 0; i < type_count; ++i) wanted.push_back(type_of(types[i]));
    const HostCallScope scope;
    context->host_results = call_host(*found->function, tensors, wanted, location);
  }
  // Their memory is copied as it lies: a library call may give a view.
  for (Tensor &result : context->host_results) result = make_contiguous(detail::on_host(result));
}

std::int64_t weft_rt_host_size(CallContext *context, std::int64_t result, std::int64_t axis) {
  return host_result(*context, result).impl()->dims()[axis];
}

void weft_rt_note_begin(CallContext *context, const char *sites, std::int64_t length) {
  if (context->notes == nullptr || !profile::on()) return;
  context->profiled.emplace(profile::Kind::code,
                            context->notes->label({sites, static_cast<std::size_t>(length)}));
}

void weft_rt_note_end(CallContext *context) { context->profiled.reset(); }

void weft_rt_host_take(CallContext *context, std::int64_t result, void *data) {
  const Tensor &tensor = host_result(*context, result);
  const std::size_t bytes = static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype());
  if (bytes == 0) return; // there may be no memory either
  if (context->device != nullptr)
    context->device->runtime().copy_in(static_cast<std::byte *>(data), tensor.impl()->data, bytes);
  else std::memcpy(data, tensor.impl()->data, bytes);
}

void *weft_rt_output(CallContext *context, std::int64_t index, std::int32_t dtype,
                     std::int64_t rank, const std::int64_t *dims) {
  if (context->c_outputs != nullptr)
    return c_output(*context->c_outputs, context->device, index, static_cast<DType>(dtype),
                    {dims, static_cast<std::size_t>(rank)});
  WEFT_INVARIANT(index >= 0 && index < context->output_count, "compiled code has no such output");
  const Device device = context->device != nullptr ? context->device->runtime().device() : Device();
  Tensor result = detail::new_tensor_on(device, static_cast<DType>(dtype),
                                        {dims, static_cast<std::size_t>(rank)});
  void *data = result.impl()->data;
  context->outputs[index] = std::move(result);
  return data;
}

// Interrupts of compiled loops: the flag that they look at, and who is called then.

namespace {

std::atomic<void (*)()> handler_of_interrupts = nullptr;

} // namespace

// Compiled code reads it as a byte that changes behind its back.
static_assert(sizeof(weft_rt_interrupt_flag) == 1);
std::atomic<std::uint8_t> weft_rt_interrupt_flag = 0;

namespace weft::detail {

void set_interrupt_handler(void (*handler)()) { handler_of_interrupts = handler; }
void request_interrupt() noexcept { weft_rt_interrupt_flag.store(1, std::memory_order_relaxed); }
bool interrupts_are_handled() noexcept { return handler_of_interrupts.load() != nullptr; }

/// Takes the interrupt.
void handle_interrupt() {
  if (weft_rt_interrupt_flag.exchange(0) == 0) return; // another thread took it
  if (void (*handler)() = handler_of_interrupts.load()) handler();
}

} // namespace weft::detail
