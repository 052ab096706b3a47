// Makes the loops of the cumulative ops' kernels: lines whose elements are neighbours a few at a
// time, others slice after slice.

#include "Cumulative.h"

#include "Kernels/KernelTable.h"
#include "Weft/Conversion/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft::kernelgen {
namespace {

using namespace mlir;
using mlir::weft::ScalarBuilder;

/// The loops of one kernel. Step `number` reads at `start + number * direction`, the operands but
/// the last by `early` beside that, and writes by `delay` beside it; the first result is the last
/// operand's element as it is.
class CumulativeBuilder {
public:
  CumulativeBuilder(OpBuilder &builder, Location loc, OpCode op, ValueRange operands, Value flags,
                    Value columns, Value y, bool isUnsigned);

  void build();

private:
  /// Lines that are stepped through together: their steps do not wait for each other, and their
  /// places in memory still have room in the cache if they are powers of two apart.
  static constexpr std::int64_t kTogether = 4;

  Value number(std::int64_t n) { return arith::ConstantIndexOp::create(b_, n); }
  Value sum(Value lhs, Value rhs) { return arith::AddIOp::create(b_, lhs, rhs); }
  Value step(Value before, ValueRange elements);
  void forEach(Value begin, Value end, Value by, function_ref<void(Value)> body);
  void when(Value condition, function_ref<void()> body);
  void lines(Value first, std::int64_t count);
  Value slice(Value buffer, Value row, Value at);
  void slices(Value row);
  void stepSlice(Value row, Value at);

  ImplicitLocOpBuilder b_;
  OpCode op_;
  mlir::weft::Signs signs_;
  SmallVector<Value> operands_;
  Value columns_, y_, zero_, one_;
  /// `steps_` are without the one that an exclusive op begins with.
  Value start_, direction_, delay_, early_, steps_, isExclusive_, init_;
};

CumulativeBuilder::CumulativeBuilder(OpBuilder &builder, Location loc, OpCode op,
                                     ValueRange operands, Value flags, Value columns, Value y,
                                     bool isUnsigned)
    : b_(loc, builder), op_(op), signs_{isUnsigned, isUnsigned}, operands_(operands),
      columns_(columns), y_(y) {
  const auto flag = [&](std::int64_t bit) -> Value {
    Value none = arith::ConstantIntOp::create(b_, 0, 64);
    Value mask = arith::ConstantIntOp::create(b_, bit, 64);
    Value masked = arith::AndIOp::create(b_, flags, mask);
    return arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, masked, none);
  };
  const auto choose = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b_, condition, yes, no);
  };
  zero_ = number(0);
  one_ = number(1);
  Value size = memref::DimOp::create(b_, y_, 1), back = number(-1), isReverse = flag(kReverse);
  // Lines of nothing do not begin with anything either.
  Value some = arith::CmpIOp::create(b_, arith::CmpIPredicate::sgt, size, zero_);
  isExclusive_ = arith::AndIOp::create(b_, flag(kExclusive), some);
  start_ = choose(isReverse, sum(size, back), zero_);
  direction_ = choose(isReverse, back, one_);
  delay_ = choose(isExclusive_, direction_, zero_);
  early_ = choose(flag(kShifted), arith::SubIOp::create(b_, zero_, direction_), zero_);
  steps_ = choose(isExclusive_, sum(size, back), size);
  ScalarBuilder scalars(b_, loc, signs_);
  init_ =
      mlir::weft::buildReductionInit(op, scalars, cast<MemRefType>(y.getType()).getElementType());
}

/// The result of a step from the one before and the operands' elements.
Value CumulativeBuilder::step(Value before, ValueRange elements) {
  ScalarBuilder scalars(b_, b_.getLoc(), signs_);
  SmallVector<Value> arguments{before};
  llvm::append_range(arguments, elements);
  return mlir::weft::buildScalarBody(op_, scalars, arguments, before.getType());
}

void CumulativeBuilder::forEach(Value begin, Value end, Value by, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b_, begin, end, by);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void CumulativeBuilder::when(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(b_, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// `count` neighbouring lines, whose results so far are in registers: a step waits for nothing but
/// the step before.
void CumulativeBuilder::lines(Value first, std::int64_t count) {
  SmallVector<Value> rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(sum(first, number(i)));
  const auto load = [&](Value buffer, Value row, Value at) -> Value {
    return memref::LoadOp::create(b_, buffer, ValueRange{row, at, zero_});
  };
  const auto store = [&](Value value, Value row, Value at) {
    memref::StoreOp::create(b_, value, y_, ValueRange{row, at, zero_});
  };
  when(isExclusive_, [&] {
    for (Value row : rows) store(init_, row, start_);
  });
  Value some = arith::CmpIOp::create(b_, arith::CmpIPredicate::sgt, steps_, zero_);
  when(some, [&] {
    SmallVector<Value> carried{start_};
    Value to = sum(start_, delay_);
    for (Value row : rows) {
      carried.push_back(load(operands_.back(), row, start_));
      store(carried.back(), row, to);
    }
    auto loop = scf::ForOp::create(b_, one_, steps_, one_, carried);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    Value at = sum(loop.getRegionIterArg(0), direction_);
    Value early = sum(at, early_), into = sum(at, delay_);
    SmallVector<Value> results{at};
    for (auto [i, row] : llvm::enumerate(rows)) {
      SmallVector<Value> elements;
      for (Value operand : ArrayRef(operands_).drop_back())
        elements.push_back(load(operand, row, early));
      elements.push_back(load(operands_.back(), row, at));
      results.push_back(step(loop.getRegionIterArg(1 + i), elements));
    }
    for (auto [row, result] : llvm::zip_equal(rows, ArrayRef(results).drop_front()))
      store(result, row, into);
    scf::YieldOp::create(b_, results);
  });
}

/// The elements of a slice at place `at` of the axis.
Value CumulativeBuilder::slice(Value buffer, Value row, Value at) {
  OpFoldResult unit = b_.getIndexAttr(1);
  OpFoldResult offsets[] = {row, at, b_.getIndexAttr(0)}, sizes[] = {unit, unit, columns_};
  OpFoldResult strides[] = {unit, unit, unit};
  auto type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      {ShapedType::kDynamic}, cast<MemRefType>(buffer.getType()), offsets, sizes, strides));
  return memref::SubViewOp::create(b_, type, buffer, offsets, sizes, strides);
}

/// One step of the lines across the slices of `row`, whose results so far are in the slice before.
void CumulativeBuilder::stepSlice(Value row, Value at) {
  Value into = sum(at, delay_);
  SmallVector<Value> inputs{slice(y_, row, arith::SubIOp::create(b_, into, direction_))};
  for (Value operand : ArrayRef(operands_).drop_back())
    inputs.push_back(slice(operand, row, sum(at, early_)));
  inputs.push_back(slice(operands_.back(), row, at));
  SmallVector<AffineMap> maps(inputs.size() + 1, b_.getMultiDimIdentityMap(1));
  linalg::GenericOp::create(b_, inputs, slice(y_, row, into), maps,
                            ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
                            [&](OpBuilder &b, Location loc, ValueRange elements) {
                              OpBuilder::InsertionGuard guard(b_);
                              b_.restoreInsertionPoint(b.saveInsertionPoint());
                              Value next =
                                  step(elements.front(), elements.drop_front().drop_back());
                              linalg::YieldOp::create(b_, next);
                            });
}

void CumulativeBuilder::slices(Value row) {
  when(isExclusive_, [&] { linalg::FillOp::create(b_, init_, slice(y_, row, start_)); });
  Value some = arith::CmpIOp::create(b_, arith::CmpIPredicate::sgt, steps_, zero_);
  when(some, [&] {
    linalg::CopyOp::create(b_, slice(operands_.back(), row, start_),
                           slice(y_, row, sum(start_, delay_)));
    forEach(one_, steps_, one_, [&](Value number) {
      stepSlice(row, sum(start_, arith::MulIOp::create(b_, number, direction_)));
    });
  });
}

void CumulativeBuilder::build() {
  Value outer = memref::DimOp::create(b_, y_, 0), inner = memref::DimOp::create(b_, y_, 2);
  Value neighbours = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, inner, one_);
  auto branch = scf::IfOp::create(b_, neighbours, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  Value whole = arith::AndIOp::create(b_, outer, number(-kTogether));
  forEach(zero_, whole, number(kTogether), [&](Value first) { lines(first, kTogether); });
  forEach(whole, outer, one_, [&](Value first) { lines(first, 1); });
  b_.setInsertionPointToStart(branch.elseBlock());
  forEach(zero_, outer, one_, [&](Value row) { slices(row); });
}

} // namespace

void buildCumulative(OpBuilder &builder, Location loc, OpCode op, ValueRange operands, Value flags,
                     Value columns, Value y, bool isUnsigned) {
  CumulativeBuilder(builder, loc, op, operands, flags, columns, y, isUnsigned).build();
}

} // namespace weft::kernelgen
