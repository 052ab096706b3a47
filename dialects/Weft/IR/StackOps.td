// Stacks: tensors in which a loop keeps, for its derivative, what its iterations computed.

#ifndef WEFT_IR_STACK_OPS
#define WEFT_IR_STACK_OPS

include "Weft/IR/Base.td"

/// An op on a stack, which is made by `weft-differentiate` alone. It is no record of the op table: no
/// program calls it. A stack is a tensor like any other, so that loops carry it and update it in
/// place. Values of known sizes lie in it along its first axis; those of sizes that only run time
/// knows lie along it behind each other, from an offset on, in a stack of rank 1 or one whose other axes are their last
/// ones, as complex numbers have theirs. A place is loaded only
/// after it was stored, and stored only once unless the store says otherwise; hence the derivatives,
/// which are ops on stacks too.
class Weft_StackOp<string mnemonic, list<Trait> traits = []>
    : Op<Weft_Dialect, mnemonic, traits # [NoMemoryEffect]> {}

def Weft_StackEmptyOp : Weft_StackOp<"stack_empty", [Weft_CheapToRerun, Weft_GoneAfterLinalg]> {
  let summary = "A stack of which no place is stored yet.";
  let description = [{
    Its elements are whatever memory holds, for each use of it anew: two states of a loop that begin
    with one empty stack are two stacks. There is a size for each one that the type leaves open.

    ```mlir
    %stack = weft.stack_empty(%iterations) : tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes);
  let results = (outs Weft_Any:$stack);
  let assemblyFormat = "`(` $sizes `)` attr-dict `:` type($stack)";
  let hasVerifier = 1;
}

def Weft_StackReserveOp : Weft_StackOp<"stack_reserve", [Weft_StaysInLinalg, AllTypesMatch<["stack", "larger"]>]> {
  let summary = "A stack with room for at least `count` places.";
  let description = [{
    The same one if it has the room; otherwise one that has twice as much, or `count` if that is
    more, where everything stored is in its place. So storing at the end costs as much as the value.

    ```mlir
    %1 = weft.stack_reserve %0 for %count : tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Weft_Any:$stack, Index:$count);
  let results = (outs Weft_Any:$larger);
  let assemblyFormat = "$stack `for` $count attr-dict `:` type($stack)";
  let hasVerifier = 1;
}

def Weft_StackStoreOp : Weft_StackOp<"stack_store", [Weft_GoneAfterLinalg, AllTypesMatch<["stack", "stored"]>]> {
  let summary = "A stack with a value at a place where none was stored.";
  let description = [{
    With `again` another one may have been: it is not there any more, and what overlaps it neither.

    ```mlir
    %1 = weft.stack_store %x in %0[%iteration] : tensor<4xf32> in tensor<?x4xf32>
    %3 = weft.stack_store %y in %2[%offset] : tensor<?x4xf32> in tensor<?xf32>
    ```
  }];
  let arguments = (ins Weft_Any:$value, Weft_Any:$stack, Index:$at, UnitAttr:$again);
  let results = (outs Weft_Any:$stored);
  let assemblyFormat = "$value `in` $stack `[` $at `]` attr-dict `:` type($value) `in` type($stack)";
  let hasVerifier = 1;
}

def Weft_StackLoadOp : Weft_StackOp<"stack_load", [Weft_CheapToRerun, Weft_GoneAfterLinalg]> {
  let summary = "The value at a place of a stack.";
  let description = [{
    Each size that the type of the value leaves open is given.

    ```mlir
    %x = weft.stack_load %0[%iteration] : tensor<?x4xf32> to tensor<4xf32>
    %y = weft.stack_load %1[%offset] sizes(%n) : tensor<?xf32> to tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Weft_Any:$stack, Index:$at, Variadic<Index>:$sizes);
  let results = (outs Weft_Any:$value);
  let assemblyFormat = [{
    $stack `[` $at `]` (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($stack) `to` type($value)
  }];
  let hasVerifier = 1;
}

def Weft_StackAddOp : Weft_StackOp<"stack_add", [Weft_GoneAfterLinalg, AllTypesMatch<["stack", "sum"]>]> {
  let summary = "A stack with a value added at a place: what a load becomes in reverse.";
  let description = [{
    ```mlir
    %1 = weft.stack_add %dx to %0[%iteration] : tensor<4xf32> to tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Weft_Any:$value, Weft_Any:$stack, Index:$at);
  let results = (outs Weft_Any:$sum);
  let assemblyFormat = "$value `to` $stack `[` $at `]` attr-dict `:` type($value) `to` type($stack)";
  let hasVerifier = 1;
}

#endif // WEFT_IR_STACK_OPS
