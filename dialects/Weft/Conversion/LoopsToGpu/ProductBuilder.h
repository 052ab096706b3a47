// How the launches of a product are built: tiles in shared memory, which subclasses fill and
// multiply in their own ways.
#pragma once

#include "Weft/Conversion/LoopsToGpu/RowKernels.h"

namespace mlir::weft {

/// What the loops of a product are, and which values of its body are its two factors.
struct ProductRoles {
  SmallVector<unsigned> batches, rows, columns, summed;
  Value lhs, rhs;
  bool isSum = false; ///< whether they are multiplied, and the products added
};

/// None if it is no product of two values, each of which some of the loops decide.
std::optional<ProductRoles> rolesOf(linalg::GenericOp op);

/// As many blocks as keep a GPU busy.
inline constexpr int64_t kManyTiles = 128;
/// Whether there are at least so many tiles of a size.
bool isWorthTilesOf(linalg::GenericOp op, const ProductRoles &roles, int64_t tileRows,
                    int64_t tileColumns, int64_t least = kManyTiles);

/// Threads of a block along each axis of its tile, where each has results of its own.
inline constexpr int64_t kAlong = 16;

/// Rows and columns of a large tile.
inline constexpr int64_t kLargeTile = 128;
/// Whether a thread has 32 or 64 results instead of 16.
bool hasLargeTiles(linalg::GenericOp op, const ProductRoles &roles);

/// Builds the launches of one product, whose results threads sum up each on its own.
class ProductBuilder {
public:
  /// `epilogue`, null or an op that isEpilogue, takes the results.
  ProductBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue);
  virtual ~ProductBuilder() = default;

  SmallVector<gpu::LaunchOp> build(StringRef module, StringRef kernel);

protected:
  /// How many parts every sum is made of, so that there are about kManyBlocks blocks.
  Value numberOfParts();

  /// A launch for `parts` parts of each sum, and one that adds these in their order.
  SmallVector<gpu::LaunchOp> inParts(Value parts, StringRef module, StringRef kernel);

  /// What a result begins with, and what is done with it in the end, where the places are set to
  /// it.
  Value startOf();
  void finish(ArrayRef<Value> sums);

  /// A launch of a block for each tile that sums from `from` to `to`, or, where there are `parts`,
  /// `to` iterations in each. `start` gives what a result begins with, `store` takes neighbouring
  /// ones; both with the number of the first result, and the places set to it.
  gpu::LaunchOp tilesLaunch(Value from, Value to, Value parts, StringRef module, StringRef kernel,
                            function_ref<Value(Value)> start,
                            function_ref<void(Value, ArrayRef<Value>)> store);

  /// Whether all parts along the summed loops are of `depth` iterations.
  bool isWhole();

  /// Whether the last of the summed loops runs fastest in what a factor reads.
  bool isAlongSum(Value factor);

  /// By how many elements a factor's lines of shared memory are longer where they are written
  /// across: threads that do are spread over all banks by that.
  int64_t padding(Value factor) const;

  /// Which results of its tile are the thread's.
  virtual void placeThread();

  /// One of the two factors in a block.
  struct Side {
    Value factor;
    ArrayRef<unsigned> loops; ///< rows or columns
    int64_t tile = 0;         ///< how many of these a block has
    Value count, first = {};  ///< of all, and of the block
    bool isAlong = false;     ///< whether the last of the summed loops runs fastest in memory
    int64_t width = 1;        ///< how many elements are copied at once, along what runs fastest
    Value buffer = {};        ///< shared memory: parts, one of which is filled meanwhile
  };
  Side sideOf(Value factor, ArrayRef<unsigned> loops, int64_t tile, Value count);

  /// What is copied of a factor, and how many of it are at most copied at once.
  virtual Value copied(Value factor) { return factor; }
  virtual int64_t mostCopied(const Side &side) const;

  /// Gives the block shared memory for parts of both factors.
  virtual void placeBuffers(gpu::LaunchOp launch);

  /// A place in a part.
  struct Place {
    Value inDepth, inTile;
  };
  /// The first element of what a thread copies as number `copy` of its `copies()`, neighbouring
  /// threads along what is fastest in memory.
  virtual Place placeOf(const Side &side, int64_t copy);
  virtual int64_t copies(const Side &side) const {
    return side.tile * depth / side.width / kBlockSize;
  }
  /// What one copy moves.
  virtual Type typeOfCopy(const Side &side);
  /// What belongs there in the part from `at` of the summed loops on. Beyond `to`, and beyond the
  /// last row or column, it is something that nobody uses.
  virtual Value load(const Side &side, Place place, Value at, Value to);
  virtual void store(const Side &side, Place place, Value stage, Value copied);

  /// Sets the places to one in the part from `at` on, or, beyond the last element, to a last one.
  void setPlaces(const Side &side, Place place, Value at);

  /// Elements of a factor side by side from the place on.
  SmallVector<Value> neighbours(const Side &side, Place place, Value at);

  /// What the thread copies of both sides where there is such a part, and zeros where not.
  SmallVector<Value> loadPart(Value at, Value to);
  void storePart(Value stage, ValueRange copied);

  /// Whether what was copied during an iteration is stored in the next one: otherwise ptxas has
  /// stores, and waits for what they store, in the midst of products. It takes registers.
  virtual bool storesLate() const { return false; }

  /// The results with what all parts from `from` to `to` of the summed loops add to them.
  virtual SmallVector<Value> addParts(Value from, Value to, SmallVector<Value> sums);

  /// The results with what a part adds to them.
  virtual SmallVector<Value> addPart(Value stage, Value at, Value to, SmallVector<Value> sums);

  /// Calls `what` for the neighbouring results of a thread, with the places set to the first one,
  /// its number, and whether they are results.
  virtual void eachResult(function_ref<void(Value result, Value isInside)> what);

  /// How many results of a thread lie side by side, at most.
  virtual int64_t mostNeighbours() const { return together; }
  /// How many are stored at once: as many as divide the columns.
  int64_t neighboursOfResults();

  /// The same of a row and a column of the tile.
  void oneResult(Value rowOfTile, Value columnOfTile,
                 function_ref<void(Value result, Value isInside)> what);

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value one, Value other) { return arith::AddIOp::create(b, one, other); }
  Value mul(Value one, Value other) { return arith::MulIOp::create(b, one, other); }
  Value div(Value one, Value other) { return arith::DivUIOp::create(b, one, other); }
  Value rem(Value one, Value other) { return arith::RemUIOp::create(b, one, other); }
  Value last(Value count) { return arith::SubIOp::create(b, count, index(1)); }

  ImplicitLocOpBuilder &b;
  KernelBody nest;
  linalg::GenericOp op;
  ProductRoles roles;
  const Nest &product;
  const Nest *epilogue;
  std::optional<KernelBody> after; ///< of the epilogue
  bool isLarge = false;
  int64_t rowsOfThread = 0, columnsOfThread = 0; ///< of a thread's results
  int64_t together = 1;                          ///< how many of these lie side by side
  int64_t tileRows = 0, tileColumns = 0;         ///< of a block's
  int64_t depth = 0;                             ///< of the summed loop, of a part
  Value rows, columns, summed, batches, tilesOfColumns, tiles, blocks; ///< counts, on the host
  Side lhs, rhs;
  Value thread, row, column, batch, part;
};

} // namespace mlir::weft
