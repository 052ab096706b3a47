// weft-kernelgen: compiles the kernels of eager execution for one x86-64 level, while Weft is
// built.

#include "JIT/LLVMPipeline.h"
#include "JIT/ObjectCompiler.h"
#include "Kernels.h"
#include "Ops/FusedTable.h"
#include "Pipelines/Pipelines.h"
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;
using namespace weft;

namespace {

cl::opt<int> level("level", cl::desc("x86-64 level: 2, 3 or 4"), cl::Required);
cl::opt<std::string> output("o", cl::desc("File to write"), cl::value_desc("file"), cl::Required);
cl::opt<std::string>
    fusedPrograms("fused",
                  cl::desc("Compile the functions of that file, which "
                           "weft-kerneltrace wrote, as the table of fused kernels"),
                  cl::value_desc("file"));
enum class Emit { object, mlir, buffers, llvm, assembly };
cl::opt<Emit> kind("emit", cl::desc("What to write"), cl::init(Emit::object),
                   cl::values(clEnumValN(Emit::object, "object", "object code"),
                              clEnumValN(Emit::mlir, "mlir", "the kernels' ops on tensors"),
                              clEnumValN(Emit::buffers, "buffers", "structured ops on memrefs"),
                              clEnumValN(Emit::llvm, "llvm", "LLVM IR"),
                              clEnumValN(Emit::assembly, "asm", "assembly")));

int fail(const std::string &message) {
  llvm::errs() << "weft-kernelgen: " << message << "\n";
  return 1;
}

bool isFused() { return !fusedPrograms.empty(); }

/// Makes structured ops on memrefs of the ops, by the phases that compiled functions go through.
mlir::LogicalResult bufferize(mlir::ModuleOp module, const jit::TargetOptions &cpu) {
  const mlir::weft::Target target{.cpu = cpu, .kernels = true};
  mlir::PassManager toLinalg(module.getContext()), toBuffers(module.getContext());
  if (isFused()) toLinalg.addNestedPass<mlir::func::FuncOp>(mlir::createCSEPass());
  mlir::weft::buildLinalgPhase(toLinalg, target);
  mlir::weft::buildBufferizePhase(toBuffers, target);
  for (mlir::PassManager *passes : {&toLinalg, &toBuffers}) passes->enableVerifier(false);
  if (mlir::failed(toLinalg.run(module))) return mlir::failure();
  // Who calls a kernel has checked the sizes.
  module.walk([](mlir::weft::CheckSizesOp check) { check.erase(); });
  if (mlir::failed(kernelgen::joinLoops(module))) return mlir::failure();
  if (mlir::failed(toBuffers.run(module))) return mlir::failure();
  if (!isFused()) kernelgen::specializePowers(module);
  return kernelgen::finishKernels(module);
}

int run() {
  if (level < 2 || level > 4) return fail("--level is 2, 3 or 4");
  mlir::DialectRegistry registry;
  jit::registerTranslations(registry);
  mlir::weft::registerWeftDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::vector<kernelgen::TableEntry> kernels;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (isFused()) {
    module = kernelgen::readFused(fusedPrograms, &context, kernels);
    if (!module) return fail("the programs of fused kernels are not valid");
  } else {
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    kernels = kernelgen::buildOps(*module);
  }
  if (mlir::failed(mlir::verify(*module))) return fail("the kernels' ops are not valid");

  std::string text;
  jit::TargetOptions target =
      jit::TargetOptions::for_level(static_cast<CpuLevel>(level.getValue()));
  if (kind != Emit::mlir) {
    if (mlir::failed(bufferize(*module, target))) return fail("the ops cannot be bufferized");
    if (!isFused())
      for (kernelgen::TableEntry &loop : kernelgen::buildLoops(*module))
        kernels.push_back(std::move(loop));
  }
  if (kind == Emit::mlir || kind == Emit::buffers) {
    llvm::raw_string_ostream(text) << *module << "\n";
  } else {
    mlir::PassManager passes(&context);
    passes.enableVerifier(false);
    jit::buildLLVMPipeline(passes, target, jit::EntryKind::kernel);
    if (mlir::failed(passes.run(*module))) return fail("the kernels cannot be lowered");
    // What kernels share has the same names in the objects of the other levels.
    for (auto function : module->getOps<mlir::LLVM::LLVMFuncOp>())
      if (function.isPrivate() && !function.isExternal())
        function.setLinkage(mlir::LLVM::Linkage::Internal);
    kernelgen::buildTable(
        *module,
        (isFused() ? "weft_fused_x86_64_v" : "weft_kernels_x86_64_v") + std::to_string(level),
        (isFused() ? sizeof(FusedTable) : sizeof(KernelTable)) / sizeof(Kernel), kernels);
    if (kind == Emit::object) {
      auto object = jit::compileToObject(*module, target);
      if (!object) return fail(object.fault().message);
      text = (*object)->getBuffer().str();
    } else {
      auto code = kind == Emit::llvm ? jit::compileToLLVMIR(*module, target)
                                     : jit::compileToAssembly(*module, target);
      if (!code) return fail(code.fault().message);
      text = std::move(*code);
    }
  }
  std::string message;
  auto file = mlir::openOutputFile(output, &message);
  if (!file) return fail(message);
  file->os() << text;
  file->keep();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Compiles Weft's precompiled kernels\n");
  return run();
}
