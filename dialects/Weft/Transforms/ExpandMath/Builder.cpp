// Implements the value types of Builder.h: each operator emits one operation.
#include "Weft/Transforms/ExpandMath/Builder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <limits>

namespace mlir::weft::expand {

Value Scope::constant(Type type, TypedAttr element) {
  Value &value = known[{type, element}];
  if (!value) {
    TypedAttr attribute = element;
    if (auto vector = dyn_cast<VectorType>(type); vector && !isa<DenseElementsAttr>(element))
      attribute = DenseElementsAttr::get(vector, element);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    value = arith::ConstantOp::create(builder, loc, attribute);
  }
  return value;
}

Type Expr::typeWith(Type element) const {
  if (auto vector = dyn_cast<VectorType>(value.getType())) return vector.clone(element);
  return element;
}

Int Int::like(int64_t constant) const {
  Type element = getElementTypeOrSelf(value.getType());
  return {
      {scope->constant(value.getType(),
                       IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), constant,
                                                       /*isSigned=*/true,
                                                       /*implicitTrunc=*/true))),
       scope}};
}

Flt Flt::like(double constant) const {
  return {{scope->constant(value.getType(),
                           FloatAttr::get(getElementTypeOrSelf(value.getType()), constant)),
           scope}};
}

Flt Flt::infinity() const { return like(std::numeric_limits<double>::infinity()); }
Flt Flt::nan() const { return like(std::numeric_limits<double>::quiet_NaN()); }

Format Flt::format() const {
  if (getElementTypeOrSelf(value.getType()).isF32()) return {32, 23, 127};
  return {64, 52, 1023};
}

namespace {

template <typename Op>
Flt binary(Flt a, Flt b) {
  return {{a.emit<Op>(a.value, b.value), a.scope}};
}

template <typename Op>
Int binary(Int a, Int b) {
  return {{a.emit<Op>(a.value, b.value), a.scope}};
}

template <typename Op>
Flt unary(Flt a) {
  return {{a.emit<Op>(a.value), a.scope}};
}

Bool compare(arith::CmpFPredicate predicate, Flt a, Flt b) {
  return {{a.emit<arith::CmpFOp>(predicate, a.value, b.value), a.scope}};
}

Bool compare(arith::CmpIPredicate predicate, Int a, Int b) {
  return {{a.emit<arith::CmpIOp>(predicate, a.value, b.value), a.scope}};
}

} // namespace

Flt operator+(Flt a, Flt b) { return binary<arith::AddFOp>(a, b); }
Flt operator-(Flt a, Flt b) { return binary<arith::SubFOp>(a, b); }
Flt operator*(Flt a, Flt b) { return binary<arith::MulFOp>(a, b); }
Flt operator/(Flt a, Flt b) { return binary<arith::DivFOp>(a, b); }
Flt operator-(Flt a) { return unary<arith::NegFOp>(a); }
Flt fma(Flt a, Flt b, Flt c) { return {{a.emit<math::FmaOp>(a.value, b.value, c.value), a.scope}}; }
Flt abs(Flt a) { return unary<math::AbsFOp>(a); }
Flt sqrt(Flt a) { return unary<math::SqrtOp>(a); }
Flt trunc(Flt a) { return unary<math::TruncOp>(a); }
Flt copysign(Flt magnitude, Flt sign) { return binary<math::CopySignOp>(magnitude, sign); }

Flt convert(Flt a, FloatType element) {
  auto from = cast<FloatType>(getElementTypeOrSelf(a.value.getType()));
  if (from == element) return a;
  Type type = a.typeWith(element);
  if (from.getWidth() < element.getWidth())
    return {{a.emit<arith::ExtFOp>(type, a.value), a.scope}};
  return {{a.emit<arith::TruncFOp>(type, a.value), a.scope}};
}

Flt toFloat(Int a) {
  if (getElementTypeOrSelf(a.value.getType()).isInteger(32))
    return {{a.emit<arith::SIToFPOp>(a.typeWith(a.scope->builder.getF32Type()), a.value), a.scope}};
  // Before AVX-512, x86 has no instruction that converts a vector of i64.
  constexpr double shifter = 0x1.8p52;
  return fromBits(a + llvm::bit_cast<int64_t>(shifter)) - shifter;
}

Int bits(Flt a) {
  Type type = a.typeWith(a.scope->builder.getIntegerType(a.format().width));
  return {{a.emit<arith::BitcastOp>(type, a.value), a.scope}};
}

Flt fromBits(Int a) {
  OpBuilder &builder = a.scope->builder;
  bool narrow = getElementTypeOrSelf(a.value.getType()).isInteger(32);
  Type type = a.typeWith(narrow ? Type(builder.getF32Type()) : Type(builder.getF64Type()));
  return {{a.emit<arith::BitcastOp>(type, a.value), a.scope}};
}

Bool operator<(Flt a, Flt b) { return compare(arith::CmpFPredicate::OLT, a, b); }
Bool operator>(Flt a, Flt b) { return compare(arith::CmpFPredicate::OGT, a, b); }
Bool operator>=(Flt a, Flt b) { return compare(arith::CmpFPredicate::OGE, a, b); }
Bool operator==(Flt a, Flt b) { return compare(arith::CmpFPredicate::OEQ, a, b); }
Bool unordered(Flt a, Flt b) { return compare(arith::CmpFPredicate::UNO, a, b); }

Bool operator&(Bool a, Bool b) { return {{a.emit<arith::AndIOp>(a.value, b.value), a.scope}}; }
Bool operator|(Bool a, Bool b) { return {{a.emit<arith::OrIOp>(a.value, b.value), a.scope}}; }
Bool operator!(Bool a) {
  Value ones = a.scope->constant(a.value.getType(), a.scope->builder.getBoolAttr(true));
  return {{a.emit<arith::XOrIOp>(a.value, ones), a.scope}};
}

Int operator+(Int a, Int b) { return binary<arith::AddIOp>(a, b); }
Int operator-(Int a, Int b) { return binary<arith::SubIOp>(a, b); }
Int operator*(Int a, Int b) { return binary<arith::MulIOp>(a, b); }
Int operator&(Int a, Int b) { return binary<arith::AndIOp>(a, b); }
Int operator|(Int a, Int b) { return binary<arith::OrIOp>(a, b); }
Int operator^(Int a, Int b) { return binary<arith::XOrIOp>(a, b); }
Int shiftLeft(Int a, Int by) { return binary<arith::ShLIOp>(a, by); }
Int shiftRight(Int a, Int by) { return binary<arith::ShRUIOp>(a, by); }
Int shiftRightSigned(Int a, Int by) { return binary<arith::ShRSIOp>(a, by); }
Bool operator==(Int a, Int b) { return compare(arith::CmpIPredicate::eq, a, b); }
Bool operator>(Int a, Int b) { return compare(arith::CmpIPredicate::sgt, a, b); }

Flt select(Bool condition, Flt yes, Flt no) {
  return {{yes.emit<arith::SelectOp>(condition.value, yes.value, no.value), yes.scope}};
}

Int select(Bool condition, Int yes, Int no) {
  return {{yes.emit<arith::SelectOp>(condition.value, yes.value, no.value), yes.scope}};
}

Value anyLane(Bool condition) {
  auto type = dyn_cast<VectorType>(condition.value.getType());
  if (!type) return condition.value;
  if (type.isScalable()) return nullptr;
  Value lanes = condition.value;
  if (type.getRank() != 1)
    lanes = condition.emit<vector::ShapeCastOp>(
        VectorType::get(type.getNumElements(), type.getElementType()), lanes);
  return condition.emit<vector::ReductionOp>(vector::CombiningKind::OR, lanes);
}

Flt branch(Value condition, llvm::function_ref<Flt()> yes, llvm::function_ref<Flt()> no, Flt like) {
  Scope &scope = *like.scope;
  auto op = scf::IfOp::create(scope.builder, scope.loc, like.value.getType(), condition,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto fill = [&](Block *block, llvm::function_ref<Flt()> compute) {
    OpBuilder::InsertionGuard guard(scope.builder);
    scope.builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(scope.builder, scope.loc, compute().value);
  };
  fill(op.thenBlock(), yes);
  fill(op.elseBlock(), no);
  return {{op.getResult(0), &scope}};
}

SmallVector<Value> loop(Scope &scope, SmallVector<Value> state,
                        llvm::function_ref<Bool(ValueRange)> more,
                        llvm::function_ref<SmallVector<Value>(ValueRange)> step) {
  OpBuilder &builder = scope.builder;
  OpBuilder::InsertionGuard guard(builder);
  auto inside = [&](auto emit) {
    return [&scope, emit](OpBuilder &nested, Location loc, ValueRange arguments) {
      OpBuilder::InsertionGuard nestedGuard(scope.builder);
      scope.builder.restoreInsertionPoint(nested.saveInsertionPoint());
      emit(loc, arguments);
      nested.restoreInsertionPoint(scope.builder.saveInsertionPoint());
    };
  };
  SmallVector<Type> types = llvm::map_to_vector(state, [](Value value) { return value.getType(); });
  auto whileOp = scf::WhileOp::create(
      builder, scope.loc, types, state, inside([&](Location loc, ValueRange arguments) {
        scf::ConditionOp::create(builder, loc, anyLane(more(arguments)), arguments);
      }),
      inside([&](Location loc, ValueRange arguments) {
        scf::YieldOp::create(builder, loc, step(arguments));
      }));
  return llvm::to_vector_of<Value>(whileOp.getResults());
}

SmallVector<Flt> loop(SmallVector<Flt> state, llvm::function_ref<Bool(ArrayRef<Flt>)> more,
                      llvm::function_ref<SmallVector<Flt>(ArrayRef<Flt>)> step) {
  Scope *scope = state.front().scope;
  auto floats = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return Flt{{value, scope}}; });
  };
  auto valuesOf = [](ArrayRef<Flt> state) {
    return llvm::map_to_vector(state, [](Flt x) { return x.value; });
  };
  return floats(loop(
      *scope, valuesOf(state), [&](ValueRange now) { return more(floats(now)); },
      [&](ValueRange now) {
        SmallVector<Flt> before = floats(now), after = step(before);
        Bool goesOn = more(before);
        for (auto [next, last] : llvm::zip_equal(after, before)) next = select(goesOn, next, last);
        return valuesOf(after);
      }));
}

Flt branchWhereAny(Bool condition, llvm::function_ref<Flt()> yes, Flt no) {
  Value any = anyLane(condition);
  return any ? branch(any, yes, [&] { return no; }, no) : yes();
}

Flt pow2(Int n, Format format) { return fromBits(shiftLeft(n + format.bias, format.mantissaBits)); }

Flt polynomial(Flt x, ArrayRef<double> c) {
  // Pairs, then pairs of pairs (Estrin 1960): the chain of dependent operations is short enough for
  // a processor to overlap, where Horner's rule would make it wait.
  SmallVector<Flt> terms;
  for (size_t i = 0; i < c.size(); i += 2)
    terms.push_back(i + 1 < c.size() ? fma(x, c[i + 1], c[i]) : x.like(c[i]));
  for (Flt power = x; terms.size() > 1;) {
    power = power * power;
    size_t count = 0;
    for (size_t i = 0; i < terms.size(); i += 2)
      terms[count++] = i + 1 < terms.size() ? fma(power, terms[i + 1], terms[i]) : terms[i];
    terms.resize(count, x);
  }
  return terms.front();
}

namespace {

constexpr int64_t kTable = 8;

/// By one choice for each bit of the index, where there is no such instruction.
Flt lookUpByBits(ArrayRef<double> table, Int index) {
  const Type type = index.typeWith(Float32Type::get(index.value.getContext()));
  SmallVector<Flt> left;
  for (const double entry : table)
    left.push_back(
        {{index.scope->constant(type, index.scope->builder.getF32FloatAttr(entry)), index.scope}});
  for (int64_t bit = 1; bit < kTable; bit *= 2) {
    const Bool low = (index & bit) == 0;
    for (size_t i = 0; i < left.size() / 2; ++i)
      left[i] = select(low, left[2 * i], left[2 * i + 1]);
    left.truncate(left.size() / 2);
  }
  return left[0];
}

} // namespace

Flt lookUp(ArrayRef<double> table, Int index) {
  assert(table.size() == kTable);
  if (index.scope->target.permuteBytes == 0) return lookUpByBits(table, index);
  OpBuilder &b = index.scope->builder;
  const Location loc = index.scope->loc;
  auto type = dyn_cast<VectorType>(index.value.getType());
  const int64_t lanes = type ? type.getNumElements() : 1;
  const int64_t width = std::clamp<int64_t>(llvm::PowerOf2Ceil(lanes), kTable,
                                            index.scope->target.permuteBytes / sizeof(float));
  const auto numbers = VectorType::get(width, b.getF32Type());
  SmallVector<float> repeated;
  for (int64_t i = 0; i < width; ++i) repeated.push_back(static_cast<float>(table[i % kTable]));
  Value entries = index.scope->constant(numbers, DenseElementsAttr::get<float>(numbers, repeated));

  // A row of whole permutations; lanes beyond the last are the first again.
  const int64_t all = std::max<int64_t>(llvm::PowerOf2Ceil(lanes), width);
  const auto shuffled = [&](Value x, Value y, int64_t from, int64_t count, int64_t end) -> Value {
    SmallVector<int64_t> order;
    for (int64_t i = from; i < from + count; ++i) order.push_back(i < end ? i : 0);
    return vector::ShuffleOp::create(b, loc, x, y, order);
  };
  Value indices = index.value;
  if (!type) {
    indices = vector::BroadcastOp::create(b, loc, VectorType::get(all, b.getI32Type()), indices);
  } else {
    const auto row = VectorType::get(lanes, b.getI32Type());
    if (type != row) indices = vector::ShapeCastOp::create(b, loc, row, indices);
    if (all != lanes) indices = shuffled(indices, indices, 0, all, lanes);
  }
  const StringAttr permute =
      b.getStringAttr(width == kTable ? "llvm.x86.avx2.permps" : "llvm.x86.avx512.permvar.sf.512");
  SmallVector<Value> parts;
  for (int64_t at = 0; at < all; at += width) {
    Value part = all == width ? indices : shuffled(indices, indices, at, width, all);
    parts.push_back(
        LLVM::CallIntrinsicOp::create(b, loc, numbers, permute, {entries, part}).getResult(0));
  }
  for (int64_t joined = 2 * width; joined <= all; joined *= 2) {
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = shuffled(parts[2 * i], parts[2 * i + 1], 0, joined, joined);
    parts.truncate(parts.size() / 2);
  }
  Value found = parts[0];
  if (!type) return {{vector::ExtractOp::create(b, loc, found, 0), index.scope}};
  if (all != lanes) found = shuffled(found, found, 0, lanes, lanes);
  if (type.getRank() != 1)
    found = vector::ShapeCastOp::create(b, loc, type.clone(b.getF32Type()), found);
  return {{found, index.scope}};
}

Rounded takeInteger(Flt shifted) {
  double shifter = shifted.format().shifter();
  int64_t shifterBits = shifted.isF32() ? llvm::bit_cast<int32_t>(static_cast<float>(shifter))
                                        : llvm::bit_cast<int64_t>(shifter);
  return {shifted - shifter, bits(shifted) - shifterBits};
}

Pair fastTwoSum(Flt a, Flt b) {
  Flt sum = a + b;
  return {sum, b - (sum - a)};
}

Pair twoSum(Flt a, Flt b) {
  Flt sum = a + b;
  Flt bRounded = sum - a;
  return {sum, (a - (sum - bRounded)) + (b - bRounded)};
}

Pair twoProduct(Flt a, Flt b) {
  Flt product = a * b;
  return {product, fma(a, b, -product)};
}

} // namespace mlir::weft::expand
