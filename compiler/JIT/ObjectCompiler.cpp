// Translates, optimises with a short list of passes, and emits code.
//
// Loops arrive vectorised and unrolled from MLIR, so LLVM's own pipeline, which would take most of
// the compile time, is not run.

#include "JIT/ObjectCompiler.h"

#include "Support/Fork.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <chrono>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace weft::jit {
namespace {

/// Adds the time since it was created to a sum, if there is one.
class Stopwatch {
public:
  explicit Stopwatch(double *sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    if (sum_ == nullptr) return;
    std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start_;
    *sum_ += passed.count();
  }

private:
  double *sum_;
  std::chrono::steady_clock::time_point start_;
};

Fault fault(std::string message) { return {ErrorKind::compile, std::move(message)}; }

/// LLVM's part for a triple; null with the reason in `error`.
const llvm::Target *lookUp(const llvm::Triple &triple, std::string &error) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  return llvm::TargetRegistry::lookupTarget(triple, error);
}

/// Machines for targets, kept for the next compilation: making one costs more than a small function
/// does. As long as the process.
class Machines {
public:
  static Machines &get() {
    static auto &all = *new Machines;
    return all;
  }

  /// Null if none is kept.
  std::unique_ptr<llvm::TargetMachine> take(const std::string &key) {
    const std::lock_guard lock(mutex_);
    auto &kept = kept_[key];
    if (kept.empty()) return nullptr;
    std::unique_ptr<llvm::TargetMachine> machine = std::move(kept.back());
    kept.pop_back();
    return machine;
  }

  void give_back(const std::string &key, std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(mutex_);
    kept_[key].push_back(std::move(machine));
  }

private:
  forks::Mutex<std::mutex> mutex_;
  std::map<std::string, std::vector<std::unique_ptr<llvm::TargetMachine>>> kept_;
};

/// One compilation's machine.
class LentMachine {
public:
  LentMachine(std::string key, std::unique_ptr<llvm::TargetMachine> machine)
      : key_(std::move(key)), machine_(std::move(machine)) {}
  LentMachine(LentMachine &&) = default;
  LentMachine &operator=(LentMachine &&) = delete;
  ~LentMachine() {
    if (machine_) Machines::get().give_back(key_, std::move(machine_));
  }

  llvm::TargetMachine &operator*() const { return *machine_; }
  llvm::TargetMachine *operator->() const { return machine_.get(); }

private:
  std::string key_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

Result<LentMachine> targetMachine(const TargetOptions &target) {
  std::string key = target.triple + '|' + target.cpu + '|' + target.features;
  if (std::unique_ptr<llvm::TargetMachine> kept = Machines::get().take(key))
    return LentMachine(std::move(key), std::move(kept));
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target *found = lookUp(triple, error);
  if (found == nullptr) return fault("no code can be compiled for this machine: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Less));
  if (!machine)
    return fault("no code can be compiled for the processor " + target.cpu + " of " +
                 target.triple);
  return LentMachine(std::move(key), std::move(machine));
}

/// The module in LLVM IR, with the attributes that follow from the target.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        const llvm::TargetMachine &machine,
                                        const TargetOptions &target) {
  std::unique_ptr<llvm::Module> translated =
      mlir::translateModuleToLLVMIR(module, context, "weft", /*disableVerification=*/true);
  if (!translated) return nullptr;
  translated->setDataLayout(machine.createDataLayout());
  translated->setTargetTriple(machine.getTargetTriple());
  for (llvm::Function &function : *translated) {
    if (function.isDeclaration()) continue;
    // Exceptions of the library pass through compiled code.
    function.setUWTableKind(llvm::UWTableKind::Async);
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty()) function.addFnAttr("target-features", target.features);
    if (target.vector_bytes == 64) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
  return translated;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  for (llvm::Function &function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
}

/// The first op that is not in LLVM's dialect; null if all are.
mlir::Operation *notLowered(mlir::ModuleOp module) {
  mlir::Operation *found = nullptr;
  module.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (mlir::isa<mlir::ModuleOp>(op) ||
        mlir::isa_and_nonnull<mlir::LLVM::LLVMDialect>(op->getDialect()))
      return mlir::WalkResult::advance();
    found = op;
    return mlir::WalkResult::interrupt();
  });
  return found;
}

/// Translated and optimised; null after an error, which `messages` then holds.
std::unique_ptr<llvm::Module> lower(mlir::ModuleOp module, llvm::LLVMContext &context,
                                    llvm::TargetMachine &machine, const TargetOptions &target,
                                    PhaseTimes *times, std::string &messages) {
  if (mlir::Operation *op = notLowered(module)) {
    messages = "the module cannot be translated to LLVM IR: '" +
               op->getName().getStringRef().str() +
               "' has not been lowered; it belongs into a program of an earlier phase";
    return nullptr;
  }
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  std::unique_ptr<llvm::Module> translated;
  {
    Stopwatch watch(times ? &times->translate : nullptr);
    translated = translate(module, context, machine, target);
  }
  if (!translated) {
    messages = "the module cannot be translated to LLVM IR: " + messages;
    return nullptr;
  }
  Stopwatch watch(times ? &times->optimize : nullptr);
  optimize(*translated, machine);
  return translated;
}

/// Runs code generation into memory.
Result<llvm::SmallVector<char, 0>> emit(mlir::ModuleOp module, const TargetOptions &target,
                                        llvm::CodeGenFileType kind, PhaseTimes *times) {
  Result<LentMachine> machine = targetMachine(target);
  if (!machine) return machine.fault();
  llvm::LLVMContext context;
  std::string messages;
  std::unique_ptr<llvm::Module> translated =
      lower(module, context, **machine, target, times, messages);
  if (!translated) return fault(messages);
  Stopwatch watch(times ? &times->codegen : nullptr);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, kind))
    return fault("this kind of file cannot be written for " + target.triple);
  passes.run(*translated);
  return bytes;
}

} // namespace

void registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

Check checkProcessor(const std::string &name) {
  const llvm::Triple triple(TargetOptions().triple);
  std::string error;
  const llvm::Target *target = lookUp(triple, error);
  if (target == nullptr) return fault("no code can be compiled for this machine: " + error);
  const auto describe = [&](const std::string &cpu) {
    return std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple, cpu, ""));
  };
  if (!describe("")->isCPUStringValid(name)) return fault("LLVM knows no such processor");
  if (!describe(name)->checkFeatures("+64bit"))
    return fault("it is a processor of 32 bits, but code is compiled for 64");
  return std::nullopt;
}

Result<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(mlir::ModuleOp module, const TargetOptions &target, PhaseTimes *times) {
  Result<llvm::SmallVector<char, 0>> bytes =
      emit(module, target, llvm::CodeGenFileType::ObjectFile, times);
  if (!bytes) return bytes.fault();
  std::unique_ptr<llvm::MemoryBuffer> buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(*bytes), "weft.o", /*RequiresNullTerminator=*/false);
  return buffer;
}

Result<std::string> compileToAssembly(mlir::ModuleOp module, const TargetOptions &target) {
  Result<llvm::SmallVector<char, 0>> bytes =
      emit(module, target, llvm::CodeGenFileType::AssemblyFile, nullptr);
  if (!bytes) return bytes.fault();
  return std::string((*bytes).data(), (*bytes).size());
}

Result<std::string> compileToLLVMIR(mlir::ModuleOp module, const TargetOptions &target) {
  Result<LentMachine> machine = targetMachine(target);
  if (!machine) return machine.fault();
  llvm::LLVMContext context;
  std::string text;
  std::unique_ptr<llvm::Module> translated =
      lower(module, context, **machine, target, nullptr, text);
  if (!translated) return fault(text);
  llvm::raw_string_ostream stream(text);
  translated->print(stream, nullptr);
  return text;
}

} // namespace weft::jit
