// Builds IR from a traced program, one op per node.
#include "Compiler/Import.h"

#include "Runtime/Variable.h"
#include "Weft/IR/Bridge.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::weft {

std::string symbolName(StringRef name) {
  std::string symbol = name.str();
  for (char &c : symbol)
    if (!llvm::isAlnum(c) && c != '_') c = '_';
  return symbol.empty() || llvm::isDigit(symbol[0]) ? "_" + symbol : symbol;
}

std::vector<std::string> variableSymbols(const ::weft::Program &program) {
  llvm::StringSet<> taken;
  taken.insert(symbolName(program.name));
  std::vector<std::string> symbols;
  for (const ::weft::VariableRef &variable : program.variables) {
    std::string symbol = variable->name().empty() ? "variable" : symbolName(variable->name());
    std::string unique = symbol;
    for (int n = 1; !taken.insert(unique).second; ++n) unique = symbol + "_" + std::to_string(n);
    symbols.push_back(std::move(unique));
  }
  return symbols;
}

namespace {

class Importer {
public:
  Importer(const ::weft::Program &program, MLIRContext *context)
      : program(program), builder(context), location(UnknownLoc::get(context)),
        symbols(variableSymbols(program)) {}

  OwningOpRef<ModuleOp> run() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(location);
    builder.setInsertionPointToEnd(module->getBody());
    declareVariables();
    auto function = createFunction();
    builder.setInsertionPointToEnd(function.addEntryBlock());
    values.resize(program.values.size());
    for (auto [i, value] : llvm::enumerate(arguments())) values[value] = function.getArgument(i);
    createHandles();
    for (const ::weft::ProgramNode &node : program.nodes)
      if (failed(build(node))) return nullptr;
    SmallVector<Value> results;
    for (::weft::ValueId output : program.outputs) results.push_back(values[output]);
    func::ReturnOp::create(builder, location, results);
    return module;
  }

private:
  RankedTensorType typeOf(::weft::ValueId value) {
    return mlirTypeOf(program.values[value], builder.getContext());
  }

  SmallVector<::weft::ValueId> arguments() const {
    SmallVector<::weft::ValueId> all(program.inputs.begin(), program.inputs.end());
    all.append(program.captured.begin(), program.captured.end());
    return all;
  }

  void declareVariables() {
    for (auto [variable, symbol] : llvm::zip(program.variables, symbols))
      VariableOp::create(builder, location, symbol,
                         mlirTypeOf(variable->type(), builder.getContext()), nullptr);
  }

  func::FuncOp createFunction() {
    SmallVector<Type> inputs, results;
    for (::weft::ValueId value : arguments()) inputs.push_back(typeOf(value));
    for (::weft::ValueId value : program.outputs) results.push_back(typeOf(value));
    return func::FuncOp::create(builder, location, symbolName(program.name),
                                builder.getFunctionType(inputs, results));
  }

  void createHandles() {
    for (auto [variable, symbol] : llvm::zip(program.variables, symbols))
      handles.push_back(HandleOp::create(
          builder, location, VarType::get(mlirTypeOf(variable->type(), builder.getContext())),
          symbol));
  }

  LogicalResult build(const ::weft::ProgramNode &node) {
    SmallVector<Value> operands;
    for (::weft::ValueId operand : node.operands) operands.push_back(values[operand]);
    auto handle = [&] {
      return handles[program.variable_index(std::get<::weft::VariableRef>(node.attrs[0]))];
    };
    switch (node.op) {
    case ::weft::OpCode::read:
      values[node.result] = ReadOp::create(builder, location, handle()).getValue();
      return success();
    case ::weft::OpCode::assign:
      AssignOp::create(builder, location, handle(), operands[0]);
      return success();
    case ::weft::OpCode::assign_add:
      AssignAddOp::create(builder, location, handle(), operands[0]);
      return success();
    case ::weft::OpCode::print:
      PrintOp::create(builder, location, std::get<std::string>(node.attrs[0]), operands);
      return success();
    case ::weft::OpCode::check:
      AssertOp::create(builder, location, operands[0], std::get<std::string>(node.attrs[0]),
                       ValueRange(operands).drop_front());
      return success();
    default: break;
    }
    Value result = buildOp(builder, location, node.op, operands, node.attrs);
    if (!result) return failure();
    values[node.result] = result;
    return success();
  }

  const ::weft::Program &program;
  OpBuilder builder;
  Location location;
  std::vector<std::string> symbols;
  SmallVector<Value> handles, values;
};

} // namespace

OwningOpRef<ModuleOp> importProgram(const ::weft::Program &program, MLIRContext *context) {
  return Importer(program, context).run();
}

} // namespace mlir::weft
