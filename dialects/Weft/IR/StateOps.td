// Ops that read or change the world: variables, prints, asserts and host calls; tokens, which order
// them; and the bridge to scf.

#ifndef WEFT_IR_STATE_OPS
#define WEFT_IR_STATE_OPS

include "Weft/IR/Base.td"
include "mlir/IR/EnumAttr.td"
include "Weft/IR/Interfaces.td"

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

def Weft_HandleOp : Op<Weft_Dialect, "handle", [Pure, Weft_CheapToRerun,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A handle to a variable of the module.";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Weft_VarType:$handle);
  let assemblyFormat = "$variable attr-dict `:` qualified(type($handle))";
}

def Weft_ItemOp : Op<Weft_Dialect, "item", [Pure, Weft_CheapToRerun, Weft_GoneAfterLinalg,
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
                              [Weft_StopsCall, Weft_StaysInLinalg, Weft_GoneAfterSchedule, MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "Stops the call with an IndexError unless every index lies in [0, size).";
  let description = [{
    Made by the conversion to linalg in front of the loops of a gather or scatter_add, named by
    `op`, which then read and write without a check of their own.
  }];
  let hasVerifier = 1;
  let arguments = (ins Weft_Integer:$indices, Index:$size, StrAttr:$op);
  let assemblyFormat = "$indices `below` $size `for` $op attr-dict `:` type($indices)";
}

def Weft_LeaveKind : I32EnumAttr<"LeaveKind", "what a weft.leave does", [
    I32EnumAttrCase<"assertion", 0>, I32EnumAttrCase<"index", 1>, I32EnumAttrCase<"shape", 2>,
    I32EnumAttrCase<"print", 3>, I32EnumAttrCase<"host", 4>, I32EnumAttrCase<"interrupt", 5>,
    I32EnumAttrCase<"routine", 6>, I32EnumAttrCase<"value", 7>, I32EnumAttrCase<"bounds", 8>]> {
  let cppNamespace = "::mlir::weft";
}

def Weft_CheckSizesOp : Op<Weft_Dialect, "check_sizes",
                            [Weft_StopsCall, Weft_StaysInLinalg, Weft_GoneAfterSchedule, MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "Stops the call with an error unless a condition on sizes holds.";
  let description = [{
    Made by the conversion to linalg where sizes have to fit that only the call knows. Each {} of
    the text stands for one of the sizes. It is a ShapeError unless the op says that it is an
    IndexError, `as bounds`, or a ValueError, `as value`: what the same sizes are where they are
    known. What comes behind a check that is known to fail is never
    run, and canonicalization drops it: it may be code that makes no sense.

    ```mlir
    weft.check_sizes %same, "add: the shapes do not broadcast: {} meets {}", %n, %m
    weft.check_sizes %inside, "index: 5 is out of range for axis 0 of a tensor of shape ({},)", %n as bounds
    ```
  }];
  let arguments = (ins I1:$holds, StrAttr:$text, Variadic<Index>:$sizes,
                       DefaultValuedAttr<Weft_LeaveKind, "::mlir::weft::LeaveKind::shape">:$error);
  let assemblyFormat = "$holds `,` $text (`,` $sizes^)? (`as` $error^)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::Value":$holds, "::llvm::StringRef":$text, "::mlir::ValueRange":$sizes), [{
    build($_builder, $_state, holds, text, sizes, LeaveKind::shape);
  }]>];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// Calls that are over before their end
//===----------------------------------------------------------------------===//

def Weft_OnStopOp : Op<Weft_Dialect, "on_stop", [Weft_StaysInLinalg, Weft_GoneAfterSchedule, MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "What variables hold if the call is over before the next op of this kind.";
  let description = [{
    Made by weft-lift-state, which leaves no other trace of when a variable gets which value. It
    speaks for the ops after it in its block, and for those in their regions that have none of their
    own, up to the next one.

    ```mlir
    weft.on_stop [@w, @n] = %w1, %n : tensor<4xf32>, tensor<i32>
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$variables, Variadic<Weft_Any>:$state);
  let assemblyFormat = "$variables `=` $state attr-dict `:` type($state)";
  let hasVerifier = 1;
}

def Weft_PollOp : Op<Weft_Dialect, "poll",
                     [Weft_StopsCall, Weft_StaysInLinalg, Weft_GoneAfterSchedule, MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "Lets the program around interrupt the call here.";
  let description = [{
    Made by weft-poll-loops at the beginning of each turn of a loop; weft-branch-on-checks makes it
    a branch on weft.interrupted.
  }];
  let assemblyFormat = "attr-dict";
}

def Weft_InterruptedOp : Op<Weft_Dialect, "interrupted", [MemoryEffects<[MemRead<Weft_IoResource>, MemWrite<Weft_IoResource>]>]> {
  let summary = "Whether an interrupt is requested, which a weft.leave takes.";
  let results = (outs I1:$requested);
  let assemblyFormat = "attr-dict";
}

def Weft_OutsideOp : Op<Weft_Dialect, "outside", [Pure]> {
  let summary = "Whether any index lies outside of [0, size).";
  let arguments = (ins Weft_Integer:$indices, Index:$size);
  let results = (outs I1:$found);
  let assemblyFormat = "$indices `below` $size attr-dict `:` type($indices)";
}

def Weft_LeaveOp : Op<Weft_Dialect, "leave",
                      [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Calls the runtime, after which the call of the function may be over.";
  let description = [{
    What the text and the values mean depends on the kind: `assertion` and `print` format them,
    `index` takes the name of an op, its indices and the size that one of them is not below, `shape`, `value` and `bounds`
    take a message with a {} for each of the sizes that are its values, for a ShapeError, a ValueError and an IndexError, `host` takes the name of a callable, what it is called with, and the types
    of what it `gives`, and `interrupt` takes nothing. `routine` takes the name of an op of kind routine with the dtype,
    an array of numbers, and the buffers of operands and results, which are written: what bufferization makes of
    weft.call_into. Those that name an error throw; a print does if its sink
    throws, a host call if the callable does, an interrupt if who is asked does, a routine if its op stops the call. Then the
    variables hold what the op says after `leaving`.

    Made by weft-branch-on-checks on tensors, but for routines; bufferization makes the operands buffers and
    weft-checks-to-runtime the calls.

    ```mlir
    scf.if %broken {
      weft.leave assertion "the loss is finite", %loss : tensor<f32> leaving [@w] = %w1 : tensor<4xf32>
    }
    weft.leave routine "cholesky_f32", %numbers, %x, %y : memref<10xi64>, memref<3x3xf32>, memref<3x3xf32>
    ```
  }];
  let arguments = (ins Weft_LeaveKind:$kind, StrAttr:$text,
                       Variadic<AnyType>:$values,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$variables, Variadic<AnyType>:$state,
                       OptionalAttr<TypeArrayAttr>:$given);
  let assemblyFormat = [{
    $kind $text (`,` $values^ `:` type($values))? (`gives` $given^)?
    (`leaving` $variables `=` $state^ `:` type($state))? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Weft_HostResultOp : Op<Weft_Dialect, "host_result", [MemoryEffects<[MemRead<Weft_IoResource>]>]> {
  let summary = "A result, by its number, of the host call that was made last.";
  let description = [{
    Made by weft-branch-on-checks after the weft.leave that makes the call.

    ```mlir
    weft.leave host "norm", %x : tensor<4xf32> gives [tensor<?xf32>]
    %y = weft.host_result 0 : tensor<?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index);
  let results = (outs Weft_Any:$value);
  let assemblyFormat = "$index attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// The order of effects
//===----------------------------------------------------------------------===//

def Weft_BeginOp : Op<Weft_Dialect, "begin", [Pure]> {
  let summary = "The token before all effects of a function.";
  let results = (outs Weft_TokenType:$token);
  let assemblyFormat = "attr-dict `:` qualified(type($token))";
}

def Weft_JoinOp : Op<Weft_Dialect, "join", [Pure]> {
  let summary = "The token after all of its operands.";
  let arguments = (ins Variadic<Weft_TokenType>:$tokens);
  let results = (outs Weft_TokenType:$token);
  let assemblyFormat = "$tokens attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_FinishOp : Op<Weft_Dialect, "finish", [MemoryEffects<[MemWrite<Weft_IoResource>]>]> {
  let summary = "Effects that must have happened when the function returns.";
  let description = [{
    It keeps alive what nothing else in the function needs: the last write of each variable, prints
    and asserts. All of the function's other effects come before these or do not matter.
  }];
  let arguments = (ins Variadic<Weft_TokenType>:$tokens);
  let assemblyFormat = "$tokens attr-dict";
  let hasCanonicalizeMethod = 1;
}

def Weft_GuardOp : Op<Weft_Dialect, "guard", [Pure, AllTypesMatch<["x", "y"]>]> {
  let summary = "x, not before the effects of a token.";
  let description = [{
    Holds back an op that is pure but may stop the call, such as a gather, until the assert that
    comes before it in the program has held.
  }];
  let arguments = (ins AnyType:$x, Weft_TokenType:$after);
  let results = (outs AnyType:$y);
  let assemblyFormat = "$x `after` $after attr-dict `:` type($x)";
  let hasCanonicalizeMethod = 1;
}

/// An op with an effect, which says what it does.
class Weft_EffectOp<string mnemonic, list<Trait> traits = []>
    : Weft_Op<mnemonic, traits # [Weft_OrderedOpInterface,
                                  DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                  DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let kind = "effect";
  let handwrittenApi = 1;
  /// It reads, it writes the variable that is its first operand.
  bit reads = 0;
  bit writes = 0;
  /// A person sees it, or a host function runs.
  bit io = 0;
  /// It may stop the call, after which the variables hold what was written before it.
  bit stops = 0;
  let extraClassDeclaration = "::mlir::weft::OwnEffects getOwnEffects() { return {" #
      "/*reads=*/" # reads # ", /*writes=*/" # writes # ", /*io=*/" # io # ", /*stops=*/" # stops #
      "}; }";
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<
            ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      addMemoryEffects(*this, effects);
    }
    ::mlir::Speculation::Speculatability $cppClass::getSpeculatability() {
      return speculatabilityOf(*this);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

def Weft_ReadOp : Weft_EffectOp<"read", [
    TypesMatchWith<"the result is the variable's value", "value", "variable",
                   "::mlir::weft::VarType::get(::mlir::cast<::mlir::RankedTensorType>($_self))">]> {
  let summary = "The present value of a variable.";
  let arguments = (ins Weft_VarType:$variable, Optional<Weft_TokenType>:$after);
  let results = (outs Weft_Any:$value, Optional<Weft_TokenType>:$token);
  let operandShapes = [];
  let resultShape = "of the variable's shape";
  let resultDType = "the variable's dtype";
  let raises = [];
  let assemblyFormat = [{
    $variable (custom<After>($after, type($after), type($token))^)? attr-dict `:` type($value)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$variable), [{
    build($_builder, $_state, ::mlir::cast<VarType>(variable.getType()).getValueType(), Type(),
          variable, Value());
  }]>];
  let hasCanonicalizeMethod = 1;
  let reads = 1;
  let inactive = "a variable read is where gradients end";
}

class Weft_AssignLikeOp<string mnemonic, TypeConstraint operand, list<Trait> traits = []> : Weft_EffectOp<mnemonic, traits # [
    TypesMatchWith<"the value is of the variable's type", "value", "variable",
                   "::mlir::weft::VarType::get(::mlir::cast<::mlir::RankedTensorType>($_self))">]> {
  let arguments = (ins Weft_VarType:$variable, operand:$value, Optional<Weft_TokenType>:$after);
  let results = (outs Optional<Weft_TokenType>:$token);
  let operandShapes = ["of the variable's shape"];
  let raises = [Raises<DTypeError, "the value has another dtype than the variable">,
                Raises<ShapeError, "it has another shape">];
  let assemblyFormat = [{
    $variable `,` $value (custom<After>($after, type($after), type($token))^)? attr-dict `:`
    type($value)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$variable, "::mlir::Value":$value), [{
    build($_builder, $_state, Type(), variable, value, Value());
  }]>];
  let writes = 1;
  let inactive = "state: a later read is where gradients end";
}
def Weft_AssignOp : Weft_AssignLikeOp<"assign", Weft_Any> {
  let summary = "Gives a variable a new value of the same dtype and shape.";
}
def Weft_AssignAddOp : Weft_AssignLikeOp<"assign_add", Weft_Numeric> {
  let hasVerifier = 1;
  let summary = "Adds a value of the same dtype and shape to a variable.";
  let reads = 1;
}

//===----------------------------------------------------------------------===//
// Prints and asserts
//===----------------------------------------------------------------------===//

def Weft_PrintOp : Weft_EffectOp<"print", [AttrSizedOperandSegments, Weft_StaysInLinalg, Weft_GoneAfterSchedule]> {
  let summary = "Prints a line: the text with each {} replaced by the next value.";
  let arguments = (ins Weft_TextAttr:$format, Variadic<Weft_Any>:$values,
                       Optional<Weft_TokenType>:$after);
  let results = (outs Optional<Weft_TokenType>:$token);
  let operandShapes = ["of any shape"];
  let raises = [Raises<ValueError, "the text has more or fewer {} than there are values">];
  let assemblyFormat = [{
    $format (`,` $values^)? (custom<After>($after, type($after), type($token))^)?
    (`:` type($values)^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$format, "::mlir::ValueRange":$values), [{
    build($_builder, $_state, Type(), $_builder.getStringAttr(format), values, Value());
  }]>];
  let shapeFunction = "print";
  let hasVerifier = 1;
  let io = 1;
  let inactive = "it has no result";
}

def Weft_AssertOp : Weft_EffectOp<"assert", [AttrSizedOperandSegments, Weft_GoneAfterSchedule]> {
  let summary = "Stops the call with an AssertionError unless every element of the condition holds.";
  let description = [{
    With `of_sizes` the message has a {} for each value: sizes, which are i64 scalars. It is a
    ShapeError then, or what `error` names: "index" an IndexError, "value" a ValueError. What a
    function demands of sizes that only the call knows is such a check.
  }];
  let cppName = "check"; // assert is a macro of C
  let arguments = (ins Weft_Bool:$condition, Weft_TextAttr:$message,
                       Weft_Flag<"it is of sizes, and ends with a ShapeError or what `error` says">:$of_sizes,
                       Weft_SizesError:$error, Variadic<Weft_Any>:$values, Optional<Weft_TokenType>:$after);
  let results = (outs Optional<Weft_TokenType>:$token);
  let operandShapes = ["of any shape", "of any shape"];
  let raises = [Raises<AssertionError, "an element of the condition is false">,
                Raises<ShapeError, "it is a check of sizes, and an element of the condition is false">,
                Raises<ValueError, "it is a check of sizes whose error is \"value\"">,
                Raises<IndexError, "it is a check of sizes whose error is \"index\"">];
  let assemblyFormat = [{
    $condition `,` $message (`,` $values^)? (custom<After>($after, type($after), type($token))^)?
    attr-dict `:` type($condition) (`,` type($values)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "::llvm::StringRef":$message,
                                 "::mlir::ValueRange":$values), [{
    build($_builder, $_state, Type(), condition, $_builder.getStringAttr(message),
          $_builder.getBoolAttr(false), $_builder.getStringAttr(""), values, Value());
  }]>];
  let shapeFunction = "check";
  let hasVerifier = 1;
  let io = 1;
  let stops = 1;
  let inactive = "it has no result";
}

//===----------------------------------------------------------------------===//
// Host calls
//===----------------------------------------------------------------------===//

def Weft_HostCallOp : Op<Weft_Dialect, "host_call", [Weft_OrderedOpInterface, Weft_StaysInLinalg, Weft_GoneAfterSchedule,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "Calls a C++ callable of the program that runs it, with tensors, and gives tensors back.";
  let description = [{
    `weft.host_call @norm(%x, %y) : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>`. The name is not a
    symbol of the module: the callable comes with the call of the compiled function. What it gives is
    checked against the result types, whose sizes may be unknown.

    It is an effect, in one order with prints and asserts, and may stop the call by what it throws.
    With `pure` it is none: it may be dropped, merged with an equal one, and run in another order.
  }];
  let arguments = (ins StrAttr:$callee, UnitAttr:$pure,
                       Variadic<AnyTypeOf<[Weft_Any, Weft_TokenType]>>:$operandsAndAfter);
  let results = (outs Variadic<AnyTypeOf<[Weft_Any, Weft_TokenType]>>:$resultsAndToken);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The tensors that the callable is called with, and those that it gives.
    ::mlir::OperandRange getValues();
    ::mlir::ResultRange getGiven();
    ::mlir::weft::OwnEffects getOwnEffects();
    ::mlir::Value getAfter();
    ::mlir::MutableOperandRange getAfterMutable();
    ::mlir::Value getToken();
  }];
}

#endif // WEFT_IR_STATE_OPS
