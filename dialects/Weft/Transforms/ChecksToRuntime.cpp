// The pass weft-checks-to-runtime: cf.assert as a call that throws, and a print of text alone as a
// call.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

#define GEN_PASS_DEF_CHECKSTORUNTIMEPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {
struct ChecksToRuntime : impl::ChecksToRuntimePassBase<ChecksToRuntime> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation()->walk([&](cf::AssertOp op) { asserts.push_back(op); });
    for (cf::AssertOp op : asserts) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      Value broken = arith::XOrIOp::create(b, op.getArg(), arith::ConstantIntOp::create(b, 1, 1));
      auto branch = scf::IfOp::create(b, broken, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
      std::string place = placeOf(op.getLoc());
      std::string message = place.empty() ? op.getMsg().str() : place + ": " + op.getMsg().str();
      callRuntime(b, "weft_rt_shape_error", textPointer(b, message), /*withContext=*/true);
      op.erase();
    }
    // What was outlined and put back brought its arrays along; in a loop they would let the stack
    // grow.
    getOperation()->walk([&](memref::AllocaOp op) {
      if (!op.getType().hasStaticShape()) return;
      Block &entry = op->getParentOfType<func::FuncOp>().getBody().front();
      if (op->getBlock() != &entry) op->moveBefore(&entry.front());
    });
    // Bufferization passes over ops without tensors.
    SmallVector<PrintOp> prints;
    getOperation()->walk([&](PrintOp op) { prints.push_back(op); });
    for (PrintOp op : prints) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
      Value noValues = memref::AllocaOp::create(b, MemRefType::get(1, b.getI64Type()));
      b.setInsertionPoint(op);
      Value text = textPointer(b, op.getFormat());
      Value length = arith::ConstantIntOp::create(b, op.getFormat().size(), 64);
      Value count = arith::ConstantIntOp::create(b, 0, 64);
      callRuntime(b, "weft_rt_print", {text, length, noValues, count}, /*withContext=*/true);
      op.erase();
    }
  }
};
} // namespace

} // namespace mlir::weft
