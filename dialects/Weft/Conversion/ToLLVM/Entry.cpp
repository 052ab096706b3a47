// The pass weft-entry: entries of compiled functions, memory, and calls of the library.

#include "Weft/Conversion/EntryName.h"
#include "Weft/Conversion/Loops/Outline.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {
#define GEN_PASS_DEF_ENTRYPASS
#include "Weft/Conversion/Passes.h.inc"
} // namespace mlir::weft

using namespace mlir;
using namespace mlir::weft;

LogicalResult mlir::weft::lowerAllocations(Conventions &conventions, func::FuncOp function,
                                           Value context) {
  SmallVector<memref::AllocOp> allocations;
  function.walk([&](memref::AllocOp op) { allocations.push_back(op); });
  if (allocations.empty()) return success();

  Type pointer = context.getType();
  Type i64 = IntegerType::get(function.getContext(), 64);
  Type i32 = IntegerType::get(function.getContext(), 32);
  Value arena;
  for (memref::AllocOp op : allocations) {
    OpBuilder builder(op);
    MemoryBuilder memory(builder, conventions.converter);
    Location loc = op.getLoc();
    MemRefType type = op.getType();
    if (!type.getLayout().isIdentity())
      return op.emitError("allocates a layout other than the identity");
    SmallVector<Value> sizes;
    for (Value size : op.getDynamicSizes()) sizes.push_back(memory.cast(loc, i64, size));

    Value place;
    bool ownsMemory = false;
    if (auto offset = op->getAttrOfType<IntegerAttr>(kArenaOffset)) {
      if (!arena) {
        OpBuilder start = OpBuilder::atBlockBegin(&function.getBody().front());
        arena = LLVM::LoadOp::create(start, function.getLoc(), pointer, context); // first field
      }
      place = memory.offset(loc, arena, offset.getInt());
    } else if (auto output = op->getAttrOfType<IntegerAttr>(kOutput)) {
      auto dtype = dtypeOf(type.getElementType());
      if (!dtype) return op.emitError("is an output of no dtype of Weft");
      Value rank = memory.constant(loc, type.getRank());
      Value dims;
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(&function.getBody().front());
        dims = LLVM::AllocaOp::create(builder, loc, pointer, i64,
                                      memory.constant(loc, std::max<int64_t>(type.getRank(), 1)));
      }
      unsigned next = 0;
      for (auto [i, size] : llvm::enumerate(type.getShape())) {
        Value value = ShapedType::isDynamic(size) ? sizes[next++] : memory.constant(loc, size);
        LLVM::StoreOp::create(builder, loc, value, memory.offset(loc, dims, 8 * i));
      }
      auto make =
          conventions.runtimeFunction("weft_rt_output", pointer, {pointer, i64, i32, i64, pointer});
      Value code = LLVM::ConstantOp::create(builder, loc, i32, static_cast<int64_t>(*dtype));
      place = LLVM::CallOp::create(
                  builder, loc, make,
                  ValueRange{context, memory.constant(loc, output.getInt()), code, rank, dims})
                  .getResult();
    } else {
      auto make = conventions.runtimeFunction("weft_rt_alloc", pointer, {pointer, i64});
      place = LLVM::CallOp::create(builder, loc, make,
                                   ValueRange{context, memory.bytesOf(loc, type, sizes)})
                  .getResult();
      ownsMemory = true;
    }
    Value made = memory.toMemRef(loc, type, place, sizes);
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      auto dealloc = dyn_cast<memref::DeallocOp>(user);
      if (!dealloc) continue;
      if (ownsMemory) {
        builder.setInsertionPoint(dealloc);
        auto release = conventions.runtimeFunction(
            "weft_rt_free", LLVM::LLVMVoidType::get(function.getContext()), {pointer, pointer});
        LLVM::CallOp::create(builder, loc, release, ValueRange{context, place});
      }
      dealloc.erase();
    }
    op.replaceAllUsesWith(made);
    op.erase();
  }
  return success();
}

namespace {

/// The first op of `block` that uses `value`, or has one inside that does.
Operation *firstUserIn(Block &block, Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *top = block.findAncestorOpInBlock(*user);
    if (top && (!first || top->isBeforeInBlock(first))) first = top;
  }
  return first;
}

/// A kernel allocates nothing: its outputs are the buffers after the arguments, and temporaries
/// those after the outputs.
LogicalResult takeAllocations(func::FuncOp function, MemoryBuilder &memory, Value buffers,
                              unsigned arguments) {
  SmallVector<memref::AllocOp> outputs, temporaries;
  function.walk(
      [&](memref::AllocOp op) { (op->hasAttr(kOutput) ? outputs : temporaries).push_back(op); });
  for (auto [i, op] : llvm::enumerate(llvm::concat<memref::AllocOp>(outputs, temporaries))) {
    const auto output = op->getAttrOfType<IntegerAttr>(kOutput);
    const int64_t number = output ? output.getInt() : static_cast<int64_t>(i);
    if (!op.getType().getLayout().isIdentity())
      return op.emitError("allocates a layout other than the identity");
    OpBuilder::InsertionGuard guard(memory.builder());
    memory.builder().setInsertionPoint(op);
    Location loc = op.getLoc();
    Value place = LLVM::LoadOp::create(memory.builder(), loc, memory.pointerType(),
                                       memory.offset(loc, buffers, 8 * (arguments + number)));
    SmallVector<Value> sizes;
    for (Value size : op.getDynamicSizes())
      sizes.push_back(memory.cast(loc, memory.builder().getI64Type(), size));
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (isa<memref::DeallocOp>(user)) user->erase();
    op.replaceAllUsesWith(memory.toMemRef(loc, op.getType(), place, sizes));
    op.erase();
  }
  return success();
}

/// Makes memrefs of the entry's buffers and sizes in place of the arguments, then the function an
/// entry; a kernel has no context and returns nothing.
LogicalResult makeEntry(Conventions &conventions, func::FuncOp function, bool kernel) {
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  MemoryBuilder memory(builder, conventions.converter);
  Location loc = function.getLoc();
  Type pointer = memory.pointerType();
  Type i64 = builder.getI64Type();
  unsigned before = body.getNumArguments();
  Value buffers = body.addArgument(pointer, loc);
  Value dims = body.addArgument(pointer, loc);
  // The context is the last argument already.
  if (!kernel) body.getArgument(before - 1).replaceAllUsesWith(body.addArgument(pointer, loc));
  if (kernel && failed(takeAllocations(function, memory, buffers, before - 1))) return failure();
  int64_t nextSize = 0;
  const auto number = [&](int64_t which) -> Value {
    return LLVM::LoadOp::create(builder, loc, i64, memory.offset(loc, dims, 8 * which));
  };
  for (unsigned i = 0; i + 1 < before; ++i) {
    BlockArgument argument = body.getArgument(i);
    auto type = cast<MemRefType>(argument.getType());
    auto counted = function.getArgAttrOfType<DenseI64ArrayAttr>(i, kDims);
    SmallVector<Value> sizes, strides;
    for (unsigned d = 0; d < type.getNumDynamicDims(); ++d)
      sizes.push_back(number(counted ? counted[d] : nextSize++));
    if (auto strided = function.getArgAttrOfType<DenseI64ArrayAttr>(i, kStrides))
      for (int64_t which : strided.asArrayRef()) strides.push_back(number(which));
    if (argument.use_empty()) continue;
    // Where it is wanted first: hundreds of addresses at once would all have to be kept somewhere.
    OpBuilder::InsertionGuard guard(builder);
    if (Operation *user = firstUserIn(body, argument)) builder.setInsertionPoint(user);
    Value place = LLVM::LoadOp::create(builder, loc, pointer, memory.offset(loc, buffers, 8 * i));
    argument.replaceAllUsesWith(memory.toMemRef(loc, type, place, sizes, strides));
  }
  body.eraseArguments(0, before);
  if (kernel) {
    conventions.toLLVMFunction(function, function.getName(),
                               LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer},
                               LLVM::Linkage::Internal);
    return success();
  }
  conventions.toLLVMFunction(function, entryName(function.getName()), builder.getI32Type(),
                             {pointer, pointer, pointer}, LLVM::Linkage::External);
  return success();
}

struct EntryPass : mlir::weft::impl::EntryPassBase<EntryPass> {
  using EntryPassBase::EntryPassBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    // Arguments name their variables until here; the caller brings the values.
    for (VariableOp variable : llvm::make_early_inc_range(module.getOps<VariableOp>()))
      variable.erase();
    LLVMTypeConverter converter(&getContext());
    Conventions conventions{module, SymbolTable(module), converter};
    if (failed(declareRuntimeFunctions(conventions))) return signalPassFailure();
    if (failed(check(conventions))) return signalPassFailure();
    keepCalledFunctions(conventions);

    llvm::DenseSet<StringRef> parts;
    module.walk([&](func::CallOp call) {
      if (call->hasAttr(kParallelCall)) parts.insert(call.getCallee());
    });
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isDeclaration() && !parts.contains(function.getName()))
        functions.push_back(function);
    // Functions that may need the context have it as their last argument; leaves do not.
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    llvm::erase_if(functions, [](func::FuncOp function) {
      auto leaf = function.walk([](Operation *op) {
        return isa<func::CallOp, memref::AllocOp>(op) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      });
      return function.isPrivate() && !leaf.wasInterrupted();
    });
    llvm::DenseSet<Operation *> told(functions.begin(), functions.end());
    for (func::FuncOp function : functions)
      (void)function.insertArgument(function.getNumArguments(), pointer, {}, function.getLoc());
    for (func::FuncOp function : functions) {
      Value context = function.getArguments().back();
      passContext(conventions, function, context, told);
      if (failed(lowerRuntimeCalls(conventions, function, context))) return signalPassFailure();
      if (!(kernels && function.isPublic()) &&
          failed(lowerAllocations(conventions, function, context)))
        return signalPassFailure();
      lowerParallelCalls(conventions, function);
    }
    for (func::FuncOp function : functions)
      if (function.isPublic() && failed(makeEntry(conventions, function, kernels)))
        return signalPassFailure();
  }

  /// Entries take memrefs of identity layout, kernels also of strides that they are told, and give
  /// nothing back.
  LogicalResult check(Conventions &conventions) {
    for (auto function : conventions.module.getOps<func::FuncOp>()) {
      if (function.isPrivate() || function.isDeclaration()) continue;
      if (function.getNumResults() != 0)
        return function.emitError("returns values; entries write to memrefs they are given");
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
        auto memref = dyn_cast<MemRefType>(type);
        const bool isTold = kernels && function.getArgAttr(i, kStrides);
        if (!memref || !(memref.getLayout().isIdentity() || isTold))
          return function.emitError("takes ")
                 << type << "; entries take memrefs of identity layout";
      }
    }
    return success();
  }

  /// A public function that others call is copied: the copy is called, the original entered.
  void keepCalledFunctions(Conventions &conventions) {
    SmallVector<func::FuncOp> functions(conventions.module.getOps<func::FuncOp>());
    // One walk for all: kernels are hundreds of functions in a module.
    llvm::DenseSet<Attribute> used;
    const auto uses = SymbolTable::getSymbolUses(conventions.module);
    if (uses)
      for (const SymbolTable::SymbolUse &use : *uses)
        used.insert(use.getSymbolRef().getRootReference());
    for (func::FuncOp function : functions) {
      if (!function.isPublic() || function.isDeclaration()) continue;
      if (uses && !used.contains(function.getNameAttr())) continue;
      func::FuncOp kept = function.clone();
      kept.setPrivate();
      kept.setName((function.getName() + "_called").str());
      conventions.symbols.insert(kept);
      (void)SymbolTable::replaceAllSymbolUses(function, kept.getNameAttr(), conventions.module);
    }
  }

  void passContext(Conventions &conventions, func::FuncOp function, Value context,
                   const llvm::DenseSet<Operation *> &told) {
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) {
      auto callee = conventions.symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && told.contains(callee)) calls.push_back(call);
    });
    for (func::CallOp call : calls) call->insertOperands(call->getNumOperands(), context);
  }
};

} // namespace
