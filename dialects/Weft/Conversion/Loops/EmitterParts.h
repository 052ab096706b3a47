// The state and the parts of loop emission, shared by its source files.
#pragma once

#include "Weft/Conversion/Loops/Body.h"
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

/// One value that loops over a reduction carry, and how two of it become one.
struct Carried {
  enum How { byCombiner, largestKey, smallestKey } how;
  /// The op of the body that folds an element into the output, if it is known.
  Operation *combiner;
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

  SmallVector<Value, 2> bodyOfPairs(const BodyArguments &arguments);

  scf::ForOp loop(Value begin, Value end, int64_t step, Step body);
  ValueRange reduce(Value begin, Value end, int64_t step, ValueRange init,
                    llvm::function_ref<SmallVector<Value, 2>(Value, ValueRange)> body);
  Value maskOf(int64_t lanes, OpFoldResult count);
  void chunks(Value begin, OpFoldResult count, Chunk body);
  Value grainOf(const Product &work);

  void parallelLoops(Position position, ArrayRef<unsigned> dims);
  void innermost(Position &position);
  void vectorSteps(Position &position, Value begin, OpFoldResult count);
  void element(Position &position, int64_t lanes, Value mask);
  SmallVector<Value, 2> reductionLoops(Position position, ArrayRef<unsigned> dims, ValueRange acc);
  void columns(Position &position, Value begin, OpFoldResult count);
  std::optional<bool> joinsRows(Value &joins);
  void rowsOf(Position position, ArrayRef<unsigned> dims, Value begin, OpFoldResult count);
  void foldRows(const Position &position, Value row, int64_t rows, Value begin, OpFoldResult count);
  SmallVector<Value, 2> loadOutputs(const Position &position, int64_t lanes, Value mask);
  SmallVector<Value, 2> neutralOutputs(int64_t lanes);
  void storeOutputs(const Position &position, ValueRange values, int64_t lanes, Value mask);
  SmallVector<Value, 2> reductionRun(Position &position, ValueRange acc);
  Value tree(const Carried &carried, Value vector, int64_t lanes);
  void chooseCarried();
  Value key(Value number);
  Value fromKey(Value key, Type element);
  Value neutral(const Carried &carried);
  Value combine(const Carried &carried, Value lhs, Value rhs);
  SmallVector<Value, 2> carry(ValueRange outputs);
  SmallVector<Value, 2> fold(ValueRange carried, const Position &position, int64_t lanes,
                             Value mask);
  SmallVector<Value, 2> outputsOf(ValueRange carried);

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
  /// What the loops over reductions carry: one value for each output, two for an extremum.
  SmallVector<Carried, 2> carried_;
  /// The combiners of the extrema, else null; one for each output.
  SmallVector<Operation *, 2> extrema_;
  std::optional<ParallelLoop> parallel_;
};

} // namespace mlir::weft
