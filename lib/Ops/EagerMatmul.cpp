// The matrix product: operands go to the kernel with their strides, so that transposed views cost
// nothing.
#include <algorithm>
#include <utility>

#include "Kernels/Matmul.h"
#include "Ops/Eager.h"

namespace weft::eager {

namespace {

/// An operand as a batch of matrices.
struct Matrices {
  const std::byte *data;
  std::int64_t rows, columns, row_stride, column_stride;
  Ints batch_strides; ///< aligned to the batch axes of the result
};

/// `x`, copied if its elements lie in steps along every axis of its matrices: the kernel adds in
/// the order of the layout then, and compiled code, which has a copy of such an argument, in
/// another.
Tensor in_rows_or_columns(const Tensor &x) {
  const detail::TensorImpl *impl = x.impl();
  bool steps = false;
  for (std::int64_t axis = std::max<std::int64_t>(impl->rank - 2, 0); axis < impl->rank; ++axis) {
    if (impl->dims()[axis] == 1) continue;
    if (impl->strides()[axis] == 1 || impl->strides()[axis] == 0) return x;
    steps = true;
  }
  return steps ? x.contiguous() : x;
}

/// `vector_is_row` says what an operand of rank 1 is.
Matrices matrices(const Tensor &x, bool transposed, bool vector_is_row,
                  std::span<const std::int64_t> batch) {
  const detail::TensorImpl *impl = x.impl();
  const std::int64_t rank = impl->rank;
  Matrices m{impl->data, 1, 1, 0, 0, Ints(batch.size(), 0)};
  if (rank == 1) {
    (vector_is_row ? m.columns : m.rows) = impl->dims()[0];
    (vector_is_row ? m.column_stride : m.row_stride) = impl->strides()[0];
    return m;
  }
  m.rows = impl->dims()[rank - 2];
  m.columns = impl->dims()[rank - 1];
  m.row_stride = impl->strides()[rank - 2];
  m.column_stride = impl->strides()[rank - 1];
  if (transposed) {
    std::swap(m.rows, m.columns);
    std::swap(m.row_stride, m.column_stride);
  }
  const std::size_t offset = batch.size() - static_cast<std::size_t>(rank - 2);
  for (std::int64_t i = 0; i + 2 < rank; ++i)
    if (impl->dims()[i] != 1)
      m.batch_strides[offset + static_cast<std::size_t>(i)] = impl->strides()[i];
  return m;
}

} // namespace

Tensor matmul(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
              const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  const std::size_t batch_rank =
      type.shape.size() - (operands[0].rank() > 1) - (operands[1].rank() > 1);
  const std::span<const std::int64_t> batch(type.shape.data(), batch_rank);
  const Tensor lhs = in_rows_or_columns(operands[0]), rhs = in_rows_or_columns(operands[1]);
  const Matrices a = matrices(lhs, MatmulAttrs(attrs).transpose_lhs, true, batch);
  const Matrices b = matrices(rhs, MatmulAttrs(attrs).transpose_rhs, false, batch);

  // The longest run of inner batch axes over which both operands move on evenly is one call.
  std::size_t first = batch_rank;
  std::int64_t count = 1;
  kernels::MatmulArgs args{};
  while (first != 0) {
    const std::size_t axis = first - 1;
    if (batch[axis] != 1) {
      if (count == 1) {
        args.a_batch = a.batch_strides[axis];
        args.b_batch = b.batch_strides[axis];
      } else if (a.batch_strides[axis] != args.a_batch * count ||
                 b.batch_strides[axis] != args.b_batch * count) {
        break;
      }
      count *= batch[axis];
    }
    --first;
  }
  args.batch = count;
  args.m = a.rows;
  args.n = b.columns;
  args.k = a.columns;
  args.a_row = a.row_stride;
  args.a_col = a.column_stride;
  args.b_row = b.row_stride;
  args.b_col = b.column_stride;
  args.c_batch = args.m * args.n;
  args.c_row = args.n;

  const auto item = static_cast<std::int64_t>(item_size(type.dtype));
  std::int64_t calls = 1;
  for (std::size_t i = 0; i < first; ++i) calls *= batch[i];
  for (std::int64_t call = 0; call < calls; ++call) {
    std::int64_t a_offset = 0, b_offset = 0, rest = call;
    for (std::size_t i = first; i-- > 0; rest /= batch[i]) {
      a_offset += rest % batch[i] * a.batch_strides[i];
      b_offset += rest % batch[i] * b.batch_strides[i];
    }
    args.a = a.data + a_offset * item;
    args.b = b.data + b_offset * item;
    args.c = result.impl()->data + call * count * args.c_batch * item;
    kernels::matmul(type.dtype, args);
  }
  return result;
}

} // namespace weft::eager
