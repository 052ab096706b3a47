// Every tool that writes says that the disk is full, of which file, and exits with 1.
// REQUIRES: system-linux
// RUN: not weft-opt %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not sh -c '%weft_bin/weft-opt %s > /dev/full' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not weft-compile %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not weft-compile %s --compile-to=linalg -o /dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not weft-compile %s --compile-to=assembly -o /dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not weft-compile %s -o %t.o --emit-header=/dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not sh -c '%weft_bin/weft-compile %s > /dev/full' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not weft-run %s --arg='iota : tensor<4xf32>' --save=/dev/full 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not sh -c '%weft_bin/weft-run %s --arg="iota : tensor<4xf32>" --print > /dev/full' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: test -c /dev/full

// A file that cannot be written whole is not left behind half.
// RUN: not weft-compile %s -o %t.none/x.o 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot open output file '{{.*}}none/x.o': No such file or directory

// DEVICE-NOT: LLVM ERROR
// DEVICE: error: /dev/full: cannot be written: No space left on device
// OUTPUT-NOT: LLVM ERROR
// OUTPUT: error: standard output: cannot be written: No space left on device
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
