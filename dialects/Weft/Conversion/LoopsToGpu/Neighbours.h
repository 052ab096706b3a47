// Elements that lie side by side in memory along one loop, read by one access of up to 16 bytes.
#pragma once

#include "Weft/Conversion/LoopsToGpu/KernelBody.h"

namespace mlir::weft {

/// What an access may have at most, and what buffers are aligned to at least: the runtime's
/// kKernelAlignment.
inline constexpr int64_t kAccessBytes = 16;

/// `width` elements of a buffer from a place on, which is aligned to as many; and these stored.
Value loadAll(ImplicitLocOpBuilder &b, int64_t width, Value buffer, ValueRange place);
void storeAll(ImplicitLocOpBuilder &b, Value elements, Value buffer, ValueRange place);

/// How many elements of a buffer can be accessed at once along `loop`, whose iterations an operand
/// has side by side: at most `most`, a power of two.
int64_t accessWidth(linalg::GenericOp op, OpOperand &operand, unsigned loop, int64_t most);

/// Where an element is that a value of a structured op's body is.
struct PlainRead {
  OpOperand *operand = nullptr; ///< which it is of, or else
  memref::LoadOp load;          ///< which reads it
  Value isThere;                ///< whether it is that, and not zero; null if always

  Value buffer() { return operand ? operand->get() : Value(load.getMemRef()); }
  SmallVector<Value> place(KernelBody &nest);
};

/// None of a value that is computed, or that is there in some of neighbouring iterations of `loop`
/// alone.
std::optional<PlainRead> plainRead(linalg::GenericOp op, Value value, unsigned loop);

/// What values of a structured op's body read in neighbouring iterations of one loop.
class NeighbourReads {
public:
  NeighbourReads(linalg::GenericOp op, ValueRange wanted, unsigned loop);

  /// Whether anything that is read changes along the loop.
  bool readsAnything() const { return !operands.empty() || !ofBody.empty(); }

  /// How many iterations are read at once, beginning with a multiple of this; 1 if what they read
  /// does not lie side by side, or is not known to be aligned. A power of two that divides the size
  /// of the loop, and at most `most`.
  int64_t width(int64_t most);

  /// The values in `width` iterations from the present one on, those of an iteration together.
  /// `starts` are what results begin with; null, and where there are none, as stored.
  SmallVector<SmallVector<Value>> values(KernelBody &nest, int64_t width,
                                         ArrayRef<Value> starts = {});

private:
  /// Whether a load of the body reads neighbours in neighbouring iterations, wherever what it reads
  /// is used.
  bool readsNeighbours(memref::LoadOp load);
  bool isLoop(Value subscript) const;
  bool isUniform(Value value);

  linalg::GenericOp op;
  SmallVector<Value> wanted;
  unsigned loop;
  bool known = true;                          ///< of all that is read
  SmallVector<OpOperand *> uniform, operands; ///< read once for all, and side by side
  SmallVector<memref::LoadOp> ofBody;         ///< read side by side
};

} // namespace mlir::weft
