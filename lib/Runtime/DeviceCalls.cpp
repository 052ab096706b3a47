// The functions that compiled programs for a GPU call.
#include "Runtime/DeviceCalls.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "Support/Fault.h"
#include <weft/detail/inline_vector.h>

namespace weft {

std::string chip_of(const device::Facts &facts) {
  const std::string name = "sm_" + std::to_string(facts.major) + std::to_string(facts.minor);
  return name == "sm_90" ? name + "a" : name;
}

bool runs_code_for(const device::Facts &facts, std::string_view chip) {
  if (chip == chip_of(facts)) return true;
  if (!chip.starts_with("sm_") || chip.size() < 5) return false;
  int number = 0;
  for (const char digit : chip.substr(3)) {
    if (digit < '0' || digit > '9') return false; // of one chip, or of one family
    number = 10 * number + (digit - '0');
  }
  return number <= 10 * facts.major + facts.minor;
}

DeviceCode::DeviceCode(device::Runtime &runtime, const std::string &ptx, const std::string &name)
    : runtime_(runtime), program_(runtime.load(ptx, name)) {}

DeviceCode::~DeviceCode() {
  for (std::byte *constant : constants_) runtime_.release(constant);
}

const std::byte *DeviceCode::constant(std::size_t number, const void *host, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (constants_.size() <= number) constants_.resize(number + 1);
  std::byte *&memory = constants_[number];
  if (memory != nullptr) {
    runtime_.use(memory);
    return memory;
  }
  std::byte *const made = runtime_.allocate(std::max<std::size_t>(bytes, 1));
  try {
    if (bytes > 0) runtime_.copy_in(made, host, bytes);
  } catch (...) {
    runtime_.release(made);
    throw;
  }
  return memory = made;
}

DeviceCall::~DeviceCall() {
  for (std::byte *memory : temporaries_) runtime().release(memory);
  for (const Staged &copy : staged_)
    allocator::deallocate(copy.block.memory, copy.block.size_class);
}

std::byte *DeviceCall::allocate(std::size_t bytes) {
  temporaries_.push_back(nullptr);
  try {
    return temporaries_.back() = runtime().allocate(std::max<std::size_t>(bytes, 1));
  } catch (...) {
    temporaries_.pop_back();
    throw;
  }
}

void DeviceCall::free(std::byte *memory) {
  const auto found = std::find(temporaries_.rbegin(), temporaries_.rend(), memory);
  WEFT_INVARIANT(found != temporaries_.rend(), "compiled code frees what it has not allocated");
  temporaries_.erase(std::next(found).base());
  runtime().release(memory);
}

std::byte *DeviceCall::stage(std::size_t bytes, std::size_t first) {
  staged_.reserve(staged_.size() + 1);
  const allocator::Block block = allocator::allocate(std::max<std::size_t>(bytes, 1));
  staged_.push_back({static_cast<std::byte *>(block.memory) + first, block});
  return staged_.back().memory;
}

void DeviceCall::unstage(std::byte *memory) {
  const auto found = std::find_if(staged_.rbegin(), staged_.rend(),
                                  [&](const Staged &copy) { return copy.memory == memory; });
  WEFT_INVARIANT(found != staged_.rend(), "compiled code frees a copy that it has not made");
  const allocator::Block block = found->block;
  staged_.erase(std::next(found).base());
  allocator::deallocate(block.memory, block.size_class);
}

namespace {

/// A strided view as the ranges of memory that it consists of.
class Ranges {
public:
  Ranges(std::int64_t element, std::int64_t rank, const std::int64_t *view) : run_(element) {
    for (std::int64_t axis = 0; axis < rank; ++axis) {
      const std::int64_t size = view[axis], bytes = view[rank + axis] * element;
      if (size == 0) empty_ = true;
      if (size > 1) axes_.push_back({size, bytes});
    }
    if (empty_) return;
    std::sort(axes_.begin(), axes_.end(),
              [](const Axis &a, const Axis &b) { return std::abs(a.stride) < std::abs(b.stride); });
    std::int64_t last = 0;
    for (const Axis &axis : axes_)
      (axis.stride < 0 ? first_ : last) += (axis.size - 1) * axis.stride;
    bytes_ = last - first_ + element;
    const Axis *inner = axes_.begin();
    for (; inner != axes_.end() && inner->stride == run_; ++inner) run_ *= inner->size;
    outer_ = static_cast<std::size_t>(inner - axes_.begin());
  }

  /// From the lowest element to the highest.
  std::size_t bytes() const { return static_cast<std::size_t>(bytes_); }
  /// How far the first element is from the lowest.
  std::size_t first() const { return static_cast<std::size_t>(-first_); }

  /// Calls `copy` with the offset from the first element and the bytes of each range.
  template <class Copy>
  void each(const Copy &copy) const {
    if (empty_) return;
    detail::InlineVector<std::int64_t, 8> at;
    for (std::size_t i = outer_; i < axes_.size(); ++i) at.push_back(0);
    for (std::int64_t offset = 0;;) {
      copy(offset, static_cast<std::size_t>(run_));
      std::size_t i = 0;
      for (; i < at.size(); ++i) {
        const Axis &axis = axes_[outer_ + i];
        offset += axis.stride;
        if (++at[i] < axis.size) break;
        offset -= axis.size * axis.stride;
        at[i] = 0;
      }
      if (i == at.size()) return;
    }
  }

private:
  struct Axis {
    std::int64_t size, stride; ///< in bytes
  };
  detail::InlineVector<Axis, 8> axes_; ///< neighbours first
  std::size_t outer_ = 0;              ///< the first axis beyond a range
  std::int64_t run_, first_ = 0, bytes_ = 0;
  bool empty_ = false;
};

unsigned extent(std::int64_t size) {
  if (size < 0 || size > std::numeric_limits<std::int32_t>::max())
    throw DeviceError("a launch of " + std::to_string(size) +
                      " blocks along one axis: there may be 2147483647");
  return static_cast<unsigned>(size);
}

std::size_t unsigned_of(std::int64_t number) { return static_cast<std::size_t>(number); }

} // namespace
} // namespace weft

using namespace weft;

void weft_rt_gpu_launch(CallContext *context, std::int64_t kernel, const std::int64_t *numbers,
                        std::int64_t count) {
  constexpr std::int64_t grid = 7;
  if (numbers[0] == 0 || numbers[1] == 0 || numbers[2] == 0) return;
  detail::InlineVector<void *, 64> arguments;
  for (std::int64_t i = 0; i < count; ++i)
    arguments.push_back(const_cast<std::int64_t *>(numbers) + grid + i);
  const DeviceCode &code = context->device->code();
  code.runtime().launch(code.program(), unsigned_of(kernel),
                        {extent(numbers[0]), extent(numbers[1]), extent(numbers[2])},
                        {extent(numbers[3]), extent(numbers[4]), extent(numbers[5])},
                        unsigned_of(numbers[6]), arguments.data());
}

void weft_rt_gpu_read(CallContext *context, void *to, const void *from, std::int64_t bytes) {
  context->device->runtime().copy_out(to, static_cast<const std::byte *>(from), unsigned_of(bytes));
}

void weft_rt_gpu_copy(CallContext *context, void *to, const void *from, std::int64_t bytes) {
  if (bytes == 0 || to == from) return;
  context->device->runtime().copy(static_cast<std::byte *>(to),
                                  static_cast<const std::byte *>(from), unsigned_of(bytes));
}

const void *weft_rt_gpu_constant(CallContext *context, std::int64_t number, const void *host,
                                 std::int64_t bytes) {
  return context->device->code().constant(unsigned_of(number), host, unsigned_of(bytes));
}

bool weft_rt_gpu_outside(CallContext *context, std::int32_t dtype, const void *indices,
                         std::int64_t count, std::int64_t size) {
  const std::int64_t item = static_cast<std::int64_t>(item_size(static_cast<DType>(dtype)));
  const std::int64_t view[] = {count, 1};
  void *const copy = weft_rt_gpu_to_host(context, indices, item, 1, view, 1);
  const bool outside = weft_rt_outside(dtype, copy, count, size);
  context->device->unstage(static_cast<std::byte *>(copy));
  return outside;
}

void *weft_rt_gpu_to_host(CallContext *context, const void *first, std::int64_t element,
                          std::int64_t rank, const std::int64_t *view, std::int64_t reads) {
  const Ranges ranges(element, rank, view);
  std::byte *const copy = context->device->stage(ranges.bytes(), ranges.first());
  if (reads != 0)
    ranges.each([&](std::int64_t offset, std::size_t bytes) {
      context->device->runtime().copy_out(copy + offset,
                                          static_cast<const std::byte *>(first) + offset, bytes);
    });
  return copy;
}

void weft_rt_gpu_to_device(CallContext *context, void *copy, void *first, std::int64_t element,
                           std::int64_t rank, const std::int64_t *view, std::int64_t writes) {
  if (writes != 0)
    Ranges(element, rank, view).each([&](std::int64_t offset, std::size_t bytes) {
      context->device->runtime().copy_in(static_cast<std::byte *>(first) + offset,
                                         static_cast<const std::byte *>(copy) + offset, bytes);
    });
  context->device->unstage(static_cast<std::byte *>(copy));
}
