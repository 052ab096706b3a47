// Descriptors of memrefs: made of pointers, and read back.

#include "Weft/Conversion/ToLLVM/Memory.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::weft;

int64_t mlir::weft::elementBytes(Type element) {
  if (element.isIndex()) return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Type MemoryBuilder::pointerType() { return LLVM::LLVMPointerType::get(builder_.getContext()); }

Value MemoryBuilder::constant(Location loc, int64_t number) {
  return LLVM::ConstantOp::create(builder_, loc, builder_.getI64Type(), number);
}

Value MemoryBuilder::offset(Location loc, Value pointer, int64_t bytes) {
  if (bytes == 0) return pointer;
  // A constant index of GEPOp has 29 bits, whatever is put in.
  LLVM::GEPArg index = llvm::isInt<LLVM::kGEPConstantBitWidth>(bytes)
                           ? LLVM::GEPArg(static_cast<int32_t>(bytes))
                           : LLVM::GEPArg(constant(loc, bytes));
  return LLVM::GEPOp::create(builder_, loc, pointerType(), builder_.getI8Type(), pointer, index);
}

Value MemoryBuilder::cast(Location loc, Type type, Value value) {
  if (value.getType() == type) return value;
  return UnrealizedConversionCastOp::create(builder_, loc, type, value).getResult(0);
}

Value MemoryBuilder::toMemRef(Location loc, MemRefType type, Value pointer,
                              ValueRange dynamicSizes) {
  if (type.hasStaticShape()) {
    Value descriptor = MemRefDescriptor::fromStaticShape(builder_, loc, converter_, type, pointer);
    return cast(loc, type, descriptor);
  }
  auto descriptor = MemRefDescriptor::poison(builder_, loc, converter_.convertType(type));
  descriptor.setAllocatedPtr(builder_, loc, pointer);
  descriptor.setAlignedPtr(builder_, loc, pointer);
  descriptor.setConstantOffset(builder_, loc, 0);
  Value stride = constant(loc, 1);
  unsigned next = dynamicSizes.size();
  for (unsigned i = type.getRank(); i-- > 0;) {
    Value size = type.isDynamicDim(i) ? dynamicSizes[--next] : constant(loc, type.getDimSize(i));
    descriptor.setSize(builder_, loc, i, size);
    descriptor.setStride(builder_, loc, i, stride);
    if (i != 0) stride = LLVM::MulOp::create(builder_, loc, stride, size);
  }
  return cast(loc, type, descriptor);
}

Value MemoryBuilder::toPointer(Location loc, Value memref) {
  // An unranked parameter takes memrefs of any rank through a cast, which is looked through.
  while (auto wider = memref.getDefiningOp<memref::CastOp>()) memref = wider.getSource();
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type) return {};
  MemRefDescriptor descriptor(cast(loc, converter_.convertType(type), memref));
  Value pointer = descriptor.alignedPtr(builder_, loc);
  if (type.getLayout().isIdentity()) return pointer;
  return LLVM::GEPOp::create(builder_, loc, pointerType(),
                             converter_.convertType(type.getElementType()), pointer,
                             descriptor.offset(builder_, loc));
}

Value MemoryBuilder::bytesOf(Location loc, MemRefType type, ValueRange dynamicSizes) {
  int64_t number = elementBytes(type.getElementType());
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size)) number *= size;
  Value bytes = constant(loc, number);
  for (Value size : dynamicSizes) bytes = LLVM::MulOp::create(builder_, loc, bytes, size);
  return bytes;
}
