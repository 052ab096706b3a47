// Runs a program on hashes instead of tensors, so that every difference in the order of conflicting
// effects shows.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace weft::test {

/// What a run leaves: the history of each variable and of what a person saw, and the results.
struct Outcome {
  std::vector<std::uint64_t> variables;
  std::uint64_t seen = 1;
  std::vector<std::uint64_t> results;
  bool operator==(const Outcome &) const = default;
};

/// A variable's value is the history of its writes; a read gives that history, and a write adds its
/// value to it. An assert sees all variables, as the caller would after its failure. Ops on tensors
/// are hashes of their operands, ops on integers compute.
class AbstractRun {
public:
  explicit AbstractRun(mlir::ModuleOp module);

  /// Runs @main in the order of its ops.
  Outcome run();
  /// Runs one op with an effect; its operands are constants or arguments.
  void step(mlir::Operation *op);
  Outcome outcome;

private:
  using Values = llvm::DenseMap<mlir::Value, std::uint64_t>;
  std::vector<std::uint64_t> runBlock(mlir::Block &block, Values &values);
  void runOp(mlir::Operation *op, Values &values);
  void runEffect(mlir::Operation *op, Values &values);
  void runLoop(mlir::Operation *op, Values &values);
  std::uint64_t compute(mlir::Operation *op, Values &values);

  mlir::ModuleOp module_;
  llvm::DenseMap<mlir::Attribute, unsigned> numbers_; ///< of variables, by name
  Values stepped_;
  unsigned steps_ = 0;
};

} // namespace weft::test
