// Compiles text programs in this process, every pass verified.
#include "TextProgram.h"

#include "Driver/Driver.h"
#include "Function/CompiledCall.h"
#include "Runtime/Variable.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <weft/weft.h>

namespace weft::test {

struct TextProgram::Compiled {
  std::unique_ptr<CompiledCall> call;
};

namespace {

mlir::MLIRContext &context() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    mlir::weft::registerCompilerDialects(registry);
    auto *created = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    created->loadAllAvailableDialects();
    return created;
  }();
  return *context;
}

mlir::weft::Driver &driver() {
  static mlir::weft::Driver *driver = [] {
    auto *created = new mlir::weft::Driver(context(), mlir::weft::Target::host());
    created->verifyEach(true);
    return created;
  }();
  return *driver;
}

/// The function as the library sees it: inputs, outputs, and the module's variables.
Program describe(mlir::ModuleOp module, mlir::func::FuncOp function) {
  Program program;
  program.name = function.getName().str();
  auto add = [&](mlir::Type type, std::vector<ValueId> &list) {
    program.values.push_back(mlir::weft::tensorTypeOf(type));
    list.push_back(static_cast<ValueId>(program.values.size() - 1));
  };
  for (mlir::Type type : function.getArgumentTypes()) add(type, program.inputs);
  for (mlir::Type type : function.getResultTypes()) add(type, program.outputs);
  for (auto variable : module.getOps<mlir::weft::VariableOp>()) {
    const TensorType type = mlir::weft::tensorTypeOf(variable.getType());
    program.variables.push_back(std::make_shared<VariableState>(
        zeros(type.shape, type.dtype), variable.getSymName().str(), /*trainable=*/true));
    program.written.push_back(true);
  }
  return program;
}

} // namespace

std::vector<Tensor> TextProgram::call(const std::string &name,
                                      const std::vector<Tensor> &arguments) {
  std::shared_ptr<Compiled> found;
  for (const auto &[known, compiled] : compiled_)
    if (known == name) found = compiled;
  if (!found) {
    const mlir::weft::DiagnosticText diagnostics(context());
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text_, &context());
    if (!module) throw CompileError(diagnostics.text());
    auto function = module->lookupSymbol<mlir::func::FuncOp>(name);
    // The others need no code.
    for (auto other : module->getOps<mlir::func::FuncOp>())
      if (other != function) other.setPrivate();
    mlir::PassManager needed(&context());
    needed.addPass(mlir::createSymbolDCEPass());
    if (mlir::failed(needed.run(*module))) throw CompileError(diagnostics.text());
    Program program = describe(*module, function);
    std::vector<std::string> symbols;
    for (const VariableRef &variable : program.variables) symbols.push_back(variable->name());
    if (mlir::failed(driver().run(*module, Phase::trace, Phase::bufferize)))
      throw CompileError(diagnostics.text());
    CompiledCode code = driver().load(*module, name, Phase::bufferize, symbols).value();
    found = std::make_shared<Compiled>();
    found->call = std::make_unique<CompiledCall>(
        std::make_shared<const Program>(std::move(program)), std::move(code));
    compiled_.emplace_back(name, found);
  }
  std::vector<detail::TensorImpl *> inputs;
  for (const Tensor &argument : arguments) inputs.push_back(argument.impl());
  return found->call->run(inputs);
}

} // namespace weft::test
