// Ops that go along one axis: cumulative ops by their kernels, argsort and sort.
#include <algorithm>
#include <vector>

#include "Kernels/KernelTable.h"
#include "Kernels/Sort.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

/// A contiguous tensor that has elements, as (outer, size, inner) around one axis.
struct Lines {
  std::int64_t outer = 1, size = 1, inner = 1;

  Lines(const Shape &shape, std::int64_t axis) : size(shape[static_cast<std::size_t>(axis)]) {
    for (std::int64_t i = 0; i < shape.rank(); ++i) {
      if (i < axis) outer *= shape[static_cast<std::size_t>(i)];
      if (i > axis) inner *= shape[static_cast<std::size_t>(i)];
    }
  }
};

/// Lines of x sorted along `axis`; the result's type says how many of each are wanted.
Tensor sorted(const Tensor &x, std::int64_t axis, bool descending, kernels::Sorted wanted,
              const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  const detail::TensorImpl *const from = x.impl(), *const to = result.impl();
  kernels::sort(x.dtype(), {.rank = from->rank,
                            .sizes = from->dims(),
                            .axis = axis,
                            .descending = descending,
                            .wanted = wanted,
                            .count = to->dims()[axis],
                            .x = from->data,
                            .x_strides = from->strides(),
                            .result = to->data,
                            .result_strides = to->strides()});
  return result;
}

} // namespace

Tensor cumulative(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &type) {
  const Kernel kernel =
      kernel_table()
          .cumulative[static_cast<std::size_t>(info.op)][static_cast<std::size_t>(type.dtype)];
  WEFT_INVARIANT(kernel != nullptr, "there is no kernel for " + std::string(info.name) + " of " +
                                        std::string(name_of(type.dtype)));
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  std::int64_t flags = 0;
  for (std::size_t i = 1; i < attrs.size(); ++i)
    if (std::get<bool>(attrs[i])) flags |= std::int64_t{1} << (i - 1);
  std::vector<Tensor> inputs;
  for (const Tensor &operand : operands) inputs.push_back(make_contiguous(operand));

  const Lines lines(type.shape, CumulativeAttrs(attrs).axis);
  const std::int64_t per_outer = lines.size * lines.inner;
  const auto bytes = per_outer * static_cast<std::int64_t>(item_size(type.dtype));
  const std::int64_t grain = std::max<std::int64_t>(parallel_grain(info.cost) / per_outer, 1);
  threads::parallel_for_noexcept(0, lines.outer, grain, [&](std::int64_t begin, std::int64_t end) {
    void *buffers[4];
    std::size_t count = 0;
    for (const Tensor &input : inputs) buffers[count++] = input.impl()->data + begin * bytes;
    buffers[count++] = &flags;
    buffers[count] = result.impl()->data + begin * bytes;
    const std::int64_t dims[] = {end - begin, lines.size, lines.inner};
    kernel(buffers, dims);
  });
  return result;
}

Tensor argsort(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
               const TensorType &type) {
  const ArgsortAttrs given(attrs);
  return sorted(operands[0], given.axis, given.descending, kernels::Sorted::places, type);
}

Tensor sort(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
            const TensorType &type) {
  const SortAttrs given(attrs);
  return sorted(operands[0], given.axis, given.descending, kernels::Sorted::values, type);
}

} // namespace weft::eager
