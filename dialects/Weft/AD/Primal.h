// The forward part of a derivative: the function's body in the derivative's place.
#pragma once

#include "Weft/AD/Context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::weft {

/// A copy of the differentiated function in front of the derivative, with the bodies of functions
/// that it calls where something active goes in, in regions too.
class Primal {
public:
  Primal(Context &context, SymbolTable &symbols) : context(context), symbols(symbols) {}
  ~Primal();

  /// Copies `function` with `args` for its arguments, those in `wrt` as values of their own: two
  /// arguments may be one value outside. Fails after a diagnostic where active code has no
  /// derivative.
  LogicalResult build(func::FuncOp function, ValueRange args, ArrayRef<int64_t> wrt);

  /// The arguments in `wrt`.
  SmallVector<Value> sources() const;
  /// The function's results, which follow when ops are replaced.
  ValueRange results() const { return holder->getOperands(); }
  /// What stands behind the ops.
  Operation *end() const { return holder; }
  /// The ops, without those in regions.
  SmallVector<Operation *> ops() const;

private:
  /// A function whose body stands here, and who called it.
  struct Inlined {
    func::FuncOp function;
    int caller;
  };

  LogicalResult inlineBody(func::FuncOp function, Operation *call, int caller, ValueRange args,
                           Location callLocation, SmallVectorImpl<Value> &results);
  LogicalResult inlineActiveCalls();
  LogicalResult check();
  void findActive();

  Context &context;
  SymbolTable &symbols;
  Operation *before = nullptr;
  SmallVector<UnrealizedConversionCastOp> casts;
  /// Holds the results.
  Operation *holder = nullptr;
  SmallVector<Inlined> inlined;
  /// Of each call in the copy, the number of the function that it stands in.
  DenseMap<Operation *, int> callers;
};

} // namespace mlir::weft
