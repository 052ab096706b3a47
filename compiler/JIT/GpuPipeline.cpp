// Which passes make kernels and the code that launches them of bufferized functions.

#include "JIT/GpuPipeline.h"

#include "Support/Digest.h"
#include "Support/Ptx.h"

#include "Weft/Conversion/Passes.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

namespace weft::jit {

using namespace mlir;

void registerGpuTarget(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect, DLTIDialect>();
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

bool isGpuChip(const std::string &chip) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTargetMC();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return false;
  std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, "", ""));
  return info && llvm::StringRef(chip).starts_with("sm_") && info->isCPUStringValid(chip);
}

/// The number in "sm_90a", 0 of other texts.
static unsigned numberOf(llvm::StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  return chip.consumeInteger(10, number) ? 0 : number;
}

bool hasTensorCores(const std::string &chip) { return numberOf(chip) >= 80; }

/// The version of PTX for a chip, as a feature: 8.0 is the least that sm_90a needs, and older
/// drivers take it; later chips need later ones, of which LLVM takes the least.
static const char *ptxVersionOf(llvm::StringRef chip) {
  return numberOf(chip) > 90 ? "" : "+ptx80";
}

namespace {

/// Index arithmetic in 32 bits, where sizes say that it fits, in kernels on tensor cores, whose
/// registers are few: that of convolutions takes a fifth of the instructions of their loops less.
/// Those that multiply number by number are left alone: they have the same instructions in their
/// loops then, and more registers, so that a multiprocessor has one block and not two.
struct NarrowIndices : PassWrapper<NarrowIndices, OperationPass<gpu::GPUFuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NarrowIndices)

  StringRef getArgument() const override { return "weft-narrow-indices"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }
  void runOnOperation() override {
    const auto has = [](gpu::DynamicSharedMemoryOp) { return WalkResult::interrupt(); };
    if (!getOperation().walk(has).wasInterrupted()) return;
    OpPassManager narrow(gpu::GPUFuncOp::getOperationName());
    narrow.addPass(arith::createArithIntRangeNarrowing({.bitwidthsSupported = {32}}));
    if (failed(runPipeline(narrow, getOperation()))) signalPassFailure();
  }
};

/// Has room for two blocks on a multiprocessor, 128 registers a thread, for kernels that copy
/// beside the program and multiply number by number: while one block waits for a part, the other
/// has its own.
struct RoomForTwo : PassWrapper<RoomForTwo, OperationPass<gpu::GPUFuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RoomForTwo)

  StringRef getArgument() const override { return "weft-room-for-two"; }
  void runOnOperation() override {
    bool copies = false, hasFragments = false;
    getOperation().walk([&](Operation *op) {
      copies |= isa<NVVM::CpAsyncOp>(op);
      hasFragments |= isa<NVVM::MmaOp, NVVM::WgmmaGroupSyncAlignedOp, LLVM::CallIntrinsicOp>(op);
    });
    if (copies && !hasFragments)
      getOperation()->setDiscardableAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                                         IntegerAttr::get(IntegerType::get(&getContext(), 32), 2));
  }
};

} // namespace

void buildGpuPipeline(OpPassManager &passes, const std::string &chip) {
  passes.addPass(mlir::weft::createLoopsToGpuPass(
      {.capability = numberOf(chip), .warpgroups = chip == "sm_90a"}));
  mlir::weft::ExpandMathPassOptions math;
  math.expandRemainder = true;
  math.tables = false;
  passes.addNestedPass<func::FuncOp>(mlir::weft::createExpandMathPass(math));
  passes.addNestedPass<func::FuncOp>(createLowerAffinePass());
  // No canonicalizer here: it would erase an output that is only stored to, as all are now.
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  // Constants belong to the kernel, not to its parameters.
  passes.addPass(createGpuLaunchSinkIndexComputationsPass());
  passes.addPass(createGpuKernelOutliningPass());
  passes.addPass(mlir::weft::createMergeKernelsPass());
  passes.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(std::make_unique<NarrowIndices>());
  passes.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(std::make_unique<RoomForTwo>());
  passes.addPass(mlir::weft::createGpuLaunchesPass());
  GpuNVVMAttachTargetOptions target;
  target.chip = chip;
  target.features = ptxVersionOf(chip);
  target.optLevel = 2;
  passes.addPass(createGpuNVVMAttachTarget(target));

  OpPassManager &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(mlir::weft::createGpuToNVVMPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
}

Result<std::string> emitPtx(ModuleOp module) {
  const auto fault = [](const std::string &what) { return Fault{ErrorKind::compile, what}; };
  SmallVector<gpu::GPUModuleOp> found(module.getOps<gpu::GPUModuleOp>());
  if (found.size() != 1)
    return fault("the module has " + std::to_string(found.size()) +
                 " gpu.modules: a text of PTX is made of one");
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  Operation *const clone = found.front()->clone();
  // Without one LLVM takes numbers of 64 bits to be aligned to 4 bytes, and loads their halves.
  const std::string layout = llvm::Triple("nvptx64-nvidia-cuda").computeDataLayout();
  clone->setDiscardableAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                            StringAttr::get(module.getContext(), layout));
  kernels->push_back(clone);
  PassManager passes(module.getContext());
  GpuModuleToBinaryPassOptions format;
  format.compilationTarget = "isa";
  passes.addPass(createGpuModuleToBinaryPass(format));
  if (failed(passes.run(*kernels))) return fault("the kernels could not be translated to PTX");
  std::string text;
  for (auto binary : kernels->getOps<gpu::BinaryOp>())
    for (Attribute object : binary.getObjects())
      text += cast<gpu::ObjectAttr>(object).getObject().getValue().rtrim('\0').str();
  // Launches know kernels by their places.
  std::vector<std::string> wanted;
  for (auto kernel : found.front().getOps<LLVM::LLVMFuncOp>())
    if (kernel->hasAttr("nvvm.kernel")) wanted.push_back(kernel.getName().str());
  if (ptx_kernels(text) != wanted) return fault("the kernels are not in the order of the module");
  return text;
}

Check embedPtx(ModuleOp module, const std::string &ptx, llvm::StringRef name) {
  if (module.lookupSymbol(name))
    return Fault{ErrorKind::compile, "@" + name.str() + " is the name of the kernels' text"};
  Sha256 sha;
  sha.text(ptx);
  const std::string text = "// " + hex(sha.finish()) + "\n" + ptx + '\0';
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::External, name, builder.getStringAttr(text));
  return std::nullopt;
}

HostPart::HostPart(ModuleOp module) : module(module) {
  kernels.assign(module.getOps<gpu::GPUModuleOp>().begin(),
                 module.getOps<gpu::GPUModuleOp>().end());
  for (Operation *op : kernels) op->remove();
}

HostPart::~HostPart() {
  for (Operation *op : kernels) module.push_back(op);
}

} // namespace weft::jit
