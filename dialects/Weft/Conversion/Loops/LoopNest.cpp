// Reads loops, sizes and strides off structured ops, and merges loops.

#include "Weft/Conversion/Loops/LoopNest.h"

#include "Weft/Conversion/Loops/Body.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::weft;

namespace {

/// A linear expression of loop indices: sum(coefficients[d] * d) + constant.
struct Linear {
  SmallVector<int64_t, 4> coefficients;
  int64_t constant = 0;
};

std::optional<Linear> asLinear(AffineExpr expr, unsigned numDims) {
  Linear result{SmallVector<int64_t, 4>(numDims, 0), 0};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    result.coefficients[dim.getPosition()] = 1;
    return result;
  }
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    result.constant = number.getValue();
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) return std::nullopt;
  std::optional<Linear> lhs = asLinear(binary.getLHS(), numDims);
  std::optional<Linear> rhs = asLinear(binary.getRHS(), numDims);
  if (!lhs || !rhs) return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add) {
    for (unsigned d = 0; d < numDims; ++d)
      result.coefficients[d] = lhs->coefficients[d] + rhs->coefficients[d];
    result.constant = lhs->constant + rhs->constant;
    return result;
  }
  auto isNumber = [](const Linear &x) {
    return llvm::all_of(x.coefficients, [](int64_t c) { return c == 0; });
  };
  if (binary.getKind() != AffineExprKind::Mul || !isNumber(*rhs)) return std::nullopt;
  for (unsigned d = 0; d < numDims; ++d)
    result.coefficients[d] = lhs->coefficients[d] * rhs->constant;
  result.constant = lhs->constant * rhs->constant;
  return result;
}

/// Makes the accesses of one op; holds the sizes of its loops.
class AccessReader {
public:
  AccessReader(OpBuilder &builder, linalg::LinalgOp op) : builder_(builder), op_(op) {}

  LogicalResult readSizes(SmallVectorImpl<LoopDim> &dims);
  FailureOr<Access> read(OpOperand &operand, ArrayRef<LoopDim> dims);

private:
  OpBuilder &builder_;
  linalg::LinalgOp op_;
};

LogicalResult AccessReader::readSizes(SmallVectorImpl<LoopDim> &dims) {
  SmallVector<int64_t, 4> ranges = op_.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op_.getIteratorTypesArray();
  for (unsigned d = 0; d < ranges.size(); ++d) {
    LoopDim dim{Product(ranges[d]), iterators[d] == utils::IteratorType::reduction, d};
    if (ShapedType::isDynamic(ranges[d])) {
      SmallVector<std::pair<Value, unsigned>> places;
      op_.mapIterationSpaceDimToAllOperandDims(d, places);
      if (places.empty()) return failure();
      Value size = memref::DimOp::create(builder_, op_.getLoc(), places.front().first,
                                         places.front().second);
      dim.size = Product(size);
    }
    dims.push_back(dim);
  }
  return success();
}

FailureOr<Access> AccessReader::read(OpOperand &operand, ArrayRef<LoopDim> dims) {
  Location loc = op_.getLoc();
  Access access;
  access.operand = &operand;
  access.memref = operand.get();
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type) { // a scalar operand: the same value in every iteration
    access.elementType = operand.get().getType();
    access.memref = Value();
    access.strides.assign(dims.size(), Product(0));
    return access;
  }
  access.elementType = type.getElementType();

  SmallVector<Linear, 4> subscripts;
  for (AffineExpr expr : op_.getMatchingIndexingMap(&operand).getResults()) {
    std::optional<Linear> linear = asLinear(expr, dims.size());
    if (!linear) return failure();
    subscripts.push_back(std::move(*linear));
  }

  // The stride of each dimension of the memref.
  unsigned rank = type.getRank();
  SmallVector<Product, 4> strides(rank, Product(1));
  if (type.getLayout().isIdentity()) {
    Product stride(1);
    for (unsigned i = rank; i-- > 0;) {
      strides[i] = stride;
      Product size(type.getDimSize(i));
      if (type.isDynamicDim(i)) {
        // A size that is also a loop's is written as that one, so that strides can be compared.
        const LoopDim *loop = nullptr;
        if (auto dim = dyn_cast<AffineDimExpr>(op_.getMatchingIndexingMap(&operand).getResult(i)))
          loop = &dims[dim.getPosition()];
        size = loop ? loop->size
                    : Product(memref::DimOp::create(builder_, loc, operand.get(), i).getResult());
      }
      stride = stride * size;
    }
    if (type.hasStaticShape()) access.extent = type.getNumElements();
  } else {
    SmallVector<int64_t> numbers;
    int64_t offset;
    if (failed(type.getStridesAndOffset(numbers, offset))) return failure();
    bool dynamic = ShapedType::isDynamic(offset) || llvm::any_of(numbers, ShapedType::isDynamic);
    memref::ExtractStridedMetadataOp metadata;
    if (dynamic) metadata = memref::ExtractStridedMetadataOp::create(builder_, loc, operand.get());
    for (unsigned i = 0; i < rank; ++i)
      strides[i] = ShapedType::isDynamic(numbers[i]) ? Product(metadata.getStrides()[i])
                                                     : Product(numbers[i]);
    if (ShapedType::isDynamic(offset)) access.offset = metadata.getOffset();
    else access.staticOffset = offset;
  }

  // Subscripts times strides.
  access.strides.assign(dims.size(), Product(0));
  for (auto [i, subscript] : llvm::enumerate(subscripts)) {
    for (unsigned d = 0; d < dims.size(); ++d) {
      if (subscript.coefficients[d] == 0) continue;
      if (!access.strides[d].isZero()) return failure(); // a diagonal
      access.strides[d] = Product(subscript.coefficients[d]) * strides[i];
    }
    if (subscript.constant == 0) continue;
    Product part = Product(subscript.constant) * strides[i];
    if (part.isStatic()) {
      access.staticOffset += part.constant;
      continue;
    }
    Value value = part.materialize(builder_, loc);
    access.offset =
        access.offset ? Value(arith::AddIOp::create(builder_, loc, access.offset, value)) : value;
  }
  return access;
}

/// Whether the loops `outer` and `inner` are one loop for every operand.
bool canMerge(const LoopNest &nest, unsigned outer, unsigned inner) {
  if (nest.dims[outer].reduction != nest.dims[inner].reduction) return false;
  return llvm::all_of(nest.accesses, [&](const Access &access) {
    return access.strides[outer] == access.strides[inner] * nest.dims[inner].size;
  });
}

void eraseDim(LoopNest &nest, unsigned dim) {
  nest.dims.erase(nest.dims.begin() + dim);
  for (Access &access : nest.accesses) access.strides.erase(access.strides.begin() + dim);
}

void simplifyLoops(LoopNest &nest) {
  for (unsigned d = nest.dims.size(); d-- > 0;)
    if (nest.dims[d].size.isConstant(1)) eraseDim(nest, d);

  llvm::SmallBitVector asked(nest.op.getNumLoops());
  nest.op.getBlock()->walk([&](linalg::IndexOp index) { asked.set(index.getDim()); });
  for (unsigned outer = nest.dims.size(); outer-- > 0;) {
    if (asked.test(nest.dims[outer].source)) continue;
    for (unsigned inner = 0; inner < nest.dims.size(); ++inner) {
      // Reductions keep their order; parallel loops may stand in any.
      bool ordered = !nest.dims[outer].reduction || inner == outer + 1;
      if (inner == outer || !ordered || asked.test(nest.dims[inner].source)) continue;
      if (!canMerge(nest, outer, inner)) continue;
      Product size = nest.dims[outer].size * nest.dims[inner].size;
      nest.dims[inner].size = size;
      eraseDim(nest, outer);
      outer = nest.dims.size(); // look again from the end
      break;
    }
  }
}

} // namespace

FailureOr<LoopNest> mlir::weft::analyzeLoopNest(OpBuilder &builder, linalg::LinalgOp op,
                                                int64_t vectorBytes) {
  LoopNest nest;
  nest.op = op;
  AccessReader reader(builder, op);
  if (failed(reader.readSizes(nest.own))) return failure();
  nest.dims = nest.own;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Access> access = reader.read(operand, nest.dims);
    if (failed(access)) return failure();
    nest.accesses.push_back(std::move(*access));
  }
  simplifyLoops(nest);
  chooseForm(nest, vectorBytes);
  return nest;
}
