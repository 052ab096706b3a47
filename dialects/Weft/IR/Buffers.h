// What passes and reports ask of buffers: of what they are views, and which share no memory.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::weft {

/// The buffer that `buffer` is a view of, or itself.
inline Value rootOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) buffer = view.getViewSource();
  return buffer;
}

/// Whether a root shares memory with no other such root that is written: what is allocated is its
/// own, and arguments of functions that are written are nobody else's. Constants are not written.
inline bool isDistinct(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(root.getDefiningOp());
}

} // namespace mlir::weft
