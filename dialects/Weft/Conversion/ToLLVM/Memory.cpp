// Descriptors of memrefs: made of pointers, and read back.

#include "Weft/Conversion/ToLLVM/Memory.h"
#include "Weft/IR/Bridge.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::weft;

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

Value MemoryBuilder::toMemRef(Location loc, MemRefType type, Value pointer, ValueRange dynamicSizes,
                              ValueRange dynamicStrides) {
  if (type.hasStaticShape() && type.getLayout().isIdentity()) {
    Value descriptor = MemRefDescriptor::fromStaticShape(builder_, loc, converter_, type, pointer);
    return cast(loc, type, descriptor);
  }
  auto descriptor = MemRefDescriptor::poison(builder_, loc, converter_.convertType(type));
  descriptor.setAllocatedPtr(builder_, loc, pointer);
  descriptor.setAlignedPtr(builder_, loc, pointer);
  descriptor.setConstantOffset(builder_, loc, 0);
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  Value stride = constant(loc, 1);
  unsigned next = dynamicSizes.size(), nextStride = dynamicStrides.size();
  for (unsigned i = type.getRank(); i-- > 0;) {
    Value size = type.isDynamicDim(i) ? dynamicSizes[--next] : constant(loc, type.getDimSize(i));
    descriptor.setSize(builder_, loc, i, size);
    if (layout) {
      const int64_t known = layout.getStrides()[i];
      stride = ShapedType::isDynamic(known) ? dynamicStrides[--nextStride] : constant(loc, known);
    }
    descriptor.setStride(builder_, loc, i, stride);
    if (i != 0 && !layout) stride = LLVM::MulOp::create(builder_, loc, stride, size);
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
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  int64_t number = elementBytes(type.getElementType());
  bool tooMany = false;
  for (int64_t size : type.getShape()) {
    if (size == 0) return constant(loc, 0);
    if (!ShapedType::isDynamic(size)) tooMany |= llvm::MulOverflow(number, size, number) != 0;
  }
  if (tooMany) number = most;
  Value bytes = constant(loc, number);
  if (dynamicSizes.empty()) return bytes;
  // One of the sizes may be 0 and make any product fine; no size is negative.
  Type i64 = builder_.getI64Type(), i1 = builder_.getI1Type();
  auto pair = LLVM::LLVMStructType::getLiteral(builder_.getContext(), {i64, i1});
  Value zero = constant(loc, 0), overflow, empty;
  auto orElse = [&](Value &all, Value one) {
    all = all ? LLVM::OrOp::create(builder_, loc, all, one).getResult() : one;
  };
  for (Value size : dynamicSizes) {
    Value product = LLVM::UMulWithOverflowOp::create(builder_, loc, pair, bytes, size);
    bytes = LLVM::ExtractValueOp::create(builder_, loc, product, 0);
    orElse(overflow, LLVM::ExtractValueOp::create(builder_, loc, product, 1));
    orElse(empty, LLVM::ICmpOp::create(builder_, loc, LLVM::ICmpPredicate::eq, size, zero));
  }
  orElse(overflow, LLVM::ICmpOp::create(builder_, loc, LLVM::ICmpPredicate::slt, bytes, zero));
  bytes = LLVM::SelectOp::create(builder_, loc, overflow, constant(loc, most), bytes);
  return LLVM::SelectOp::create(builder_, loc, empty, zero, bytes);
}
