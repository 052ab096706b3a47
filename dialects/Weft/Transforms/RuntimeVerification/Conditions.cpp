// Builds conditions on sizes, indices and numbers.
#include "Weft/Transforms/RuntimeVerification/Conditions.h"

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::weft {

using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Size sizeOf(Value tensor, int64_t axis) {
  for (;;) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(axis)) return {.known = type.getDimSize(axis)};
    Operation *op = tensor.getDefiningOp();
    if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op)) {
      Value size = empty.getDynamicSizes()[type.getDynamicDimIndex(axis)];
      APInt known;
      if (matchPattern(size, m_ConstantInt(&known))) return {.known = known.getSExtValue()};
      auto dim = size.getDefiningOp<tensor::DimOp>();
      std::optional<int64_t> of = dim ? dim.getConstantIndex() : std::nullopt;
      auto from = dim ? dyn_cast<RankedTensorType>(dim.getSource().getType()) : RankedTensorType();
      if (!of || !from || *of < 0 || *of >= from.getRank()) return {.source = size};
      tensor = dim.getSource();
      axis = *of;
    } else if (auto loops = dyn_cast_or_null<DestinationStyleOpInterface>(op);
               loops && isa<linalg::LinalgOp, tensor::InsertOp, tensor::InsertSliceOp>(op)) {
      tensor = loops.getTiedOpOperand(cast<OpResult>(tensor))->get();
    } else {
      return {.source = tensor, .axis = axis};
    }
  }
}

Value Conditions::index(int64_t number) { return arith::ConstantIndexOp::create(*this, number); }

Value Conditions::toValue(const Size &size) {
  if (size.isKnown()) return index(size.known);
  if (size.axis < 0) return size.source;
  return tensor::DimOp::create(*this, size.source, index(size.axis));
}

Value Conditions::compare(CmpIPredicate predicate, Value lhs, Value rhs) {
  return createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
}
Value Conditions::both(Value lhs, Value rhs) { return createOrFold<arith::AndIOp>(lhs, rhs); }
Value Conditions::either(Value lhs, Value rhs) { return createOrFold<arith::OrIOp>(lhs, rhs); }
Value Conditions::negated(Value condition) {
  return createOrFold<arith::XOrIOp>(condition, arith::ConstantIntOp::create(*this, 1, 1));
}
Value Conditions::isAtLeast(Value value, int64_t lowest) {
  return compare(CmpIPredicate::sge, value, index(lowest));
}

Value Conditions::multiplyTo(ArrayRef<Value> factors, Value total) {
  // By division, as a product may wrap around to the total.
  Value zero = index(0), one = index(1), sizes, empty, rest = total, divides;
  auto also = [&](Value all, Value next) { return all ? both(all, next) : next; };
  for (Value factor : factors) {
    sizes = also(sizes, isAtLeast(factor, 0));
    Value isZero = compare(CmpIPredicate::eq, factor, zero);
    empty = empty ? either(empty, isZero) : isZero;
    Value divisor = createOrFold<arith::MaxSIOp>(factor, one);
    Value over = createOrFold<arith::RemSIOp>(rest, divisor);
    divides = also(divides, compare(CmpIPredicate::eq, over, zero));
    rest = createOrFold<arith::DivSIOp>(rest, divisor);
  }
  if (factors.empty()) return compare(CmpIPredicate::eq, total, one);
  Value exact = both(both(divides, compare(CmpIPredicate::eq, rest, one)), negated(empty));
  Value none = both(empty, compare(CmpIPredicate::eq, total, zero));
  return both(sizes, either(exact, none));
}

//===----------------------------------------------------------------------===//
// Ranges of indices
//===----------------------------------------------------------------------===//

/// A size of a tensor with elements is below 2^this.
static constexpr unsigned sizeBits = 48;

Interval Conditions::counted(const Size &size) {
  Value last = createOrFold<arith::SubIOp>(toValue(size), index(1));
  return {index(0), last, sizeBits};
}

/// Of a sum; nothing if the range could be as wide as all numbers.
static std::optional<unsigned> bitsOfSum(unsigned lhs, unsigned rhs) {
  const unsigned bits = lhs == 0 || rhs == 0 ? std::max(lhs, rhs) : std::max(lhs, rhs) + 1;
  return bits <= 64 ? std::optional(bits) : std::nullopt;
}

std::optional<Interval> Conditions::add(const Interval &lhs, const Interval &rhs) {
  std::optional<unsigned> bits = bitsOfSum(lhs.bits, rhs.bits);
  if (!bits) return std::nullopt;
  return Interval{createOrFold<arith::AddIOp>(lhs.low, rhs.low),
                  createOrFold<arith::AddIOp>(lhs.high, rhs.high), *bits};
}

std::optional<Interval> Conditions::subtract(const Interval &lhs, const Interval &rhs) {
  std::optional<unsigned> bits = bitsOfSum(lhs.bits, rhs.bits);
  if (!bits) return std::nullopt;
  return Interval{createOrFold<arith::SubIOp>(lhs.low, rhs.high),
                  createOrFold<arith::SubIOp>(lhs.high, rhs.low), *bits};
}

std::optional<Interval> Conditions::multiply(const Interval &range, int64_t factor) {
  if (factor == 0) return exactly(index(0));
  const uint64_t size = factor < 0 ? 0 - static_cast<uint64_t>(factor) : factor;
  const unsigned bits = range.bits == 0 ? 0 : range.bits + llvm::Log2_64_Ceil(size);
  if (bits > 64) return std::nullopt;
  Value low = createOrFold<arith::MulIOp>(range.low, index(factor));
  Value high = createOrFold<arith::MulIOp>(range.high, index(factor));
  if (factor < 0) std::swap(low, high);
  return Interval{low, high, bits};
}

std::optional<Interval> Conditions::rangeOf(AffineExpr expr, ArrayRef<Interval> dims,
                                            SmallVectorImpl<Value> &when) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return exactly(index(constant.getValue()));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) return std::nullopt;
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  std::optional<Interval> lhs = rangeOf(binary.getLHS(), dims, when);
  if (!lhs) return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<Interval> rhs = rangeOf(binary.getRHS(), dims, when);
    return rhs ? add(*lhs, *rhs) : std::nullopt;
  }
  if (!number) return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul) return multiply(*lhs, number.getValue());
  if (number.getValue() <= 0) return std::nullopt;
  // Of numbers that are not negative.
  when.push_back(both(isAtLeast(lhs->low, 0), compare(CmpIPredicate::sle, lhs->low, lhs->high)));
  Value divisor = index(number.getValue());
  auto divided = [&](Value value) {
    return createOrFold<arith::DivSIOp>(createOrFold<arith::MaxSIOp>(value, index(0)), divisor);
  };
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Interval{divided(lhs->low), divided(lhs->high), 64};
  if (expr.getKind() == AffineExprKind::Mod)
    return Interval{index(0), createOrFold<arith::MinSIOp>(lhs->high, index(number.getValue() - 1)),
                    64};
  return std::nullopt;
}

std::optional<Interval> Conditions::rangeOf(Value value, linalg::LinalgOp loops,
                                            ArrayRef<Interval> dims, SmallVectorImpl<Value> &when,
                                            unsigned depth) {
  constexpr unsigned deepest = 8;
  if (value.getParentRegion()->isAncestor(loops->getParentRegion())) return exactly(value);
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known)) && value.getType().isIndex())
    return exactly(index(known.getSExtValue()));
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest || !value.getType().isIndex()) return std::nullopt;
  if (auto number = dyn_cast<linalg::IndexOp>(op)) return dims[number.getDim()];
  auto operand = [&](unsigned i) {
    return rangeOf(op->getOperand(i), loops, dims, when, depth + 1);
  };
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    if (apply.getAffineMap().getNumSymbols() != 0) return std::nullopt;
    SmallVector<Interval> ranges;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      std::optional<Interval> range = operand(i);
      if (!range) return std::nullopt;
      ranges.push_back(*range);
    }
    return rangeOf(apply.getAffineMap().getResult(0), ranges, when);
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp>(op))
    return std::nullopt;
  std::optional<Interval> lhs = operand(0), rhs = operand(1);
  if (!lhs || !rhs) return std::nullopt;
  if (isa<arith::AddIOp>(op)) return add(*lhs, *rhs);
  if (isa<arith::SubIOp>(op)) return subtract(*lhs, *rhs);
  if (isa<arith::MulIOp>(op)) {
    if (matchPattern(op->getOperand(1), m_ConstantInt(&known)))
      return multiply(*lhs, known.getSExtValue());
    if (matchPattern(op->getOperand(0), m_ConstantInt(&known)))
      return multiply(*rhs, known.getSExtValue());
    return std::nullopt;
  }
  // What is compared must not have wrapped around.
  for (const Interval &range : {*lhs, *rhs})
    when.push_back(compare(CmpIPredicate::sle, range.low, range.high));
  if (isa<arith::MaxSIOp>(op))
    return Interval{createOrFold<arith::MaxSIOp>(lhs->low, rhs->low),
                    createOrFold<arith::MaxSIOp>(lhs->high, rhs->high), 64};
  return Interval{createOrFold<arith::MinSIOp>(lhs->low, rhs->low),
                  createOrFold<arith::MinSIOp>(lhs->high, rhs->high), 64};
}

Value Conditions::isInside(const Interval &range, Value size) {
  Value ordered = compare(CmpIPredicate::sle, range.low, range.high);
  return both(both(isAtLeast(range.low, 0), ordered),
              compare(CmpIPredicate::slt, range.high, size));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether a condition is known to hold.
static bool holdsAlways(Value holds) { return matchPattern(holds, m_One()); }

void Conditions::requireSizes(Value holds, const Twine &text, ValueRange sizes) {
  if (!holdsAlways(holds)) CheckSizesOp::create(*this, holds, text.str(), sizes);
}

void Conditions::requireNumbers(Value holds, const Twine &text) {
  if (holdsAlways(holds)) return;
  Value condition =
      tensor::FromElementsOp::create(*this, RankedTensorType::get({}, getI1Type()), holds);
  AssertOp::create(*this, condition, text.str(), ValueRange());
}

void Conditions::requireIndex(Value index, Value size, Operation *op) {
  APInt at, end;
  const bool isKnown =
      matchPattern(index, m_ConstantInt(&at)) && matchPattern(size, m_ConstantInt(&end));
  if (!isKnown || at.isNegative() || at.sge(end)) requireIndices(index, size, op);
}

void Conditions::requireIndices(ValueRange indices, Value size, Operation *op) {
  SmallVector<Value> wide;
  for (Value value : indices)
    wide.push_back(value.getType().isIndex() ? createOrFold<arith::IndexCastOp>(getI64Type(), value)
                                             : value);
  auto type = RankedTensorType::get({static_cast<int64_t>(wide.size())}, getI64Type());
  Value all = tensor::FromElementsOp::create(*this, type, wide);
  CheckIndicesOp::create(*this, all, size, op->getName().getStringRef());
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, arith::RemSIOp>(op);
}
static bool isDivision(Operation *op) {
  return isSignedDivision(op) || isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op);
}
static bool isShift(Operation *op) {
  return isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
}

/// Whether that is `select(d + 1 <= 1 unsigned, 1, d)`: any number but 0 and -1, as Weft's own
/// remainders divide by.
static bool isOwnDivisor(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto next = compare ? compare.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  return next && compare.getPredicate() == CmpIPredicate::ule &&
         matchPattern(compare.getRhs(), m_One()) && matchPattern(next.getRhs(), m_One()) &&
         next.getLhs() == select.getFalseValue() && matchPattern(select.getTrueValue(), m_One());
}

bool needsCheck(Operation *op) {
  if (isa<tensor::ExtractOp>(op)) return true;
  if (!isDivision(op) && !isShift(op)) return false;
  Value by = op->getOperand(1);
  APInt known;
  if (!matchPattern(by, m_ConstantInt(&known))) return !isDivision(op) || !isOwnDivisor(by);
  if (isShift(op)) return known.uge(by.getType().isIndex() ? 64 : known.getBitWidth());
  return known.isZero() || (isSignedDivision(op) && known.isAllOnes());
}

bool mayBeUndefined(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) return !extract.getIndices().empty();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) return !dim.getConstantIndex();
  if (isa<tensor::FromElementsOp, tensor::RankOp, tensor::YieldOp>(op)) return false;
  return needsCheck(op) ||
         isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect>(op->getDialect());
}

Value isDefined(Conditions &b, Operation *op, ValueRange operands) {
  if (isa<tensor::ExtractOp>(op) || !needsCheck(op)) return {};
  Type type = operands[1].getType();
  const unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto number = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  auto equals = [&](Value value, const APInt &to) {
    return b.compare(CmpIPredicate::eq, value, number(to));
  };
  if (isShift(op)) {
    // Of 1 bit no other number of bits than 0 can be written.
    return b.compare(CmpIPredicate::ule, operands[1], number(APInt(width, width - 1)));
  }
  Value wrong = equals(operands[1], APInt(width, 0));
  if (isSignedDivision(op)) {
    Value overflows = b.both(equals(operands[0], APInt::getSignedMinValue(width)),
                             equals(operands[1], APInt::getAllOnes(width)));
    wrong = b.either(wrong, overflows);
  }
  return b.negated(wrong);
}

std::string undefinedText(Operation *op) {
  const std::string name = op->getName().getStringRef().str();
  if (isShift(op)) return name + ": the number of bits is not below the width of the integer";
  if (isSignedDivision(op))
    return name + ": the divisor is 0, or -1 where the dividend is the least integer";
  return name + ": the divisor is 0";
}

} // namespace mlir::weft
