// The conversions out of the weft dialect, with what they want and what they leave.

#ifndef WEFT_CONVERSION_PASSES
#define WEFT_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def WeftToLinalgPass : Pass<"weft-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Converts weft ops on tensors to linalg, tensor and arith.";
  let description = [{
    Before: weft ops on ranked tensors, in functions and in regions of scf. Variables are lifted
    (no weft.handle, read or assign).

    After: every elementwise op is one linalg.generic with broadcasting in its maps; reductions are
    linalg.generic on the neutral element; matrix products are linalg.contract on zeros; movements
    are maps or slices. Of the weft dialect only effects are left, print, assert and check_indices,
    and draw_into and call_into, which the library does. With `without-library` there are
    loops for them: lines are sorted by two linalg.generic in which each element counts those before
    it, cumulative ops are an scf.for over slices, and random numbers are linalg.generic, each
    computed from its place; with `stages-routines` these are still calls where loops would be a
    launch per slice, or where there are none: their buffers are brought to the host.
    Unknown sizes that have to fit are tested by weft.check_sizes. Locations are those of the weft ops.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"withoutLibrary", "without-library", "bool", "false",
           "The target cannot call the library: loops do what its routines would">,
    Option<"stagesRoutines", "stages-routines", "bool", "false",
           "With without-library: it can, at the price of copies, so what has no good loops is called">,
    Option<"convertsFloats", "converts-floats", "bool", "false",
           "The target has instructions that convert floats of 16 bits">
  ];
}

def ExpandComplexPass : Pass<"weft-expand-complex", "::mlir::func::FuncOp"> {
  let summary = "Makes real numbers of complex ones.";
  let description = [{
    Before: weft ops on complex tensors, without variables and derivatives.

    After: no value has complex elements. What ops computed is two tensors, the real and the imaginary
    parts, by the formulas of lib/Complex, which eager calls run too. Arguments and results of functions
    and regions, stacks, and what effects show are one tensor of real numbers, with the parts along a last
    axis of size 2, which is how complex numbers lie in memory; `weft.complex` numbers those that
    the library is shown.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def LoopsToGpuPass : Pass<"weft-loops-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Makes structured ops on buffers launches of kernels.";
  let description = [{
    Before: linalg ops on memrefs and memref.copy. Memory on the stack is the host's, all other the
    device's.

    After: gpu.launch in their place, and a gpu.module, which their kernels will be in, also where
    there are none. A thread has an element of the result, the last axis fastest, but for
    - reductions of 8 elements and more, which threads of a block share, in an order that depends on
      sizes alone; few results of many elements are made in parts, by two launches,
    - chains of ops on the same rows, as softmax and norms are, up to 4096 elements a row: one launch,
      whose threads keep a row in registers; what only the chain reads is not stored,
    - what is read along another axis than it is written: tiles in shared memory,
    - products of 16 rows and columns and more, and convolutions: tiles, of which both operands are in
      shared memory; of bf16, f16 and f64 on tensor cores, where the chip has them, those of f32 too in
      a module with the attribute `weft.tf32`,
    - weft.attention: one kernel on tensor cores,
    - many elements that lie side by side: as many a thread as 16 bytes have.

    A contraction of floating numbers is one chain of fused products for each result, as on processors
    that have such instructions. What a result is filled with before is known to its kernel. What the
    host stored is stored by a launch of one thread, and what it read for launches alone is read
    there, where nothing has been written since. Copies between dense buffers stay.
  }];
  let options = [Option<"capability", "capability", "unsigned", /*default=*/"75",
                        "The number in the chip's name: 80 of sm_80.">,
                 Option<"warpgroups", "warpgroups", "bool", /*default=*/"false",
                        "Whether the chip has wgmma, as sm_90a.">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def GpuLaunchesPass : Pass<"weft-gpu-launches", "::mlir::ModuleOp"> {
  let summary = "Makes the host's part of a program for a GPU code of the processor.";
  let description = [{
    Before: outlined kernels in one gpu.module, gpu.launch_func, and functions on buffers of which
    memory on the stack is the host's and all other the device's.

    After: kernels take a pointer for each buffer, and its unknown sizes and strides. The host's
    functions are what the phases for a processor take, with calls of the runtime
    (lib/Runtime/DeviceCalls.h) wherever they touched the device: launches, by the kernel's place
    in the module; reads of elements that steer it; copies between dense buffers; constants, which
    the device gets once. Buffers of the library's routines are brought to the host, and those that
    the attribute `weft.writes` counts from the last operand on are brought back; without it, all.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"
  ];
}

def MergeKernelsPass : Pass<"weft-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Leaves one of kernels that do the same.";
  let description = [{
    Before: outlined kernels in a gpu.module, and gpu.launch_func.

    After: kernels that differ in nothing but their names and the lines that they are of are one,
    that of the first of these lines: the layers of a model, which are compiled once by that, by us
    and by the driver.
  }];
}

def GpuToNVVMPass : Pass<"weft-gpu-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Converts kernels to the LLVM and NVVM dialects, without calls of libdevice.";
  let description = [{
    Before: a gpu.module on memrefs, arith, cf and those ops of math that are instructions; the
    others were expanded by weft-expand-math.

    After: the LLVM and NVVM dialects. Square roots, absolute values and roundings are intrinsics.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def LowerLoopsPass : Pass<"weft-lower-loops", "::mlir::ModuleOp"> {
  let summary = "Lowers structured ops on memrefs to loops with vector code.";
  let description = [{
    Before: linalg ops on memrefs of any strides, memref.copy.

    After: scf loops with loads and stores of vectors on flat views of the buffers. Loops that every
    operand walks through as one are merged. Vectors run along the loop where that costs least:
    backwards or in short steps whole vectors are read and shuffled, over longer distances lanes are
    loaded one by one; what is contiguous along another loop is transposed in square tiles. Ops
    without a vector form are done lane by lane, or in scalar loops. Long parallel loops
    are functions of their own, called with the mark `weft.parallel`, whose range threads may share.
    The order of a reduction depends on its shape only: long ones with few results go in blocks,
    which threads may share, as in eager code. LLVM needs no loop vectoriser after this.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "64",
           "Bytes of a vector register; loops take a quarter as many elements at a time">,
    Option<"masked", "masked", "bool", "true",
           "The target loads and stores under a mask: rests of loops are one masked step">,
    Option<"parallelWork", "parallel-work", "int64_t", "65536",
           "Least work of a loop that threads share, in simple elements; 0: never">
  ];
}

def EntryPass : Pass<"weft-entry", "::mlir::ModuleOp"> {
  let summary = "Gives public functions the calling convention of compiled functions.";
  let description = [{
    Before: public functions on memrefs of identity layout: inputs, variables, outputs; no results.
    Unknown sizes are the next of `dims`, or those that the argument's attribute `weft.dims` counts.

    After: int32_t NAME_weft_entry(void *const *buffers, const int64_t *dims, CallContext *) in the
    LLVM dialect, with what is inside still to be converted. Allocations are places in the arena
    (`weft.arena_offset`), outputs of unknown size (`weft.output`), or calls of weft_rt_alloc. Calls
    of declarations marked `weft.runtime` pass each memref as one pointer, and the context first if
    marked `weft.context`. Calls marked `weft.parallel` go through weft_rt_parallel_for.

    Kernels may have arguments of unknown strides, which `weft.strides` counts among `dims`. They
    allocate nothing: outputs are the buffers after the arguments, all other allocations those after
    the outputs.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::func::FuncDialect"];
  let options = [
    Option<"kernels", "kernels", "bool", "false",
           "Make kernels of the table instead: void NAME(buffers, dims)">
  ];
}

def ToLLVMPass : Pass<"weft-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Converts loops, vectors and memrefs to the LLVM dialect.";
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect", "::mlir::affine::AffineDialect",
    "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ShareFmaPass : Pass<"weft-share-fma", "::mlir::ModuleOp"> {
  let summary = "Makes multiply-adds of vectors calls of one function per type.";
  let description = [{
    For processors without such an instruction, where LLVM calls libm for each lane: in its place
    that is some 15 instructions a lane, of which a special function has hundreds.

    ```mlir
    %y = llvm.intr.fma(%a, %b, %c) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    ```
    becomes
    ```mlir
    %y = llvm.call @weft.fma_4xf32(%a, %b, %c) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // WEFT_CONVERSION_PASSES
