// The register tile of the matrix kernels, a few rows times a few vectors of C, kept in registers
// for all of k, and the blocks that are made of tiles.
#pragma once

#include "Kernels/MatmulVector.h"

namespace WEFT_LEVEL_NAMESPACE {

/// Rows of a tile. With two vectors of columns the tile, the row of B and one broadcast element of
/// A fill the registers: 12 * 2 + 2 + 1 of 32, or 6 * 2 + 2 + 1 of 16. Vector products of 64-bit
/// integers need scratch registers below AVX-512.
template <typename T>
constexpr int kTileRows = WEFT_LEVEL == 4                    ? 12
                          : (!kIsFloat<T> && sizeof(T) == 8) ? 4
                                                             : 6;
/// Vectors of columns of a tile.
constexpr int kTileVectors = 2;
/// Up to so many rows a tile is twice as wide, so that enough independent chains hide the latency
/// of the multiply-add.
constexpr int kSkinnyRows = WEFT_LEVEL == 4 ? 4 : 2;
constexpr int kSkinnyVectors = 4;

/// Steps of k between two prefetched rows of C, and from the last of them to the end of the tile:
/// late enough that the first level still has them, early enough that memory has answered.
constexpr int kPrefetchDistance = 8;
constexpr int kPrefetchLead = 100;

template <typename T>
constexpr int kPanelColumns = kTileVectors * kLanes<T>;

/// Operands of one tile; strides count elements.
template <typename T>
struct Tile {
  int64_t k;
  const T *a;
  int64_t a_row, a_col;
  const T *b;
  int64_t b_row;
  T *c;
  int64_t c_row;
  int last_lanes; ///< Lanes of the last vector that belong to C.
  bool b_padded;  ///< Whole vectors of B may be read although C ends earlier.
  bool accumulate;
  bool add; ///< Add the old elements of C to the finished sums.
  /// How far after the tile's B the memory lies that is wanted soon; 0 when nothing is.
  int64_t ahead;
  int below; ///< Rows of C after the tile's that are computed next.
  /// As in MatmulBlock.
  int64_t taps;
  const int64_t *a_taps;
};

/// Computes a tile of Rows x Vectors. In packed A the rows of one column are adjacent.
template <typename T, int Rows, int Vectors, bool PackedA, bool Whole>
void compute_tile_of(const Tile<T> &tile) {
  Vec<T> sum[Rows][Vectors];
  const int last_lanes = tile.last_lanes;
  T *c = tile.c;
  if (tile.accumulate) {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i) {
#pragma clang loop unroll(full)
      for (int j = 0; j < Vectors - 1; ++j) sum[i][j] = load(c + i * tile.c_row + j * kLanes<T>);
      sum[i][Vectors - 1] = load_first(c + i * tile.c_row + (Vectors - 1) * kLanes<T>, last_lanes);
    }
  } else {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < Vectors; ++j) sum[i][j] = Vec<T>(T(0));
  }

  // Three rows of A share a pointer: base, base + row and base + 2 * row are one addressing mode
  // each.
  constexpr int kGroups = (Rows + 2) / 3;
  const int64_t a_row = PackedA ? 1 : tile.a_row;
  const int64_t a_col = PackedA ? kTileRows<T> : tile.a_col;
  const T *a[kGroups];
#pragma clang loop unroll(full)
  for (int g = 0; g < kGroups; ++g) a[g] = tile.a + 3 * g * a_row;
  const T *b = tile.b;

  const int64_t ahead = tile.ahead;
  const auto step = [&]() __attribute__((always_inline)) {
    Vec<T> row[Vectors];
#pragma clang loop unroll(full)
    for (int j = 0; j < Vectors - 1; ++j) row[j] = load(b + j * kLanes<T>);
    if constexpr (Whole) row[Vectors - 1] = load(b + (Vectors - 1) * kLanes<T>);
    else row[Vectors - 1] = load_first(b + (Vectors - 1) * kLanes<T>, last_lanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i) {
      const Vec<T> element = Vec<T>(a[i / 3][i % 3 * a_row]);
#pragma clang loop unroll(full)
      for (int j = 0; j < Vectors; ++j) sum[i][j] = multiply_add<T>(element, row[j], sum[i][j]);
    }
    if constexpr (!PackedA) {
#pragma clang loop unroll(full)
      for (int j = 0; j < Vectors; ++j) __builtin_prefetch(b + ahead + j * kLanes<T>, 0, 2);
    }
    b += tile.b_row;
#pragma clang loop unroll(full)
    for (int g = 0; g < kGroups; ++g) a[g] += a_col;
  };

  if constexpr (!PackedA) {
    if (tile.taps > 0) {
      const auto begin = [&](int64_t tap) __attribute__((always_inline)) {
#pragma clang loop unroll(full)
        for (int g = 0; g < kGroups; ++g) a[g] = tile.a + tile.a_taps[tap] + 3 * g * a_row;
      };
      begin(0);
      for (int64_t tap = 1; tap < tile.taps; ++tap) {
#pragma clang loop unroll_count(2)
        for (int64_t p = 0; p < tile.k; ++p) step();
        begin(tap);
      }
    }
  }

  // Rows of C lie far apart, so every line of the tile below, which is next, would be waited for.
  // They are fetched one row at a time between the multiplications.
  int64_t p = 0;
  const int64_t quiet = tile.k - (Rows * kPrefetchDistance + kPrefetchLead);
#pragma clang loop unroll_count(2)
  for (; p < quiet; ++p) step();
  const T *next = c + Rows * tile.c_row;
  for (int i = 0; i < tile.below && p + kPrefetchDistance <= tile.k; ++i, next += tile.c_row) {
#pragma clang loop unroll(full)
    for (int j = 0; j < Vectors; ++j) __builtin_prefetch(next + j * kLanes<T>, 1);
    __builtin_prefetch(next + Vectors * kLanes<T> - 1, 1);
#pragma clang loop unroll_count(2)
    for (const int64_t end = p + kPrefetchDistance; p < end; ++p) step();
  }
#pragma clang loop unroll_count(2)
  for (; p < tile.k; ++p) step();

  if (tile.add) {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i) {
#pragma clang loop unroll(full)
      for (int j = 0; j < Vectors - 1; ++j)
        sum[i][j] = load(c + i * tile.c_row + j * kLanes<T>) + sum[i][j];
      sum[i][Vectors - 1] = load_first(c + i * tile.c_row + (Vectors - 1) * kLanes<T>, last_lanes) +
                            sum[i][Vectors - 1];
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i) {
#pragma clang loop unroll(full)
    for (int j = 0; j < Vectors - 1; ++j) store(c + i * tile.c_row + j * kLanes<T>, sum[i][j]);
    store_first(c + i * tile.c_row + (Vectors - 1) * kLanes<T>, sum[i][Vectors - 1], last_lanes);
  }
}

template <typename T, int Rows, int Vectors, bool PackedA>
void compute_tile(const Tile<T> &tile) {
  // Some CPUs pay an operation for the mask. Levels without masks are only given padded panels.
  if constexpr (kMaskedAccess && !PackedA)
    if (!tile.b_padded && tile.last_lanes != kLanes<T>)
      return compute_tile_of<T, Rows, Vectors, PackedA, false>(tile);
  compute_tile_of<T, Rows, Vectors, PackedA, true>(tile);
}

template <typename T>
using TileFunction = void (*)(const Tile<T> &);

/// The tile functions of `Vectors` vectors for 1 to kTileRows rows.
template <typename T, int Vectors, bool PackedA>
struct TileColumn {
  TileFunction<T> of_rows[kTileRows<T>];

  template <int... Row>
  static constexpr TileColumn make(Lanes<Row...>) {
    return {{compute_tile<T, Row + 1, Vectors, PackedA>...}};
  }
};

template <typename T, int Vectors, bool PackedA>
constexpr TileColumn<T, Vectors, PackedA> kTiles =
    TileColumn<T, Vectors, PackedA>::make(__make_integer_seq<LanesOf, int, kTileRows<T>>{});

/// The wide tiles for few rows. Entries beyond kSkinnyRows are never used.
template <typename T>
constexpr TileFunction<T> kSkinnyTiles[2][4] = {
    {compute_tile<T, 1, 3, false>, compute_tile<T, 2, 3, false>, compute_tile < T,
     kSkinnyRows == 4 ? 3 : 1, 3, false >, compute_tile < T, kSkinnyRows == 4 ? 4 : 1, 3, false > },
    {compute_tile<T, 1, 4, false>, compute_tile<T, 2, 4, false>, compute_tile < T,
     kSkinnyRows == 4 ? 3 : 1, 4, false >, compute_tile < T, kSkinnyRows == 4 ? 4 : 1, 4,
     false > }};

/// The tile function for a number of rows and of vectors.
template <typename T, bool PackedA>
inline TileFunction<T> tile_function(int64_t rows, int64_t vectors) {
  if (vectors == 1) return kTiles<T, 1, PackedA>.of_rows[rows - 1];
  if constexpr (!PackedA)
    if (vectors > 2) return kSkinnyTiles<T>[vectors - 3][rows - 1];
  return kTiles<T, 2, PackedA>.of_rows[rows - 1];
}

template <typename T>
void pack_b_rows(int64_t k, int64_t columns, const T *b, int64_t b_row, T *out);

/// Rows [0, block.m) of one panel of columns.
template <typename T, bool PackedA>
inline void run_panel(const MatmulBlock<T> &block, Tile<T> tile, int64_t vectors) {
  constexpr int64_t kRows = kTileRows<T>;
  if (block.m <= kRows) {
    tile.a = block.a;
    tile.c = block.c;
    return tile_function<T, PackedA>(block.m, vectors)(tile);
  }
  // Packed panels have kTileRows rows; in place the rows are dealt evenly, for small tiles are
  // slow.
  const int64_t tiles = (block.m + kRows - 1) / kRows;
  const int64_t base = PackedA ? kRows : block.m / tiles, extra = PackedA ? 0 : block.m % tiles;
  int64_t i = 0;
  for (int64_t t = 0; t < tiles; ++t) {
    int64_t rows = base + (t < extra);
    if (rows > block.m - i) rows = block.m - i;
    tile.a = PackedA ? block.a + t * block.a_row : block.a + i * block.a_row;
    tile.c = block.c + i * block.c_row;
    tile.below = int(rows < block.m - i - rows ? rows : block.m - i - rows);
    tile_function<T, PackedA>(rows, vectors)(tile);
    i += rows;
    tile.ahead = 0;
  }
}

/// All panels of a block. Levels without masked loads take a ragged vector of columns in place from
/// a padded copy, by `pack_b_rows`.
template <typename T, bool PackedA>
inline void run_block(const MatmulBlock<T> &all) {
  MatmulBlock<T> block = all;
  const bool skinny = !PackedA && !block.b_packed && block.m <= kSkinnyRows;
  const int64_t width = skinny ? kSkinnyVectors * kLanes<T> : kPanelColumns<T>;
  const int64_t panel = block.b_packed ? block.b_panel : width;
  Tile<T> tile = {block.k, nullptr,     block.a_row, block.a_col,    nullptr,          block.b_row,
                  nullptr, block.c_row, kLanes<T>,   block.b_packed, block.accumulate, block.add,
                  panel,   0,           block.taps,  block.a_taps};
  const T *b = block.b;
  for (int64_t j = 0; j < all.n; j += width, b += panel) {
    const int64_t columns = all.n - j < width ? all.n - j : width;
    const int64_t vectors = (columns + kLanes<T> - 1) / kLanes<T>;
    const int64_t ragged = columns % kLanes<T>;
    block.c = all.c + j;
    tile.b = b;
    if constexpr (!kMaskedAccess) {
      if (ragged && !block.b_packed) {
        // Whole vectors first, then the rest from a padded copy.
        if (vectors > 1) {
          tile.last_lanes = kLanes<T>;
          run_panel<T, PackedA>(block, tile, vectors - 1);
        }
        const int64_t done = columns - ragged;
        pack_b_rows(block.taps > 0 ? block.taps * block.k : block.k, ragged, b + done, block.b_row,
                    block.tail);
        Tile<T> rest = tile;
        rest.b = block.tail;
        rest.b_row = kPanelColumns<T>;
        rest.b_padded = true;
        rest.last_lanes = int(ragged);
        block.c += done;
        run_panel<T, PackedA>(block, rest, 1);
        continue;
      }
    }
    tile.last_lanes = ragged ? int(ragged) : kLanes<T>;
    run_panel<T, PackedA>(block, tile, vectors);
  }
}

} // namespace WEFT_LEVEL_NAMESPACE
