// Runs programs from their text: the parser, all phases, and the call.
#include "Text.h"

#include "Driver/Driver.h"
#include "Function/CompiledCall.h"
#include "Function/Tracer.h"
#include "Import/Import.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

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

Compiler &compiler() {
  static auto *compiler = new Compiler;
  return *compiler;
}

mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
  const ir::DiagnosticText diagnostics(compiler().context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &compiler().context);
  if (!module) throw CompileError(diagnostics.text());
  return module;
}

std::vector<Tensor> run(mlir::OwningOpRef<mlir::ModuleOp> module, const std::string &name,
                        std::span<const Tensor> inputs) {
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
  CompiledCode code = compiler().driver.load(*module, name, Phase::trace, {}).value();
  CompiledCall call(std::make_shared<const Program>(std::move(program)), std::move(code));
  std::vector<detail::TensorImpl *> impls;
  for (const Tensor &input : inputs) impls.push_back(input.impl());
  return call.run(impls);
}

} // namespace

std::vector<Tensor>
run_as_text(const std::string &name,
            const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
            const std::vector<Tensor> &inputs) {
  Tracer tracer({.name = name});
  std::vector<Tensor> operands;
  for (const Tensor &input : inputs) operands.push_back(tracer.input(TracedType(input.type())));
  push_interpreter(&tracer);
  const std::vector<Tensor> results = body(operands);
  pop_interpreter(&tracer);
  const Program program = tracer.finish(results);
  const auto recorded = ir::importProgram(program, &compiler().context);
  if (!recorded) throw CompileError("the trace of '" + name + "' has no IR");
  std::string text;
  llvm::raw_string_ostream(text) << *recorded;
  auto read = parse(text);
  EXPECT_TRUE(mlir::OperationEquivalence::isEquivalentTo(
      *recorded, *read, mlir::OperationEquivalence::IgnoreLocations))
      << "other ops than were recorded are read from\n"
      << text;
  return run(std::move(read), name, inputs);
}

} // namespace weft::test
