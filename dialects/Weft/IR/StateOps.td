// Ops that read or change the world: variables, prints and asserts; and the bridge to scf.

#ifndef WEFT_IR_STATE_OPS
#define WEFT_IR_STATE_OPS

include "Weft/IR/Base.td"

//===----------------------------------------------------------------------===//
// Only in IR
//===----------------------------------------------------------------------===//

def Weft_VariableOp : Op<Weft_Dialect, "variable", [Symbol]> {
  let summary = "Declares a variable of the module; its value lives between calls.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyType>:$type,
                       OptionalAttr<ElementsAttr>:$initial);
  let assemblyFormat = "$sym_name custom<VariableValue>($type, $initial) attr-dict";
  let hasVerifier = 1;
}

def Weft_HandleOp : Op<Weft_Dialect, "handle", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A handle to a variable of the module.";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Weft_VarType:$handle);
  let assemblyFormat = "$variable attr-dict `:` qualified(type($handle))";
}

def Weft_ItemOp : Op<Weft_Dialect, "item", [Pure,
    TypesMatchWith<"the result is the operand's element", "x", "value",
                   "::mlir::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "The element of a scalar tensor: the condition of an scf.if, the bound of an scf.for.";
  let arguments = (ins Weft_Any:$x);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_CheckIndicesOp : Op<Weft_Dialect, "check_indices",
                              [MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "Stops the call with an IndexError unless every index lies in [0, size).";
  let description = [{
    Made by the conversion to linalg in front of the loops of a gather or scatter_add, named by
    `op`, which then read and write without a check of their own.
  }];
  let hasVerifier = 1;
  let arguments = (ins Weft_Integer:$indices, Index:$size, StrAttr:$op);
  let assemblyFormat = "$indices `below` $size `for` $op attr-dict `:` type($indices)";
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

class Weft_EffectOp<string mnemonic, list<Trait> traits = []> : Weft_Op<mnemonic, traits> {
  let kind = "effect";
  let handwrittenApi = 1;
}

def Weft_ReadOp : Weft_EffectOp<"read", [
    TypesMatchWith<"the result is the variable's value", "value", "variable",
                   "::mlir::weft::VarType::get(::mlir::cast<::mlir::RankedTensorType>($_self))">]> {
  let summary = "The present value of a variable.";
  let arguments = (ins Arg<Weft_VarType, "", [MemRead<Weft_VariableResource>]>:$variable);
  let results = (outs Weft_Any:$value);
  let assemblyFormat = "$variable attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::mlir::Value":$variable), [{
    build($_builder, $_state, ::mlir::cast<VarType>(variable.getType()).getValueType(), variable);
  }]>];
  let inactive = "a variable read is where gradients end";
}

class Weft_AssignLikeOp<string mnemonic, list<Trait> traits = []> : Weft_EffectOp<mnemonic, traits # [
    TypesMatchWith<"the value is of the variable's type", "value", "variable",
                   "::mlir::weft::VarType::get(::mlir::cast<::mlir::RankedTensorType>($_self))">]> {
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}
def Weft_AssignOp : Weft_AssignLikeOp<"assign"> {
  let summary = "Gives a variable a new value of the same dtype and shape.";
  let arguments = (ins Arg<Weft_VarType, "", [MemWrite<Weft_VariableResource>]>:$variable,
                       Weft_Any:$value);
  let inactive = "state: a later read is where gradients end";
}
def Weft_AssignAddOp : Weft_AssignLikeOp<"assign_add"> {
  let summary = "Adds a value of the same dtype and shape to a variable.";
  let arguments = (ins Arg<Weft_VarType, "", [MemRead<Weft_VariableResource>,
                                              MemWrite<Weft_VariableResource>]>:$variable,
                       Weft_Any:$value);
  let inactive = "state: a later read is where gradients end";
}

//===----------------------------------------------------------------------===//
// Prints and asserts
//===----------------------------------------------------------------------===//

def Weft_PrintOp : Weft_EffectOp<"print", [MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "Prints a line: the text with each {} replaced by the next value.";
  let arguments = (ins Weft_TextAttr:$format, Variadic<Weft_Any>:$values);
  let assemblyFormat = "$format (`,` $values^ `:` type($values))? attr-dict";
  let shapeFunction = "print";
  let hasVerifier = 1;
  let inactive = "it has no result";
}

def Weft_AssertOp : Weft_EffectOp<"assert", [MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "Stops the call with an AssertionError unless every element of the condition holds.";
  let cppName = "check"; // assert is a macro of C
  let arguments = (ins Weft_Bool:$condition, Weft_TextAttr:$message, Variadic<Weft_Any>:$values);
  let assemblyFormat =
      "$condition `,` $message (`,` $values^)? attr-dict `:` type($condition) (`,` type($values)^)?";
  let shapeFunction = "check";
  let hasVerifier = 1;
  let inactive = "it has no result";
}

#endif // WEFT_IR_STATE_OPS
