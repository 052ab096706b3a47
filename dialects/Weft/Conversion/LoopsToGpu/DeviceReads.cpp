// What the host reads in buffers for launches alone, read by the launches.
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"

#include "Weft/Conversion/LoopsToGpu/HostCalls.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Buffers.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

bool isOfHost(Value buffer) {
  return rootOf(buffer).getDefiningOp<memref::AllocaOp>() != nullptr ||
         buffer.getDefiningOp<memref::GetGlobalOp>() != nullptr;
}

/// Whether a call of the runtime writes no buffer of the device, or ends the program.
static bool onlyReads(func::CallOp call) {
  const StringRef name = call.getCallee();
  return name == "weft_rt_outside" || (knowsDevices(name) && name != "weft_rt_host_take");
}

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
  bool readsBuffer(Value value) {
    if (isa<MemRefType>(value.getType())) return false;
    // Each value is looked at once: arithmetic may use one many times.
    if (auto known = reading.find(value); known != reading.end()) return known->second;
    Operation *op = value.getDefiningOp();
    bool reads = bool(readOf(value));
    if (!reads && op && op->getNumRegions() == 0 && isPure(op))
      reads = llvm::any_of(op->getOperands(), [&](Value operand) { return readsBuffer(operand); });
    return reading[value] = reads;
  }

  /// Whether it can be read where the launch is, for what it reads is there still.
  bool isMovable(Value value) {
    if (!readsBuffer(value)) return true;
    if (auto known = movable.find(value); known != movable.end()) return known->second;
    bool moves = true;
    if (auto load = readOf(value)) {
      Operation *around = load->getBlock()->findAncestorOpInBlock(*launch);
      for (Operation *op = load->getNextNode(); moves && op; op = op->getNextNode()) {
        moves = !mayWrite(op, load.getMemRef());
        if (op == around) break;
      }
    }
    for (Value operand : value.getDefiningOp()->getOperands()) moves = moves && isMovable(operand);
    return movable[value] = moves;
  }

  /// Whether `op` or something in it may write what `read` has elements of, or free it.
  static bool mayWrite(Operation *op, Value read) {
    return op
        ->walk([&](Operation *inner) {
          auto call = dyn_cast<func::CallOp>(inner);
          if (call && onlyReads(call)) return WalkResult::advance();
          auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
          if (!effects)
            return inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                           isa<gpu::LaunchOp>(inner) || isPure(inner)
                       ? WalkResult::advance()
                       : WalkResult::interrupt();
          SmallVector<MemoryEffects::EffectInstance> found;
          effects.getEffects(found);
          const bool writes = llvm::any_of(found, [&](const MemoryEffects::EffectInstance &effect) {
            return isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect()) &&
                   (!effect.getValue() || mayShare(effect.getValue(), read));
          });
          return writes ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
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
  DenseMap<Value, bool> reading, movable;
};

} // namespace

std::optional<std::pair<int64_t, int64_t>> placeInArena(Value root) {
  auto alloc = root.getDefiningOp<memref::AllocOp>();
  auto offset = alloc ? alloc->getAttrOfType<IntegerAttr>(kArenaOffset) : IntegerAttr();
  if (!offset) return std::nullopt;
  const MemRefType type = alloc.getType();
  const int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
  return std::pair(offset.getInt(), offset.getInt() + bytes);
}

bool mayShare(Value written, Value other) {
  Value one = rootOf(written), two = rootOf(other);
  if (one == two || !isDistinct(one) || !isDistinct(two)) return true;
  const auto a = placeInArena(one), b = placeInArena(two);
  return a && b && a->first < b->second && b->first < a->second;
}

void readOnDevice(func::FuncOp function, ArrayRef<gpu::LaunchOp> launches) {
  for (gpu::LaunchOp launch : launches) Reads(launch).move();
  function.walk<WalkOrder::PostOrder, mlir::ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op)) op->erase();
  });
}

} // namespace mlir::weft
