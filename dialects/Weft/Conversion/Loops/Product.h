// Products of a constant and run-time sizes: how sizes and strides of dynamic loops are compared.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::weft {

/// constant * values[0] * values[1] ...; the values are sorted, so that equal products compare
/// equal. With the same Value for the same size everywhere, `4 * n == n * 4` needs no code.
struct Product {
  int64_t constant = 1;
  llvm::SmallVector<Value, 2> values;

  Product() = default;
  Product(int64_t number) : constant(number) {}
  explicit Product(Value value) : values{value} {}

  bool isStatic() const { return values.empty() || constant == 0; }
  bool isConstant(int64_t number) const { return isStatic() && constant == number; }
  bool isZero() const { return constant == 0; }

  friend bool operator==(const Product &a, const Product &b) {
    return a.constant == b.constant && (a.constant == 0 || a.values == b.values);
  }

  friend Product operator*(const Product &a, const Product &b) {
    // The step of a slice may be any number, where only its first element is there; what wraps, as
    // the code does that is made, is not read.
    Product result(static_cast<int64_t>(static_cast<uint64_t>(a.constant) *
                                        static_cast<uint64_t>(b.constant)));
    if (result.constant == 0) return result;
    result.values = a.values;
    result.values.append(b.values);
    llvm::sort(result.values,
               [](Value x, Value y) { return x.getAsOpaquePointer() < y.getAsOpaquePointer(); });
    return result;
  }

  /// The number as an index value.
  Value materialize(OpBuilder &builder, Location loc) const {
    if (isStatic()) return arith::ConstantIndexOp::create(builder, loc, constant);
    Value result;
    for (Value value : values)
      result = result ? Value(arith::MulIOp::create(builder, loc, result, value)) : value;
    if (constant == 1) return result;
    Value factor = arith::ConstantIndexOp::create(builder, loc, constant);
    return arith::MulIOp::create(builder, loc, result, factor);
  }
};

} // namespace mlir::weft
