// Compiles a text program for the tests of compiler/JIT.
#pragma once

#include "JIT/LLVMPipeline.h"
#include "JIT/Loader.h"
#include "Runtime/CallContext.h"
#include "Support/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace weft::jit {

/// The object code of a module of functions on memrefs.
inline Result<std::unique_ptr<llvm::MemoryBuffer>> objectOf(const std::string &text,
                                                            const TargetOptions &target) {
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                      mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::linalg::LinalgDialect,
                      mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                      mlir::vector::VectorDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) return Fault{ErrorKind::compile, "the test's program does not parse"};
  mlir::PassManager passes(&context);
  buildLLVMPipeline(passes, target);
  if (mlir::failed(passes.run(*module)))
    return Fault{ErrorKind::compile, "the test's program cannot be lowered"};
  return compileToObject(*module, target);
}

/// A function compiled for a target.
class Compiled {
public:
  explicit Compiled(const std::string &text, const TargetOptions &target = TargetOptions::host(),
                    const std::string &name = "f") {
    auto object = objectOf(text, target);
    object_ = loadObject(std::move(object).value()).value();
    entry_ = reinterpret_cast<CompiledEntry>(object_->lookup(name + "_weft_entry").value());
  }

  /// Calls the entry; buffers are pointers to elements.
  template <class... Pointers>
  void operator()(std::vector<std::int64_t> dims, Pointers *...pointers) const {
    void *const buffers[] = {const_cast<void *>(static_cast<const void *>(pointers))..., nullptr};
    CallContext context;
    context.function = "f";
    context.arena = arena_;
    entry_(buffers, dims.data(), &context);
  }

private:
  std::unique_ptr<LoadedObject> object_;
  CompiledEntry entry_;
  alignas(64) static inline std::byte arena_[65536];
};

/// The targets that this machine runs.
inline std::vector<TargetOptions> targets() {
  std::vector<TargetOptions> result;
  for (CpuLevel level : {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4})
    if (level <= host_cpu_level()) result.push_back(TargetOptions::for_level(level));
  result.push_back(TargetOptions::host());
  return result;
}

} // namespace weft::jit
