// The pass weft-gather-variables: variables that ranks keep in parts are gathered before their
// uses.
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::weft {

#define GEN_PASS_DEF_GATHERVARIABLESPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// A variable of the module that is cut.
struct CutVariable {
  VariableOp variable;
  RankedTensorType whole, part;
  int64_t group, ranks, bytes;

  CutVariable(VariableOp variable, DictionaryAttr cut)
      : variable(variable), whole(cast<RankedTensorType>(variable.getType())),
        group(cut.getAs<IntegerAttr>("group").getInt()),
        ranks(cut.getAs<IntegerAttr>("ranks").getInt()),
        bytes(whole.getNumElements() * elementBytes(whole.getElementType())) {
    part = RankedTensorType::get({llvm::divideCeilSigned(whole.getNumElements(), ranks)},
                                 whole.getElementType());
  }
};

/// One gathering of a variable, for uses that are near each other.
struct Gathering {
  CutVariable *of;
  Operation *before; ///< the first op of the function's block that uses it
  SmallVector<OpOperand *> uses;
  Location location;
};

/// Variables that are gathered at one place travel together up to so many bytes.
constexpr int64_t kTogether = int64_t{1} << 18;
/// Those of fewer bytes are kept for all uses.
constexpr int64_t kSmall = int64_t{1} << 14;

class Gatherer {
public:
  explicit Gatherer(llvm::MapVector<StringRef, CutVariable> &cut) : cut_(cut) {}

  LogicalResult run(func::FuncOp function) {
    if (failed(collect(function))) return failure();
    if (uses_.empty()) return success();
    if (!function.getBody().hasOneBlock())
      return function.emitError("of several blocks cannot gather variables: structured control "
                                "flow is wanted");
    findGatherings();
    for (size_t i = 0; i < gatherings_.size();) {
      size_t end = i + 1;
      int64_t bytes = gatherings_[i].of->bytes;
      while (end < gatherings_.size() && goesWith(ArrayRef(gatherings_).slice(i, end - i), end) &&
             bytes + gatherings_[end].of->bytes <= kTogether)
        bytes += gatherings_[end++].of->bytes;
      gather(ArrayRef(gatherings_).slice(i, end - i));
      i = end;
    }
    for (Operation *op : done_) op->erase();
    return success();
  }

private:
  struct Use {
    Operation *top; ///< the op of the function's block that it is in
    OpOperand *operand;
    CutVariable *of;
    Location location;
  };

  LogicalResult collect(func::FuncOp function) {
    const WalkResult result = function.walk([&](HandleOp handle) {
      auto *const found = cut_.find(handle.getVariable());
      if (found == cut_.end()) return WalkResult::advance();
      for (OpOperand &user : handle->getUses()) {
        auto read = dyn_cast<ReadOp>(user.getOwner());
        if (!read) {
          user.getOwner()->emitOpError("cannot use @" + handle.getVariable() +
                                       ", which is cut over ranks: only reads can");
          return WalkResult::interrupt();
        }
        for (OpOperand &use : read.getValue().getUses())
          uses_.push_back({function.front().findAncestorOpInBlock(*use.getOwner()), &use,
                           &found->second, read.getLoc()});
        done_.push_back(read);
      }
      done_.push_back(handle);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// A variable is gathered again for a use where at least as many bytes of others, and more than
  /// what travels together, are used in between: to keep it would take as much memory as a layer
  /// does.
  void findGatherings() {
    llvm::stable_sort(uses_, [](const Use &a, const Use &b) {
      return a.top != b.top && a.top->isBeforeInBlock(b.top);
    });
    struct Last {
      size_t gathering;
      int64_t used; ///< bytes of all variables so far
    };
    DenseMap<const CutVariable *, Last> last;
    int64_t used = 0;
    const CutVariable *before = nullptr;
    for (const Use &use : uses_) {
      const auto found = last.find(use.of);
      const bool again =
          found == last.end() || (use.of->bytes >= kSmall &&
                                  used - found->second.used >= std::max(use.of->bytes, kTogether));
      if (again) gatherings_.push_back({use.of, use.top, {}, use.location});
      const size_t gathering = again ? gatherings_.size() - 1 : found->second.gathering;
      gatherings_[gathering].uses.push_back(use.operand);
      if (use.of != before) used += use.of->bytes;
      before = use.of;
      last[use.of] = {gathering, used};
    }
  }

  bool goesWith(ArrayRef<Gathering> others, size_t number) const {
    const CutVariable *const of = gatherings_[number].of;
    return llvm::all_of(others, [&](const Gathering &other) {
      return other.of != of && other.of->group == of->group &&
             other.of->whole.getElementType() == of->whole.getElementType();
    });
  }

  /// Sends the parts of some variables at once.
  void gather(ArrayRef<Gathering> together) {
    using ::weft::OpCode;
    const Gathering &first = together.front();
    OpBuilder b(first.before);
    const Location at = first.location;
    const int64_t ranks = first.of->ranks;
    SmallVector<Value> parts;
    for (const Gathering &one : together) {
      Value handle =
          HandleOp::create(b, at, VarType::get(one.of->part), one.of->variable.getSymName());
      parts.push_back(ReadOp::create(b, one.location, handle).getValue());
    }
    Value own =
        parts.size() == 1 ? parts[0] : buildOp(b, at, OpCode::concatenate, parts, {int64_t{0}});
    Value all = buildOp(b, at, OpCode::all_gather, own, {int64_t{0}, ranks, first.of->group, true});
    // A row for each rank.
    const int64_t width = cast<RankedTensorType>(own.getType()).getDimSize(0);
    if (parts.size() > 1) all = buildOp(b, at, OpCode::reshape, all, {::weft::Ints{ranks, width}});
    for (int64_t begin = 0; const Gathering &one : together) {
      Value whole = all;
      const int64_t length = one.of->part.getDimSize(0), size = one.of->whole.getNumElements();
      if (parts.size() > 1) {
        whole = buildOp(
            b, at, OpCode::slice, whole,
            {::weft::Ints{0, begin}, ::weft::Ints{ranks, begin + length}, ::weft::Ints{1, 1}});
        whole = buildOp(b, at, OpCode::reshape, whole, {::weft::Ints{ranks * length}});
      }
      begin += length;
      if (size != ranks * length)
        whole = buildOp(b, at, OpCode::slice, whole,
                        {::weft::Ints{0}, ::weft::Ints{size}, ::weft::Ints{1}});
      if (one.of->whole.getRank() != 1) {
        const ArrayRef<int64_t> shape = one.of->whole.getShape();
        whole = buildOp(b, at, OpCode::reshape, whole, {::weft::Ints(shape.begin(), shape.end())});
      }
      for (OpOperand *use : one.uses) use->set(whole);
    }
  }

  llvm::MapVector<StringRef, CutVariable> &cut_;
  SmallVector<Use> uses_;
  SmallVector<Gathering> gatherings_; ///< in the order of the block
  SmallVector<Operation *> done_;     ///< reads before their handles
};

struct GatherVariables : impl::GatherVariablesPassBase<GatherVariables> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<StringRef, CutVariable> cut;
    for (auto variable : module.getOps<VariableOp>())
      if (auto over = variable->getAttrOfType<DictionaryAttr>(kCutOverRanks))
        cut.insert({variable.getSymName(), CutVariable(variable, over)});
    if (cut.empty()) return;
    // What is gathered in a function that is called would be kept by all who call it.
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(createInlinerPass());
    if (failed(runPipeline(pipeline, module))) return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isDeclaration() && failed(Gatherer(cut).run(function)))
        return signalPassFailure();
    for (auto &[name, one] : cut) {
      one.variable.setType(one.part);
      one.variable->removeAttr(kCutOverRanks);
    }
  }
};

} // namespace

} // namespace mlir::weft
