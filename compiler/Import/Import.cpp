// Builds IR from a traced program: one op per node, scf for control flow, a function per
// program that is called.
#include "Import/Import.h"

#include "Program/Sites.h"
#include "Runtime/Variable.h"
#include "Weft/AD/Passes.h"
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

#include <map>

#include <weft/detail/interrupts.h>
#include <weft/size.h>

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

class FunctionImporter;

/// The module of a program: its variables, its function, and those of the programs it calls.
class ModuleImporter {
public:
  ModuleImporter(const ::weft::Program &program, MLIRContext *context)
      : program(program), sites(program), builder(context), location(UnknownLoc::get(context)) {}

  OwningOpRef<ModuleOp> run();

  /// Whether functions get the variables as arguments, so that derivatives can be by them.
  bool passesHandles() const { return program.part.has_value(); }
  /// The name of a callable.
  StringRef hostSymbol(const ::weft::HostFunction &host) const { return hosts.at(&host); }

  /// The function of a called program whose variables have these symbols; null if it does not type.
  func::FuncOp functionOf(const ::weft::Program &callee, const std::vector<std::string> &symbols);

private:
  func::FuncOp build(const ::weft::Program &source, const std::string &name,
                     const std::vector<std::string> &symbols, bool isPrivate);

  const ::weft::Program &program;
  const ::weft::Sites sites;
  OpBuilder builder;
  Location location;
  ModuleOp module;
  llvm::StringSet<> taken;
  std::map<const ::weft::HostFunction *, std::string> hosts;
  std::map<std::pair<const ::weft::Program *, std::vector<std::string>>, func::FuncOp> functions;
};

/// The attribute of a function that is one kernel.
DictionaryAttr kernelAttribute(Builder builder, const ::weft::ProgramKernel &kernel) {
  NamedAttrList all;
  all.set("op", builder.getStringAttr(kernel.op));
  for (const auto &[name, value] : kernel.attributes) {
    if (const auto *number = std::get_if<double>(&value))
      all.set(name, builder.getF64FloatAttr(*number));
    else if (const auto *integer = std::get_if<int64_t>(&value))
      all.set(name, builder.getI64IntegerAttr(*integer));
    else all.set(name, builder.getStringAttr(std::get<std::string>(value)));
  }
  return all.getDictionary(builder.getContext());
}

/// Builds one function.
class FunctionImporter {
public:
  FunctionImporter(ModuleImporter &importer, const ::weft::Program &program,
                   const ::weft::Sites &sites, const std::vector<std::string> &symbols,
                   bool takesHandles, MLIRContext *context)
      : importer(importer), program(program), builder(context), location(UnknownLoc::get(context)),
        next(sites.first(program)), symbols(symbols), takesHandles(takesHandles) {
    // The function begins where its first op call is.
    for (const ::weft::ProgramNode &node : program.nodes) {
      if (node.location.line == 0) continue;
      location = FileLineColLoc::get(context, program.files[node.location.file], node.location.line,
                                     node.location.column);
      break;
    }
  }

  func::FuncOp createFunction(const std::string &name) {
    SmallVector<Type> inputs, results;
    for (::weft::ValueId value : arguments()) inputs.push_back(typeOf(value));
    if (takesHandles)
      for (const ::weft::VariableRef &variable : program.variables)
        inputs.push_back(handleType(*variable));
    for (::weft::ValueId value : program.outputs) results.push_back(typeOf(value));
    auto function = func::FuncOp::create(location, name, builder.getFunctionType(inputs, results));
    if (program.kernel) function->setAttr(kKernel, kernelAttribute(builder, *program.kernel));
    if (program.unrecorded) function->setAttr(unrecordedName, builder.getUnitAttr());
    for (auto [i, names] : llvm::enumerate(program.names)) {
      SmallVector<StringRef> texts;
      for (int64_t size : names)
        texts.push_back(::weft::detail::is_named(size) ? ::weft::detail::name_of_size(size)
                                                       : StringRef());
      if (!llvm::all_of(texts, [](StringRef text) { return text.empty(); }))
        function.setArgAttr(i, kDimNames, builder.getStrArrayAttr(texts));
    }
    return function;
  }

  LogicalResult fill(func::FuncOp function) {
    builder.setInsertionPointToEnd(function.addEntryBlock());
    values.resize(program.values.size());
    for (auto [i, value] : llvm::enumerate(arguments())) values[value] = function.getArgument(i);
    if (takesHandles)
      llvm::append_range(handles, function.getArguments().take_back(program.variables.size()));
    else createHandles();
    if (failed(build(program.nodes))) return failure();
    func::ReturnOp::create(builder, location, valuesOf(program.outputs));
    return success();
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

  void createHandles() {
    for (auto [variable, symbol] : llvm::zip(program.variables, symbols))
      handles.push_back(HandleOp::create(builder, location, handleType(*variable), symbol));
  }

  Type handleType(const ::weft::VariableState &variable) {
    return VarType::get(mlirTypeOf(variable.type(), builder.getContext()));
  }

  SmallVector<Value> valuesOf(ArrayRef<::weft::ValueId> ids) {
    return llvm::map_to_vector(ids, [&](::weft::ValueId id) { return values[id]; });
  }

  LogicalResult build(const std::vector<::weft::ProgramNode> &nodes) {
    for (const ::weft::ProgramNode &node : nodes) {
      llvm::SaveAndRestore at(location,
                              locationOf(::weft::Site{&program, &node}.location(),
                                         static_cast<int64_t>(next++), builder.getContext()));
      if (failed(node.construct ? buildConstruct(node) : build(node))) return failure();
    }
    return success();
  }

  LogicalResult build(const ::weft::ProgramNode &node) {
    SmallVector<Value> operands = valuesOf({node.operands.data(), node.operands.size()});
    if (::weft::op_info(node.op).kind == ::weft::OpKind::effect) {
      const ::weft::VariableRef *variable = ::weft::variable_in(node.attrs);
      Value handle = variable ? handles[program.variable_index(*variable)] : Value();
      Value result = buildEffect(builder, location, node.op, handle, operands, node.attrs);
      if (result) values[node.result] = result;
      return success();
    }
    Operation *op = mlir::weft::buildCall(builder, location, node.op, operands, node.attrs);
    if (!op) return failure();
    for (auto [id, result] : llvm::zip_equal(::weft::results_of(node), op->getResults()))
      values[id] = result;
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  /// The values as the types wanted, which may know other sizes.
  SmallVector<Value> castTo(ValueRange from, TypeRange types) {
    return llvm::map_to_vector(llvm::zip_equal(from, types), [&](auto pair) -> Value {
      auto [value, type] = pair;
      if (value.getType() == type) return value;
      return WidenOp::create(builder, location, type, value);
    });
  }

  SmallVector<Type> typesOf(ArrayRef<::weft::ValueId> ids) {
    return llvm::map_to_vector(ids, [&](::weft::ValueId id) -> Type { return typeOf(id); });
  }

  /// Fills `block` with the region's nodes, its arguments standing for the region's, and gives the
  /// region's results. Leaves the builder at the block's end.
  FailureOr<SmallVector<Value>> fill(Block *block, const ::weft::ProgramRegion &region,
                                     ValueRange arguments) {
    for (auto [id, argument] : llvm::zip_equal(region.arguments, arguments)) values[id] = argument;
    builder.setInsertionPointToEnd(block);
    if (failed(build(region.nodes))) return failure();
    return valuesOf(region.results);
  }

  /// The same for a region that hands its results on.
  LogicalResult fillAndYield(Block *block, const ::weft::ProgramRegion &region,
                             ValueRange arguments, TypeRange types) {
    FailureOr<SmallVector<Value>> results = fill(block, region, arguments);
    if (failed(results)) return failure();
    scf::YieldOp::create(builder, location, castTo(*results, types));
    return success();
  }

  LogicalResult buildConstruct(const ::weft::ProgramNode &node) {
    const ::weft::ProgramConstruct &construct = *node.construct;
    SmallVector<Value> operands = valuesOf({node.operands.data(), node.operands.size()});
    SmallVector<Type> types = typesOf(construct.results);
    OpBuilder::InsertionGuard guard(builder);
    Operation *op = nullptr;
    switch (construct.kind) {
    case ::weft::ConstructKind::branch: op = buildBranch(construct, operands[0], types); break;
    case ::weft::ConstructKind::choice: op = buildChoice(construct, operands[0], types); break;
    case ::weft::ConstructKind::loop: op = buildLoop(construct, operands, types); break;
    case ::weft::ConstructKind::counted: op = buildCounted(construct, operands, types); break;
    case ::weft::ConstructKind::call: op = buildCall(construct, operands); break;
    case ::weft::ConstructKind::record: op = buildRecord(construct, operands); break;
    case ::weft::ConstructKind::pull:
      op = PullOp::create(builder, location, types, records.lookup(construct.record), operands);
      break;
    case ::weft::ConstructKind::custom: op = buildCustom(construct, operands); break;
    case ::weft::ConstructKind::push: op = buildPush(construct, operands, types); break;
    case ::weft::ConstructKind::host:
      op = HostCallOp::create(builder, location, types, importer.hostSymbol(*construct.host),
                              construct.pure, operands);
      break;
    }
    if (!op) return failure();
    for (auto [id, result] : llvm::zip(construct.results, op->getResults())) values[id] = result;
    return success();
  }

  Operation *buildBranch(const ::weft::ProgramConstruct &construct, Value predicate,
                         TypeRange types) {
    Value holds = ItemOp::create(builder, location, builder.getI1Type(), predicate);
    auto op = scf::IfOp::create(builder, location, types, holds, /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
    if (failed(fillAndYield(op.thenBlock(), construct.regions[0], {}, types)) ||
        failed(fillAndYield(op.elseBlock(), construct.regions[1], {}, types)))
      return nullptr;
    return op;
  }

  Value indexOf(Value scalar) {
    Type element = cast<RankedTensorType>(scalar.getType()).getElementType();
    Value number = ItemOp::create(builder, location, element, scalar);
    return arith::IndexCastOp::create(builder, location, builder.getIndexType(), number);
  }

  Operation *buildChoice(const ::weft::ProgramConstruct &construct, Value index, TypeRange types) {
    // The last case is the default.
    ArrayRef<::weft::ProgramRegion> regions = construct.regions;
    auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, regions.size() - 1));
    auto op = scf::IndexSwitchOp::create(builder, location, types, indexOf(index), numbers,
                                         regions.size() - 1);
    for (auto [i, region] : llvm::enumerate(regions)) {
      Region &body = i + 1 == regions.size() ? op.getDefaultRegion() : op.getCaseRegions()[i];
      if (failed(fillAndYield(&body.emplaceBlock(), region, {}, types))) return nullptr;
    }
    return op;
  }

  Operation *buildLoop(const ::weft::ProgramConstruct &construct, ValueRange state,
                       TypeRange types) {
    auto op = scf::WhileOp::create(builder, location, types, castTo(state, types));
    SmallVector<Location> locations(types.size(), location);
    Block *before = builder.createBlock(&op.getBefore(), {}, types, locations);
    FailureOr<SmallVector<Value>> condition =
        fill(before, construct.regions[0], before->getArguments());
    if (failed(condition)) return nullptr;
    Value holds = ItemOp::create(builder, location, builder.getI1Type(), condition->front());
    scf::ConditionOp::create(builder, location, holds, before->getArguments());
    Block *after = builder.createBlock(&op.getAfter(), {}, types, locations);
    if (failed(fillAndYield(after, construct.regions[1], after->getArguments(), types)))
      return nullptr;
    return op;
  }

  Operation *buildCounted(const ::weft::ProgramConstruct &construct, ValueRange operands,
                          TypeRange types) {
    Value low = indexOf(operands[0]), high = indexOf(operands[1]);
    Value step = arith::ConstantIndexOp::create(builder, location, construct.step);
    auto op = scf::ForOp::create(builder, location, low, high, step,
                                 castTo(operands.drop_front(2), types));
    Block *body = op.getBody();
    if (!body->empty()) body->getTerminator()->erase(); // created where there is no state
    builder.setInsertionPointToStart(body);
    Value number =
        arith::IndexCastOp::create(builder, location, builder.getI64Type(), op.getInductionVar());
    SmallVector<Value> arguments{tensor::FromElementsOp::create(
        builder, location, RankedTensorType::get({}, builder.getI64Type()), number)};
    llvm::append_range(arguments, op.getRegionIterArgs());
    if (failed(fillAndYield(body, construct.regions[0], arguments, types))) return nullptr;
    return op;
  }

  /// The function that a construct calls; null if it does not type.
  func::FuncOp calleeOf(const ::weft::ProgramConstruct &construct) {
    std::vector<std::string> theirs;
    for (const ::weft::VariableRef &variable : construct.variables)
      theirs.push_back(symbols[program.variable_index(variable)]);
    return importer.functionOf(*construct.callee, theirs);
  }

  /// What a construct calls its callee with, behind `given` arguments.
  SmallVector<Value> argumentsOf(const ::weft::ProgramConstruct &construct, func::FuncOp callee,
                                 ValueRange operands, size_t given = 0) {
    SmallVector<Value> arguments(operands);
    if (importer.passesHandles())
      for (const ::weft::VariableRef &variable : construct.variables)
        arguments.push_back(handles[program.variable_index(variable)]);
    return castTo(arguments, callee.getFunctionType().getInputs().drop_front(given));
  }

  /// The call, whose last result is the record.
  Operation *buildRecord(const ::weft::ProgramConstruct &construct, ValueRange operands) {
    func::FuncOp callee = calleeOf(construct);
    if (!callee) return nullptr;
    SmallVector<Type> types(callee.getFunctionType().getResults());
    types.push_back(RecordType::get(builder.getContext()));
    StringAttr checkpoint;
    if (!program.checkpoint.empty()) checkpoint = builder.getStringAttr(program.checkpoint);
    auto op = RecordOp::create(
        builder, location, types, callee.getSymName(), argumentsOf(construct, callee, operands),
        SmallVector<int64_t>(construct.wrt.begin(), construct.wrt.end()), checkpoint);
    if (construct.ends_at_hosts) op->setAttr(endsAtHostsName, builder.getUnitAttr());
    records[construct.record] = op.getRecord();
    return op;
  }

  Operation *buildCall(const ::weft::ProgramConstruct &construct, ValueRange operands) {
    func::FuncOp callee = calleeOf(construct);
    if (!callee) return nullptr;
    return func::CallOp::create(builder, location, callee,
                                argumentsOf(construct, callee, operands));
  }

  Operation *buildPush(const ::weft::ProgramConstruct &construct, ValueRange operands,
                       TypeRange types) {
    func::FuncOp callee = calleeOf(construct);
    if (!callee) return nullptr;
    const size_t tangents = construct.wrt.size(), count = operands.size() - tangents;
    SmallVector<Value> args = argumentsOf(construct, callee, operands.take_front(count));
    SmallVector<Type> wanted =
        llvm::map_to_vector(construct.wrt, [&](uint32_t number) { return args[number].getType(); });
    auto op = JvpOp::create(builder, location, types, callee.getSymName(), args,
                            castTo(operands.take_back(tangents), wanted),
                            SmallVector<int64_t>(construct.wrt.begin(), construct.wrt.end()));
    if (construct.ends_at_hosts) op->setAttr(endsAtHostsName, builder.getUnitAttr());
    return op;
  }

  Operation *buildCustom(const ::weft::ProgramConstruct &construct, ValueRange operands) {
    func::FuncOp pullback = calleeOf(construct);
    if (!pullback) return nullptr;
    const size_t values = construct.results.size(), sources = pullback.getNumResults();
    const auto cotangents = llvm::count_if(TypeRange(operands.take_front(values)),
                                           [](Type type) { return isInexactTensor(type); });
    return CustomGradientOp::create(
        builder, location, operands.take_front(values), operands.slice(values, sources),
        pullback.getSymName(),
        argumentsOf(construct, pullback, operands.drop_front(values + sources), cotangents));
  }

  ModuleImporter &importer;
  const ::weft::Program &program;
  OpBuilder builder;
  Location location; ///< of what is being built
  size_t next;       ///< the number of the next op call, see Program/Sites.h
  const std::vector<std::string> &symbols;
  const bool takesHandles; ///< of its variables, as arguments
  SmallVector<Value> handles, values;
  DenseMap<uint32_t, Value> records; ///< by number
};

/// How weft-split-derivative is told of a half.
static DictionaryAttr splitAttribute(Builder builder, const ::weft::DerivativePart &part) {
  const bool forward = part.half == ::weft::DerivativePart::Half::forward;
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("inputs", builder.getI64IntegerAttr(part.inputs)),
       builder.getNamedAttr("results", builder.getI64IntegerAttr(part.outputs)),
       builder.getNamedAttr("part", builder.getStringAttr(forward ? "forward" : "backward"))});
}

OwningOpRef<ModuleOp> ModuleImporter::run() {
  OwningOpRef<ModuleOp> owned = ModuleOp::create(location);
  module = *owned;
  if (::weft::detail::interrupts_are_handled())
    module->setAttr("weft.interruptible", builder.getUnitAttr());
  if (program.tf32) module->setAttr(kTf32, builder.getUnitAttr());
  builder.setInsertionPointToEnd(module.getBody());
  const std::vector<std::string> symbols = variableSymbols(program);
  for (auto [variable, symbol] : llvm::zip(program.variables, symbols)) {
    taken.insert(symbol);
    auto op = VariableOp::create(builder, location, symbol,
                                 mlirTypeOf(variable->type(), builder.getContext()), nullptr);
    if (const auto cut = variable->cut())
      op->setAttr(kCutOverRanks,
                  builder.getDictionaryAttr(
                      {builder.getNamedAttr("group", builder.getI64IntegerAttr(cut->group)),
                       builder.getNamedAttr("ranks", builder.getI64IntegerAttr(cut->ranks))}));
  }
  for (auto [host, symbol] : llvm::zip(program.hosts, program.host_symbols()))
    hosts[host.get()] = symbol;
  const std::string name = symbolName(program.name);
  taken.insert(name);
  func::FuncOp function = build(program, name, symbols, /*isPrivate=*/false);
  if (!function) return nullptr;
  if (program.part) function->setAttr("weft.split", splitAttribute(builder, *program.part));
  return owned;
}

func::FuncOp ModuleImporter::functionOf(const ::weft::Program &callee,
                                        const std::vector<std::string> &symbols) {
  auto [found, fresh] = functions.try_emplace({&callee, symbols});
  if (!fresh) return found->second;
  const std::string base = symbolName(callee.name);
  std::string name = base;
  for (int n = 1; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  return found->second = build(callee, name, symbols, /*isPrivate=*/true);
}

func::FuncOp ModuleImporter::build(const ::weft::Program &source, const std::string &name,
                                   const std::vector<std::string> &symbols, bool isPrivate) {
  FunctionImporter function(*this, source, sites, symbols, isPrivate && passesHandles(),
                            builder.getContext());
  func::FuncOp op = function.createFunction(name);
  if (isPrivate) op.setPrivate();
  module.push_back(op);
  return succeeded(function.fill(op)) ? op : nullptr;
}

} // namespace

OwningOpRef<ModuleOp> importProgram(const ::weft::Program &program, MLIRContext *context) {
  return ModuleImporter(program, context).run();
}

} // namespace mlir::weft
