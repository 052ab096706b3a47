// Puts constants instead of variables and inputs.
#include "Freeze.h"

#include "Import/Import.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <weft/io.h>
#include <weft/tensor.h>

namespace mlir::weft {

namespace {

::weft::Fault fault(const llvm::Twine &why) {
  return {::weft::ErrorKind::value, ("--freeze: " + why).str()};
}

/// The elements of a .npy file, which must be of `type`.
::weft::Result<DenseElementsAttr> elementsOf(StringRef file, const std::string &name, Type type) {
  const ::weft::Tensor tensor = ::weft::load_npy(file.str());
  const ::weft::TensorType wanted = tensorTypeOf(type);
  if (!(tensor.type() == wanted))
    return fault(name + " is " + to_string(wanted) + ", but " + file + " holds " +
                 to_string(tensor.type()));
  return elementsAttrOf({wanted, tensor.impl()->data, nullptr}, type.getContext());
}

class Freezer {
public:
  explicit Freezer(ModuleOp module) : module(module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isDeclaration()) continue;
      erased[function].resize(function.getNumArguments());
      if (function.isPublic()) entries.push_back(function);
    }
  }

  ::weft::Check freeze(StringRef name, StringRef file) {
    if (name.empty()) return freezeAll();
    if (gone.contains(name)) return fault("@" + name + " is given twice");
    if (auto variable = module.lookupSymbol<VariableOp>(name)) {
      if (func::FuncOp assigning = assigns(name))
        return fault("@" + assigning.getName() + " assigns @" + name + ", so it is no constant");
      return freezeVariable(variable, file);
    }
    return freezeInput(name, file);
  }

  /// To be called at the end: until then inputs are found by their numbers.
  void eraseArguments() {
    for (auto &[function, numbers] : erased) (void)function.eraseArguments(numbers);
  }

private:
  /// An entry that gives the variable a new value.
  func::FuncOp assigns(StringRef name) {
    for (func::FuncOp function : entries)
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (auto symbol = function.getResultAttrOfType<FlatSymbolRefAttr>(i, "weft.variable");
            symbol && symbol.getValue() == name)
          return function;
    return {};
  }

  ::weft::Check freezeAll() {
    for (VariableOp variable : llvm::make_early_inc_range(module.getOps<VariableOp>()))
      if (variable.getInitialAttr() && !assigns(variable.getSymName()))
        if (::weft::Check check = freezeVariable(variable, "")) return check;
    return std::nullopt;
  }

  ::weft::Check freezeVariable(VariableOp variable, StringRef file) {
    const std::string name = "@" + variable.getSymName().str();
    auto value = dyn_cast_or_null<DenseElementsAttr>(variable.getInitialAttr());
    if (!file.empty()) {
      auto elements = elementsOf(file, name, variable.getType());
      if (!elements) return elements.fault();
      value = *elements;
    }
    if (!value)
      return fault(name + " has no value in the text; say --freeze=" + variable.getSymName() +
                   "=FILE.npy");
    for (auto &[function, numbers] : erased)
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto symbol = function.getArgAttrOfType<FlatSymbolRefAttr>(i, "weft.variable");
            symbol && symbol.getValue() == variable.getSymName())
          replace(function, i, value);
    gone.insert(variable.getSymName());
    variable.erase();
    return std::nullopt;
  }

  ::weft::Check freezeInput(StringRef name, StringRef file) {
    auto [before, after] = name.rsplit('.');
    StringRef number = after.empty() ? before : after;
    func::FuncOp function;
    if (!after.empty()) function = module.lookupSymbol<func::FuncOp>(before);
    else if (entries.size() == 1) function = entries.front();
    unsigned wanted = 0;
    if (!number.consume_front("input") || number.getAsInteger(10, wanted))
      return fault("there is no variable @" + name + hint(name));
    if (!function)
      return fault(after.empty() ? "there are several functions: say which one, FUNCTION." + name
                                 : "there is no function @" + before);
    unsigned inputs_before = 0;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (function.getArgAttr(i, "weft.variable") || inputs_before++ != wanted) continue;
      if (erased[function].test(i)) return fault(name + " is given twice");
      if (file.empty()) return fault(name + " needs a value: say --freeze=" + name + "=FILE.npy");
      auto elements = elementsOf(file, name.str(), function.getArgument(i).getType());
      if (!elements) return elements.fault();
      replace(function, i, *elements);
      return std::nullopt;
    }
    return fault("@" + function.getName() + " has no input" + llvm::Twine(wanted));
  }

  /// The variable that somebody may have meant: C++ names have letters that symbols do not.
  std::string hint(StringRef name) {
    const std::string symbol = symbolName(name);
    StringRef nearest;
    unsigned least = 3;
    for (auto variable : module.getOps<VariableOp>()) {
      const unsigned distance = StringRef(symbol).edit_distance(variable.getSymName(), true, least);
      if (distance >= least) continue;
      nearest = variable.getSymName();
      least = distance;
    }
    return nearest.empty() ? "" : "; did you mean --freeze=" + nearest.str() + "?";
  }

  void replace(func::FuncOp function, unsigned i, DenseElementsAttr value) {
    erased[function].set(i);
    BlockArgument argument = function.getArgument(i);
    if (argument.use_empty()) return;
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    auto constant = ConstantOp::create(builder, argument.getLoc(),
                                       cast<RankedTensorType>(argument.getType()), value);
    argument.replaceAllUsesWith(constant);
  }

  ModuleOp module;
  SmallVector<func::FuncOp> entries;
  llvm::StringSet<> gone;                          ///< the variables that are constants now
  llvm::MapVector<func::FuncOp, BitVector> erased; ///< the arguments that are
};

} // namespace

std::vector<std::string> frozenFiles(ArrayRef<std::string> wanted) {
  std::vector<std::string> files;
  for (StringRef text : wanted)
    if (StringRef file = text.split('=').second; !file.empty()) files.push_back(file.str());
  return files;
}

::weft::Check freeze(ModuleOp module, ArrayRef<std::string> wanted) {
  Freezer freezer(module);
  // Those that are named come first: "all" is what is left.
  for (const bool all : {false, true})
    for (StringRef text : wanted) {
      auto [name, file] = text.split('=');
      if (text.contains('=') && (name.empty() || file.empty()))
        return fault("'" + text + "' should be NAME=FILE.npy");
      if (name.empty() != all) continue;
      if (::weft::Check check = freezer.freeze(name, file)) return check;
    }
  freezer.eraseArguments();
  return std::nullopt;
}

} // namespace mlir::weft
