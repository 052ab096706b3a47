// The pass weft-scalarize: tensors of one element become scalars, in loops and branches too.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SCALARIZEPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

bool isScalarTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

Type scalarType(Type type) {
  return isScalarTensor(type) ? cast<RankedTensorType>(type).getElementType() : type;
}

SmallVector<Type> scalarTypes(TypeRange types) { return llvm::map_to_vector(types, scalarType); }

/// Walks blocks in program order, so that what an operand holds is known when its user's iteration
/// comes.
class Scalarizer {
public:
  explicit Scalarizer(MLIRContext *context) : rewriter(context) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) visit(&op);
  }

  /// Erases the tensors that nobody wants any more.
  void eraseUnused() {
    for (Operation *op : llvm::reverse(wrapped))
      if (op->use_empty()) rewriter.eraseOp(op);
  }

private:
  void visit(Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) return visitGeneric(generic);
    if (auto fill = dyn_cast<linalg::FillOp>(op)) return visitFill(fill);
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) return visitExtract(extract);
    if (auto loop = dyn_cast<scf::ForOp>(op)) return visitFor(loop);
    if (auto loop = dyn_cast<scf::WhileOp>(op)) return visitWhile(loop);
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) return visitBranches(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!isa<linalg::LinalgOp>(op)) run(block);
  }

  /// The element of `tensor`, made at the insertion point if nothing holds it.
  Value elementOf(Value tensor) {
    if (auto made = tensor.getDefiningOp<tensor::FromElementsOp>()) return made.getElements()[0];
    if (auto constant = tensor.getDefiningOp<arith::ConstantOp>())
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
        return arith::ConstantOp::create(rewriter, tensor.getLoc(),
                                         cast<TypedAttr>(*elements.value_begin<Attribute>()));
    return tensor::ExtractOp::create(rewriter, tensor.getLoc(), tensor, ValueRange());
  }

  /// What a body without loops reads of `operand`, whose map can hold nothing but constants.
  Value elementAt(Value operand, AffineMap map) {
    if (isScalarTensor(operand.getType())) return elementOf(operand);
    if (!isa<RankedTensorType>(operand.getType())) return operand;
    SmallVector<Value> at;
    for (AffineExpr place : map.getResults())
      at.push_back(arith::ConstantIndexOp::create(rewriter, operand.getLoc(),
                                                  cast<AffineConstantExpr>(place).getValue()));
    return tensor::ExtractOp::create(rewriter, operand.getLoc(), operand, at);
  }

  /// The elements of those that are scalar tensors.
  SmallVector<Value> elementsOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) {
      return isScalarTensor(value.getType()) ? elementOf(value) : value;
    });
  }

  Value wrap(Value scalar, Type tensorType) {
    auto op = tensor::FromElementsOp::create(rewriter, scalar.getLoc(), tensorType, scalar);
    wrapped.push_back(op);
    return op;
  }

  /// Puts scalars, as tensors, in the place of an op's results.
  void replaceByScalars(Operation *op, ValueRange values) {
    rewriter.setInsertionPointAfter(op);
    SmallVector<Value> results;
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
      results.push_back(result.getType() == value.getType() ? value
                                                            : wrap(value, result.getType()));
    rewriter.replaceOp(op, results);
  }

  /// Makes scalar tensors among a block's arguments scalars.
  void enter(Block &block) {
    rewriter.setInsertionPointToStart(&block);
    for (BlockArgument argument : block.getArguments()) {
      if (!isScalarTensor(argument.getType())) continue;
      Type type = argument.getType();
      argument.setType(scalarType(type));
      auto tensor = tensor::FromElementsOp::create(rewriter, argument.getLoc(), type, argument);
      wrapped.push_back(tensor);
      argument.replaceAllUsesExcept(tensor, tensor);
    }
  }

  /// Hands on scalars in place of tensors at the end of a block, from operand `first` on.
  void leave(Operation *terminator, unsigned first = 0) {
    rewriter.setInsertionPoint(terminator);
    for (OpOperand &operand : terminator->getOpOperands().drop_front(first))
      if (isScalarTensor(operand.get().getType())) operand.set(elementOf(operand.get()));
  }

  void visitGeneric(linalg::GenericOp op) {
    if (op.getNumLoops() != 0 || !op.hasPureTensorSemantics()) return;
    rewriter.setInsertionPoint(op);
    IRMapping map;
    Block *body = op.getBody();
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty()) continue;
      map.map(argument, elementAt(operand.get(), op.getMatchingIndexingMap(&operand)));
    }
    for (Operation &inner : body->without_terminator()) rewriter.clone(inner, map);
    SmallVector<Value> values =
        llvm::map_to_vector(body->getTerminator()->getOperands(),
                            [&](Value value) { return map.lookupOrDefault(value); });
    replaceByScalars(op, values);
  }

  void visitFill(linalg::FillOp op) {
    if (op->getNumResults() == 1 && isScalarTensor(op->getResult(0).getType()))
      replaceByScalars(op, op.getInputs()[0]);
  }

  void visitExtract(tensor::ExtractOp op) {
    if (!isScalarTensor(op.getTensor().getType())) return;
    rewriter.setInsertionPoint(op);
    if (auto made = op.getTensor().getDefiningOp<tensor::FromElementsOp>())
      rewriter.replaceOp(op, made.getElements()[0]);
  }

  /// An op with branches, of which scalar tensors are results.
  void visitBranches(Operation *op) {
    for (Region &region : op->getRegions()) {
      if (region.empty()) continue;
      run(region.front());
      leave(region.front().getTerminator());
    }
    replaceWithScalarResults(op);
  }

  void visitFor(scf::ForOp op) {
    rewriter.setInsertionPoint(op);
    op.getInitArgsMutable().assign(elementsOf(op.getInitArgs()));
    enter(*op.getBody());
    run(*op.getBody());
    leave(op.getBody()->getTerminator());
    replaceWithScalarResults(op);
  }

  void visitWhile(scf::WhileOp op) {
    rewriter.setInsertionPoint(op);
    op.getInitsMutable().assign(elementsOf(op.getInits()));
    enter(*op.getBeforeBody());
    run(*op.getBeforeBody());
    leave(op.getConditionOp(), 1);
    enter(*op.getAfterBody());
    run(*op.getAfterBody());
    leave(op.getYieldOp());
    replaceWithScalarResults(op);
  }

  /// The same op, whose operands and regions are scalar by now, with scalar results.
  void replaceWithScalarResults(Operation *op) {
    if (llvm::none_of(op->getResultTypes(), isScalarTensor)) return;
    rewriter.setInsertionPoint(op);
    OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                         scalarTypes(op->getResultTypes()), op->getAttrs());
    for (Region &region : op->getRegions()) state.addRegion()->takeBody(region);
    replaceByScalars(op, rewriter.create(state)->getResults());
  }

  IRRewriter rewriter;
  SmallVector<Operation *> wrapped;
};

struct Scalarize : impl::ScalarizePassBase<Scalarize> {
  void runOnOperation() override {
    Scalarizer scalarizer(&getContext());
    for (Block &block : getOperation().getBody()) scalarizer.run(block);
    scalarizer.eraseUnused();
  }
};

} // namespace

} // namespace mlir::weft
