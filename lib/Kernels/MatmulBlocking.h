// What the blocked products have in common: sizes, packing in shares, and the order of tiles.
#pragma once

#include "Kernels/MatmulScratch.h"

#include <algorithm>
#include <cstdint>

namespace weft::kernels {

inline int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// More elements than there can be, still safe to add to: operands that are broadcast have any size
/// and no memory.
inline constexpr int64_t kTooMany = int64_t(1) << 60;

/// The product, at most kTooMany.
inline int64_t times(int64_t a, int64_t b, int64_t c = 1) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product))
    return kTooMany;
  return std::min(product, kTooMany);
}

/// So many elements of this thread's buffer for `use`, or null when there is no such memory.
template <typename T>
T *scratch_for(Scratch use, int64_t elements) {
  return static_cast<T *>(
      scratch(use, static_cast<size_t>(std::min(elements, kTooMany)) * sizeof(T)));
}

/// A slice of A and B, and where it is packed.
template <typename T, typename Packed>
struct PackedSlice {
  int64_t m, n, k;
  const T *a;
  int64_t a_row, a_col;
  const T *b;
  int64_t b_row, b_col;
  Packed *packed_a;
  int64_t a_panel; ///< elements of one
  Packed *packed_b;
  int64_t b_panel;

  /// Packs a share of the units that the columns of B, `b_units` of them, and the rows of A are
  /// together, so that every thread copies the same amount; panels belong to where they begin.
  template <typename Kernels>
  void pack(const Kernels &kernels, int64_t b_units, int64_t begin, int64_t end) const {
    const int64_t rows = kernels.tile_rows, columns = kernels.panel_columns;
    const auto b_from = divide_up(std::min(begin, b_units), columns) * columns;
    const auto b_to = divide_up(std::min(end, b_units), columns) * columns;
    if (b_from < b_to)
      kernels.pack_b(k, std::min(b_to, n) - b_from, b + b_from * b_col, b_row, b_col,
                     packed_b + b_from / columns * b_panel, b_panel);
    const auto a_from = divide_up(std::max(begin - b_units, int64_t(0)), rows) * rows;
    const auto a_to = divide_up(std::max(end - b_units, int64_t(0)), rows) * rows;
    if (a_from < a_to)
      kernels.pack_a(std::min(a_to, m) - a_from, k, a + a_from * a_row, a_row, a_col,
                     packed_a + a_from / rows * a_panel, a_panel);
  }
};

/// Calls `run(panel of B, first panel of A, panels of A)` for the tiles from `begin` to `end` in
/// the order (block of `row_block` rows, panel of columns, panel of rows in the block), which are
/// cut into ranges anywhere: the threads' shares differ by at most one tile.
template <typename Run>
void each_run_of_tiles(int64_t begin, int64_t end, int64_t row_block, int64_t a_panels,
                       int64_t b_panels, const Run &run) {
  while (begin < end) {
    const int64_t block_start = begin / (row_block * b_panels) * row_block;
    const int64_t height = std::min(row_block, a_panels - block_start);
    const int64_t within = begin - block_start * b_panels;
    const int64_t panel = within / height, first = within % height;
    const int64_t count = std::min(height - first, end - begin);
    run(panel, block_start + first, count);
    begin += count;
  }
}

} // namespace weft::kernels
