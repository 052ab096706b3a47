// The weft dialect: its types, ops and resources.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Weft/IR/Dialect.h.inc"

namespace mlir::weft {

/// Variables: reads after the last write, a write after all reads since.
struct VariableResource : public SideEffects::Resource::Base<VariableResource> {
  StringRef getName() final { return "weft.variable"; }
};
/// Prints and asserts, in program order.
struct IoResource : public SideEffects::Resource::Base<IoResource> {
  StringRef getName() final { return "weft.io"; }
};

/// Whether `type` is a ranked tensor of a dtype that Weft has.
bool isWeftTensor(Type type);
/// The same of a floating dtype: what can have a derivative.
bool isFloatingTensor(Type type);

} // namespace mlir::weft

#define GET_TYPEDEF_CLASSES
#include "Weft/IR/Types.h.inc"

#define GET_OP_CLASSES
#include "Weft/IR/Ops.h.inc"
