// Functions made of ops as kernels: the programs that weft-kerneltrace wrote.

#include "Kernels.h"

#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"

namespace weft::kernelgen {

using namespace mlir;

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
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                          b.getBoolAttr(false));
  }
  return module;
}

LogicalResult finishFused(ModuleOp module) {
  SmallVector<memref::AllocOp> temporaries;
  module.walk([&](memref::AllocOp alloc) {
    if (!alloc->hasAttr(mlir::weft::kOutput)) temporaries.push_back(alloc);
  });
  for (memref::AllocOp alloc : temporaries) {
    // What is computed of operands that are one element.
    if (alloc.getType().getRank() != 0)
      return alloc.emitError("is memory that a kernel does not have: its loops are not one");
    OpBuilder b(alloc);
    alloc.replaceAllUsesWith(
        memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType()).getResult());
    alloc.erase();
  }
  return success();
}

} // namespace weft::kernelgen
