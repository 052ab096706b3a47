// Fused kernels on the rows of matrices: blocks of rows that the cache holds, shared by threads.
#include <algorithm>

#include "Kernels/Lines.h"
#include "OpDefs/ReductionOrder.h"
#include "Ops/Fused.h"
#include "Runtime/NewTensor.h"
#include "Support/Profile.h"
#include "Support/Threads.h"

namespace weft::call {

namespace {

struct RowFunction {
  const char *name;
  std::string_view operands, results;
};

constexpr RowFunction kFunctions[] = {
#define WEFT_FUSED_ROWS(name, operands, results, ...) {#name, operands, results},
#include "Ops/FusedRows.def"
};

constexpr std::size_t kMostBuffers = 8;
/// What a block of rows takes of the cache in each operand, result and temporary.
constexpr std::int64_t kBlockBytes = 8192;

/// Rows of more bytes stay in no cache from one loop to the next, and temporaries of them are
/// large.
constexpr std::int64_t kLargestRow = 512 << 10;

/// An operand or result: a matrix, or what it has for each row, or for all.
struct Buffer {
  std::byte *data;
  std::int64_t pitch; ///< bytes from a row to the next
};

/// A kernel and its buffers.
struct Rows {
  Kernel kernel;
  std::int64_t size, item;
  std::size_t count = 0;
  Buffer buffers[kMostBuffers];

  void add(char kind, const Tensor &tensor) {
    const std::int64_t pitch = kind == 'm' ? size * item : kind == 'c' ? item : 0;
    buffers[count++] = {tensor.impl()->data, pitch};
  }

  /// Rows `begin` to `end` in blocks, with temporaries for one. Throws OutOfMemory.
  void run(std::int64_t begin, std::int64_t end) const {
    const std::int64_t row = std::max<std::int64_t>(size * item, 1);
    const std::int64_t block = std::clamp<std::int64_t>(kBlockBytes / row, 1, end - begin);
    constexpr std::int64_t line = 64;
    const std::int64_t temporary = (block * row + line - 1) / line * line;
    const Tensor scratch = detail::new_tensor(DType::boolean, Shape{kMostTemporaries * temporary});
    void *all[kMostBuffers + kMostTemporaries];
    for (int i = 0; i < kMostTemporaries; ++i)
      all[count + static_cast<std::size_t>(i)] = scratch.impl()->data + i * temporary;
    for (std::int64_t at = begin; at < end; at += block) {
      for (std::size_t i = 0; i < count; ++i) all[i] = buffers[i].data + at * buffers[i].pitch;
      const std::int64_t dims[] = {std::min(block, end - at), size};
      kernel(all, dims);
    }
  }
};

} // namespace

bool fused_rows(FusedRows function, std::span<const Tensor> operands,
                std::span<const Tensor> results, std::int64_t rows, std::int64_t size) {
  const auto number = static_cast<std::size_t>(function);
  const RowFunction &info = kFunctions[number];
  const DType dtype = operands[0].dtype();
  const FusedTable &table = fused_table();
  const FusedFacts facts = table.row_facts[number][static_cast<std::size_t>(dtype)];
  const auto item = static_cast<std::int64_t>(item_size(dtype));
  if (!facts.exist() || size == 0 || size > kLargestRow / item || cut_reduction(rows, size, 1))
    return false;
  const profile::Scope scope(profile::Kind::op, info.name);
  if (rows == 0) return true;
  Rows all{.kernel = table.rows[number][static_cast<std::size_t>(dtype)],
           .size = size,
           .item = item,
           .buffers = {}};
  std::vector<Tensor> dense; // what keeps copies alive
  for (std::size_t i = 0; i < operands.size(); ++i) {
    dense.push_back(operands[i].contiguous());
    all.add(info.operands[i], dense.back());
  }
  for (std::size_t i = 0; i < results.size(); ++i) all.add(info.results[i], results[i]);
  const std::int64_t grain = std::max<std::int64_t>(
      kernels::parallel_grain(facts.cost()) / std::max<std::int64_t>(size, 1), 1);
  threads::parallel_for(0, rows, grain,
                        [&](std::int64_t begin, std::int64_t end) { all.run(begin, end); });
  return true;
}

namespace {

/// The sums of the columns of `rows` dense rows.
void sum_columns(DType dtype, const std::byte *x, std::int64_t rows, std::int64_t size,
                 std::byte *sums) {
  void *buffers[] = {const_cast<std::byte *>(x), sums};
  const std::int64_t dims[] = {1, rows, size, rows * size, size};
  kernel_table().reduce_columns[static_cast<std::size_t>(OpCode::sum)]
                               [static_cast<std::size_t>(dtype)](buffers, dims);
}

} // namespace

bool fused_pullback(FusedRows function, std::span<const Tensor> operands, const Tensor &result,
                    const Tensor &of_scale, const Tensor &of_cotangent, std::int64_t rows,
                    std::int64_t size) {
  const auto number = static_cast<std::size_t>(function);
  const RowFunction &info = kFunctions[number];
  const DType dtype = operands[0].dtype();
  const FusedTable &table = fused_table();
  const FusedFacts facts = table.row_facts[number][static_cast<std::size_t>(dtype)];
  const auto cut = cut_reduction(1, rows, size);
  const std::int64_t block = cut ? cut->rows : rows, parts = cut ? cut->parts() : 1;
  // What is summed stays in the cache until it is.
  const auto item = static_cast<std::int64_t>(item_size(dtype));
  if (!facts.exist() || size < 2 || size > kLargestRow / item || rows == 0 ||
      block * size > 2 * kReductionBlock || cut_reduction(rows, size, 1))
    return false;
  const profile::Scope scope(profile::Kind::op, info.name);
  Rows all{.kernel = table.rows[number][static_cast<std::size_t>(dtype)],
           .size = size,
           .item = item,
           .buffers = {}};
  std::vector<Tensor> dense;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    dense.push_back(operands[i].contiguous());
    all.add(info.operands[i], dense.back());
  }
  all.add('m', result);
  const Tensor sums[] = {of_scale, of_cotangent};
  Tensor partial[2];
  for (std::size_t i = 0; i < 2; ++i)
    if (sums[i].defined())
      partial[i] = cut ? detail::new_tensor(dtype, Shape{parts, size}) : sums[i];
  const std::int64_t row = size * all.item;
  threads::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const Tensor products = detail::new_tensor(dtype, Shape{block, size});
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t first = part * block, last = std::min(first + block, rows);
      Rows mine = all;
      mine.add('m', products);
      mine.buffers[mine.count - 1].data -= first * row;
      mine.run(first, last);
      sum_columns(dtype, products.impl()->data, last - first, size,
                  partial[0].impl()->data + part * row);
      if (partial[1].defined())
        sum_columns(dtype, dense.back().impl()->data + first * row, last - first, size,
                    partial[1].impl()->data + part * row);
    }
  });
  for (std::size_t i = 0; i < 2 && cut; ++i)
    if (sums[i].defined())
      sum_columns(dtype, partial[i].impl()->data, parts, size, sums[i].impl()->data);
  return true;
}

Tensor fused_over(FusedRows function, const Tensor &x, const Ints &axes, bool keepdims) {
  if (!fuses({&x, 1}) || x.traced() || !is_floating(x.dtype()) || axes.empty()) return {};
  const auto first = static_cast<std::size_t>(x.rank()) - axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<std::int64_t>(first + i)) return {};
  const Shape shape(x.impl()->sizes());
  Ints kept;
  std::int64_t rows = 1, size = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (i < first ? rows : size) *= shape[i];
    if (i < first || keepdims) kept.push_back(i < first ? shape[i] : 1);
  }
  Tensor result = detail::new_tensor(x.dtype(), kept);
  return fused_rows(function, {&x, 1}, {&result, 1}, rows, size) ? result : Tensor();
}

bool fused_columns(FusedRows function, std::span<const Tensor> operands, const Tensor &result) {
  const auto number = static_cast<std::size_t>(function);
  const auto dtype = static_cast<std::size_t>(operands[0].dtype());
  const FusedTable &table = fused_table();
  const FusedFacts facts = table.row_facts[number][dtype];
  const std::int64_t size = result.size();
  if (!facts.exist() || size < 2) return false;
  const std::int64_t rows = operands[0].size() / size;
  const profile::Scope scope(profile::Kind::op, kFunctions[number].name);
  Rows all{.kernel = table.rows[number][dtype],
           .size = size,
           .item = static_cast<std::int64_t>(item_size(result.dtype())),
           .buffers = {}};
  std::vector<Tensor> dense;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    dense.push_back(operands[i].contiguous());
    all.add(kFunctions[number].operands[i], dense.back());
  }
  const auto sum = [&](std::int64_t begin, std::int64_t end, std::byte *to) {
    void *buffers[kMostBuffers];
    for (std::size_t i = 0; i < all.count; ++i)
      buffers[i] = all.buffers[i].data + begin * all.buffers[i].pitch;
    buffers[all.count] = to;
    const std::int64_t dims[] = {end - begin, size};
    all.kernel(buffers, dims);
  };
  const auto cut = cut_reduction(1, rows, size);
  if (!cut) {
    sum(0, rows, result.impl()->data);
    return true;
  }
  const Tensor parts = detail::new_tensor(result.dtype(), Shape{cut->parts(), size});
  std::byte *const first = parts.impl()->data;
  threads::parallel_for_noexcept(0, cut->parts(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      sum(i * cut->rows, std::min((i + 1) * cut->rows, rows), first + i * size * all.item);
  });
  sum_columns(result.dtype(), first, cut->parts(), size, result.impl()->data);
  return true;
}

} // namespace weft::call
