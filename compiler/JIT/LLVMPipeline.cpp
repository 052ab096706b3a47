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
  mlir::weft::ExpandMathPassOptions math;
  math.expandRemainder = true; // instead of a call of fmod for each element
  // Every x86-64 with fma permutes vectors as long as its registers, of 32 bytes or more.
  if (target.fma && target.vector_bytes >= 32)
    math.permuteBytes = static_cast<unsigned>(target.vector_bytes);
  // Kernels are compiled once; here a formula many times over takes longer than calls of it.
  if (entries == EntryKind::function) math.shareFrom = 8;
  passes.addPass(mlir::weft::createExpandMathPass(math));
  mlir::weft::EntryPassOptions entry;
  entry.kernels = entries == EntryKind::kernel;
  // Integer powers become calls of a function that the module then has.
  passes.addPass(mlir::createConvertMathToFuncs());
  passes.addPass(mlir::weft::createEntryPass(entry));
  passes.addPass(mlir::weft::createToLLVMPass());
  if (!target.fma) passes.addPass(mlir::weft::createShareFmaPass());
}

} // namespace weft::jit
