// Calls of the library's functions and calls whose range is shared by threads.

#include "Weft/Conversion/Loops/Outline.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/Transforms/RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::weft;

LLVM::LLVMFuncOp Conventions::runtimeFunction(StringRef name, Type result,
                                              ArrayRef<Type> parameters) {
  if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(name)) return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, parameters);
  auto function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, type);
  symbols.insert(function);
  return function;
}

LLVM::LLVMFuncOp Conventions::toLLVMFunction(func::FuncOp function, StringRef name, Type result,
                                             ArrayRef<Type> parameters, LLVM::Linkage linkage) {
  OpBuilder builder(function);
  std::string kept = name.str();
  auto type = LLVM::LLVMFunctionType::get(result, parameters);
  auto made = LLVM::LLVMFuncOp::create(builder, function.getLoc(), kept, type, linkage);
  made.getBody().takeBody(function.getBody());
  symbols.erase(function);
  symbols.insert(made);
  SmallVector<func::ReturnOp> returns(made.getOps<func::ReturnOp>());
  for (func::ReturnOp op : returns) {
    OpBuilder end(op);
    Value zero;
    if (!isa<LLVM::LLVMVoidType>(result))
      zero = LLVM::ConstantOp::create(end, op.getLoc(), result, end.getIntegerAttr(result, 0));
    LLVM::ReturnOp::create(end, op.getLoc(), zero ? ValueRange(zero) : ValueRange());
    op.erase();
  }
  return made;
}

LogicalResult mlir::weft::declareRuntimeFunctions(Conventions &conventions) {
  MLIRContext *context = conventions.module.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto passedType = [&](Type type) -> Type {
    if (isa<BaseMemRefType>(type)) return pointer;
    if (type.isInteger(1)) return IntegerType::get(context, 8);
    return conventions.converter.convertType(type);
  };
  for (auto function : llvm::make_early_inc_range(conventions.module.getOps<func::FuncOp>())) {
    if (!function->hasAttr(kRuntimeFunction)) continue;
    if (function.getNumResults() > 1)
      return function.emitError("library functions have one result at most");
    SmallVector<Type> parameters;
    if (function->hasAttr(kTakesContext)) parameters.push_back(pointer);
    for (Type type : function.getArgumentTypes()) parameters.push_back(passedType(type));
    Type result = function.getNumResults() == 0 ? LLVM::LLVMVoidType::get(context)
                                                : passedType(function.getResultTypes().front());
    std::string name = function.getName().str();
    if (function->hasAttr(kTakesContext)) conventions.takesContext.insert(name);
    conventions.symbols.erase(function);
    conventions.runtimeFunction(name, result, parameters);
  }
  return success();
}

/// Whether the flag is set that other threads set: a look at memory, and no call.
static Value isInterrupted(Conventions &conventions, OpBuilder &builder, Location loc) {
  constexpr StringLiteral name = "weft_rt_interrupt_flag";
  Type byte = builder.getI8Type();
  if (!conventions.symbols.lookup(name)) {
    OpBuilder top = OpBuilder::atBlockBegin(conventions.module.getBody());
    conventions.symbols.insert(LLVM::GlobalOp::create(top, conventions.module.getLoc(), byte,
                                                      /*isConstant=*/false, LLVM::Linkage::External,
                                                      name, Attribute()));
  }
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value flag = LLVM::AddressOfOp::create(builder, loc, pointer, name);
  Value value =
      LLVM::LoadOp::create(builder, loc, byte, flag, /*alignment=*/1, /*isVolatile=*/true);
  Value zero = LLVM::ConstantOp::create(builder, loc, byte, builder.getIntegerAttr(byte, 0));
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, value, zero);
}

LogicalResult mlir::weft::lowerRuntimeCalls(Conventions &conventions, func::FuncOp function,
                                            Value context) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) {
    if (conventions.symbols.lookup<LLVM::LLVMFuncOp>(call.getCallee())) calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    auto callee = conventions.symbols.lookup<LLVM::LLVMFuncOp>(call.getCallee());
    OpBuilder builder(call);
    MemoryBuilder memory(builder, conventions.converter);
    Location loc = call.getLoc();
    if (call.getCallee() == kInterrupted) {
      call.getResult(0).replaceAllUsesWith(isInterrupted(conventions, builder, loc));
      call.erase();
      continue;
    }
    SmallVector<Value> operands;
    llvm::SmallPtrSet<Operation *, 4> casts;
    if (conventions.takesContext.contains(call.getCallee())) operands.push_back(context);
    for (Value operand : call.getOperands()) {
      Type type = operand.getType();
      if (isa<BaseMemRefType>(type)) {
        if (auto cast = operand.getDefiningOp<memref::CastOp>()) casts.insert(cast);
        operands.push_back(memory.toPointer(loc, operand));
        if (!operands.back()) return call.emitError("passes a memref of unknown rank");
      } else if (type.isInteger(1)) {
        operands.push_back(arith::ExtUIOp::create(builder, loc, builder.getI8Type(), operand));
      } else {
        operands.push_back(memory.cast(loc, conventions.converter.convertType(type), operand));
      }
    }
    auto made = LLVM::CallOp::create(builder, loc, callee, operands);
    if (call.getNumResults() == 1) {
      Type type = call.getResult(0).getType();
      Value result = made.getResult();
      result = type.isInteger(1) ? arith::TruncIOp::create(builder, loc, type, result).getResult()
                                 : memory.cast(loc, type, result);
      call.getResult(0).replaceAllUsesWith(result);
    }
    call.erase();
    // A descriptor of unknown rank would be stored on the stack, and nobody would find it unused.
    for (Operation *cast : casts)
      if (cast->use_empty()) cast->erase();
  }
  return success();
}

namespace {

/// How a captured value lies in a closure.
struct Slot {
  Type type;
  /// A flat view of known size is stored as its address only.
  bool address;
};

Slot slotOf(Type type, MemoryBuilder &memory) {
  if (auto memref = dyn_cast<MemRefType>(type))
    if (memref.hasStaticShape() && memref.getLayout().isIdentity())
      return {memory.pointerType(), true};
  return {memory.converter().convertType(type), false};
}

/// Makes the callee an LLVM function `void (void *closure, int64_t begin, int64_t end)`.
LLVM::LLVMFuncOp takeClosure(Conventions &conventions, func::FuncOp callee,
                             LLVM::LLVMStructType closure, ArrayRef<Slot> slots) {
  Block &body = callee.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  MemoryBuilder memory(builder, conventions.converter);
  Location loc = callee.getLoc();
  Type i64 = builder.getI64Type();
  unsigned before = body.getNumArguments();
  Value pointer = body.addArgument(memory.pointerType(), loc);
  Value begin = body.addArgument(i64, loc);
  Value end = body.addArgument(i64, loc);
  Type index = builder.getIndexType();
  body.getArgument(0).replaceAllUsesWith(memory.cast(loc, index, begin));
  body.getArgument(1).replaceAllUsesWith(memory.cast(loc, index, end));
  for (auto [i, slot] : llvm::enumerate(slots)) {
    BlockArgument argument = body.getArgument(3 + i);
    Value place = LLVM::GEPOp::create(builder, loc, memory.pointerType(), closure, pointer,
                                      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    Value value = LLVM::LoadOp::create(builder, loc, slot.type, place);
    argument.replaceAllUsesWith(
        slot.address ? memory.toMemRef(loc, cast<MemRefType>(argument.getType()), value)
                     : memory.cast(loc, argument.getType(), value));
  }
  body.eraseArguments(0, before);
  return conventions.toLLVMFunction(callee, callee.getName(),
                                    LLVM::LLVMVoidType::get(builder.getContext()),
                                    {memory.pointerType(), i64, i64}, LLVM::Linkage::Internal);
}

} // namespace

void mlir::weft::lowerParallelCalls(Conventions &conventions, func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) {
    if (call->hasAttr(kParallelCall)) calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    MemoryBuilder memory(builder, conventions.converter);
    Location loc = call.getLoc();
    MLIRContext *context = builder.getContext();
    Type i64 = builder.getI64Type();

    SmallVector<Slot> slots;
    SmallVector<Type> types;
    for (Value operand : call.getOperands().drop_front(3)) {
      slots.push_back(slotOf(operand.getType(), memory));
      types.push_back(slots.back().type);
    }
    auto closure = LLVM::LLVMStructType::getLiteral(context, types);
    LLVM::LLVMFuncOp part = takeClosure(
        conventions, conventions.symbols.lookup<func::FuncOp>(call.getCallee()), closure, slots);

    // The closure lies in the caller's frame, made once however often the call runs.
    Value place;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&function.getBody().front());
      place = LLVM::AllocaOp::create(builder, loc, memory.pointerType(), closure,
                                     memory.constant(loc, 1));
    }
    for (auto [i, slot] : llvm::enumerate(slots)) {
      Value operand = call.getOperand(3 + i);
      Value value =
          slot.address ? memory.toPointer(loc, operand) : memory.cast(loc, slot.type, operand);
      Value field = LLVM::GEPOp::create(builder, loc, memory.pointerType(), closure, place,
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      LLVM::StoreOp::create(builder, loc, value, field);
    }
    SmallVector<Value> operands;
    for (Value bound : call.getOperands().take_front(3))
      operands.push_back(memory.cast(loc, i64, bound));
    operands.push_back(LLVM::AddressOfOp::create(builder, loc, part));
    operands.push_back(place);
    auto run =
        conventions.runtimeFunction("weft_rt_parallel_for", LLVM::LLVMVoidType::get(context),
                                    {i64, i64, i64, memory.pointerType(), memory.pointerType()});
    LLVM::CallOp::create(builder, loc, run, operands);
    call.erase();
  }
}
