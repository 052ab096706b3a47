// Random programs: tokens order effects if and only if they conflict, every schedule that tokens
// allow gives the sequential result, upstream's passes change nothing, and no token is superfluous.
#include <gtest/gtest.h>

#include "AbstractRun.h"
#include "Driver/Driver.h"
#include "RandomProgram.h"
#include "Weft/Effects/Passes.h"
#include "Weft/Effects/Tokens.h"
#include "Weft/IR/Weft.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace weft::test {
namespace {

using namespace mlir;
using mlir::weft::BeginOp;
using mlir::weft::JoinOp;
using mlir::weft::OrderedOpInterface;
using mlir::weft::TokenType;

MLIRContext &context() {
  static MLIRContext *instance = [] {
    DialectRegistry registry;
    mlir::weft::registerCompilerDialects(registry);
    auto *created = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    created->loadAllAvailableDialects();
    return created;
  }();
  return *instance;
}

OwningOpRef<ModuleOp> parse(const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
  EXPECT_TRUE(module) << text;
  return module;
}

template <class Build>
void runPasses(ModuleOp module, Build build) {
  PassManager pm(&context());
  build(pm);
  EXPECT_TRUE(succeeded(pm.run(module)));
}

void insertTokens(ModuleOp module) {
  runPasses(module, [](PassManager &pm) { pm.addPass(mlir::weft::createInsertControlDepsPass()); });
}

void shuffle(ModuleOp module, std::uint64_t seed) {
  runPasses(module, [&](PassManager &pm) {
    mlir::weft::ShuffleSchedulePassOptions options;
    options.seed = seed;
    pm.addNestedPass<func::FuncOp>(mlir::weft::createShuffleSchedulePass(options));
  });
}

void optimize(ModuleOp module, bool inlines) {
  runPasses(module, [&](PassManager &pm) {
    if (inlines) pm.addPass(createInlinerPass());
    pm.addPass(createCSEPass());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createLoopInvariantCodeMotionPass());
    pm.addPass(createCSEPass());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createSymbolDCEPass());
  });
}

Outcome outcomeOf(ModuleOp module) { return AbstractRun(module).run(); }

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

TEST(EffectOrder, EveryScheduleGivesTheSequentialResult) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string text = randomProgram(seed);
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module);
    const Outcome expected = outcomeOf(*module);
    insertTokens(*module);
    ASSERT_EQ(outcomeOf(*module), expected) << text;
    for (std::uint64_t order = 0; order < 5; ++order) {
      shuffle(*module, seed * 31 + order);
      ASSERT_EQ(outcomeOf(*module), expected) << "program " << seed << ":\n" << textOf(*module);
    }
  }
}

TEST(EffectOrder, UpstreamPassesChangeNothing) {
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    OwningOpRef<ModuleOp> module = parse(randomProgram(seed));
    ASSERT_TRUE(module);
    const Outcome expected = outcomeOf(*module);
    insertTokens(*module);
    for (std::uint64_t round = 0; round < 2; ++round) {
      shuffle(*module, seed * 7 + round);
      optimize(*module, /*inlines=*/round == 1);
      ASSERT_EQ(outcomeOf(*module), expected) << "program " << seed << ":\n" << textOf(*module);
    }
    shuffle(*module, seed);
    ASSERT_EQ(outcomeOf(*module), expected) << "program " << seed << ":\n" << textOf(*module);
    runPasses(*module, [](PassManager &pm) { pm.addPass(mlir::weft::createEraseTokensPass()); });
    ASSERT_EQ(outcomeOf(*module), expected) << "program " << seed << ":\n" << textOf(*module);
  }
}

//===----------------------------------------------------------------------===//
// Minimality
//===----------------------------------------------------------------------===//

ArrayRef<std::int64_t> touchOf(Operation *op) {
  auto touch = op->getAttrOfType<DenseI64ArrayAttr>("touch");
  return touch ? touch.asArrayRef() : ArrayRef<std::int64_t>();
}

bool conflict(ArrayRef<std::int64_t> a, ArrayRef<std::int64_t> b) {
  for (auto [one, other] : llvm::zip(a, b))
    if (one != 0 && other != 0 && (one == 2 || other == 2)) return true;
  return false;
}

void expectMinimal(Block &block, const std::string &text) {
  SmallVector<Operation *> effects;
  for (Operation &op : block)
    if (llvm::any_of(touchOf(&op), [](std::int64_t how) { return how != 0; }))
      effects.push_back(&op);
  std::vector<std::vector<bool>> closure(effects.size(), std::vector<bool>(effects.size()));
  for (size_t later = 0; later < effects.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      if (!conflict(touchOf(effects[earlier]), touchOf(effects[later]))) continue;
      closure[later][earlier] = true;
      for (size_t i = 0; i < earlier; ++i)
        if (closure[earlier][i]) closure[later][i] = true;
    }
    const auto before = mlir::weft::tokenPredecessors(effects[later]);
    for (size_t earlier = 0; earlier < later; ++earlier)
      ASSERT_EQ(before.contains(effects[earlier]), closure[later][earlier])
          << "ops " << earlier << " and " << later << " of a block:\n"
          << text;
  }
}

TEST(EffectOrder, OrderedIfAndOnlyIfInConflict) {
  for (std::uint64_t seed = 2000; seed < 2400; ++seed) {
    OwningOpRef<ModuleOp> module = parse(randomProgram(seed));
    ASSERT_TRUE(module);
    insertTokens(*module);
    const std::string text = textOf(*module);
    module->lookupSymbol<func::FuncOp>("main").walk([&](Block *block) {
      if (!::testing::Test::HasFailure()) expectMinimal(*block, text);
    });
    ASSERT_FALSE(::testing::Test::HasFailure()) << "program " << seed;
  }
}

//===----------------------------------------------------------------------===//
// Each edge counts
//===----------------------------------------------------------------------===//

using Edge = std::pair<unsigned, unsigned>; ///< the first waits for the second

/// Whether every order of the effects that the edges allow leaves `expected`. There are few
/// effects, so all orders are tried.
class AllOrders {
public:
  AllOrders(ModuleOp module, ArrayRef<Operation *> effects, const std::vector<Edge> &edges)
      : module_(module), effects_(effects), edges_(edges) {}

  bool allGive(const Outcome &expected) { return tryAll({}, expected); }

  Outcome outcomeOf(ArrayRef<unsigned> order) {
    AbstractRun run(module_);
    std::vector<std::pair<unsigned, std::uint64_t>> results;
    for (unsigned i : order) {
      run.step(effects_[i]);
      for (std::uint64_t result : run.outcome.results) results.push_back({i, result});
      run.outcome.results.clear();
    }
    llvm::sort(results);
    for (auto [i, result] : results) run.outcome.results.push_back(result);
    return run.outcome;
  }

private:
  bool tryAll(SmallVector<unsigned> order, const Outcome &expected) {
    if (order.size() == effects_.size()) return outcomeOf(order) == expected;
    for (unsigned next = 0; next < effects_.size(); ++next) {
      if (llvm::is_contained(order, next)) continue;
      const bool waits = llvm::any_of(edges_, [&](Edge edge) {
        return edge.first == next && !llvm::is_contained(order, edge.second);
      });
      if (waits) continue;
      SmallVector<unsigned> longer = order;
      longer.push_back(next);
      if (!tryAll(longer, expected)) return false;
    }
    return true;
  }

  ModuleOp module_;
  ArrayRef<Operation *> effects_;
  const std::vector<Edge> &edges_;
};

TEST(EffectOrder, WithoutAnyOneEdgeSomeScheduleGivesAnotherResult) {
  int removed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    OwningOpRef<ModuleOp> module = parse(randomLine(seed, 6));
    ASSERT_TRUE(module);
    insertTokens(*module);
    SmallVector<Operation *> effects;
    for (Operation &op : module->lookupSymbol<func::FuncOp>("main").getBody().front())
      if (isa<OrderedOpInterface>(op)) effects.push_back(&op);
    std::vector<Edge> edges;
    for (auto [number, op] : llvm::enumerate(effects)) {
      SmallVector<Value> tokens = {cast<OrderedOpInterface>(op).getAfter()};
      if (auto join = tokens.front().getDefiningOp<JoinOp>())
        tokens.assign(join.getTokens().begin(), join.getTokens().end());
      for (Value token : tokens)
        if (!token.getDefiningOp<BeginOp>())
          edges.push_back({number, llvm::find(effects, token.getDefiningOp()) - effects.begin()});
    }
    SmallVector<unsigned> sequence = llvm::to_vector(llvm::seq<unsigned>(0, effects.size()));
    const Outcome expected = AllOrders(*module, effects, edges).outcomeOf(sequence);
    ASSERT_TRUE(AllOrders(*module, effects, edges).allGive(expected)) << textOf(*module);
    for (size_t i = 0; i < edges.size(); ++i) {
      std::vector<Edge> fewer = edges;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      ++removed;
      ASSERT_FALSE(AllOrders(*module, effects, fewer).allGive(expected))
          << "op " << edges[i].first << " need not wait for " << edges[i].second << ":\n"
          << textOf(*module);
    }
  }
  EXPECT_GT(removed, 500);
}

} // namespace
} // namespace weft::test
