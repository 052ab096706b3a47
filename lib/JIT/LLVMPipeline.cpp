// Which passes make the LLVM dialect of bufferized functions, in which order.

#include "JIT/LLVMPipeline.h"

#include "Weft/Conversion/Passes.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/Passes.h"

namespace weft::jit {

void buildLLVMPipeline(mlir::OpPassManager &passes, const TargetOptions &target,
                       EntryKind entries) {
  mlir::weft::LowerLoopsPassOptions loops;
  loops.vectorBytes = target.vector_bytes;
  loops.masked = target.masked;
  loops.parallelWork = target.parallel_work;
  passes.addPass(mlir::weft::createLowerLoopsPass(loops));
  passes.addPass(mlir::weft::createExpandMathPass());
  mlir::weft::EntryPassOptions entry;
  entry.kernels = entries == EntryKind::kernel;
  // Integer powers become calls of a function that the module then has.
  passes.addPass(mlir::createConvertMathToFuncs());
  passes.addPass(mlir::weft::createEntryPass(entry));
  passes.addPass(mlir::weft::createToLLVMPass());
}

} // namespace weft::jit
