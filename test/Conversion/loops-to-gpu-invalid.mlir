// What is no loop nest on buffers has no kernel.
// RUN: weft-opt %s --weft-loops-to-gpu --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.copy' op is not on buffers of known rank, as a kernel is}}
  %0 = linalg.copy ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unranked(%x: memref<4xf32>, %y: memref<*xf32>) {
  // expected-error @below {{'memref.copy' op is not on buffers of known rank, as a kernel is}}
  memref.copy %x, %y : memref<4xf32> to memref<*xf32>
  return
}
