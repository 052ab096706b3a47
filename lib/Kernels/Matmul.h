// Matrix multiplication of strided batches: the one entry behind eager, traced and compiled code.
#pragma once

#include "Support/Cpu.h"

#include <weft/dtype.h>

#include <cstdint>

namespace weft::kernels {

/// C[i] = A[i] B[i] for a batch of matrices, A[m, k], B[k, n], C[m, n]; all strides count elements.
/// A and B may have any strides, 0 and negative ones included; the columns of C are adjacent and C
/// overlaps neither operand nor itself.
struct MatmulArgs {
  int64_t batch, m, n, k;
  const void *a;
  int64_t a_batch, a_row, a_col;
  const void *b;
  int64_t b_batch, b_row, b_col;
  void *c;
  int64_t c_batch, c_row;
  /// C += A B: every element of the product is computed as without it, and then added.
  bool add = false;
};

/// Computes C, which is overwritten (with zeros when k is 0) unless `add`, for i32, i64 (both
/// wrap), f32 or f64. Other dtypes are the caller's fault to reject: this function does nothing for
/// them.
///
/// The result depends on the operands' sizes and strides and on the CPU level, never on the number
/// of threads. Products with zero are never skipped, so NaN and Inf come out as IEEE has it. Memory
/// for packing is cached per thread; when there is none to be had, a slow kernel without any runs.
void matmul(DType dtype, const MatmulArgs &args) noexcept;

/// The ways to compute a product; `automatic` chooses by size, as Matmul.cpp documents.
enum class MatmulPath { automatic, direct, blocked };

/// `matmul` on kernels of a given level (at most the host's), by a given path where it is possible.
/// For tests and benchmarks.
void matmul_forced(DType dtype, const MatmulArgs &args, CpuLevel level, MatmulPath path) noexcept;

} // namespace weft::kernels

// The same for compiled code, one symbol per dtype; the second four add to C.
#define WEFT_MATMUL_ENTRY(Name, Type)                                                              \
  extern "C" void Name(int64_t batch, int64_t m, int64_t n, int64_t k, const Type *a,              \
                       int64_t a_batch, int64_t a_row, int64_t a_col, const Type *b,               \
                       int64_t b_batch, int64_t b_row, int64_t b_col, Type *c, int64_t c_batch,    \
                       int64_t c_row)
WEFT_MATMUL_ENTRY(weft_rt_matmul_f32, float);
WEFT_MATMUL_ENTRY(weft_rt_matmul_f64, double);
WEFT_MATMUL_ENTRY(weft_rt_matmul_i32, int32_t);
WEFT_MATMUL_ENTRY(weft_rt_matmul_i64, int64_t);
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_f32, float);
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_f64, double);
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_i32, int32_t);
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_i64, int64_t);
#undef WEFT_MATMUL_ENTRY
