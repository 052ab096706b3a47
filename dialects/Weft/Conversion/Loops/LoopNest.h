// What a structured op says about its loops: sizes, and where each operand walks through memory.
#pragma once

#include "Weft/Conversion/Loops/Product.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::weft {

/// One loop of the nest.
struct LoopDim {
  Product size;
  bool reduction = false;
  /// The dimension of the op that it came from; `linalg.index` asks for it by this number. Loops
  /// merged from several have no single one, and are never asked for.
  unsigned source = 0;
};

/// How one operand is read or written: element `offset + sum(strides[d] * iv[d])` of a flat buffer.
struct Access {
  OpOperand *operand = nullptr;
  Type elementType;
  Value memref;
  /// Elements before the first one accessed; null means 0.
  Value offset;
  int64_t staticOffset = 0;
  llvm::SmallVector<Product, 4> strides;
  /// Number of elements of the flat buffer that the memref's type tells, or -1.
  int64_t extent = -1;
};

/// How an access moves from one lane of a vector to the next.
enum class Walk {
  /// Not at all: one element serves all lanes.
  same,
  /// To the next element.
  contiguous,
  /// To the element before.
  reversed,
  /// By a few elements, as many as are known: vectors are read whole and what lies between dropped.
  strided,
  /// By any number of elements: each lane is accessed on its own.
  lanes,
};

/// How a nest becomes code.
enum class NestForm {
  /// One element at a time.
  scalar,
  /// Vectors along a parallel loop; reductions run around them, each lane on its own.
  parallelVector,
  /// Vectors along a reduction loop: partial results in lanes, combined at the end.
  reductionVector,
  /// Vectors along a parallel loop, in square tiles with another one: inputs that are contiguous
  /// along that one are transposed in registers.
  tiled,
};

/// The loops of one structured op on memrefs, with sizes of 1 dropped and adjacent loops merged
/// where every operand walks through both as through one.
struct LoopNest {
  linalg::LinalgOp op;
  /// The op's loops, each with its size.
  llvm::SmallVector<LoopDim, 4> own;
  /// Those that are left.
  llvm::SmallVector<LoopDim, 4> dims;
  /// One per operand of the op, in order.
  llvm::SmallVector<Access, 4> accesses;
  NestForm form = NestForm::scalar;
  /// The loop that vectors run along, if the form has one.
  unsigned vectorDim = 0;
  /// For `tiled`: the loop whose iterations are the rows of a tile, and their number, which is that
  /// of the lanes too.
  unsigned tileDim = 0;
  int64_t tile = 0;
  /// Elements of a vector, but for `tiled` and `reductionVector`.
  int64_t lanes = 0;
  /// Whether the lanes of vectors, of 16 bits each, are pairs of which the body takes the lower
  /// halves first, then the upper ones: to make words of them costs an operation then.
  bool pairs = false;
  /// Lanes past the end of a loop may be computed, as long as nothing of them is stored.
  bool maskable = true;
  /// For `reductionVector` and `fromNeutral`: the op that combines a partial result with one more
  /// element, per output.
  llvm::SmallVector<Operation *, 2> combiners;
  /// Outputs start from the combiners' neutral elements and not from what they hold.
  bool fromNeutral = false;
  /// Work per innermost iteration, in accesses to memory: what threads have to be worth.
  int64_t cost = 1;

  bool isReduction() const {
    return llvm::any_of(dims, [](const LoopDim &dim) { return dim.reduction; });
  }
  unsigned numInputs() { return op.getNumDpsInputs(); }
  llvm::ArrayRef<Access> inputs() { return llvm::ArrayRef(accesses).take_front(numInputs()); }
  llvm::ArrayRef<Access> outputs() { return llvm::ArrayRef(accesses).drop_front(numInputs()); }
  /// How `access` moves along the loop of vectors.
  Walk walk(const Access &access) const;
  /// Whether an input is one that `tiled` transposes.
  bool isTransposed(const Access &access) const;
};

/// How `access` moves along loop `dim`.
Walk walkAlong(const Access &access, unsigned dim);

/// Reads the nest off an op with memref operands and chooses its form. Code for run-time sizes is
/// made at the builder. Fails on indexing maps that are not linear and on layouts without strides.
FailureOr<LoopNest> analyzeLoopNest(OpBuilder &builder, linalg::LinalgOp op, int64_t vectorBytes);

/// Chooses the form, for vector registers of so many bytes. The order of a reduction hangs on the
/// form, and therefore on nothing but sizes and strides.
void chooseForm(LoopNest &nest, int64_t vectorBytes);

/// Whether every op of the body can work on vectors, or on their lanes one by one.
bool isVectorizableBody(Block &body);

/// The op that folds one more element into output number `index` of the body, if the body does
/// nothing else with the output and the op is associative and commutative; else null.
Operation *findCombiner(linalg::LinalgOp op, unsigned index);

} // namespace mlir::weft
