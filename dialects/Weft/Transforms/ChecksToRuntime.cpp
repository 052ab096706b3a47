// The pass weft-checks-to-runtime: what may end a call early as calls of the runtime.
#include "OpDefs/OpInfo.h"
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"
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

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

/// The argument that holds a variable, or null.
static Value bufferOf(Attribute variable, func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), "weft.variable") == variable) return argument;
  return {};
}

static int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * elementBytes(type.getElementType());
}

/// Tells the runtime which variables have values outside of their own buffers.
static LogicalResult tellState(ImplicitLocOpBuilder &b, LeaveOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<std::pair<Value, Value>> moves;
  for (unsigned i = 0; i < op.getState().size(); ++i) {
    Attribute variable = op.getVariablesAttr()[i];
    Value place = bufferOf(variable, function), value = op.getState()[i];
    if (!place) return op.emitError("the function has no argument for ") << variable;
    auto shapeOf = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getShape(); };
    // A buffer of unknown size may be behind the cast that knows the variable's.
    auto view = value.getDefiningOp<memref::CastOp>();
    for (; view && shapeOf(view.getSource()) == shapeOf(value);
         view = value.getDefiningOp<memref::CastOp>())
      value = view.getSource();
    auto from = cast<MemRefType>(value.getType()), to = cast<MemRefType>(place.getType());
    if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
      return op.emitOpError("leaves ") << variable << " with " << from << ", but it is " << to;
    if (value != place) moves.push_back({place, value});
  }
  if (moves.empty()) return success();
  // weft::RuntimeMove {to, from, bytes}
  Value array = stackArray(b, static_cast<int64_t>(3 * moves.size()));
  int64_t at = 0;
  for (auto [to, from] : moves) {
    put(b, array, at++, address(b, to));
    put(b, array, at++, address(b, from));
    put(b, array, at++, constant(b, bytesOf(cast<MemRefType>(to.getType()))));
  }
  callRuntime(b, "weft_rt_on_stop", {array, constant(b, static_cast<int64_t>(moves.size()))}, true);
  return success();
}

/// What the runtime is told of the values that an op shows.
static Value valuesOf(ImplicitLocOpBuilder &b, LeaveOp op) {
  SmallVector<Type> elements;
  for (auto [i, value] : llvm::enumerate(op.getValues()))
    elements.push_back(notedElement(op, kElements, i, getElementTypeOrSelf(value.getType())));
  // Of complex numbers the parts are the last axis.
  if (auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(kComplex))
    for (const int64_t i : numbers.asArrayRef()) elements[i] = ComplexType::get(elements[i]);
  return runtimeValues(b, op.getValues(), elements);
}

static LogicalResult lower(LeaveOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (failed(tellState(b, op))) return failure();
  StringRef text = op.getText();
  auto site = [&] { return siteOf(b, op.getLoc()); };
  switch (op.getKind()) {
  case LeaveKind::assertion: {
    Value values = valuesOf(b, op);
    callRuntime(b, "weft_rt_assert_fail",
                {site(), textPointer(b, text), constant(b, text.size()), values,
                 constant(b, op.getValues().size())},
                true);
    break;
  }
  case LeaveKind::print: {
    Value values = valuesOf(b, op);
    callRuntime(b, "weft_rt_print",
                {textPointer(b, text), constant(b, text.size()), values,
                 constant(b, op.getValues().size())},
                true);
    break;
  }
  case LeaveKind::host: {
    Value values = valuesOf(b, op);
    auto given = llvm::to_vector(op.getGivenAttr().getAsValueRange<TypeAttr>());
    callRuntime(b, "weft_rt_host_call",
                {site(), textPointer(b, text), constant(b, text.size()), values,
                 constant(b, op.getValues().size()), runtimeTypes(b, given),
                 constant(b, given.size())},
                true);
    break;
  }
  case LeaveKind::routine: {
    SmallVector<Value> operands = {site()};
    llvm::append_range(operands, op.getValues());
    const StringRef name = text.rsplit('_').first;
    noteWrites(callRuntime(b, ("weft_rt_" + text).str(), operands, true),
               ::weft::find_op({name.data(), name.size()})->results);
    break;
  }
  case LeaveKind::interrupt: callRuntime(b, "weft_rt_interrupt", {}, true); break;
  case LeaveKind::index: {
    SmallVector<Value> operands = {site(), textPointer(b, text)};
    appendIndices(b, op.getValues()[0], op.getValues()[1], operands);
    callRuntime(b, "weft_rt_check_indices", operands, true);
    break;
  }
  case LeaveKind::shape:
  case LeaveKind::value:
  case LeaveKind::bounds: {
    const auto count = static_cast<int64_t>(op.getValues().size());
    Value sizes = stackArray(b, std::max<int64_t>(count, 1));
    for (auto [i, size] : llvm::enumerate(op.getValues()))
      put(b, sizes, static_cast<int64_t>(i), arith::IndexCastOp::create(b, b.getI64Type(), size));
    const char *function = op.getKind() == LeaveKind::shape   ? "weft_rt_shape_error"
                           : op.getKind() == LeaveKind::value ? "weft_rt_value_error"
                                                              : "weft_rt_bounds_error";
    callRuntime(b, function, {site(), textPointer(b, text), sizes, constant(b, count)}, true);
    break;
  }
  }
  op.erase();
  return success();
}

static void branch(Operation *op, Value holds, LeaveKind error, StringAttr text, ValueRange sizes) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value broken = arith::XOrIOp::create(b, holds, arith::ConstantIntOp::create(b, 1, 1));
  auto branch = scf::IfOp::create(b, broken, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  LeaveOp::create(b, error, text, sizes, ArrayAttr(), ValueRange(), ArrayAttr());
  op->erase();
}

namespace {
struct ChecksToRuntime : impl::ChecksToRuntimePassBase<ChecksToRuntime> {
  void runOnOperation() override {
    // Those that were there before weft-branch-on-checks are branches already.
    SmallVector<Operation *> checks;
    getOperation()->walk([&](Operation *op) {
      if (isa<cf::AssertOp, CheckSizesOp>(op)) checks.push_back(op);
    });
    for (Operation *op : checks) {
      if (auto sizes = dyn_cast<CheckSizesOp>(op))
        branch(op, sizes.getHolds(), sizes.getError(), sizes.getTextAttr(), sizes.getSizes());
      else if (auto fits = dyn_cast<cf::AssertOp>(op))
        branch(op, fits.getArg(), LeaveKind::shape, fits.getMsgAttr(), {});
    }
    SmallVector<InterruptedOp> polls;
    getOperation()->walk([&](InterruptedOp op) { polls.push_back(op); });
    for (InterruptedOp op : polls) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      auto call = callRuntime(b, kInterrupted, {}, /*withContext=*/false, b.getI1Type());
      op.replaceAllUsesWith(call.getResult(0));
      op.erase();
    }
    SmallVector<LeaveOp> leaves;
    getOperation()->walk([&](LeaveOp op) { leaves.push_back(op); });
    for (LeaveOp op : leaves) {
      for (Value value : op->getOperands())
        if (isa<RankedTensorType>(value.getType())) {
          op.emitOpError(
              "has a tensor where bufferization leaves a buffer: this pass runs after it");
          return signalPassFailure();
        }
      if (failed(lower(op))) return signalPassFailure();
    }
  }
};
} // namespace

} // namespace mlir::weft
