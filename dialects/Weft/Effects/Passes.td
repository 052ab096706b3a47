// The passes about the order of effects, with what they want and what they leave.

#ifndef WEFT_EFFECTS_PASSES
#define WEFT_EFFECTS_PASSES

include "mlir/Pass/PassBase.td"

def InsertControlDepsPass : Pass<"weft-insert-control-deps", "::mlir::ModuleOp"> {
  let summary = "Orders effects by tokens: those that conflict, and no others.";
  let description = [{
    Before: effects (reads and writes of variables, prints, asserts) happen in the order of their
    ops. Tokens that are there already are made anew.

    After: each of these ops takes a token and gives one. A read comes after the last write of its
    variable, a write after the reads since, or after the last write where there are none; prints and
    asserts come one after the other; an assert comes between the writes before and after it. Tokens
    pass through scf.if, scf.for, scf.while and scf.index_switch. A loop that only reads a variable
    does not make its iterations wait for each other. Private functions take and return a token for
    each thing that they touch; a public function that others call is called in a private copy. Ops
    that may stop the call by themselves wait for the last print or assert through weft.guard. With
    tokens, an op has no memory effects: any order of ops that data flow allows is right.

    ```mlir
    func.func @count(%by: tensor<i32>) -> tensor<i32> {
      %n = weft.handle @n : !weft.var<tensor<i32>>
      weft.assign_add %n, %by : tensor<i32>
      %0 = weft.read %n : tensor<i32>
      return %0 : tensor<i32>
    }
    ```
    becomes
    ```mlir
    func.func @count(%by: tensor<i32>) -> tensor<i32> {
      %start = weft.begin : !weft.token
      %n = weft.handle @n : !weft.var<tensor<i32>>
      %written = weft.assign_add %n, %by after %start : tensor<i32>
      %0, %seen = weft.read %n after %written : tensor<i32>
      weft.finish %written
      return %0 : tensor<i32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::weft::WeftDialect"];
}

def EraseTokensPass : Pass<"weft-erase-tokens", "::mlir::ModuleOp"> {
  let summary = "Drops all tokens: the order of effects is that of their ops again.";
  let description = [{
    Before: any order of the ops that respects data flow, tokens included. After: no tokens anywhere.
  }];
}

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

def ShuffleSchedulePass : Pass<"weft-shuffle-schedule", "::mlir::func::FuncOp"> {
  let summary = "Puts the ops of each block in a random order that data flow allows.";
  let description = [{
    Ops that have memory effects keep their order among themselves; with tokens, effects have none.
    Equal seeds give equal orders.
  }];
  let options = [Option<"seed", "seed", "uint64_t", "0", "Chooses the order">];
}

def PrintEffectOrderPass : Pass<"weft-print-effect-order", "::mlir::ModuleOp"> {
  let summary = "Prints which effects conflict and which are ordered by tokens.";
  let description = [{
    One line per pair of ops of one block that touch something: `A -> B` where tokens make B wait for
    A, and whether the two conflict themselves (`conflict`), through others between them
    (`conflict through others`) or not at all (`NO CONFLICT`); `A | B` for pairs that are not ordered,
    with `UNORDERED CONFLICT` if they should be. Ops are named by the string attribute `name` where
    they have one. The two in capitals never appear after weft-insert-control-deps.
  }];
}

#endif // WEFT_EFFECTS_PASSES
