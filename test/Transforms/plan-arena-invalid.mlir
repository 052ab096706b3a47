// Memory is not planned around ops of which nobody knows whose memory they give.
// RUN: weft-opt %s --weft-plan-arena --allow-unregistered-dialect --verify-diagnostics

func.func @unknown(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@below {{gives a buffer that may be its operand's memory, which the plan of memory does not know; it needs BufferViewFlowOpInterface}}
  %b = "test.view"(%a) : (memref<4xf32>) -> memref<4xf32>
  memref.copy %b, %x : memref<4xf32> to memref<4xf32>
  return
}
