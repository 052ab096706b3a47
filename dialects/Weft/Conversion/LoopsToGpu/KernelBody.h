// One structured op on buffers inside of a kernel: its loops, its subscripts and its body.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::weft {

/// Threads of a block: enough to hide latency, few enough for any register use.
inline constexpr int64_t kBlockSize = 256;

/// An empty launch, the kernel of which will be `kernel` in `module`; `b` is put into it.
gpu::LaunchOp launchOf(OpBuilder &b, Location loc, Value blocks, Value threads, StringRef module,
                       StringRef kernel, Value blocksOfY = nullptr);

/// Values of an op's body that `wanted` are computed from, themselves included, without those that
/// `stops` says need not be looked behind.
llvm::SetVector<Value> computedFrom(linalg::GenericOp op, ValueRange wanted,
                                    function_ref<bool(Value)> stops);

/// Buffers that an op's body reads at places of its own, as a gather does.
SmallVector<Value> readByBody(linalg::GenericOp op);

/// The loops that a value of the body depends on; none if it is no value of what is only read.
std::optional<llvm::SmallBitVector> loopsOf(linalg::GenericOp op, Value value);

/// The product of some loops' sizes, if it is known.
std::optional<int64_t> knownCount(linalg::GenericOp op, ArrayRef<unsigned> loops);

/// Shared memory of the launch's blocks.
Value sharedMemory(gpu::LaunchOp launch, ArrayRef<int64_t> shape, Type element);

/// Builds iterations of one structured op.
class KernelBody {
public:
  /// The sizes of the loops are computed where `b` is, before the launch.
  KernelBody(ImplicitLocOpBuilder &b, linalg::GenericOp op);

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  ImplicitLocOpBuilder &builder() { return b; }
  linalg::GenericOp generic() const { return op; }
  Value size(unsigned loop) const { return sizes[loop]; }
  /// How many iterations those loops have together.
  Value count(ArrayRef<unsigned> loops);

  Value place(unsigned loop) const { return places[loop]; }
  /// Sets the place in one loop.
  void setPlace(unsigned loop, Value at) { places[loop] = at; }
  /// Sets the places in several loops by the number of an iteration; the last runs fastest, so that
  /// neighbouring threads meet neighbouring elements.
  void setPlaces(ArrayRef<unsigned> loops, Value iteration);

  /// Where an operand is read or written in the present iteration.
  SmallVector<Value> subscripts(OpOperand &operand);
  Value load(OpOperand &operand);
  /// What is there, or what the results begin with: `starts`, null where that is stored.
  Value loadOrStart(OpOperand &operand, ArrayRef<Value> starts);
  void store(unsigned result, Value value);
  /// The op's body for the present iteration. `outs` are what it continues from; empty: as stored.
  SmallVector<Value> body(ArrayRef<Value> outs);
  /// The same, where `read` gives the elements that are read.
  SmallVector<Value> body(ArrayRef<Value> outs, function_ref<Value(OpOperand &)> read);
  /// Values of the op's body for the present iteration. `known` are those that need not be
  /// computed. What no wanted value comes from is left out: bodies load, and have no other effect.
  SmallVector<Value> values(ValueRange wanted, IRMapping known,
                            function_ref<Value(OpOperand &)> read);

private:
  ImplicitLocOpBuilder &b;
  linalg::GenericOp op;
  SmallVector<Value> sizes;  ///< of all loops
  SmallVector<Value> places; ///< the present iteration
};

} // namespace mlir::weft
