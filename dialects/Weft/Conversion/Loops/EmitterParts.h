// The state and the parts of loop emission, shared by its source files.
#pragma once

#include "Weft/Conversion/Loops/NestEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::weft {

/// Where the loops stand: the index of each access, the loop indices, and what is already loaded.
struct Position {
  SmallVector<Value, 4> at;
  SmallVector<Value, 4> ivs;
  SmallVector<Value, 4> loaded;
  llvm::SmallBitVector entered;
};

class NestEmitter {
public:
  NestEmitter(OpBuilder &builder, LoopNest &nest, FlatViews &views,
              const LowerLoopsPassOptions &options)
      : b_(builder), nest_(nest), views_(views), options_(options), loc_(nest.op.getLoc()) {}

  std::optional<ParallelLoop> emit();

private:
  using Step = llvm::function_ref<void(Value iv)>;
  /// One step of a vector loop: `lanes` elements from iv on (0: one, as scalar); under the mask, if
  /// there is one.
  using Chunk = llvm::function_ref<void(Value iv, int64_t lanes, Value mask)>;

  Value constant(int64_t number) { return arith::ConstantIndexOp::create(b_, loc_, number); }

  void enter(Position &position, unsigned dim, Value iv, int64_t more = 0);
  void loadReady(Position &position);
  Value flat(const Access &access);
  Value laneAt(const Access &access, Value at, int64_t lane);
  Value fromMemory(const Access &access, Value value);
  Value reversed(Value vector, int64_t lanes);
  Value load(const Access &access, Value at, int64_t lanes, Value mask);
  Value loadVector(const Access &access, Value view, Value at, int64_t lanes, Value mask);
  void store(const Access &access, Value at, Value value, int64_t lanes, Value mask);
  SmallVector<Value, 2> body(const Position &position, ValueRange outputs, int64_t lanes,
                             Value mask);

  scf::ForOp loop(Value begin, Value end, int64_t step, Step body);
  ValueRange reduce(Value begin, Value end, int64_t step, ValueRange init,
                    llvm::function_ref<SmallVector<Value, 2>(Value, ValueRange)> body);
  Value maskOf(int64_t lanes, OpFoldResult count);
  void chunks(Value begin, OpFoldResult count, int64_t steps, Chunk body);
  Value grainOf(const Product &work);

  void parallelLoops(Position position, ArrayRef<unsigned> dims);
  void innermost(Position &position);
  int64_t columnsAbreast() const;
  void vectorSteps(Position &position, Value begin, OpFoldResult count);
  void element(Position &position, int64_t lanes, Value mask);
  SmallVector<Value, 2> reductionLoops(Position position, ArrayRef<unsigned> dims, ValueRange acc,
                                       int64_t lanes, Value mask);
  SmallVector<Value, 2> reductionRun(Position &position, ValueRange acc);
  Value tree(Operation *combiner, Value vector, int64_t lanes);

  void transpose(SmallVectorImpl<Value> &rows);
  SmallVector<Value> transposedRows(const Access &access, Value at);
  Value tileBuffer(VectorType row);
  void tile(const Position &position, Value row, Value column);
  void tiles(Position &position);

  bool worthThreads() const;
  void blocks(Position &position);

  OpBuilder &b_;
  LoopNest &nest_;
  FlatViews &views_;
  const LowerLoopsPassOptions &options_;
  Location loc_;
  SmallVector<Value, 4> flat_;
  SmallVector<unsigned, 4> reductions_;
  std::optional<ParallelLoop> parallel_;
};

} // namespace mlir::weft
