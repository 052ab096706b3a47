// The pass weft-check-limits: how deep branches and loops are nested, and how many ops there are,
// across calls.
#include "Support/Limits.h"
#include "Weft/AD/Passes.h"
#include "Weft/IR/Weft.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::weft {

#define GEN_PASS_DEF_CHECKLIMITSPASS
#include "Weft/AD/Passes.h.inc"

namespace {

/// The depths and sizes of functions with those that they call, found from the leaves of the calls
/// on without recursion: chains of calls may be long.
class Extents {
public:
  explicit Extents(ModuleOp module) : symbols(module) {}

  /// Fails after a diagnostic.
  LogicalResult check(func::FuncOp function) {
    SmallVector<func::FuncOp> pending{function};
    while (!pending.empty()) {
      func::FuncOp next = pending.back();
      Function &entry = functions[next];
      if (entry.state == State::done) {
        pending.pop_back();
      } else if (entry.state == State::untouched) {
        entry.state = State::open;
        read(next, entry);
        // Calls in a circle are another pass's to refuse.
        SmallVector<func::FuncOp> callees;
        for (const Call &call : entry.calls) callees.push_back(call.callee);
        for (func::FuncOp callee : callees)
          if (functions[callee].state == State::untouched) pending.push_back(callee);
      } else {
        pending.pop_back();
        if (failed(finish(next))) return failure();
      }
    }
    return success();
  }

private:
  enum class State { untouched, open, done };
  struct Call {
    Operation *op;
    func::FuncOp callee;
    size_t depth;
  };
  struct Function {
    State state = State::untouched;
    size_t depth = 0;
    size_t ops = 0;
    SmallVector<Call> calls;
  };

  /// Reads a function's own depth, its ops and its calls.
  void read(func::FuncOp function, Function &entry) {
    function.walk([&](Operation *op) {
      ++entry.ops;
      size_t depth = 0;
      for (Operation *parent = op; parent != function; parent = parent->getParentOp())
        depth += parent->getNumRegions() != 0;
      entry.depth = std::max(entry.depth, depth);
      for (StringRef name : {"callee", "pullback"})
        if (auto symbol = op->getAttrOfType<FlatSymbolRefAttr>(name))
          if (auto callee = symbols.lookup<func::FuncOp>(symbol.getValue()))
            entry.calls.push_back({op, callee, depth});
    });
  }

  LogicalResult finish(func::FuncOp function) {
    Function &entry = functions[function];
    entry.state = State::done;
    Operation *deepest = function;
    for (const Call &call : entry.calls) {
      entry.ops = llvm::SaturatingAdd(entry.ops, functions[call.callee].ops);
      const size_t depth = call.depth + functions[call.callee].depth;
      if (depth > entry.depth) deepest = call.op;
      entry.depth = std::max(entry.depth, depth);
    }
    if (entry.depth > ::weft::kMaxNesting)
      return deepest->emitOpError() << "has branches and loops nested " << entry.depth
                                    << " deep, those of called functions counted in; at most "
                                    << ::weft::kMaxNesting << " are possible";
    if (entry.ops > ::weft::kMaxInlinedOps && !entry.calls.empty())
      return mlir::emitError(function.getLoc())
             << "'" << function.getName() << "' has more than " << ::weft::kMaxInlinedOps
             << " ops, those of called functions counted at every call: "
                "calls are inlined; call in a loop what is called often";
    return success();
  }

  SymbolTable symbols;
  DenseMap<Operation *, Function> functions;
};

struct CheckLimits : impl::CheckLimitsPassBase<CheckLimits> {
  void runOnOperation() override {
    Extents extents(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(extents.check(function))) return signalPassFailure();
  }
};

} // namespace
} // namespace mlir::weft
