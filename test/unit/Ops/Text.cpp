// Runs programs from their text: the parser, all phases, and the call.
#include "Text.h"

#include "Driver/Driver.h"
#include "Function/CompiledCall.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

namespace weft::test {

namespace {

namespace ir = mlir::weft;

/// Created once: loading all dialects takes longer than most tests.
struct Compiler {
  Compiler() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    driver.verifyEach(true);
  }
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    ir::registerCompilerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  ir::Driver driver{context, ir::Target::host()};
};

} // namespace

std::vector<Tensor> run_text(const std::string &text, const std::string &name,
                             std::span<const Tensor> inputs) {
  static auto *compiler = new Compiler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    const ir::DiagnosticText diagnostics(compiler->context);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &compiler->context);
    if (!module) throw CompileError(diagnostics.text());
  }
  auto function = module->lookupSymbol<mlir::func::FuncOp>(name);
  if (!function) throw CompileError("there is no function @" + name);
  Program program;
  program.name = name;
  const auto add = [&](mlir::TypeRange types, std::vector<ValueId> &list) {
    for (mlir::Type type : types) {
      list.push_back(static_cast<ValueId>(program.values.size()));
      program.values.push_back(ir::tensorTypeOf(type));
    }
  };
  add(function.getArgumentTypes(), program.inputs);
  add(function.getResultTypes(), program.outputs);
  CompiledCode code = compiler->driver.load(*module, name, Phase::trace, {}).value();
  CompiledCall call(std::make_shared<const Program>(std::move(program)), std::move(code));
  std::vector<detail::TensorImpl *> impls;
  for (const Tensor &input : inputs) impls.push_back(input.impl());
  return call.run(impls);
}

} // namespace weft::test
