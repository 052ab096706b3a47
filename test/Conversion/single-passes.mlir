// Passes that run alone, on text that the pipeline does not give them, leave text that is valid.
// RUN: weft-opt %s --split-input-file --weft-to-llvm | FileCheck %s --check-prefix=LLVM
// RUN: weft-opt %s --split-input-file --weft-to-linalg | FileCheck %s --check-prefix=LINALG

// A function of the library, of which weft-entry has not turned into an external one.
// LLVM: llvm.func @weft_rt_note
// LINALG: func.func private @weft_rt_note
func.func private @weft_rt_note(memref<f32>, index, i1) attributes {weft.runtime, weft.context}

// -----

// A stack that nobody uses.
// LINALG-LABEL: func.func @none
// LINALG: return
func.func @none() {
  %none = weft.stack_empty() : tensor<f32>
  return
}
