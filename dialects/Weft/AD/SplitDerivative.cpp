// The pass weft-split-derivative: a function and its derivative as two functions, and what the
// first saves for the second.
#include "Weft/AD/Passes.h"
#include "Weft/AD/Recompute.h"
#include "Weft/Effects/ResourceAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SPLITDERIVATIVEPASS
#include "Weft/AD/Passes.h.inc"

namespace {

/// Makes one of reads of a variable between which nothing writes it: a cut would save each. What
/// regions read, they hand on as values of their own; what a pullback reads it reads when it is
/// pulled, after whatever happened since.
void mergeReads(const ResourceAnalysis &analysis, func::FuncOp function) {
  SmallVector<std::pair<Touched, ReadOp>> known; ///< what variables hold, as far as it was read
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    auto read = dyn_cast<ReadOp>(op);
    if (!read) {
      for (auto [what, access] : analysis.touchesOf(&op))
        if (access == Access::write)
          llvm::erase_if(known, [&, written = what](const auto &entry) {
            return analysis.mayAlias(function, entry.first, written);
          });
      continue;
    }
    ArrayRef<Touched> roots = analysis.rootsOf(read.getVariable());
    if (read.getToken() || roots.size() != 1 || roots[0].kind() == Touched::anyVariable) continue;
    auto *earlier = llvm::find_if(known, [&](auto &entry) {
      return entry.first == roots[0] &&
             entry.second->hasAttr(pulledName) == read->hasAttr(pulledName) &&
             entry.second.getValue().getType() == read.getValue().getType();
    });
    if (earlier == known.end()) {
      known.push_back({roots[0], read});
      continue;
    }
    read.getValue().replaceAllUsesWith(earlier->second.getValue());
    read.erase();
  }
}

/// Splits one function.
class Splitter {
public:
  Splitter(func::FuncOp forward, SymbolTable &symbols, unsigned inputs, unsigned results)
      : forward(forward), symbols(symbols), inputs(inputs), results(results),
        block(forward.getBody().front()) {}

  /// The backward part, behind the forward part; null after a diagnostic.
  func::FuncOp split() {
    moveLate();
    for (auto [number, result] : llvm::enumerate(block.getTerminator()->getOperands()))
      if (result.getParentBlock() == late) {
        forward.emitOpError() << "has a 'weft.split' by which its result " << number
                              << " depends on a cotangent";
        return undone();
      }
    Context context(forward, symbols);
    Recompute recompute(context, forward);
    const ReverseIteration iteration{late, nullptr, nullptr, {}};
    if (failed(recompute.choose(iteration))) return undone();
    for (Value value : recompute.kept()) save(value);
    recompute.restore(iteration, [&](OpBuilder &b, Value value, const ReverseIteration &) {
      return loaded(b, value, arguments[value]);
    });
    eraseUnused(&block, nullptr, nullptr);
    finish();
    return backward;
  }

private:
  /// After an error there may be uses from one function to the other.
  func::FuncOp undone() {
    backward.walk([](Operation *op) { op->dropAllReferences(); });
    for (Operation &op : *late) op.dropAllUses();
    for (BlockArgument argument : late->getArguments()) argument.dropAllUses();
    backward.erase();
    return {};
  }

  static bool isPulled(Operation *op) {
    return op
        ->walk([](Operation *inner) {
          return inner->hasAttr(pulledName) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Moves what depends on a cotangent or is an effect of a pullback, and the return of the
  /// gradients, into the backward part, whose arguments are the cotangents, and where values of the
  /// forward part are used as if they could be seen.
  void moveLate() {
    OpBuilder b(forward->getContext());
    b.setInsertionPointAfter(forward);
    backward = func::FuncOp::create(b, forward.getLoc(), (forward.getName() + "_backward").str(),
                                    b.getFunctionType({}, {}));
    late = backward.addEntryBlock();
    llvm::SmallPtrSet<Operation *, 32> moving;
    auto dependsOn = [&](Value value) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        return argument.getOwner() == &block && argument.getArgNumber() >= inputs;
      return moving.contains(value.getDefiningOp());
    };
    SmallVector<Operation *> ordered;
    for (Operation &op : block.without_terminator()) {
      if (llvm::none_of(op.getOperands(), dependsOn) && llvm::none_of(capturedBy(&op), dependsOn) &&
          !isPulled(&op))
        continue;
      moving.insert(&op);
      ordered.push_back(&op);
    }
    for (Operation *op : ordered) op->moveBefore(late, late->end());
    // What branches of the backward part want of a tensor may be its size alone: that is saved
    // then.
    Operation *behind = block.getTerminator();
    late->walk([&](SizeOp size) {
      if (size.getX().getParentBlock() == &block) size->moveBefore(behind);
    });
    for (BlockArgument cotangent : block.getArguments().drop_front(inputs))
      cotangent.replaceAllUsesWith(late->addArgument(cotangent.getType(), cotangent.getLoc()));
    Operation *end = block.getTerminator();
    b.setInsertionPointToEnd(late);
    func::ReturnOp::create(b, end->getLoc(), end->getOperands().drop_front(results));
    end->setOperands(SmallVector<Value>(end->getOperands().take_front(results)));
  }

  /// Hands a value on to the backward part, in front of the cotangents.
  void save(Value value) {
    OpBuilder b(block.getTerminator());
    Operation *end = block.getTerminator();
    auto argument = dyn_cast<BlockArgument>(value);
    Value handed = argument ? value : asTensor(b, value);
    if (argument) {
      saved.append({0, argument.getArgNumber()});
    } else {
      auto known = llvm::find(end->getOperands(), handed);
      saved.append({1, known - end->operand_begin()});
      if (known == end->operand_end()) end->insertOperands(end->getNumOperands(), handed);
    }
    arguments[value] = late->insertArgument(arguments.size(), handed.getType(), value.getLoc());
  }

  static Value asTensor(OpBuilder &b, Value value) {
    if (isa<RankedTensorType>(value.getType())) return value;
    if (value.getType().isIndex())
      value = arith::IndexCastOp::create(b, value.getLoc(), b.getI64Type(), value);
    return tensor::FromElementsOp::create(b, value.getLoc(),
                                          RankedTensorType::get({}, value.getType()), value);
  }

  static Value loaded(OpBuilder &b, Value value, Value argument) {
    if (isa<RankedTensorType>(value.getType())) return argument;
    Location at = value.getLoc();
    Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    Value item = ItemOp::create(b, at, element, argument);
    return value.getType().isIndex() ? arith::IndexCastOp::create(b, at, value.getType(), item)
                                     : item;
  }

  /// Gives both parts their types.
  void finish() {
    block.eraseArguments(inputs, block.getNumArguments() - inputs);
    OpBuilder b(forward->getContext());
    for (func::FuncOp function : {forward, backward}) {
      Block &body = function.getBody().front();
      // Attributes of arguments are those of the whole function.
      function.removeArgAttrsAttr();
      function.removeResAttrsAttr();
      function.setFunctionType(
          b.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
      function->setAttr("weft.saved", b.getDenseI64ArrayAttr(saved));
    }
    forward->removeAttr("weft.split");
  }

  func::FuncOp forward, backward;
  SymbolTable &symbols;
  unsigned inputs, results;
  Block &block;
  Block *late = nullptr;
  SmallVector<int64_t> saved;
  DenseMap<Value, Value> arguments; ///< of the backward part, by the value that is saved
};

struct SplitDerivative : impl::SplitDerivativePassBase<SplitDerivative> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions =
        llvm::filter_to_vector(getOperation().getOps<func::FuncOp>(), [](func::FuncOp function) {
          return function->hasAttr("weft.split");
        });
    if (!functions.empty() && failed(splitAll(functions))) return signalPassFailure();
    getOperation().walk([](Operation *op) { op->removeAttr(pulledName); });
  }

private:
  LogicalResult splitAll(ArrayRef<func::FuncOp> functions) {
    const ResourceAnalysis analysis(getOperation());
    for (func::FuncOp function : functions)
      if (!function.isDeclaration() && !analysis.foreignEffectIn(function))
        mergeReads(analysis, function);
    bool partial = false;
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : functions)
      if (failed(split(function, symbols, function->getAttr("weft.split"), partial)))
        return failure();
    if (partial) eraseUnusedSymbols(getOperation());
    return success();
  }

  /// Splits a function; says in `partial` if one part is gone.
  static LogicalResult split(func::FuncOp function, SymbolTable &symbols, Attribute how,
                             bool &partial) {
    auto words = cast<DictionaryAttr>(how); // verified
    const int64_t inputs = words.getAs<IntegerAttr>("inputs").getInt();
    const int64_t results = words.getAs<IntegerAttr>("results").getInt();
    auto part = words.getAs<StringAttr>("part");
    func::FuncOp backward = Splitter(function, symbols, inputs, results).split();
    if (!backward) return failure();
    if (!part) return success();
    func::FuncOp left = part == "forward" ? function : backward;
    StringAttr name = function.getSymNameAttr();
    (part == "forward" ? backward : function).erase();
    left.setSymNameAttr(name);
    partial = true;
    return success();
  }

  /// Of the functions that only the other part called, and of the variables that only it used.
  static void eraseUnusedSymbols(ModuleOp module) {
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
        auto function = dyn_cast<func::FuncOp>(op);
        if (function ? function.isPrivate() : isa<VariableOp>(op))
          if (SymbolTable::symbolKnownUseEmpty(&op, module)) {
            op.erase();
            changed = true;
          }
      }
    }
  }
};

} // namespace
} // namespace mlir::weft
