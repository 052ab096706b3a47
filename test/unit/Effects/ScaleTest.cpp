// The pass on large programs: its time grows with the program, not with its square.
#include <gtest/gtest.h>

#include "Driver/Driver.h"
#include "Weft/Effects/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <ctime>
#include <sstream>

namespace weft::test {
namespace {

using namespace mlir;

/// A straight line of about `ops` ops on fifty variables, the first `written` of which are written,
/// with an assert now and then. All are written at the end.
std::string line(int ops, int written) {
  constexpr int variables = 50;
  std::ostringstream text;
  for (int v = 0; v < variables; ++v) text << "weft.variable @v" << v << " : tensor<f32>\n";
  text << "func.func @main(%ok: tensor<i1>, %x0: tensor<f32>) {\n";
  for (int v = 0; v < variables; ++v)
    text << "%h" << v << " = weft.handle @v" << v << " : !weft.var<tensor<f32>>\n";
  for (int i = 0; i < ops / 3; ++i) {
    text << "%r" << i << " = weft.read %h" << i % variables << " : tensor<f32>\n%x" << i + 1
         << " = weft.add %r" << i << ", %x" << i << " : tensor<f32>\nweft.assign %h" << i % written
         << ", %x" << i + 1 << " : tensor<f32>\n";
    if (i % 10 == 0) text << "weft.assert %ok, \"ok\" : tensor<i1>\n";
  }
  for (int v = 0; v < variables; ++v) text << "weft.assign %h" << v << ", %x0 : tensor<f32>\n";
  text << "return\n}\n";
  return text.str();
}

double secondsOnce(MLIRContext &context, int ops, int written) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(line(ops, written), &context);
  PassManager pm(&context);
  pm.enableVerifier(false);
  pm.addPass(mlir::weft::createInsertControlDepsPass());
  const std::clock_t start = std::clock();
  EXPECT_TRUE(succeeded(pm.run(*module)));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Processor time of the pass, the least of three runs: neither other programs nor a cold cache
/// count.
double seconds(MLIRContext &context, int ops, int written) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) least = std::min(least, secondsOnce(context, ops, written));
  return least;
}

TEST(EffectScale, NearlyLinear) {
  DialectRegistry registry;
  mlir::weft::registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  (void)seconds(context, 500, 50);
  for (int written : {50, 5, 1}) {
    // Eight times the ops; caches make large programs a little slower per op, the square would
    // be 64.
    const double small = seconds(context, 5000, written), large = seconds(context, 40000, written);
    EXPECT_LT(large, 24 * small + 0.05) << written << " variables written";
  }
}

} // namespace
} // namespace weft::test
