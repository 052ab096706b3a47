// One function per op, dtype and variant: elementwise, casts, reductions, cumulative ops, argmax;
// and one per size of elements: transposed planes.

#include "Kernels.h"
#include "Cumulative.h"

#include "Weft/Conversion/ScalarBuilder.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"

#include <cstddef>

namespace weft::kernelgen {
namespace {

using namespace mlir;
using mlir::weft::ScalarBuilder;

constexpr DType kDTypes[] = {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy) DType::enumerator,
#include <weft/dtypes.def>
};

constexpr const char *kDTypeNames[] = {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy) spelling,
#include <weft/dtypes.def>
};

std::size_t number(DType dtype) { return static_cast<std::size_t>(dtype); }
std::string nameOf(DType dtype) { return kDTypeNames[number(dtype)]; }

/// Flat index of a member of KernelTable.
std::size_t elementwiseIndex(OpCode op, DType dtype, unsigned variant) {
  std::size_t base = offsetof(KernelTable, elementwise) / sizeof(Kernel);
  return base + (static_cast<std::size_t>(op) * kNumDTypes + number(dtype)) * kNumVariants +
         variant;
}
std::size_t castIndex(DType from, DType to) {
  return offsetof(KernelTable, cast) / sizeof(Kernel) + number(from) * kNumDTypes + number(to);
}
std::size_t reduceIndex(OpCode op, DType dtype) {
  return offsetof(KernelTable, reduce) / sizeof(Kernel) +
         static_cast<std::size_t>(op) * kNumDTypes + number(dtype);
}
std::size_t cumulativeIndex(OpCode op, DType dtype) {
  return offsetof(KernelTable, cumulative) / sizeof(Kernel) +
         static_cast<std::size_t>(op) * kNumDTypes + number(dtype);
}
std::size_t argmaxIndex(DType dtype) {
  return offsetof(KernelTable, argmax) / sizeof(Kernel) + number(dtype);
}
std::size_t transposeIndex(unsigned log2Bytes) {
  return offsetof(KernelTable, transpose) / sizeof(Kernel) + log2Bytes;
}

class KernelBuilder {
public:
  explicit KernelBuilder(ModuleOp module)
      : module_(module), context_(module.getContext()), b_(context_),
        loc_(UnknownLoc::get(context_)) {}

  std::vector<KernelPlace> build();

private:
  Type typeOf(DType dtype) { return mlir::weft::elementTypeOf(dtype, context_); }

  /// A buffer of unknown sizes, which are those numbers of the kernel's `dims`; a single element if
  /// there are none. Or one of that many elements.
  struct Buffer {
    Type element;
    SmallVector<std::int64_t> dims;
    std::int64_t size = ShapedType::kDynamic;
  };
  func::FuncOp begin(const std::string &name, ArrayRef<Buffer> buffers);
  void end(std::size_t index);

  void elementwise(const OpInfo &op, DType dtype, unsigned variant);
  void power(ValueRange buffers, DType dtype, function_ref<void(OpBuilder &, Location)> otherwise);
  void cast(DType from, DType to);
  void reduction(const OpInfo &op, DType dtype);
  void reduce(OpCode op, Value x, Value y, ArrayRef<unsigned> keptDims);
  void cumulative(const OpInfo &op, DType dtype);
  void argmax(DType dtype);
  void argmaxOf(Value x, Value y, DType dtype);
  void transpose(unsigned log2Bytes);

  ModuleOp module_;
  MLIRContext *context_;
  OpBuilder b_;
  Location loc_;
  func::FuncOp function_;
  std::vector<KernelPlace> kernels_;
};

func::FuncOp KernelBuilder::begin(const std::string &name, ArrayRef<Buffer> buffers) {
  b_.setInsertionPointToEnd(module_.getBody());
  SmallVector<Type> types;
  for (const Buffer &buffer : buffers) {
    SmallVector<int64_t> shape(buffer.dims.size(), ShapedType::kDynamic);
    if (!ShapedType::isDynamic(buffer.size)) shape = {buffer.size};
    types.push_back(MemRefType::get(shape, buffer.element));
  }
  function_ = func::FuncOp::create(b_, loc_, name, b_.getFunctionType(types, {}));
  for (auto [i, buffer] : llvm::enumerate(buffers))
    function_.setArgAttr(i, "weft.dims", b_.getDenseI64ArrayAttr(buffer.dims));
  b_.setInsertionPointToStart(function_.addEntryBlock());
  return function_;
}

void KernelBuilder::end(std::size_t index) {
  func::ReturnOp::create(b_, loc_);
  kernels_.push_back({function_.getName().str(), index});
}

/// The operand that dtypes of elementwise kernels are counted by is the last; a predicate before it
/// is bool.
void KernelBuilder::elementwise(const OpInfo &op, DType dtype, unsigned variant) {
  std::string name = "k_" + std::string(op.name) + "_" + nameOf(dtype);
  if (variant != 0) name += "_s" + std::to_string(variant);
  SmallVector<Buffer> buffers;
  SmallVector<AffineMap> maps;
  AffineMap each = b_.getMultiDimIdentityMap(1);
  AffineMap single = AffineMap::get(1, 0, context_);
  SmallVector<DType> operands;
  for (auto [i, operand] : llvm::enumerate(op.operands)) {
    bool isSingle = variant >> i & 1;
    operands.push_back(operand.admits.contains(dtype) ? dtype : DType::boolean);
    buffers.push_back({typeOf(operands.back()), {}});
    if (!isSingle) buffers.back().dims.push_back(0);
    maps.push_back(isSingle ? single : each);
  }
  // A select of bools has a bool predicate as every other.
  if (op.op == OpCode::select) buffers.front().element = typeOf(DType::boolean);

  // The type of the result is that of the body's value.
  OpBuilder scratch(context_);
  Block block;
  for (const Buffer &buffer : buffers) block.addArgument(buffer.element, loc_);
  scratch.setInsertionPointToStart(&block);
  ScalarBuilder probe(scratch, loc_);
  Value value = mlir::weft::buildScalarBody(op.op, probe, block.getArguments(), typeOf(dtype));
  if (!value) return;
  buffers.push_back({value.getType(), {0}});
  maps.push_back(each);

  func::FuncOp function = begin(name, buffers);
  auto arguments = function.getArguments();
  auto loop = [&](OpBuilder &b, Location loc) {
    linalg::GenericOp::create(
        b, loc, arguments.drop_back(), arguments.take_back(), maps,
        ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
        [&](OpBuilder &inner, Location loc, ValueRange elements) {
          ScalarBuilder scalars(inner, loc);
          linalg::YieldOp::create(
              inner, loc,
              mlir::weft::buildScalarBody(op.op, scalars, elements.drop_back(), typeOf(dtype)));
        });
  };
  // Bit 1: the exponent is one number.
  if (op.op == OpCode::power && variant == 2) power(arguments, dtype, loop);
  else loop(b_, loc_);
  end(elementwiseIndex(op.op, dtype, variant));
}

/// A loop of its own for each exponent that is common and has a short formula, and `otherwise` for
/// the others. The formulas depend on the exponent's value, so that all loops give the same bits.
void KernelBuilder::power(ValueRange buffers, DType dtype,
                          function_ref<void(OpBuilder &, Location)> otherwise) {
  Value exponent = memref::LoadOp::create(b_, loc_, buffers[1]);
  AffineMap each = b_.getMultiDimIdentityMap(1);
  OpBuilder::InsertionGuard guard(b_);
  constexpr double kExponents[] = {2, 3, 4, -1, 0.5, -0.5};
  for (double number : ArrayRef(kExponents).take_front(is_floating(dtype) ? 6 : 3)) {
    ScalarBuilder scalars(b_, loc_);
    Value constant = scalars.constant(number, exponent.getType());
    auto branch = scf::IfOp::create(b_, loc_, scalars.equal(exponent, constant),
                                    /*withElseRegion=*/true);
    b_.setInsertionPointToStart(branch.thenBlock());
    linalg::GenericOp::create(b_, loc_, buffers[0], buffers[2], ArrayRef<AffineMap>{each, each},
                              ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
                              [&](OpBuilder &inner, Location loc, ValueRange elements) {
                                ScalarBuilder body(inner, loc);
                                Value n = body.constant(number, exponent.getType());
                                linalg::YieldOp::create(inner, loc, body.power(elements[0], n));
                              });
    b_.setInsertionPointToStart(branch.elseBlock());
  }
  otherwise(b_, loc_);
}

void KernelBuilder::cast(DType from, DType to) {
  func::FuncOp function =
      begin("k_cast_" + nameOf(from) + "_" + nameOf(to), {{typeOf(from), {0}}, {typeOf(to), {0}}});
  AffineMap each = b_.getMultiDimIdentityMap(1);
  linalg::GenericOp::create(b_, loc_, function.getArgument(0), function.getArgument(1),
                            ArrayRef<AffineMap>{each, each},
                            ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
                            [&](OpBuilder &inner, Location loc, ValueRange elements) {
                              ScalarBuilder scalars(inner, loc);
                              Value value = scalars.cast(elements.front(), typeOf(to));
                              linalg::YieldOp::create(inner, loc, value);
                            });
  end(castIndex(from, to));
}

/// Fills `y` with the neutral element, then reduces the dims of `x` that are not kept into it.
void KernelBuilder::reduce(OpCode op, Value x, Value y, ArrayRef<unsigned> keptDims) {
  auto type = mlir::cast<MemRefType>(x.getType());
  ScalarBuilder scalars(b_, loc_);
  Value init = mlir::weft::buildReductionInit(op, scalars, type.getElementType());
  linalg::FillOp::create(b_, loc_, init, y);
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::reduction);
  SmallVector<AffineExpr> kept;
  for (unsigned dim : keptDims) {
    iterators[dim] = utils::IteratorType::parallel;
    kept.push_back(b_.getAffineDimExpr(dim));
  }
  AffineMap maps[] = {b_.getMultiDimIdentityMap(type.getRank()),
                      AffineMap::get(type.getRank(), 0, kept, context_)};
  linalg::GenericOp::create(b_, loc_, x, y, maps, iterators,
                            [&](OpBuilder &inner, Location loc, ValueRange elements) {
                              ScalarBuilder body(inner, loc);
                              Value value = mlir::weft::buildScalarBody(
                                  op, body, {elements[1], elements[0]}, elements[1].getType());
                              linalg::YieldOp::create(inner, loc, value);
                            });
}

/// (outer, reduced, inner) to (outer, inner); rows are reduced as rows if inner is 1.
void KernelBuilder::reduction(const OpInfo &op, DType dtype) {
  Type element = typeOf(dtype);
  func::FuncOp function = begin("k_reduce_" + std::string(op.name) + "_" + nameOf(dtype),
                                {{element, {0, 1, 2}}, {element, {0, 2}}});
  Value x = function.getArgument(0), y = function.getArgument(1);
  Value one = arith::ConstantIndexOp::create(b_, loc_, 1);
  Value inner = memref::DimOp::create(b_, loc_, x, 2);
  Value rows = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, inner, one);
  auto branch = scf::IfOp::create(b_, loc_, rows, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    SmallVector<ReassociationIndices> flatX = {{0}, {1, 2}}, flatY = {{0, 1}};
    Value matrix = memref::CollapseShapeOp::create(b_, loc_, x, flatX);
    Value vector = memref::CollapseShapeOp::create(b_, loc_, y, flatY);
    reduce(op.op, matrix, vector, {0});
    b_.setInsertionPointToStart(branch.elseBlock());
    reduce(op.op, x, y, {0, 2});
  }
  end(reduceIndex(op.op, dtype));
}

void KernelBuilder::cumulative(const OpInfo &op, DType dtype) {
  Type element = typeOf(dtype);
  SmallVector<Buffer> buffers(op.operands.size(), {element, {0, 1, 2}});
  buffers.push_back({b_.getI64Type(), {}, 2});
  buffers.push_back({element, {0, 1, 2}});
  func::FuncOp function =
      begin("k_cumulative_" + std::string(op.name) + "_" + nameOf(dtype), buffers);
  auto arguments = function.getArguments();
  const std::size_t operands = op.operands.size();
  const auto told = [&](std::int64_t i) -> Value {
    Value at = arith::ConstantIndexOp::create(b_, loc_, i);
    return memref::LoadOp::create(b_, loc_, arguments[operands], at);
  };
  Value columns = arith::IndexCastOp::create(b_, loc_, b_.getIndexType(), told(1));
  buildCumulative(b_, loc_, op.op, arguments.take_front(operands), told(0), columns,
                  arguments.back());
  end(cumulativeIndex(op.op, dtype));
}

/// The first index of the largest element, NaN counting as largest: of a few neighbouring lines at
/// a time, whose largest elements so far are on the stack.
void KernelBuilder::argmaxOf(Value x, Value y, DType dtype) {
  constexpr std::int64_t kLines = 256;
  Type element = typeOf(dtype);
  auto number = [&](std::int64_t n) {
    return arith::ConstantIndexOp::create(b_, loc_, n).getResult();
  };
  auto size = [&](unsigned dim) { return memref::DimOp::create(b_, loc_, x, dim).getResult(); };
  Value outer = size(0), reduced = size(1), inner = size(2);
  Value stack = memref::AllocaOp::create(b_, loc_, MemRefType::get({kLines}, element));
  scf::buildLoopNest(
      b_, loc_, {number(0), number(0)}, {outer, inner}, {number(1), number(kLines)},
      [&](OpBuilder &b, Location loc, ValueRange at) {
        Value lines = arith::SubIOp::create(b, loc, inner, at[1]);
        lines =
            arith::MinSIOp::create(b, loc, lines, arith::ConstantIndexOp::create(b, loc, kLines));
        const auto view = [&](Value buffer, ArrayRef<OpFoldResult> offsets,
                              ArrayRef<OpFoldResult> sizes, ArrayRef<std::int64_t> shape) -> Value {
          SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
          auto type = mlir::cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
              shape, mlir::cast<MemRefType>(buffer.getType()), offsets, sizes, strides));
          return memref::SubViewOp::create(b, loc, type, buffer, offsets, sizes, strides);
        };
        constexpr std::int64_t kAny = ShapedType::kDynamic;
        OpFoldResult unit = b.getIndexAttr(1), zero = b.getIndexAttr(0);
        Value from = view(x, {at[0], zero, at[1]}, {unit, reduced, lines}, {kAny, kAny});
        Value best = view(stack, {zero}, {lines}, {kAny});
        Value where = view(y, {at[0], at[1]}, {unit, lines}, {kAny});
        ScalarBuilder scalars(b, loc);
        linalg::FillOp::create(b, loc, scalars.lowest(element), best);
        linalg::FillOp::create(b, loc, scalars.constant(0, b.getI64Type()), where);
        AffineMap all = b.getMultiDimIdentityMap(2);
        AffineMap line = AffineMap::get(2, 0, b.getAffineDimExpr(1));
        linalg::GenericOp::create(
            b, loc, from, ValueRange{best, where}, ArrayRef<AffineMap>{all, line, line},
            ArrayRef<utils::IteratorType>{utils::IteratorType::reduction,
                                          utils::IteratorType::parallel},
            [&](OpBuilder &inside, Location loc, ValueRange elements) {
              ScalarBuilder body(inside, loc);
              Value place = arith::IndexCastOp::create(inside, loc, inside.getI64Type(),
                                                       linalg::IndexOp::create(inside, loc, 0));
              Value better = body.isBetterMaximum(elements[0], elements[1]);
              linalg::YieldOp::create(inside, loc,
                                      ValueRange{body.select(better, elements[0], elements[1]),
                                                 body.select(better, place, elements[2])});
            });
      });
}

void KernelBuilder::argmax(DType dtype) {
  func::FuncOp function = begin("k_argmax_" + nameOf(dtype),
                                {{typeOf(dtype), {0, 1, 2}}, {typeOf(DType::i64), {0, 2}}});
  argmaxOf(function.getArgument(0), function.getArgument(1), dtype);
  end(argmaxIndex(dtype));
}

/// A plane of elements of 1, 2, 4 or 8 bytes, whatever they mean.
void KernelBuilder::transpose(unsigned log2Bytes) {
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

std::vector<KernelPlace> KernelBuilder::build() {
  for (const OpInfo &op : all_ops()) {
    if (op.op == OpCode::cast) continue;
    if (op.kind == OpKind::elementwise) {
      unsigned operands = op.operands.size();
      for (DType dtype : kDTypes) {
        if (!op.operands.back().admits.contains(dtype)) continue;
        // Every set of single operands but all of them.
        for (unsigned variant = 0; variant + 1 < 1u << operands; ++variant)
          elementwise(op, dtype, variant);
      }
    } else if (op.kind == OpKind::reduction && op.op != OpCode::mean) {
      for (DType dtype : kDTypes)
        if (op.operands.front().admits.contains(dtype)) reduction(op, dtype);
    } else if (op.kind == OpKind::cumulative) {
      for (DType dtype : kDTypes)
        if (op.operands.front().admits.contains(dtype)) cumulative(op, dtype);
    }
  }
  for (DType from : kDTypes)
    for (DType to : kDTypes)
      if (from != to) cast(from, to);
  for (DType dtype : kDTypes)
    if (op_info(OpCode::argmax).operands.front().admits.contains(dtype)) argmax(dtype);
  for (unsigned log2Bytes = 0; log2Bytes < 4; ++log2Bytes) transpose(log2Bytes);
  return std::move(kernels_);
}

} // namespace

std::vector<KernelPlace> buildKernels(ModuleOp module) { return KernelBuilder(module).build(); }

} // namespace weft::kernelgen
