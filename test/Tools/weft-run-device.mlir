// weft-run: a device is written to and never replaced, so that a full one is an error.
// REQUIRES: system-linux
// RUN: not weft-run %s --arg='iota : tensor<4xf32>' --save=/dev/full 2>&1 | FileCheck %s
// RUN: test -c /dev/full

// CHECK: error: /dev/full: cannot be written: No space left on device
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
