// Outlines loops for threads: captures, constants, the function, the call.

#include "Weft/Conversion/Loops/Outline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::weft;

void mlir::weft::outlineParallelLoop(const ParallelLoop &parallel, SymbolTable &symbols) {
  scf::ForOp loop = parallel.loop;
  Location loc = loop.getLoc();
  auto parent = loop->getParentOfType<func::FuncOp>();

  // Constants are made again inside, as are places on the stack, of which each thread has its own;
  // everything else from outside is a parameter.
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  SmallVector<Value> captures, constants;
  for (Value value : used) {
    Operation *definition = value.getDefiningOp();
    bool constant = definition && (definition->hasTrait<OpTrait::ConstantLike>() ||
                                   isa<memref::AllocaOp>(definition));
    (constant ? constants : captures).push_back(value);
  }

  OpBuilder builder(loop);
  Type index = builder.getIndexType();
  SmallVector<Value> operands{loop.getLowerBound(), loop.getUpperBound(), parallel.grain};
  llvm::append_range(operands, captures);
  auto type = builder.getFunctionType(ValueRange(operands).getTypes(), {});

  OpBuilder outside(parent);
  auto body = func::FuncOp::create(outside, loc, (parent.getName() + "_part").str(), type);
  body.setPrivate();
  symbols.insert(body);

  OpBuilder inside = OpBuilder::atBlockBegin(body.addEntryBlock());
  IRMapping map;
  for (Value constant : constants) inside.clone(*constant.getDefiningOp(), map);
  for (auto [i, capture] : llvm::enumerate(captures)) map.map(capture, body.getArgument(3 + i));
  Value one = arith::ConstantOp::create(inside, loc, index, inside.getIndexAttr(1));
  auto copy = scf::ForOp::create(inside, loc, body.getArgument(0), body.getArgument(1), one);
  copy.getBody()->erase();
  loop.getRegion().cloneInto(&copy.getRegion(), map);
  func::ReturnOp::create(inside, loc);

  auto call = func::CallOp::create(builder, loc, body, operands);
  call->setAttr(kParallelCall, builder.getUnitAttr());
  loop.erase();
}
