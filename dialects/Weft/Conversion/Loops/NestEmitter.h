// Turns an analysed nest into loops with vector code.
#pragma once

#include "Weft/Conversion/Loops/LoopNest.h"
#include "Weft/Conversion/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::weft {

/// One flat view per buffer: memrefs as one-dimensional arrays of bytes for bool and of elements
/// for everything else, made where the buffer is defined.
class FlatViews {
public:
  /// The flat view of the buffer that `access` walks through.
  Value get(const Access &access);

private:
  llvm::DenseMap<Value, Value> views_;
};

/// A loop whose iterations may run on several threads, `grain` of them being worth a thread.
struct ParallelLoop {
  scf::ForOp loop;
  Value grain;
};

/// Makes the loops of `nest` at the builder. If they are enough work for several threads, or might
/// be, the outermost one is returned.
std::optional<ParallelLoop> emitLoopNest(OpBuilder &builder, LoopNest &nest, FlatViews &views,
                                         const LowerLoopsPassOptions &options);

} // namespace mlir::weft
