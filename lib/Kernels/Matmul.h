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
/// wrap), f32, f64 or bf16 (`matmul_bf16`). Other dtypes are the caller's fault to reject: this
/// function does nothing for them.
///
/// The result depends on the operands' sizes and strides and on the CPU level, never on the number
/// of threads. Products with zero are never skipped, so NaN and Inf come out as IEEE has it. Memory
/// for packing is cached per thread; when there is none to be had, a slow kernel without any runs.
void matmul(DType dtype, const MatmulArgs &args) noexcept;

/// The same for bf16, without `add`: every element is one chain of multiply-adds in f32 over k in
/// ascending order, which starts from 0, of an odd k with zeros behind it, and is rounded to bf16
/// at its end. Each step is rounded to the nearest, and denormals are flushed: operands and each
/// sum below 2^-126 are zeros of their sign. That is what VDPBF16PS of AVX512_BF16 does (Intel's
/// Software Developer's Manual, volume 2), which multiplies two at once; other processors with FMA
/// have the same bits, and those without (x86-64-v2) round and flush the products as well.
void matmul_bf16(const MatmulArgs &args) noexcept;

/// The same on kernels of a given level, at most the host's, with or without that instruction where
/// the level is v4 and the host has it. For tests and benchmarks.
void matmul_bf16_forced(const MatmulArgs &args, CpuLevel level, bool pairs) noexcept;

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
WEFT_MATMUL_ENTRY(weft_rt_matmul_bf16, uint16_t);
#undef WEFT_MATMUL_ENTRY
