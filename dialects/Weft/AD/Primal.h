// The forward part of a derivative: the function's body in the derivative's place.
#pragma once

#include "Weft/AD/Context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::weft {

/// Copies the body of a function to where the builder stands, with `args` for its arguments, and
/// gives what it returns; `copied` hears of each op and its copy. Fails after a diagnostic at
/// `call` if there is no body or it has several blocks.
LogicalResult inlineFunction(
    Context &context, func::FuncOp function, Operation *call, ValueRange args,
    Location callLocation, SmallVectorImpl<Value> &returned,
    llvm::function_ref<void(Operation *, Operation *)> copied = [](Operation *, Operation *) {});

/// A copy of the differentiated function in front of the derivative, with the bodies of functions
/// that it calls where something active goes in, in regions too.
class Primal {
public:
  explicit Primal(Context &context) : context(context) {}
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
  Operation *before = nullptr;
  SmallVector<UnrealizedConversionCastOp> casts;
  /// Holds the results.
  Operation *holder = nullptr;
  SmallVector<Inlined> inlined;
  /// Of each call in the copy, the number of the function that it stands in.
  DenseMap<Operation *, int> callers;
};

} // namespace mlir::weft
