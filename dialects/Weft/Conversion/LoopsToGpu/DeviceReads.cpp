// What the host reads in buffers for launches alone, read by the launches.
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

/// The buffer that `buffer` is a view of.
static Value baseOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) buffer = view.getViewSource();
  return buffer;
}

bool isOfHost(Value buffer) { return baseOf(buffer).getDefiningOp<memref::AllocaOp>() != nullptr; }

namespace {

/// Moves reads into one launch.
class Reads {
public:
  explicit Reads(gpu::LaunchOp launch)
      : launch(launch), b(OpBuilder::atBlockBegin(&launch.getBody().front())) {}

  void move() {
    SetVector<Value> used;
    getUsedValuesDefinedAbove(launch.getBody(), used);
    for (Value value : used) {
      if (!readsBuffer(value) || !isMovable(value)) continue;
      Value moved = inside(value);
      value.replaceUsesWithIf(moved, [&](OpOperand &use) {
        return use.getOwner() != moved.getDefiningOp() &&
               launch.getBody().isAncestor(use.getOwner()->getParentRegion());
      });
    }
  }

private:
  static memref::LoadOp readOf(Value value) {
    auto load = value.getDefiningOp<memref::LoadOp>();
    return load && !isOfHost(load.getMemRef()) ? load : memref::LoadOp();
  }

  /// Whether a scalar comes from an element of a buffer, by arithmetic.
  static bool readsBuffer(Value value) {
    if (isa<MemRefType>(value.getType())) return false;
    if (readOf(value)) return true;
    Operation *op = value.getDefiningOp();
    return op && op->getNumRegions() == 0 && isPure(op) &&
           llvm::any_of(op->getOperands(), readsBuffer);
  }

  /// Whether it can be read where the launch is, for what it reads is there still.
  bool isMovable(Value value) {
    if (auto load = readOf(value)) {
      Operation *around = load->getBlock()->findAncestorOpInBlock(*launch);
      for (Operation *op = load->getNextNode(); op; op = op->getNextNode()) {
        if (mayWrite(op, load.getMemRef())) return false;
        if (op == around) break;
      }
      return llvm::all_of(load.getIndices(), [&](Value index) { return isMovable(index); });
    }
    return !readsBuffer(value) || llvm::all_of(value.getDefiningOp()->getOperands(),
                                               [&](Value operand) { return isMovable(operand); });
  }

  /// Whether `op` or something in it may write what `read` has elements of.
  static bool mayWrite(Operation *op, Value read) {
    return op
        ->walk([&](Operation *inner) {
          auto call = dyn_cast<func::CallOp>(inner);
          if (call && call.getCallee() == "weft_rt_shape_error") return WalkResult::advance();
          auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
          if (!effects)
            return inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                           isa<gpu::LaunchOp>(inner) || isPure(inner)
                       ? WalkResult::advance()
                       : WalkResult::interrupt();
          SmallVector<MemoryEffects::EffectInstance> found;
          effects.getEffects(found);
          const bool writes = llvm::any_of(found, [&](const MemoryEffects::EffectInstance &effect) {
            return isa<MemoryEffects::Write>(effect.getEffect()) &&
                   (!effect.getValue() || !areApart(effect.getValue(), read));
          });
          return writes ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Whether two buffers have no element in common: what is allocated, and arguments, of which
  /// those that are written are nobody else's.
  static bool areApart(Value written, Value read) {
    const auto isWhole = [](Value base) {
      if (auto argument = dyn_cast<BlockArgument>(base))
        return isa<func::FuncOp>(argument.getOwner()->getParentOp());
      return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(base.getDefiningOp());
    };
    Value one = baseOf(written), other = baseOf(read);
    return one != other && isWhole(one) && isWhole(other);
  }

  /// What `value` is in the launch.
  Value inside(Value value) {
    if (Value done = mapping.lookupOrNull(value)) return done;
    if (!readsBuffer(value)) return value;
    for (Value operand : value.getDefiningOp()->getOperands())
      if (Value moved = inside(operand); moved != operand) mapping.map(operand, moved);
    b.clone(*value.getDefiningOp(), mapping);
    return mapping.lookup(value);
  }

  gpu::LaunchOp launch;
  OpBuilder b;
  IRMapping mapping;
};

} // namespace

LogicalResult readOnDevice(func::FuncOp function, ArrayRef<gpu::LaunchOp> launches) {
  for (gpu::LaunchOp launch : launches) Reads(launch).move();
  function.walk<WalkOrder::PostOrder, mlir::ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op)) op->erase();
  });
  WalkResult result = function.walk([](memref::LoadOp load) {
    if (load->getParentOfType<gpu::LaunchOp>() || isOfHost(load.getMemRef()))
      return WalkResult::advance();
    load.emitError("cannot run on a GPU yet: the host decides by an element of a buffer");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace mlir::weft
