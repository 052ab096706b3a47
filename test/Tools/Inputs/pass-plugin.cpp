// A pass of a user's, outside of Weft's tree: a remark at each x * x.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

namespace {
struct FindSquares : mlir::PassWrapper<FindSquares, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FindSquares)
  mlir::StringRef getArgument() const final { return "user-find-squares"; }
  mlir::StringRef getDescription() const final { return "finds x * x"; }
  void runOnOperation() override {
    getOperation().walk([](mlir::Operation *op) {
      if (op->getName().getStringRef() == "weft.multiply" && op->getOperand(0) == op->getOperand(1))
        op->emitRemark("a square");
    });
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "UserPasses", LLVM_VERSION_STRING,
          [] { mlir::PassRegistration<FindSquares>(); }};
}
