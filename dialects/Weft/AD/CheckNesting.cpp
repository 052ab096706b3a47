// The pass weft-check-nesting: how deep branches and loops are nested, across calls.
#include "Support/Limits.h"
#include "Weft/AD/Passes.h"
#include "Weft/IR/Weft.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::weft {

#define GEN_PASS_DEF_CHECKNESTINGPASS
#include "Weft/AD/Passes.h.inc"

namespace {

constexpr size_t most = ::weft::kMaxNesting;

/// The depths of functions, found from the leaves of the calls on without recursion: chains of
/// calls may be long.
class Depths {
public:
  explicit Depths(ModuleOp module) : symbols(module) {}

  /// How deep a function is, or nothing after a diagnostic.
  FailureOr<size_t> of(func::FuncOp function) {
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
    return functions[function].depth;
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
    SmallVector<Call> calls;
  };

  /// Reads a function's own depth and its calls.
  void read(func::FuncOp function, Function &entry) {
    function.walk([&](Operation *op) {
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
      const size_t depth = call.depth + functions[call.callee].depth;
      if (depth > entry.depth) deepest = call.op;
      entry.depth = std::max(entry.depth, depth);
    }
    if (entry.depth <= most) return success();
    return deepest->emitOpError() << "has branches and loops nested " << entry.depth
                                  << " deep, those of called functions counted in; at most " << most
                                  << " are possible";
  }

  SymbolTable symbols;
  DenseMap<Operation *, Function> functions;
};

struct CheckNesting : impl::CheckNestingPassBase<CheckNesting> {
  void runOnOperation() override {
    Depths depths(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(depths.of(function))) return signalPassFailure();
  }
};

} // namespace
} // namespace mlir::weft
