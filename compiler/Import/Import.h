// From a traced program to IR: the phase `trace`.
#pragma once

#include "Program/Program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::weft {

/// A module with the program's variables and one function of its name, whose arguments are the
/// inputs and then the captures. A call that does not type is our own fault and gives a null module
/// after a diagnostic.
OwningOpRef<ModuleOp> importProgram(const ::weft::Program &program, MLIRContext *context);

/// The symbols that the variables of a program have in its module, in the program's order.
std::vector<std::string> variableSymbols(const ::weft::Program &program);

/// `name` with every character that a symbol or file name should not have replaced by '_'.
std::string symbolName(StringRef name);

} // namespace mlir::weft
