// Cumulative ops: slices, or columns of few large slices, for the threads.
#include "Kernels/Cumulative.h"

#include "Kernels/KernelTable.h"
#include "Support/Threads.h"

#include <algorithm>
#include <cstddef>

namespace weft::kernels {
namespace {

/// One call, and where its operands and its result are.
class Cumulative {
public:
  Cumulative(const CumulativeCall &call, std::span<const void *const> operands, void *result)
      : call_(call), kernel_(kernel_table().cumulative[static_cast<std::size_t>(call.op)]
                                                      [static_cast<std::size_t>(call.dtype)]) {
    for (const void *operand : operands)
      buffers_[count_++] = static_cast<std::byte *>(const_cast<void *>(operand));
    buffers_[count_++] = static_cast<std::byte *>(result);
  }

  void run() const {
    const auto [outer, size, inner] = call_.lines;
    const std::int64_t grain = parallel_grain(call_.cost), slice = size * inner;
    if (outer < threads::max_threads_or_default() && inner >= 2 * kUnit && slice >= 2 * grain) {
      const std::int64_t units = (inner + kUnit - 1) / kUnit;
      const std::int64_t least = std::max<std::int64_t>(grain / (size * kUnit), 1);
      for (std::int64_t i = 0; i < outer; ++i)
        threads::parallel_for_noexcept(0, units, least, [&](std::int64_t begin, std::int64_t end) {
          columns(i, begin * kUnit, std::min(end * kUnit, inner));
        });
      return;
    }
    const std::int64_t least = std::max<std::int64_t>(grain / slice, 1);
    threads::parallel_for_noexcept(0, outer, least, [&](std::int64_t begin, std::int64_t end) {
      if (inner <= kColumns) return kernel(begin * slice, {end - begin, size, inner});
      for (std::int64_t i = begin; i < end; ++i) columns(i, 0, inner);
    });
  }

private:
  /// Columns that threads do not share: no line of the cache belongs to two.
  static constexpr std::int64_t kUnit = 64;
  /// So many columns at a time, whose results are in the cache for the next step.
  static constexpr std::int64_t kColumns = 4096;

  /// Columns of one slice.
  void columns(std::int64_t slice, std::int64_t begin, std::int64_t end) const {
    const auto [outer, size, inner] = call_.lines;
    for (std::int64_t at = begin; at < end; at += kColumns)
      kernel(slice * size * inner + at, {1, size, std::min(kColumns, end - at)});
  }

  /// The lines whose first element is at `offset`; their rows are as far apart as those of all.
  void kernel(std::int64_t offset, const Lines &lines) const {
    const auto bytes = offset * static_cast<std::int64_t>(item_size(call_.dtype));
    std::int64_t told[] = {call_.flags, lines.inner};
    void *buffers[kMostOperands + 2];
    for (std::size_t i = 0; i + 1 < count_; ++i) buffers[i] = buffers_[i] + bytes;
    buffers[count_ - 1] = told;
    buffers[count_] = buffers_[count_ - 1] + bytes;
    const std::int64_t dims[] = {lines.outer, lines.size, call_.lines.inner};
    kernel_(buffers, dims);
  }

  static constexpr std::size_t kMostOperands = 2;

  const CumulativeCall &call_;
  Kernel kernel_;
  std::byte *buffers_[kMostOperands + 1];
  std::size_t count_ = 0;
};

} // namespace

void cumulative(const CumulativeCall &call, std::span<const void *const> operands,
                void *result) noexcept {
  if (!call.lines.empty()) Cumulative(call, operands, result).run();
}

} // namespace weft::kernels

#define WEFT_CUMULATIVE_CALL(Op, Name, Cost)                                                       \
  {                                                                                                \
    weft::OpCode::Op, weft::DType::Name, Cost, numbers[3], { numbers[0], numbers[1], numbers[2] }  \
  }
#include "CumulativeRoutines.inc"
#undef WEFT_CUMULATIVE_CALL
