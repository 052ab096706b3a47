// Chains of ops on the same rows, as softmax and norms are, as one kernel with the rows in
// registers.
#pragma once

#include "Weft/Conversion/LoopsToGpu/Combining.h"
#include "Weft/Conversion/LoopsToGpu/KernelBody.h"

namespace mlir::weft {

/// A structured op that will be a kernel, or a part of one.
struct Nest {
  Operation *op = nullptr;   ///< linalg.generic, but for fills and stores
  bool isProduct = false;    ///< one of those that the library has routines for
  SmallVector<Value> starts; ///< what results begin with; null where it is stored there

  linalg::GenericOp generic() const { return dyn_cast_if_present<linalg::GenericOp>(op); }
};

/// Whether nothing stands between an op and another behind it that has to stay there.
bool isRightBehind(Operation *op, Operation *before);

/// Whether others than `ops` use a buffer, so that it must be stored.
bool isStored(Value buffer, ArrayRef<Nest> ops);

/// How many of `nests`, from the first on, are one chain: each runs over the same rows, and reduces
/// them or makes rows or one number a row, of what is in memory and of what those before it made.
/// 0 if it is less than two.
size_t lengthOfChain(ArrayRef<Nest> nests);

/// Builds the launch of such a chain where its last op is. Its ops are unused after that, and what
/// only they read is never stored.
gpu::LaunchOp buildChain(RewriterBase &rewriter, ArrayRef<Nest> chain, StringRef module,
                         StringRef kernel);

} // namespace mlir::weft
