// The library's routines, which run on the processor, on copies of a device's buffers.
#include "Weft/Conversion/LoopsToGpu/HostCalls.h"

#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::weft {

Value deviceAddress(ImplicitLocOpBuilder &b, Value buffer, bool offset) {
  Value base = address(b, buffer);
  auto type = cast<MemRefType>(buffer.getType());
  if (!offset || type.getLayout().isIdentity()) return base;
  auto view = memref::ExtractStridedMetadataOp::create(b, buffer);
  const int64_t bytes = elementBytes(type.getElementType());
  return arith::AddIOp::create(b, base,
                               arith::MulIOp::create(b, number(b, view.getConstifiedMixedOffset()),
                                                     arith::ConstantIntOp::create(b, bytes, 64)));
}

Value pointerTo(ImplicitLocOpBuilder &b, Value buffer) {
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  deviceAddress(b, buffer, /*offset=*/true));
}

bool knowsDevices(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"weft_rt_print", "weft_rt_assert_fail", "weft_rt_shape_error"}, true)
      .Cases({"weft_rt_check_indices", "weft_rt_index_error", "weft_rt_on_stop"}, true)
      .Cases({"weft_rt_value_error", "weft_rt_bounds_error"}, true)
      .Cases({"weft_rt_host_call", "weft_rt_host_size", "weft_rt_host_take"}, true)
      .Cases({"weft_rt_interrupt", "weft_rt_interrupted"}, true)
      .Cases({"weft_rt_note_begin", "weft_rt_note_end"}, true)
      .Default(name.starts_with("weft_rt_gpu_"));
}

/// Rank is told apart; here are the sizes of a view and then its strides.
static Value describe(ImplicitLocOpBuilder &b, Value buffer) {
  const int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  Value array = stackArray(b, std::max<int64_t>(2 * rank, 1));
  auto view = memref::ExtractStridedMetadataOp::create(b, buffer);
  putAll(b, array, 0, view.getConstifiedMixedSizes());
  putAll(b, array, rank, view.getConstifiedMixedStrides());
  return array;
}

/// The buffer behind an operand of unknown rank.
static Value behindCasts(Value operand) {
  while (auto cast = operand.getDefiningOp<memref::CastOp>()) operand = cast.getSource();
  return operand;
}

void bringToHost(func::CallOp call) {
  const StringRef name = call.getCallee();
  if (!name.starts_with("weft_rt_") || knowsDevices(name)) return;
  ImplicitLocOpBuilder b(call.getLoc(), call);
  if (name == "weft_rt_outside") {
    auto other = callRuntime(b, "weft_rt_gpu_outside", call.getOperands(), /*withContext=*/true,
                             call.getResultTypes());
    call.replaceAllUsesWith(other.getResults());
    call.erase();
    return;
  }
  auto isBuffer = [](Value operand) { return isa<BaseMemRefType>(operand.getType()); };
  const auto buffers = llvm::count_if(call.getOperands(), isBuffer);
  const auto noted = call->getAttrOfType<IntegerAttr>(kWrites);
  int64_t left = buffers;
  const int64_t writes = noted ? noted.getInt() : left;
  auto flag = [&](bool value) { return arith::ConstantIntOp::create(b, value ? 1 : 0, 64); };
  for (OpOperand &operand : call->getOpOperands()) {
    if (!isBuffer(operand.get())) continue;
    const bool isWritten = left-- <= writes;
    Operation *widening = operand.get().getDefiningOp<memref::CastOp>();
    Value buffer = behindCasts(operand.get());
    Value place = pointerTo(b, buffer);
    if (!isOfHost(buffer)) {
      auto type = cast<MemRefType>(buffer.getType());
      Value view = describe(b, buffer);
      const SmallVector<Value> sizes = {
          arith::ConstantIntOp::create(b, elementBytes(type.getElementType()), 64),
          arith::ConstantIntOp::create(b, type.getRank(), 64), view};
      SmallVector<Value> operands{place};
      llvm::append_range(operands, sizes);
      operands.push_back(flag(!isWritten || !noted));
      Type pointer = place.getType();
      Value copy = callRuntime(b, "weft_rt_gpu_to_host", operands, /*withContext=*/true, pointer)
                       .getResult(0);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfter(call);
      operands = {copy, place};
      llvm::append_range(operands, sizes);
      operands.push_back(flag(isWritten));
      callRuntime(b, "weft_rt_gpu_to_device", operands, /*withContext=*/true);
      place = copy;
    }
    operand.set(place);
    if (widening && widening->use_empty()) widening->erase();
  }
}

void takePointers(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isDeclaration() || !function->hasAttr("weft.runtime") ||
        knowsDevices(function.getName()))
      continue;
    Builder b(function);
    auto types = llvm::map_to_vector(function.getArgumentTypes(), [&](Type type) -> Type {
      return isa<BaseMemRefType>(type) ? LLVM::LLVMPointerType::get(b.getContext()) : type;
    });
    function.setType(b.getFunctionType(types, function.getResultTypes()));
  }
}

} // namespace mlir::weft
