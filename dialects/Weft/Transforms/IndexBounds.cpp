// What is known of an index where a loop counts it: sums of what loops count with and of sizes.
#include "Weft/Transforms/IndexBounds.h"

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace mlir::weft {

namespace {

/// A number and multiples of values, as integers that do not wrap.
class Sum {
public:
  /// Of the ops that compute an index. What they compute wraps, so that it is this sum only if that
  /// is an index.
  static std::optional<Sum> of(Value value) {
    Sum sum;
    if (!sum.add(value, 1, /*depth=*/0)) return std::nullopt;
    return sum;
  }
  /// Of a bound or a size, which must not have wrapped before it is compared: a constant, one value
  /// as it is, or a size of a tensor with a number that is far from wrapping added.
  static std::optional<Sum> ofBound(Value value) {
    std::optional<Sum> sum = of(value);
    if (sum && sum->isSmall()) return sum;
    sum = Sum();
    if (!sum->addTerm(source(value), 1)) return std::nullopt;
    return sum;
  }

  /// Adds `factor` times another sum, false if a number gets too large.
  bool add(const Sum &other, int64_t factor) {
    if (!addNumber(other.number, factor)) return false;
    for (auto [value, count] : other.terms) {
      int64_t product;
      if (llvm::MulOverflow(count, factor, product) || !addTerm(value, product)) return false;
    }
    return true;
  }
  bool addNumber(int64_t other, int64_t factor) {
    int64_t product;
    return !llvm::MulOverflow(other, factor, product) &&
           !llvm::AddOverflow(number, product, number);
  }

  /// Whether the sum is 0 or more, whatever iteration its loops are in.
  bool isNotNegative() const {
    Sum sum = *this;
    for (;;) {
      // The inner loops first: their bounds may count with the outer ones.
      scf::ForOp innermost;
      for (auto [value, count] : sum.terms)
        if (scf::ForOp loop = loopOf(value); loop && (!innermost || innermost->isAncestor(loop)))
          innermost = loop;
      if (!innermost) break;
      Value counter = innermost.getInductionVar();
      const int64_t count = sum.take(counter);
      std::optional<Sum> bound =
          ofBound(count > 0 ? innermost.getLowerBound() : innermost.getUpperBound());
      if (!bound || !sum.add(*bound, count) || (count < 0 && !sum.addNumber(-1, count)))
        return false;
    }
    return sum.number >= 0 && llvm::all_of(sum.terms, [](auto &term) {
             return term.second > 0 && isSize(term.first);
           });
  }

private:
  static bool isSize(Value value) { return value.getDefiningOp<tensor::DimOp>() != nullptr; }

  /// The loop that counts with a value.
  static scf::ForOp loopOf(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    return loop && !loop.getUnsignedCmp() && value == loop.getInductionVar() ? loop : scf::ForOp();
  }

  static bool isWide(Type type) { return type.isIndex() || type.isInteger(64); }

  /// The value before casts that keep it.
  static Value source(Value value) {
    for (auto cast = value.getDefiningOp<arith::IndexCastOp>();
         cast && isWide(cast.getType()) && isWide(cast.getIn().getType());
         cast = value.getDefiningOp<arith::IndexCastOp>())
      value = cast.getIn();
    return value;
  }

  /// The tensor whose size a size is as well.
  static Value sizedLike(Value tensor) {
    for (;;) {
      Operation *op = tensor.getDefiningOp();
      if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op)) tensor = insert.getDest();
      else if (auto insert = dyn_cast_or_null<tensor::InsertOp>(op)) tensor = insert.getDest();
      else if (isa_and_nonnull<tensor::CastOp, WidenOp>(op)) tensor = op->getOperand(0);
      else return tensor;
    }
  }

  static bool isSame(Value a, Value b) {
    if (a == b) return true;
    auto x = a.getDefiningOp<tensor::DimOp>(), y = b.getDefiningOp<tensor::DimOp>();
    return x && y && x.getConstantIndex() && x.getConstantIndex() == y.getConstantIndex() &&
           sizedLike(x.getSource()) == sizedLike(y.getSource());
  }

  bool addTerm(Value value, int64_t count) {
    for (auto &term : terms)
      if (isSame(term.first, value)) {
        if (llvm::AddOverflow(term.second, count, term.second)) return false;
        if (term.second == 0) terms.erase(&term);
        return true;
      }
    if (count != 0) terms.emplace_back(value, count);
    return true;
  }

  int64_t take(Value value) {
    for (auto &term : terms)
      if (term.first == value) {
        const int64_t count = term.second;
        terms.erase(&term);
        return count;
      }
    return 0;
  }

  /// `cut` where no more than the last 32 bits matter.
  bool add(Value value, int64_t factor, unsigned depth, bool cut = false) {
    constexpr unsigned deepest = 16;
    value = source(value);
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSignificantBits() <= 64 && addNumber(constant.getSExtValue(), factor);
    Operation *op = value.getDefiningOp();
    if (!op || depth == deepest) return addTerm(value, factor);
    if (value.getType().isInteger(32) && !cut) return addCut(value, factor, depth);
    if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
      Type from = op->getOperand(0).getType();
      if (isWide(value.getType()) && from.isInteger(32))
        return addCut(op->getOperand(0), factor, depth);
      if (value.getType().isInteger(32) && isWide(from))
        return add(op->getOperand(0), factor, depth + 1, cut);
    }
    if (!isWide(value.getType()) && !value.getType().isInteger(32)) return addTerm(value, factor);
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      const int64_t sign = isa<arith::SubIOp>(op) ? -1 : 1;
      int64_t other;
      return !llvm::MulOverflow(factor, sign, other) &&
             add(op->getOperand(0), factor, depth + 1, cut) &&
             add(op->getOperand(1), other, depth + 1, cut);
    }
    if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
        constant.getSignificantBits() <= 64) {
      int64_t product;
      return !llvm::MulOverflow(factor, constant.getSExtValue(), product) &&
             add(op->getOperand(0), product, depth + 1, cut);
    }
    return addTerm(value, factor);
  }

  /// Adds a number of 32 bits: as a sum only if that fits, for it is extended then.
  bool addCut(Value value, int64_t factor, unsigned depth) {
    Sum inner, rest;
    if (inner.add(value, 1, depth + 1, /*cut=*/true) && inner.isNotNegative() &&
        rest.addNumber(std::numeric_limits<int32_t>::max(), 1) && rest.add(inner, -1) &&
        rest.isNotNegative())
      return add(inner, factor);
    return addTerm(value, factor);
  }

  /// Whether ops on 64 bits cannot have wrapped while they computed the sum, of sizes in memory.
  bool isSmall() const {
    constexpr int64_t large = int64_t(1) << 32;
    if (terms.empty()) return true;
    if (terms.size() == 1 && terms[0].second == 1 && number == 0) return true;
    return std::abs(number) < large && terms.size() <= 4 &&
           llvm::all_of(
               terms, [](auto &term) { return isSize(term.first) && std::abs(term.second) <= 16; });
  }

  int64_t number = 0;
  SmallVector<std::pair<Value, int64_t>, 2> terms;
};

} // namespace

bool isKnownInside(Value index, Value size) {
  std::optional<Sum> at = Sum::of(index), end = Sum::ofBound(size);
  // size - 1 - index
  return at && end && at->isNotNegative() && end->add(*at, -1) && end->addNumber(-1, 1) &&
         end->isNotNegative();
}

} // namespace mlir::weft
