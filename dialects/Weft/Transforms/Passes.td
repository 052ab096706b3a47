// The passes within a level, with what they want and what they leave.

#ifndef WEFT_TRANSFORMS_PASSES
#define WEFT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// On weft ops
//===----------------------------------------------------------------------===//

def SimplifyPass : Pass<"weft-simplify", "::mlir::func::FuncOp"> {
  let summary = "Folds constants and drops ops that change nothing.";
  let description = [{
    Before and after: weft ops. Results keep every bit, signs of zeros and NaN included: x * 1 goes,
    x + 0 stays. Constants are folded by the kernels of eager execution. A matrix product reads a
    transposed operand as it stands; elementwise ops broadcast what was broadcast for them. Known sizes that
    were to be forgotten (weft.widen) are so after the ops on them, which chooses the branches that depend on
    them; asserts that hold go.
  }];
  let options = [
    Option<"maxFoldedBytes", "max-folded-bytes", "int64_t", "65536",
           "Larger constants are not made by folding">
  ];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::weft::WeftDialect"];
}

def CallsToKernelsPass : Pass<"weft-calls-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Makes calls of what the target has one kernel for an op.";
  let description = [{
    Before: functions of phase `differentiate`. Some private ones say by the attribute `weft.one_kernel` which op
    computes the same.

    After: calls of these are that op, where it has a kernel for their types. All others are left to the inliner.

    ```mlir
    %1:2 = call @attention(%q, %k, %v) : (tensor<2x64x32xbf16>, ..) -> (tensor<2x64x32xbf16>, tensor<2x64x1xbf16>)
    func.func private @attention(..) attributes {weft.one_kernel = {op = "attention", causal = "no", queries = 64, scale = 0.125}}
    ```
    becomes
    ```mlir
    %1:2 = weft.attention %q, %k, %v into %2, %3 {causal = "no", format = bf16, queries = 64, scale = 0.125} : ..
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::weft::WeftDialect"];
}

def PartitionPass : Pass<"weft-partition", "::mlir::ModuleOp"> {
  let summary = "Shares the work on values that are cut over a mesh of ranks.";
  let description = [{
    Before: functions of phase `differentiate`, which every rank would do whole. After: no weft.shard, and where one was
    each rank has its part of the value. Functions are inlined first.

    Ops are followed from the first to the last. What is computed of a part is a part, as far as the op's loops go: those
    of elementwise ops, products, reductions, reshapes that keep the first axis of each group, transposes and others that
    only move elements. Ranks send where
    - a loop that is summed over is cut: `all_reduce_sum`, or `reduce_scatter_sum` where the sum is to be cut itself,
    - an op needs more than the part: `all_gather`, or `all_to_all` where another axis is to be cut in place of one.
    What is whole is cut for nothing, and before the work on it where the result alone is wanted in parts. Results,
    effects, regions and ops without loops have whole values. Only axes of known sizes are cut. `all_gather` with `same` of
    a group of the mesh is a value that is cut, and `slice_own` of one gives the part.

    ```mlir
    %1 = weft.shard %w {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 4>, first = 0 : i64, group = 0 : i64} : (tensor<8x2xf32>) -> tensor<8x2xf32>
    %2 = weft.matmul %x, %1 : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
    ```
    becomes
    ```mlir
    %1 = weft.slice_own %w {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x2xf32>) -> tensor<2x2xf32>
    %2 = weft.slice_own %x {axis = 1 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<3x8xf32>) -> tensor<3x2xf32>
    %3 = weft.matmul %2, %1 : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %4 = weft.all_reduce_sum %3 {axes = array<i64>, group = 0 : i64, replicas = 0 : i64, same = true} : (tensor<3x2xf32>) -> tensor<3x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::weft::WeftDialect"];
}

def GatherVariablesPass : Pass<"weft-gather-variables", "::mlir::ModuleOp"> {
  let summary = "Gathers variables that ranks keep in parts before they are used.";
  let description = [{
    Before: functions of phase `differentiate`. Variables with `weft.cut_over_ranks` are kept in parts. After: these are of
    the part's type, and who reads them gathers the parts of all ranks (ZeRO 3). Functions are inlined first.

    A value is gathered before the first op of the function that uses it, and again for a later one where others of as
    many bytes, and 256 KiB, are used in between: what a layer's forward pass gathers is not kept for its backward pass.
    Values that are gathered one after the other travel together, up to 256 KiB; those below 16 KiB are kept.

    ```mlir
    weft.variable @w : tensor<3xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
    %0 = weft.handle @w : !weft.var<tensor<3xf32>>
    %1 = weft.read %0 : tensor<3xf32>
    ```
    becomes
    ```mlir
    weft.variable @w : tensor<2xf32>
    %0 = weft.handle @w : !weft.var<tensor<2xf32>>
    %1 = weft.read %0 : tensor<2xf32>
    %2 = weft.all_gather %1 {axis = 0 : i64, group = 0 : i64, ranks = 2 : i64, same = true} : (tensor<2xf32>) -> tensor<4xf32>
    %3 = weft.slice %2 from [0] to [3] : (tensor<4xf32>) -> tensor<3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::weft::WeftDialect"];
}

def CollectivesToHostCallsPass : Pass<"weft-collectives-to-host-calls", "::mlir::func::FuncOp"> {
  let summary = "Makes collectives host calls, whose names say all of them.";
  let description = [{
    Before and after: functions of phase `lift_state`. The library does these calls: it finds the group
    by its number, and who has which rank is known there alone.

    ```mlir
    %1 = weft.all_gather %0 {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<2xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %1 = weft.host_call @"weft.all_gather 0 4 0 0"(%0) : (tensor<2xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::weft::WeftDialect"];
}

def PollLoopsPass : Pass<"weft-poll-loops", "::mlir::ModuleOp"> {
  let summary = "Lets loops be interrupted, where the module asks for it.";
  let description = [{
    Before: functions of phase `simplify`. Of modules without the attribute `weft.interruptible`
    nothing changes.

    After: a weft.poll begins each turn of every scf.while, and of every scf.for but those that are
    over in no time: a known number of turns, on few elements, with no loop inside.

    ```mlir
    scf.for %i = %lo to %hi step %c1 {
      weft.poll
      ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::weft::WeftDialect"];
}

def LiftStatePass : Pass<"weft-lift-state", "::mlir::ModuleOp"> {
  let summary = "Makes the values of variables arguments and results, so that functions are pure.";
  let description = [{
    Before: functions of one block each, calls inlined, variables used through weft.handle, read,
    assign and assign_add, also inside scf.if, scf.for, scf.while and scf.index_switch. Tokens, if
    there are any, only say what the order of the ops says as well. A handle may be chosen at run
    time, by these ops or arith.select.

    After: every variable of the module, in order, is one more argument of every function, with
    the attribute `weft.variable = @name`; those that a function assigns are also results with that
    attribute. Handles, tokens, reads and assigns are gone; a handle that is chosen at run time is the
    variable's number, by which reads and assigns select. A variable's argument and result are one buffer
    later. In a function that writes variables, `weft.on_stop` stands before what may end the call
    early, an assert or an op that may fail, and says what they hold then.

    ```mlir
    weft.variable @n : tensor<i32>
    func.func @count(%by: tensor<i32>) {
      %n = weft.handle @n : !weft.var<tensor<i32>>
      weft.assign_add %n, %by : tensor<i32>
      return
    }
    ```
    becomes
    ```mlir
    func.func @count(%by: tensor<i32>, %n: tensor<i32> {weft.variable = @n})
        -> (tensor<i32> {weft.variable = @n}) {
      %0 = weft.add %n, %by : tensor<i32>
      return %0 : tensor<i32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// On linalg over tensors
//===----------------------------------------------------------------------===//

def RuntimeVerificationPass : Pass<"weft-runtime-verification", "::mlir::ModuleOp"> {
  let summary = "Puts checks in front of ops on tensors that are undefined for some operands.";
  let description = [{
    Before: a program that somebody wrote, of any phase up to `schedule`. The tools run this pass on
    what they read, since an op of upstream's that is handed a size, an index or a divisor that it
    does not allow reads memory that is not its own, or ends the process.

    After: weft.check_sizes, weft.check_indices and weft.assert stand where an op of arith, linalg or
    tensor is not known to be defined: sizes of operands that meet, offsets, indices and divisors. What
    an element of a structured op computes with is checked in front of it, by a loop over no more than
    it depends on. linalg.softmax, linalg.pack, linalg.unpack and tensor.gather are the ops that they
    stand for; flags that promise something of operands (nsw, exact, nnan) are gone. An error at what cannot
    be checked: memory, calls of functions without a body, ops of other dialects on tensors.

    ```mlir
    %r = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
    ```
    becomes
    ```mlir
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %same = arith.cmpi eq, %n, %c4 : index
    weft.check_sizes %same, "tensor.cast: the size along axis 0 is {}, but the result's type says {}", %n, %c4
    %r = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::weft::WeftDialect"];
}

def ScalarizePass : Pass<"weft-scalarize", "::mlir::func::FuncOp"> {
  let summary = "Computes tensors of one element as scalars.";
  let description = [{
    Before: linalg on tensors, scf on tensors.

    After: a linalg op on tensors of rank 0 is its body; loops and branches carry scalars where they
    carried tensors of rank 0. tensor.extract and tensor.from_elements stand where a scalar tensor is
    taken apart or wanted whole. Functions compute the same bits.

    ```mlir
    %r = scf.for %i = %lo to %hi step %c1 iter_args(%a = %x) -> tensor<f32> { ... }
    ```
    becomes
    ```mlir
    %s = tensor.extract %x[] : tensor<f32>
    %t = scf.for %i = %lo to %hi step %c1 iter_args(%a = %s) -> f32 { ... }
    %r = tensor.from_elements %t : tensor<f32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def BranchOnChecksPass : Pass<"weft-branch-on-checks", "::mlir::func::FuncOp"> {
  let summary = "Makes asserts and checks branches that leave, which say what variables hold then.";
  let description = [{
    Before: weft.assert, weft.check_indices, weft.print, weft.host_call, weft.poll and cf.assert on tensors,
    weft.call_into of routines that may throw; weft.on_stop where the function writes variables.

    After: an scf.if over what is checked, and in it a weft.leave with the values that variables
    have at that point. A print is a weft.leave where it stood, and so is a host call, whose results
    weft.host_result takes. A weft.call_into says itself what variables hold if it throws. What only a branch that leaves needs
    is computed there, unless this would keep a tensor alive that could be overwritten otherwise: a
    call that goes well pays for nothing that it does not need. A check of an index that a loop
    counts within its bounds is gone.

    ```mlir
    weft.on_stop [@w] = %w : tensor<4xf32>
    weft.assert %c, "the loss is finite", %loss : tensor<i1>, tensor<f32>
    ```
    becomes
    ```mlir
    %holds = tensor.extract %c[] : tensor<i1>
    %broken = arith.xori %holds, %true : i1
    scf.if %broken {
      weft.leave assertion "the loss is finite", %loss : tensor<f32> leaving [@w] = %w : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::weft::WeftDialect"];
}

def AccumulateProductsPass : Pass<"weft-accumulate-products", "::mlir::func::FuncOp"> {
  let summary = "Adds matrix products to the state of loops in place.";
  let description = [{
    Before: linalg on tensors, for a processor. After: a product that is added to the state of a loop,
    which nothing else reads, as the gradients of weights are, has that state for its output and the
    attribute `weft.adds_whole`: its elements are summed up from zero and added once, so that the
    sum has the bits that it had. weft-matmul-to-runtime knows it; to others it would be a product whose
    sums start with the output's elements.

    ```mlir
    %p = linalg.contract indexing_maps = [...] ins(%a, %b) outs(%zeros)
    %s = linalg.generic {...} ins(%state, %p) outs(%empty) { addf }
    ```
    becomes
    ```mlir
    %s = linalg.contract indexing_maps = [...] {weft.adds_whole} ins(%a, %b) outs(%state)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FuseElementwisePass : Pass<"weft-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Merges loops over elements with those that use their results.";
  let description = [{
    Before: linalg.generic on tensors, one per op of the program.

    After: a producer is part of its consumer's loop, elementwise or reduction, where this computes
    no element twice, or only what is cheaper than to store. A producer with more users is merged
    into its first consumer over the same elements, and the loop has both results: an optimizer's
    step updates all its state in one loop. One of a few operations that a reduction and others
    read, as the difference of a variance, is computed in each where that moves less memory.
    Constants and fills stand in the bodies; axes of size 1 that
    reshapes add or drop are folded into the maps. Functions compute the same bits.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// From tensors to buffers
//===----------------------------------------------------------------------===//

def OutlineRegionsPass : Pass<"weft-outline-regions", "::mlir::ModuleOp"> {
  let summary = "Makes functions of the inner parts of deep nests.";
  let description = [{
    Before: functions with branches and loops in each other. After: no function nests them deeper than
    `max-depth`; the parts below are private functions. One-shot bufferization compares every write in a
    nest with every read, along the nest, so that 60 branches in each other take it seconds; it takes
    functions one by one. The inliner puts the parts back afterwards.

    Around upstream: llvm/llvm-project#81959, the analysis takes more than linear time.
  }];
  let options = [Option<"maxDepth", "max-depth", "unsigned", "8", "How deep a nest may be">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def SwitchToBranchesPass : Pass<"weft-switch-to-branches", "::mlir::func::FuncOp"> {
  let summary = "Turns scf.index_switch that gives tensors into scf.if.";
  let description = [{
    One-shot bufferization does not see that a result of scf.index_switch may be a tensor that a case
    yields from around it, and lets others overwrite it; of scf.if it knows. The number of branches on
    the way to a case grows with the logarithm of their count.

    Around upstream: the rules of scf.index_switch came with llvm/llvm-project#67666; no issue is open.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DestinationPassingPass : Pass<"weft-destination-passing", "::mlir::ModuleOp"> {
  let summary = "Says where every result and loop-carried tensor is to be stored.";
  let description = [{
    Before: linalg on tensors in functions that nobody calls; a result that is the new value of a
    variable has the same `weft.variable` as the argument that holds it.

    After: the function is written in destination-passing style, by copies that bufferization makes
    vanish where the place is free in time; weft-materialize-destinations does the others. A result of known size is stored
    in an argument of its own, `weft.output = I`; the new value of a variable in the variable's
    argument; the value that a loop hands to its next iteration in the present one's. Results of
    unknown size stay as they are. Inputs are marked as not writable.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { ... return %y }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4xf32> {bufferization.writable = false},
                 %out: tensor<4xf32> {weft.output = 0 : i64}) -> tensor<4xf32> {
      ...
      %stored = linalg.copy ins(%y) outs(%out)
      return %stored
    }
    ```

    Around upstream: llvm/llvm-project#87594, a loop that yields another buffer than it was given has no place for
    its state; copies into the place are the way that is advised there.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CallsIntoPairsPass : Pass<"weft-calls-into-pairs", "::mlir::func::FuncOp"> {
  let summary = "Lets routines write both parts of complex numbers beside each other.";
  let description = [{
    Before and after: linalg on tensors. A call_into of a routine that gives two parts, which are only made
    into pairs or read by other such calls, writes the pairs itself, instead of two buffers that are copied
    or that the next routine reads far apart. Sizes may be open, and the routine may throw: what variables
    hold then is said as before.

    ```mlir
    %y:2 = weft.call_into "fft"(%a, %b) numbers() into %re, %im {attrs = ...}
    %pairs = tensor.empty() : tensor<8x2xf64>
    %0 = tensor.insert_slice %y#0 into %pairs[0, 0] [8, 1] [1, 1]
    %1 = tensor.insert_slice %y#1 into %0[0, 1] [8, 1] [1, 1]
    ```
    becomes
    ```mlir
    %pairs = tensor.empty() : tensor<8x2xf64>
    %1 = weft.call_into "fft"(%a, %b) numbers() into %pairs {attrs = ..., into_pairs}
    ```

    Around upstream: eliminate-empty-tensors needs what a slice is put into before the call, which the
    second insert has only behind it, and one-shot bufferization takes two slices that one op writes for
    a conflict (llvm/llvm-project#224184, the analysis knows no disjoint slices).
  }];
}

def SinkInsertsPass : Pass<"weft-sink-inserts", "::mlir::func::FuncOp"> {
  let summary = "Puts slices into tensors only after the last look at the tensors without them.";
  let description = [{
    Before and after: linalg on tensors. A tensor.insert_slice or tensor.insert stands behind all ops of
    its block that read its destination or a view of it, where none of them waits for its result.
    One-shot bufferization goes by the order of the ops: a loop that replaces a slice of its
    state before it reads another would copy the whole state in each iteration.

    ```mlir
    %1 = tensor.insert_slice %x into %state[%i, 0] [1, 4] [1, 1]
    %2 = tensor.extract_slice %state[%j, 0] [1, 4] [1, 1]
    ```
    becomes
    ```mlir
    %2 = tensor.extract_slice %state[%j, 0] [1, 4] [1, 1]
    %1 = tensor.insert_slice %x into %state[%i, 0] [1, 4] [1, 1]
    ```

    Around upstream: llvm/llvm-project#224184, the analysis knows no disjoint slices; iree-org/iree#19680 moves reads
    up for the same reason.
  }];
}

def SplitReadersPass : Pass<"weft-split-readers", "::mlir::func::FuncOp"> {
  let summary = "Spares bufferization the readers of tensors that are read very often.";
  let description = [{
    Before: linalg on tensors after weft-destination-passing. After: of a tensor that more than `max-readers`
    ops of its block compute with, all but the last read it through `bufferization.to_buffer` and
    `to_tensor`, half as many through each. One-shot bufferization takes these for tensors of their own,
    which nothing writes to. It compares every reader of a tensor with every other, so that a thousand
    products with one matrix take it seconds. What it decides stays the same: whatever would
    overwrite the tensor before one of these reads would do so before the last, which it sees.

    Around upstream: llvm/llvm-project#81959, the analysis takes more than linear time.
  }];
  let options = [
    Option<"maxReaders", "max-readers", "unsigned", "64", "Readers that a tensor may keep">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def SplitWritersPass : Pass<"weft-split-writers", "::mlir::func::FuncOp"> {
  let summary = "Spares bufferization chains of many writes to one tensor.";
  let description = [{
    Before: linalg on tensors after weft-destination-passing. After: of a chain of more than twice `max-writers` ops
    that write to one tensor, each to what the one before left, every so many hand it on through
    `bufferization.to_buffer` and `to_tensor`. One-shot bufferization compares every write of a chain with every
    read and every definition, so that 64 writes take it half a minute; now a chain takes it as long as it is.

    What it decides stays the same. A write is a conflict where an earlier value is read after it; the first
    write behind that value is then in the same part of the chain. So a chain is only cut at a value that others
    are done with, and only one that is alone in its memory: the first tensor is an argument, a constant or empty,
    and nothing else writes to it before the last look at the chain.

    Around upstream: llvm/llvm-project#81959, the analysis takes more than linear time.
  }];
  let options = [
    Option<"maxWriters", "max-writers", "unsigned", "8", "Writes that a part of a chain has">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def MaterializeDestinationsPass : Pass<"weft-materialize-destinations", "::mlir::func::FuncOp"> {
  let summary = "Brings results and the state of loops to their places where they are not there yet.";
  let description = [{
    Before: a bufferized function after weft-destination-passing.

    After: a loop whose state is of known size carries no buffers: the state stays in one place, and
    what an iteration computed elsewhere is copied there at its end. Results of known size, and new
    values of variables, are in their arguments, and no results any more. The buffer of each result
    of unknown size is a `memref.alloc {weft.output = I}`, I counting these results: the allocation
    that made it where there is one, otherwise a copy at the end. The argument of a variable that got
    a new value is marked `weft.updated`; a copy may say in `weft.reason` why it is there.

    Around upstream: llvm/llvm-project#87594, as weft-destination-passing.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def ChecksToRuntimePass : Pass<"weft-checks-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turns weft.leave into calls of the runtime.";
  let description = [{
    Before: weft.leave on buffers, in functions whose arguments name their variables; weft.interrupted; cf.assert, if
    somebody made one after weft-branch-on-checks.

    After: calls of weft_rt_assert_fail and its like, and of routines. Before one, a call of weft_rt_on_stop where a
    variable's value is not in the variable's own buffer: it tells what to copy should the next
    call not return.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::weft::WeftDialect"];
}

def NoteTimesPass : Pass<"weft-note-times", "::mlir::ModuleOp"> {
  let summary = "Tells the runtime when each loop and library call begins and ends.";
  let description = [{
    Before: functions after phase `bufferize`.

    After: each op of linalg, loop over blocks of rows, copy and call of a library's function stands
    between calls of weft_rt_note_begin, which is told the numbers of the op calls that it does, and
    of weft_rt_note_end; so does a loop with none of these inside. Results are the same bit for bit.
    Profiles that look inside of functions run such code.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def MatmulToRuntimePass : Pass<"weft-matmul-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turns matrix products on buffers into calls of the library's matmul.";
  let description = [{
    Before: contractions on memrefs whose result was just filled with zeros, or has `weft.adds_whole`.

    After: calls of weft_rt_matmul_<dtype> with the operands' strides, which overwrite the result;
    the fill is gone. Of weft_rt_matmul_add_<dtype>, which adds to it, for the others. Batch dimensions become the call's batch or, where more are left than can be
    merged, loops. Contractions that accumulate into something else stay. Those of integers with
    `weft.bf16_product` become calls of weft_rt_matmul_bf16, whatever their result was filled with.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def DensifyReductionsPass : Pass<"weft-densify-reductions", "::mlir::func::FuncOp"> {
  let summary = "Copies what sums and products would read in another order than their loops have.";
  let description = [{
    Before and after: structured ops on memrefs. Of one that combines floating point numbers in an order
    that their bits hang on, every operand is read row after row: along the last loop its elements are
    neighbours, and all reduced loops are one run of it, as in eager code, where reductions read dense
    tensors. What lies otherwise, as the transposed or the sliced view that was fused into a sum, is
    copied first; weft-lower-loops takes the order of elements from the loops and the layout.

    ```mlir
    linalg.generic {indexing_maps = [(d0, d1) -> (d1, d0), (d0, d1) -> (d0)], ...} ins(%x : memref<3x4xf32>)
    ```
    becomes
    ```mlir
    %dense = memref.alloc() : memref<4x3xf32>
    linalg.generic {indexing_maps = [(d0, d1) -> (d1, d0), (d0, d1) -> (d0, d1)], ...} ins(%x) outs(%dense)
    linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d0)], ...} ins(%dense : memref<4x3xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def FuseRowsPass : Pass<"weft-fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "Makes one loop over blocks of rows of neighbouring loops over the same rows.";
  let description = [{
    Before: structured ops on memrefs, in the order of the program.

    After: those that have one parallel loop over the rows of all their outputs in common, and
    exchange nothing but rows, stand on blocks of rows in an scf.for with the mark `weft.rows`:
    what one of them leaves in the cache the next one finds there, and threads share one loop and
    not each. Temporaries that only they use are a block on the stack. The order in which elements
    are combined stays: reductions that are cut into blocks of their own are no part of this. Ops
    between them stand before or behind the loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlanArenaPass : Pass<"weft-plan-arena", "::mlir::func::FuncOp"> {
  let summary = "Gives every temporary of known size its place in one block of memory.";
  let description = [{
    Before: a bufferized function; temporaries are memref.alloc without memref.dealloc.

    After: each memref.alloc of known size has `weft.arena_offset`, a multiple of 64, such that
    temporaries that live at the same time do not overlap; the function has `weft.arena_bytes`, the
    size of the block. Temporaries of unknown size are freed by memref.dealloc after their last
    use; those that outlive an iteration of the loop that makes them are left to the end of the
    call.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ShareLoopsPass : Pass<"weft-share-loops", "::mlir::ModuleOp"> {
  let summary = "Makes calls of one function of loops that do the same to other buffers.";
  let description = [{
    Before: structured ops on memrefs and loops over rows.

    After: where several are equal but for the buffers and numbers that they take from around them,
    and for where views begin, they are calls of one private function, so that code is generated
    for them once. Loops of a few iterations stay where they are: a call would be felt.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

def CutFunctionsPass : Pass<"weft-cut-functions", "::mlir::ModuleOp"> {
  let summary = "Cuts functions that are too long for one function of machine code.";
  let description = [{
    Before: bufferized functions, temporaries in the arena.

    After: of a block that held more than `max-ops` ops, runs of a quarter of that are private
    functions, which are called in order. Constants, places in the arena and views are made again in each;
    everything else that passes from one to the next is an argument and a result. Code generation
    takes more than twice as long for a function twice as long, so that a line of ten thousand
    matrix products and loops would take it minutes.
  }];
  let options = [Option<"maxOps", "max-ops", "unsigned", "1024",
                        "The longest block that stays whole, in ops with those inside of loops">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// Scalars and vectors
//===----------------------------------------------------------------------===//

def ExpandMathPass : Pass<"weft-expand-math"> {
  let summary = "Replaces elementary functions by arithmetic that needs no library.";
  let description = [{
    Before: math.exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, sin, cos, sincos, powf and
    rsqrt, and weft.special, on scalars and vectors of f16, bf16, f32 and f64.

    After: arith operations, math.fma and other operations that processors have, all correctly
    rounded; so a result does not depend on the width of the vectors or on the processor (erf of f32 has
    one formula with `tables` and one without). sin and
    cos hold an scf.if around the rare reduction of large arguments; run the pass after loops were
    vectorised; so do some special functions, or a loop that ends when all lanes are done. A formula is up to 200 operations long: with `share-from`, a module that has a
    function of scalars many times has its formula once, in a func.func that it calls; of vectors
    eight times as many. A special function has it once wherever there are two. Powers by few exponents (integers from -8 to 8 of f32, from -1 to 4 of
    f64, 0.5 and -0.5) are products, quotients and roots: without a test if the exponent is a
    constant, else where a lane has such a value, so that the bits are the same. Errors are at most 1 unit in the last place (f32) and
    1.5 (f64); 1.5 for rsqrt and erf and 2 for tanh in both; docs/special-functions.md has those of the others, and says of which an f32 is computed in f64. Narrower formats are computed in f32 and rounded once more.

    ```mlir
    %y = math.rsqrt %x : vector<8xf32>
    ```
    becomes
    ```mlir
    %one = arith.constant dense<1.0> : vector<8xf32>
    %root = math.sqrt %x : vector<8xf32>
    %y = arith.divf %one, %root : vector<8xf32>
    ```
  }];
  let options = [
    Option<"expandRemainder", "expand-remainder", "bool", /*default=*/"false",
           "Replaces arith.remf as well, by an exact loop, for targets that would not be exact.">,
    Option<"shareFrom", "share-from", "unsigned", /*default=*/"0",
           "How many scalars of one function make it a function of the module, and an eighth of how "
           "many vectors; 0 for never.">,
    Option<"tables", "tables", "bool", /*default=*/"true",
           "Finds erf of f32 by a table of eight polynomials; a GPU multiplies in less time.">,
    Option<"permuteBytes", "permute-bytes", "unsigned", /*default=*/"0",
           "The bytes of the vectors that the target permutes by indices, which is how it looks "
           "into a table: 32 with AVX2, 64 with AVX-512; 0 if it has no such instruction.">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // WEFT_TRANSFORMS_PASSES
