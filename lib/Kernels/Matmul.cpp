// Chooses how to compute a matrix product and drives the kernels of the CPU's level over it.

#include "Kernels/Matmul.h"

#include "Kernels/MatmulBlocking.h"
#include "Kernels/MatmulKernels.h"
#include "Kernels/MatmulThresholds.h"
#include "Support/Threads.h"

#include <algorithm>
#include <numeric>

namespace weft::kernels {
namespace {

template <typename T>
struct Product {
  int64_t m, n, k;
  const T *a;
  int64_t a_row, a_col;
  const T *b;
  int64_t b_row, b_col;
  T *c;
  int64_t c_row;
  bool add = false;
};

/// True when `rows` rows that lie `stride` elements apart push each other out of a cache because
/// the stride is a multiple of a large power of two: out of the first level, whose ways are taken
/// as 4 KiB and 8 per set, or out of the second, taken as 1 MiB with ways of 64 KiB.
bool collide(int64_t rows, int64_t stride, size_t item) {
  constexpr int64_t kFirstWay = 4 << 10, kWay = 64 << 10, kCache = 1 << 20;
  const int64_t bytes = stride * int64_t(item);
  return (bytes % kFirstWay == 0 && rows > 8) || rows > kCache / std::gcd(bytes, kWay);
}

/// Correct whatever else is missing: takes a block with A packed or not and B in place.
template <typename T>
void multiply_without_memory(const MatmulKernels<T> &kernels, const MatmulBlock<T> &block,
                             int64_t b_col = 1) {
  const int64_t rows = kernels.tile_rows;
  for (int64_t i = 0; i < block.m; ++i)
    for (int64_t j = 0; j < block.n; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < block.k; ++p) {
        const T *a = block.a_packed ? block.a + i / rows * block.a_row + p * rows + i % rows
                                    : block.a + i * block.a_row + p * block.a_col;
        sum += *a * block.b[p * block.b_row + j * b_col];
      }
      T &c = block.c[i * block.c_row + j];
      c = block.add ? c + sum : sum;
    }
}

/// How a direct product treats its operands.
template <typename T>
struct DirectPlan {
  bool pack_b;          ///< Pack B, a few panels at a time, each thread its own.
  const T *a = nullptr; ///< Packed A, or null when A is in place.
  int64_t a_panel = 0;  ///< Elements per panel of packed A.
};

/// One thread's part of a direct product.
template <typename T>
void multiply_direct_part(const MatmulKernels<T> &kernels, const Product<T> &p,
                          const DirectPlan<T> &plan) {
  MatmulBlock<T> block{};
  block.m = p.m, block.n = p.n, block.k = p.k;
  block.a = p.a, block.a_row = p.a_row, block.a_col = p.a_col;
  block.c = p.c, block.c_row = p.c_row, block.add = p.add;
  if (plan.a) block.a_packed = true, block.a = plan.a, block.a_row = plan.a_panel;
  if (!plan.pack_b) {
    block.b = p.b, block.b_row = p.b_row;
    if (kernels.needs_tail && p.n % kernels.lanes != 0) {
      block.tail = scratch_for<T>(Scratch::tail, times(p.k, kernels.panel_columns));
      if (!block.tail) return multiply_without_memory(kernels, block);
    }
    const bool thin = p.k <= kThinDepth && p.n > kernels.panel_columns &&
                      times(p.k, p.n, sizeof(T)) <= kDirectPackBytes;
    const int64_t height = thin ? kernels.tile_rows : p.m;
    for (int64_t i = 0; i < p.m; i += height) {
      block.m = std::min(height, p.m - i);
      block.a = p.a + i * p.a_row;
      if (plan.a) block.a = plan.a + i / kernels.tile_rows * plan.a_panel;
      block.c = p.c + i * p.c_row;
      kernels.block(block);
    }
    return;
  }
  const int64_t panel = times(p.k, kernels.panel_columns);
  const int64_t panels = std::clamp<int64_t>(kDirectPackBytes / int64_t(sizeof(T)) / panel, 1,
                                             divide_up(p.n, kernels.panel_columns));
  T *packed = scratch_for<T>(Scratch::panels, times(panel, panels));
  block.b = p.b, block.b_row = p.b_row;
  if (!packed) return multiply_without_memory(kernels, block, p.b_col);
  block.b = packed, block.b_row = kernels.panel_columns, block.b_panel = panel;
  block.b_packed = true;
  const int64_t step = panels * kernels.panel_columns;
  for (int64_t j = 0; j < p.n; j += step) {
    block.n = std::min(step, p.n - j);
    kernels.pack_b(p.k, block.n, p.b + j * p.b_col, p.b_row, p.b_col, packed, panel);
    block.c = p.c + j;
    kernels.block(block);
  }
}

/// Packs all of A for a direct product, or returns null when there is no memory.
template <typename T>
T *pack_all_of_a(const MatmulKernels<T> &kernels, const Product<T> &p, int64_t panel) {
  const int64_t rows = kernels.tile_rows, panels = divide_up(p.m, rows);
  T *packed = scratch_for<T>(Scratch::rows, times(panels, panel));
  if (!packed) return nullptr;
  threads::parallel_for_noexcept(
      0, panels, divide_up(kPackWork, times(rows, p.k)), [&](int64_t begin, int64_t end) {
        kernels.pack_a(std::min(end * rows, p.m) - begin * rows, p.k, p.a + begin * rows * p.a_row,
                       p.a_row, p.a_col, packed + begin * panel, panel);
      });
  return packed;
}

/// Any product that `multiply_blocked` is not better for: A is read once per panel of B, in place
/// unless its strides forbid it.
template <typename T>
void multiply_direct(const MatmulKernels<T> &kernels, const Product<T> &p) {
  const bool many_rows = p.m > kReusingTiles * kernels.tile_rows;
  DirectPlan<T> plan = {p.b_col != 1 || (many_rows && collide(p.k, p.b_row, sizeof(T)))};
  const int64_t work = times(p.m, p.n, p.k);
  if (many_rows && kernels.packs_a && p.n > kReusingTiles * kernels.panel_columns &&
      (p.a_col == 1 ? collide(kernels.tile_rows, p.a_row, sizeof(T))
                    : p.a_row != 1 || collide(p.k, p.a_col, sizeof(T)))) {
    const int64_t panel = times(kernels.tile_rows, p.k) + kernels.lanes;
    plan.a = pack_all_of_a(kernels, p, panel);
    if (plan.a) plan.a_panel = panel;
  }
  if (work < 2 * kThreadWork) return multiply_direct_part(kernels, p, plan);
  // Deal out columns when there are panels enough to deal evenly, else rows, by register tiles.
  const int64_t threads = threads::max_threads_or_default();
  const int64_t panels = divide_up(p.n, kernels.panel_columns);
  const bool columns =
      panels >= 4 * threads || panels % threads == 0 || p.m < kernels.tile_rows * threads;
  const int64_t unit = columns ? kernels.panel_columns : kernels.tile_rows;
  const int64_t items = divide_up(columns ? p.n : p.m, unit);
  // Parts of rows pack all of B each: then there are no more of them than threads.
  const int64_t least = !columns && plan.pack_b ? divide_up(items, threads) : 1;
  threads::parallel_for_noexcept(
      0, items, std::max(least, divide_up(kThreadWork, std::max<int64_t>(work / items, 1))),
      [&](int64_t begin, int64_t end) {
        Product<T> part = p;
        DirectPlan<T> part_plan = plan;
        const int64_t first = begin * unit;
        if (columns) {
          part.n = std::min(end * unit, p.n) - first;
          part.b += first * p.b_col;
          part.c += first;
        } else {
          part.m = std::min(end * unit, p.m) - first;
          part.a += first * p.a_row;
          part.c += first * p.c_row;
          if (plan.a) part_plan.a += begin * plan.a_panel;
        }
        multiply_direct_part(kernels, part, part_plan);
      });
}

/// A large product. For each slice of k the threads first pack A and B together, then share the
/// register tiles; consecutive slices go on with the sums in C where the last one stopped.
template <typename T>
void multiply_blocked(const MatmulKernels<T> &kernels, const Product<T> &p) {
  const int64_t rows = kernels.tile_rows, columns = kernels.panel_columns;
  const int64_t slices = divide_up(p.k, kSliceDepth);
  const int64_t depth = divide_up(p.k, slices);
  const int64_t most_rows = kMostPacked / rows * rows;
  const int64_t a_panel = rows * depth + kernels.lanes, b_panel = columns * depth;
  const int64_t most_a = divide_up(std::min(p.m, most_rows), rows);
  const int64_t most_b = divide_up(std::min(p.n, kMostPacked), columns);
  T *packed_b = scratch_for<T>(Scratch::panels, most_a * a_panel + most_b * b_panel);
  if (!packed_b) return multiply_direct(kernels, p);
  T *packed_a = packed_b + most_b * b_panel;
  const int64_t row_block = std::max<int64_t>(1, kRowBlockBytes / (a_panel * int64_t(sizeof(T))));

  for (int64_t j = 0; j < p.n; j += kMostPacked)
    for (int64_t l = 0; l < p.k; l += depth)
      for (int64_t i = 0; i < p.m; i += most_rows) {
        const int64_t m = std::min(most_rows, p.m - i), n = std::min(kMostPacked, p.n - j);
        const int64_t k = std::min(depth, p.k - l);
        const int64_t a_panels = divide_up(m, rows), b_panels = divide_up(n, columns);
        // B stays packed from one block of rows to the next.
        const int64_t b_units = i == 0 ? b_panels * columns : 0;
        const PackedSlice<T, T> packed{.m = m,
                                       .n = n,
                                       .k = k,
                                       .a = p.a + i * p.a_row + l * p.a_col,
                                       .a_row = p.a_row,
                                       .a_col = p.a_col,
                                       .b = p.b + l * p.b_row + j * p.b_col,
                                       .b_row = p.b_row,
                                       .b_col = p.b_col,
                                       .packed_a = packed_a,
                                       .a_panel = a_panel,
                                       .packed_b = packed_b,
                                       .b_panel = b_panel};
        threads::parallel_for_noexcept(
            0, b_units + a_panels * rows, divide_up(kPackWork, k),
            [&](int64_t begin, int64_t end) { packed.pack(kernels, b_units, begin, end); });
        threads::parallel_for_noexcept(
            0, a_panels * b_panels, divide_up(kThreadWork, k * rows * columns),
            [&](int64_t begin, int64_t end) {
              MatmulBlock<T> block{};
              block.k = k;
              block.a_row = a_panel;
              block.b_row = columns, block.b_panel = b_panel, block.c_row = p.c_row;
              block.a_packed = block.b_packed = true;
              block.accumulate = l > 0;
              each_run_of_tiles(begin, end, row_block, a_panels, b_panels,
                                [&](int64_t panel, int64_t first, int64_t count) {
                                  const int64_t top = first * rows;
                                  block.m = std::min(count * rows, m - top);
                                  block.n = std::min(columns, n - panel * columns);
                                  block.a = packed_a + first * a_panel;
                                  block.b = packed_b + panel * b_panel;
                                  block.c = p.c + (i + top) * p.c_row + j + panel * columns;
                                  kernels.block(block);
                                });
            });
      }
}

/// Matrix times vector, where the vector lies along the rows' contiguous dimension.
template <typename T>
void multiply_dots(const MatmulKernels<T> &kernels, int64_t m, int64_t k, const T *a, int64_t a_row,
                   const T *x, int64_t x_step, T *y, int64_t y_step) {
  if (x_step != 1) {
    T *copy = scratch_for<T>(Scratch::vector, k);
    if (!copy) {
      for (int64_t i = 0; i < m; ++i) {
        T sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += a[i * a_row + l] * x[l * x_step];
        y[i * y_step] = sum;
      }
      return;
    }
    for (int64_t l = 0; l < k; ++l) copy[l] = x[l * x_step];
    x = copy;
  }
  threads::parallel_for_noexcept(0, m, divide_up(kVectorWork, k), [&](int64_t begin, int64_t end) {
    kernels.dots(end - begin, k, a + begin * a_row, a_row, x, y + begin * y_step, y_step);
  });
}

/// Whether the product is so large that packed A and B together, cut in slices of k, are better.
template <typename T>
bool is_large(const MatmulKernels<T> &kernels, const Product<T> &p) {
  return p.m > kReusingTiles * kernels.tile_rows && p.n > kReusingTiles * kernels.panel_columns &&
         (p.k > kDirectDepth || times(p.m, p.k, sizeof(T)) > kDirectBytes);
}

/// A row times a matrix that is too large for the first-level cache.
template <typename T>
void multiply_row(const MatmulKernels<T> &kernels, const Product<T> &p) {
  threads::parallel_for_noexcept(
      0, divide_up(p.n, kernels.lanes), divide_up(kVectorWork, times(p.k, kernels.lanes)),
      [&](int64_t begin, int64_t end) {
        begin *= kernels.lanes;
        end = std::min(end * kernels.lanes, p.n);
        kernels.row(end - begin, p.k, p.a, p.a_col, p.b + begin, p.b_row, p.c + begin);
      });
}

/// The way to compute a product; it decides in what order the sums add up, and is a matter of sizes
/// and strides.
template <typename T>
void multiply(const MatmulKernels<T> &kernels, const Product<T> &p, MatmulPath path);

/// Computes a product apart, a few rows at a time, and adds it: the ways that do not end with whole
/// elements in registers.
template <typename T>
void multiply_and_add(const MatmulKernels<T> &kernels, const Product<T> &p, MatmulPath path) {
  T *sums = scratch_for<T>(Scratch::sums, times(p.m, p.n));
  if (!sums) {
    // Correct, in another order.
    MatmulBlock<T> block{};
    block.m = p.m, block.n = p.n, block.k = p.k;
    block.a = p.a, block.a_row = p.a_row, block.a_col = p.a_col;
    block.b = p.b, block.b_row = p.b_row;
    block.c = p.c, block.c_row = p.c_row, block.add = true;
    return multiply_without_memory(kernels, block, p.b_col);
  }
  Product<T> apart = p;
  apart.c = sums, apart.c_row = p.n, apart.add = false;
  multiply(kernels, apart, path);
  threads::parallel_for_noexcept(0, p.m, divide_up(kPackWork, p.n),
                                 [&](int64_t begin, int64_t end) {
                                   for (int64_t i = begin; i < end; ++i)
                                     for (int64_t j = 0; j < p.n; ++j)
                                       p.c[i * p.c_row + j] += sums[i * p.n + j];
                                 });
}

template <typename T>
void multiply(const MatmulKernels<T> &kernels, const Product<T> &p, MatmulPath path) {
  const bool blocked =
      path == MatmulPath::blocked || (path == MatmulPath::automatic && is_large(kernels, p));
  if (p.add) {
    const bool direct = p.m > 1 && p.n > 1 && !(blocked && kernels.packs_a);
    return direct ? multiply_direct(kernels, p) : multiply_and_add(kernels, p, path);
  }
  if (p.n == 1 && p.a_col == 1 && p.k > 1)
    return multiply_dots(kernels, p.m, p.k, p.a, p.a_row, p.b, p.b_row, p.c, p.c_row);
  if (p.n == 1 && p.c_row == 1 && p.m > 1) {
    // A column vector in contiguous memory is a row vector: transpose the product.
    return multiply<T>(kernels, {1, p.m, p.k, p.b, 0, p.b_row, p.a, p.a_col, p.a_row, p.c, 0},
                       path);
  }
  if (p.m == 1 && p.b_row == 1 && p.b_col != 1)
    return multiply_dots(kernels, p.n, p.k, p.b, p.b_col, p.a, p.a_col, p.c, int64_t(1));

  if (p.m == 1 && p.b_col == 1 && path == MatmulPath::automatic &&
      times(p.k, p.n, sizeof(T)) > kRowBytes)
    return multiply_row(kernels, p);

  if (blocked && kernels.packs_a) return multiply_blocked(kernels, p);
  multiply_direct(kernels, p);
}

template <typename T>
void multiply_batch(const MatmulKernels<T> &kernels, const MatmulArgs &args, MatmulPath path) {
  MatmulArgs all = args;
  if (all.batch <= 0 || all.m <= 0 || all.n <= 0) return;
  const auto *a = static_cast<const T *>(all.a);
  const auto *b = static_cast<const T *>(all.b);
  auto *c = static_cast<T *>(all.c);
  if (all.k <= 0) {
    for (int64_t s = 0; s < all.batch; ++s)
      for (int64_t i = 0; i < all.m; ++i)
        for (int64_t j = 0; j < all.n; ++j) {
          T &element = c[s * all.c_batch + i * all.c_row + j];
          element = all.add ? element + T(0) : T(0); // a negative zero becomes a positive one
        }
    return;
  }
  if (all.m == 1) all.a_row = all.a_batch, all.c_row = all.c_batch;
  if (all.batch > 1 && all.b_batch == 0 && all.a_batch == all.m * all.a_row &&
      all.c_batch == all.m * all.c_row) {
    // One B for all: the batch is more rows.
    all.m *= all.batch;
    all.batch = 1;
  }
  const auto product = [&](int64_t s) {
    multiply<T>(kernels,
                {all.m, all.n, all.k, a + s * all.a_batch, all.a_row, all.a_col,
                 b + s * all.b_batch, all.b_row, all.b_col, c + s * all.c_batch, all.c_row,
                 all.add},
                path);
  };
  const int64_t work = times(all.m, all.n, all.k);
  // Whole products are dealt out to threads when there are enough of them; few large ones are
  // shared from the inside.
  const bool enough = all.batch > 1 && (work < 2 * kThreadWork ||
                                        all.batch >= 4 * threads::max_threads_or_default());
  if (!enough) {
    for (int64_t s = 0; s < all.batch; ++s) product(s);
    return;
  }
  threads::parallel_for_noexcept(0, all.batch, divide_up(kThreadWork, work),
                                 [&](int64_t begin, int64_t end) {
                                   for (int64_t s = begin; s < end; ++s) product(s);
                                 });
}

const MatmulLevel &level_table(CpuLevel level) {
  return of_level(level, matmul_level_v2, matmul_level_v3, matmul_level_v4);
}

/// The host's level, in one load once the library is initialised.
const MatmulLevel &host_table() {
  static const MatmulLevel &table = level_table(host_cpu_level());
  return table;
}

void multiply_dtype(DType dtype, const MatmulArgs &args, const MatmulLevel &level,
                    MatmulPath path) {
  switch (dtype) {
  case DType::f32: return multiply_batch(level.f32, args, path);
  case DType::f64: return multiply_batch(level.f64, args, path);
  case DType::i32: return multiply_batch(level.i32, args, path);
  case DType::i64: return multiply_batch(level.i64, args, path);
  default: break; // others are computed in one of these
  }
}

} // namespace

void matmul(DType dtype, const MatmulArgs &args) noexcept {
  if (dtype == DType::bf16) return matmul_bf16(args);
  multiply_dtype(dtype, args, host_table(), MatmulPath::automatic);
}

void matmul_forced(DType dtype, const MatmulArgs &args, CpuLevel level, MatmulPath path) noexcept {
  multiply_dtype(dtype, args, level_table(level), path);
}

} // namespace weft::kernels

#define WEFT_MATMUL_ENTRY(Name, Type, Field, Add)                                                  \
  extern "C" void Name(int64_t batch, int64_t m, int64_t n, int64_t k, const Type *a,              \
                       int64_t a_batch, int64_t a_row, int64_t a_col, const Type *b,               \
                       int64_t b_batch, int64_t b_row, int64_t b_col, Type *c, int64_t c_batch,    \
                       int64_t c_row) {                                                            \
    using namespace weft::kernels;                                                                 \
    multiply_batch(host_table().Field,                                                             \
                   {batch, m, n, k, a, a_batch, a_row, a_col, b, b_batch, b_row, b_col, c,         \
                    c_batch, c_row, Add},                                                          \
                   MatmulPath::automatic);                                                         \
  }
WEFT_MATMUL_ENTRY(weft_rt_matmul_f32, float, f32, false)
WEFT_MATMUL_ENTRY(weft_rt_matmul_f64, double, f64, false)
WEFT_MATMUL_ENTRY(weft_rt_matmul_i32, int32_t, i32, false)
WEFT_MATMUL_ENTRY(weft_rt_matmul_i64, int64_t, i64, false)
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_f32, float, f32, true)
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_f64, double, f64, true)
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_i32, int32_t, i32, true)
WEFT_MATMUL_ENTRY(weft_rt_matmul_add_i64, int64_t, i64, true)
#undef WEFT_MATMUL_ENTRY
