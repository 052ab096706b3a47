// Between memrefs and the pointers that compiled functions are called with.
#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::weft {

/// Makes memrefs of pointers and pointers of memrefs, in code that is still to be converted: the
/// casts between the two vanish with the conversion to LLVM.
class MemoryBuilder {
public:
  MemoryBuilder(OpBuilder &builder, const LLVMTypeConverter &converter)
      : builder_(builder), converter_(converter) {}

  /// A memref at `pointer`, of identity layout or of strides from there; `dynamicSizes` and
  /// `dynamicStrides` (i64) are its unknown sizes and strides in order.
  Value toMemRef(Location loc, MemRefType type, Value pointer, ValueRange dynamicSizes = {},
                 ValueRange dynamicStrides = {});
  /// The address of the first element.
  Value toPointer(Location loc, Value memref);
  /// Bytes of a memref of identity layout with these unknown sizes, as i64; 2^63 - 1, which nobody
  /// has, if they are more than that.
  Value bytesOf(Location loc, MemRefType type, ValueRange dynamicSizes);

  Value constant(Location loc, int64_t number);
  Value offset(Location loc, Value pointer, int64_t bytes);
  /// Between index and i64, which are the same in LLVM.
  Value cast(Location loc, Type type, Value value);
  Type pointerType();
  OpBuilder &builder() { return builder_; }
  const LLVMTypeConverter &converter() const { return converter_; }

private:
  OpBuilder &builder_;
  const LLVMTypeConverter &converter_;
};

} // namespace mlir::weft
