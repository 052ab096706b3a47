// The pass weft-merge-kernels: of kernels that do the same one is left.
#include "Weft/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/OperationSupport.h"

#include <unordered_map>

namespace mlir::weft {

#define GEN_PASS_DEF_MERGEKERNELSPASS
#include "Weft/Conversion/Passes.h.inc"

namespace {

constexpr auto kFlags = OperationEquivalence::IgnoreLocations;

/// Equal for kernels that do the same.
llvm::hash_code hashOf(gpu::GPUFuncOp kernel) {
  llvm::hash_code hash = hash_value(kernel.getFunctionType());
  kernel.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue, kFlags));
  });
  return hash;
}

/// All that a kernel is but for its name and its place in the program.
DictionaryAttr attributesOf(gpu::GPUFuncOp kernel) {
  NamedAttrList attributes(kernel->getAttrDictionary());
  attributes.erase(SymbolTable::getSymbolAttrName());
  return attributes.getDictionary(kernel.getContext());
}

bool areSame(gpu::GPUFuncOp one, gpu::GPUFuncOp other) {
  return attributesOf(one) == attributesOf(other) &&
         OperationEquivalence::isRegionEquivalentTo(&one.getBody(), &other.getBody(), kFlags);
}

struct MergeKernels : impl::MergeKernelsPassBase<MergeKernels> {
  void runOnOperation() override {
    llvm::DenseMap<StringAttr, SymbolRefAttr> merged;
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>()) {
      std::unordered_map<size_t, SmallVector<gpu::GPUFuncOp>> found;
      for (auto kernel : llvm::make_early_inc_range(kernels.getOps<gpu::GPUFuncOp>())) {
        auto &alike = found[hashOf(kernel)];
        auto *same = llvm::find_if(alike, [&](gpu::GPUFuncOp one) { return areSame(one, kernel); });
        if (same == alike.end()) {
          alike.push_back(kernel);
          continue;
        }
        merged[kernel.getNameAttr()] = SymbolRefAttr::get(
            kernels.getNameAttr(), FlatSymbolRefAttr::get((*same).getNameAttr()));
        kernel.erase();
      }
    }
    getOperation().walk([&](gpu::LaunchFuncOp launch) {
      if (SymbolRefAttr kept = merged.lookup(launch.getKernelName())) launch.setKernelAttr(kept);
    });
  }
};

} // namespace

} // namespace mlir::weft
