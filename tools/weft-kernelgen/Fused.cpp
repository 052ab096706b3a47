// Functions made of ops as kernels: the programs that weft-kerneltrace wrote.

#include "Kernels.h"

#include "Ops/FusedTable.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"

namespace weft::kernelgen {

using namespace mlir;

namespace {

bool isOne(Value value) {
  auto constant = value.getDefiningOp<mlir::weft::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  return elements && elements.isSplat() && elements.getSplatValue<APInt>().isOne();
}

/// Derivatives count what a mean is of by a sum of ones where sizes are not known, which they are
/// when the kernel runs.
void countBySizes(func::FuncOp function) {
  SmallVector<Operation *> unused;
  function.walk([&](mlir::weft::SumOp sum) {
    auto ones = sum.getOperand().getDefiningOp<mlir::weft::SelectOp>();
    if (!ones || sum.getAxes().size() != 1 || !isOne(ones.getOperand(1)) ||
        !isOne(ones.getOperand(2)))
      return;
    auto same = ones.getOperand(0).getDefiningOp<mlir::weft::EqualOp>();
    if (!same) return;
    OpBuilder b(sum);
    Value size = mlir::weft::buildOp(b, sum.getLoc(), OpCode::size_of, same.getOperand(0),
                                     {sum.getAxes()[0]});
    for (Operation *user : llvm::make_early_inc_range(sum->getUsers())) {
      auto cast = dyn_cast<mlir::weft::CastOp>(user);
      if (!cast) continue;
      const DType dtype = mlir::weft::tensorTypeOf(cast.getResult().getType()).dtype;
      b.setInsertionPoint(cast);
      Value count = mlir::weft::buildOp(b, cast.getLoc(), OpCode::cast, size, {dtype});
      cast.getResult().replaceAllUsesWith(count); // which broadcasts
      unused.append({cast, sum, ones, same});
    }
  });
  for (Operation *op : unused)
    if (op->use_empty()) op->erase();
}

bool isElementwise(Operation *op) {
  const OpInfo *info = isa<mlir::weft::WeftDialect>(op->getDialect())
                           ? find_op(std::string_view(op->getName().stripDialect()))
                           : nullptr;
  return info != nullptr && info->kind == OpKind::elementwise;
}

/// Where sizes are not known, derivatives say by ops that a tensor has the shape of another, or is
/// to be repeated along its axes. Here it has, and who computes with another of that shape repeats
/// by itself.
void dropShapes(func::FuncOp function) {
  SmallVector<Operation *> unused;
  function.walk([&](Operation *op) {
    if (auto match = dyn_cast<mlir::weft::MatchShapeOp>(op)) {
      if (match.getOperand(0).getType() != match.getType()) return;
      match.replaceAllUsesWith(match.getOperand(0));
    } else if (auto select = dyn_cast<mlir::weft::SelectOp>(op)) {
      Value value = select.getOperand(1);
      if (value != select.getOperand(2)) return;
      const bool isRepeated = llvm::all_of(select->getUsers(), [&](Operation *user) {
        return isElementwise(user) && llvm::any_of(user->getOperands(), [&](Value other) {
                 return other != select.getResult() && other.getType() == select.getType();
               });
      });
      if (!isRepeated && value.getType() != select.getType()) return;
      select.replaceAllUsesWith(value);
    } else {
      return;
    }
    unused.push_back(op);
    if (Operation *source = op->getOperand(isa<mlir::weft::SelectOp>(op) ? 0 : 1).getDefiningOp())
      unused.push_back(source);
  });
  for (Operation *op : unused)
    if (op->use_empty()) op->erase();
}

} // namespace

OwningOpRef<ModuleOp> readFused(const std::string &file, MLIRContext *context,
                                std::vector<TableEntry> &entries) {
  auto module = parseSourceFile<ModuleOp>(file, context);
  if (!module) return nullptr;
  OpBuilder b(context);
  for (auto function : module->getOps<func::FuncOp>()) {
    const auto number = [&](StringRef name) -> std::optional<std::int64_t> {
      auto attr = dyn_cast_or_null<IntegerAttr>(function->removeAttr(name));
      return attr ? std::optional(attr.getInt()) : std::nullopt;
    };
    const auto kernel = number("weft.kernel"), fact = number("weft.fact"),
               facts = number("weft.facts");
    if (!kernel || fact.has_value() != facts.has_value()) return nullptr;
    entries.push_back(
        {.index = static_cast<std::size_t>(*kernel), .function = function.getName().str()});
    if (fact) entries.push_back({.index = static_cast<std::size_t>(*fact), .number = *facts});
    function->setAttr(kOneLoop, b.getUnitAttr());
    countBySizes(function);
    dropShapes(function);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                          b.getBoolAttr(false));
  }
  return module;
}

LogicalResult finishKernels(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->removeAttr(kOneLoop)) continue;
    SmallVector<memref::AllocOp> temporaries;
    int large = 0;
    function.walk([&](memref::AllocOp alloc) {
      if (!alloc->hasAttr(mlir::weft::kOutput)) temporaries.push_back(alloc);
    });
    for (memref::AllocOp alloc : temporaries) {
      if (alloc.getType().getRank() != 0) {
        ++large;
        continue;
      }
      // What is computed of single numbers.
      OpBuilder b(alloc);
      alloc.replaceAllUsesWith(
          memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType()).getResult());
      alloc.erase();
    }
    // Elements are computed in one loop; what combines those of a row has room for a few more.
    if (large > (function.getName().starts_with("rows_") ? kMostTemporaries : 0))
      return function.emitError("needs ")
             << large << " temporaries, which is more than a kernel has";
  }
  return success();
}

} // namespace weft::kernelgen
