// Elements that lie side by side in memory along one loop, read by one access of up to 16 bytes.
#pragma once

#include "Weft/Conversion/LoopsToGpu/KernelBody.h"

namespace mlir::weft {

/// `width` elements of a buffer from a place on, which is aligned to as many; and these stored.
Value loadAll(ImplicitLocOpBuilder &b, int64_t width, Value buffer, ValueRange place);
void storeAll(ImplicitLocOpBuilder &b, Value elements, Value buffer, ValueRange place);

/// What a value of a structured op's body reads in neighbouring iterations of one loop.
class NeighbourReads {
public:
  NeighbourReads(linalg::GenericOp op, Value wanted, unsigned loop);

  /// How many iterations are read at once, beginning with a multiple of this; 1 if what they read
  /// does not lie side by side, or is not known to be aligned. A power of two that divides the size
  /// of the loop, and at most `most`.
  int64_t width(int64_t most);

  /// The value in `width` iterations from the present one on.
  SmallVector<Value> values(KernelBody &nest, int64_t width);

private:
  /// Whether a load of the body reads neighbours in neighbouring iterations, wherever what it reads
  /// is used.
  bool readsNeighbours(memref::LoadOp load);
  bool isLoop(Value subscript) const;
  bool isUniform(Value value);

  linalg::GenericOp op;
  Value wanted;
  unsigned loop;
  bool known = true;                           ///< of all that is read
  SmallVector<OpOperand *> uniform, operands;  ///< read once for all, and side by side
  SmallVector<memref::LoadOp> ofBody;          ///< read side by side
};

} // namespace mlir::weft
