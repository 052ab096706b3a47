// Which passes make the LLVM dialect of bufferized functions, in which order.

#include "JIT/LLVMPipeline.h"

#include "Weft/Conversion/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace weft::jit {

void buildLLVMPipeline(mlir::OpPassManager &passes, const TargetOptions &target) {
  mlir::weft::LowerLoopsPassOptions loops;
  loops.vectorBytes = target.vector_bytes;
  loops.masked = target.masked;
  loops.parallelWork = target.parallel_work;
  passes.addPass(mlir::weft::createLowerLoopsPass(loops));
  passes.addPass(mlir::weft::createEntryPass());
  passes.addPass(mlir::weft::createToLLVMPass());
}

} // namespace weft::jit
