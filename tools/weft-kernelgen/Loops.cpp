// The kernels that no op says: cumulative ops, whose ways are chosen when they run, and transposed
// planes, as structured ops on memrefs.

#include "Cumulative.h"
#include "Kernels.h"

#include "OpDefs/Widening.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/StringMap.h"

#include <cstddef>

namespace weft::kernelgen {
namespace {

using namespace mlir;

std::size_t cumulativeIndex(OpCode op, DType dtype) {
  return offsetof(KernelTable, cumulative) / sizeof(Kernel) +
         static_cast<std::size_t>(op) * kNumDTypes + static_cast<std::size_t>(dtype);
}
std::size_t transposeIndex(unsigned log2Bytes) {
  return offsetof(KernelTable, transpose) / sizeof(Kernel) + log2Bytes;
}

class LoopKernels {
public:
  explicit LoopKernels(ModuleOp module)
      : module_(module), context_(module.getContext()), b_(context_),
        loc_(UnknownLoc::get(context_)) {}

  std::vector<TableEntry> build();

private:
  /// A buffer of unknown sizes, which are those numbers of the kernel's `dims`. Or one of that many
  /// elements.
  struct Buffer {
    Type element;
    SmallVector<std::int64_t> dims;
    std::int64_t size = ShapedType::kDynamic;
  };
  func::FuncOp begin(const std::string &name, ArrayRef<Buffer> buffers);
  void end(std::size_t index);

  void cumulative(const OpInfo &op, DType dtype);
  void transpose(unsigned log2Bytes);

  ModuleOp module_;
  MLIRContext *context_;
  OpBuilder b_;
  Location loc_;
  func::FuncOp function_;
  std::vector<TableEntry> kernels_;
  /// The functions of cumulative ops by what they compute for an element.
  llvm::StringMap<std::string> byCode_;
};

func::FuncOp LoopKernels::begin(const std::string &name, ArrayRef<Buffer> buffers) {
  b_.setInsertionPointToEnd(module_.getBody());
  SmallVector<Type> types;
  for (const Buffer &buffer : buffers) {
    SmallVector<int64_t> shape(buffer.dims.size(), ShapedType::kDynamic);
    if (!ShapedType::isDynamic(buffer.size)) shape = {buffer.size};
    types.push_back(MemRefType::get(shape, buffer.element));
  }
  function_ = func::FuncOp::create(b_, loc_, name, b_.getFunctionType(types, {}));
  for (auto [i, buffer] : llvm::enumerate(buffers))
    function_.setArgAttr(i, mlir::weft::kDims, b_.getDenseI64ArrayAttr(buffer.dims));
  b_.setInsertionPointToStart(function_.addEntryBlock());
  return function_;
}

void LoopKernels::end(std::size_t index) {
  func::ReturnOp::create(b_, loc_);
  kernels_.push_back({index, function_.getName().str()});
}

void LoopKernels::cumulative(const OpInfo &op, DType dtype) {
  Type type = mlir::weft::elementTypeOf(dtype, context_), element = mlir::weft::storageType(type);
  const SmallVector<Type> types(op.operands.size() + 1, type);
  std::string &name = byCode_[std::string(op.name) + "\n" + scalarCode(op.op, types, type)];
  if (!name.empty()) {
    kernels_.push_back({cumulativeIndex(op.op, dtype), name});
    return;
  }
  name = "k_cumulative_" + std::string(op.name) + "_" + std::string(name_of(dtype));
  SmallVector<Buffer> buffers(op.operands.size(), {element, {0, 1, 2}});
  buffers.push_back({b_.getI64Type(), {}, 2});
  buffers.push_back({element, {0, 1, 2}});
  func::FuncOp function = begin(name, buffers);
  auto arguments = function.getArguments();
  const std::size_t operands = op.operands.size();
  const auto told = [&](std::int64_t i) -> Value {
    Value at = arith::ConstantIndexOp::create(b_, loc_, i);
    return memref::LoadOp::create(b_, loc_, arguments[operands], at);
  };
  Value columns = arith::IndexCastOp::create(b_, loc_, b_.getIndexType(), told(1));
  buildCumulative(b_, loc_, op.op, arguments.take_front(operands), told(0), columns,
                  arguments.back(), mlir::weft::isUnsigned(type));
  end(cumulativeIndex(op.op, dtype));
}

/// A plane of elements of 1, 2, 4 or 8 bytes, whatever they mean.
void LoopKernels::transpose(unsigned log2Bytes) {
  const unsigned bits = 8u << log2Bytes;
  Type element = b_.getIntegerType(bits);
  func::FuncOp function =
      begin("k_transpose_" + std::to_string(bits / 8), {{element, {0, 1}}, {element, {2, 3}}});
  Value source = function.getArgument(0), target = function.getArgument(1);
  Value columns = memref::DimOp::create(b_, loc_, source, 0);
  Value rows = memref::DimOp::create(b_, loc_, target, 0);
  const auto part = [&](Value plane, Value height, Value width) -> Value {
    SmallVector<OpFoldResult> offsets(2, b_.getIndexAttr(0)), strides(2, b_.getIndexAttr(1));
    return memref::SubViewOp::create(b_, loc_, plane, offsets,
                                     ArrayRef<OpFoldResult>{height, width}, strides);
  };
  Value from = part(source, columns, rows), to = part(target, rows, columns);
  AffineMap identity = b_.getMultiDimIdentityMap(2);
  AffineMap swapped = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, context_);
  linalg::GenericOp::create(b_, loc_, from, to, ArrayRef<AffineMap>{swapped, identity},
                            SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
                            [](OpBuilder &inner, Location loc, ValueRange elements) {
                              linalg::YieldOp::create(inner, loc, elements.front());
                            });
  end(transposeIndex(log2Bytes));
}

std::vector<TableEntry> LoopKernels::build() {
  for (const OpInfo &op : all_ops()) {
    if (op.kind != OpKind::cumulative) continue;
    for (int number = 0; number < kNumDTypes; ++number) {
      const auto dtype = static_cast<DType>(number);
      if (op.operands.front().admits.contains(dtype) && !is_complex(dtype) && !widened(op, dtype))
        cumulative(op, dtype);
    }
  }
  for (unsigned log2Bytes = 0; log2Bytes < 4; ++log2Bytes) transpose(log2Bytes);
  return std::move(kernels_);
}

} // namespace

std::vector<TableEntry> buildLoops(ModuleOp module) { return LoopKernels(module).build(); }

} // namespace weft::kernelgen
