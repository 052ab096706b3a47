// The ops on stacks: their text, and what they refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Values of known sizes lie along the first axis.
// CHECK-LABEL: func.func @known
func.func @known(%x: tensor<4xf32>, %n: index, %at: index) -> (tensor<?x4xf32>, tensor<4xf32>) {
  // CHECK: %[[NONE:.*]] = weft.stack_empty() : tensor<8x4xf32>
  %none = weft.stack_empty() : tensor<8x4xf32>
  // CHECK: %[[EMPTY:.*]] = weft.stack_empty(%{{.*}}) : tensor<?x4xf32>
  %0 = weft.stack_empty(%n) : tensor<?x4xf32>
  // CHECK: %[[ROOM:.*]] = weft.stack_reserve %[[EMPTY]] for %{{.*}} : tensor<?x4xf32>
  %1 = weft.stack_reserve %0 for %n : tensor<?x4xf32>
  // CHECK: %[[STORED:.*]] = weft.stack_store %{{.*}} in %[[ROOM]][%{{.*}}] : tensor<4xf32> in tensor<?x4xf32>
  %2 = weft.stack_store %x in %1[%at] : tensor<4xf32> in tensor<?x4xf32>
  // CHECK: weft.stack_store %{{.*}} in %[[STORED]][%{{.*}}] {again} : tensor<4xf32> in tensor<?x4xf32>
  %5 = weft.stack_store %x in %2[%at] {again} : tensor<4xf32> in tensor<?x4xf32>
  // CHECK: %[[LOADED:.*]] = weft.stack_load %[[STORED]][%{{.*}}] : tensor<?x4xf32> to tensor<4xf32>
  %3 = weft.stack_load %2[%at] : tensor<?x4xf32> to tensor<4xf32>
  // CHECK: %[[SUM:.*]] = weft.stack_add %[[LOADED]] to %[[STORED]][%{{.*}}] : tensor<4xf32> to tensor<?x4xf32>
  %4 = weft.stack_add %3 to %2[%at] : tensor<4xf32> to tensor<?x4xf32>
  return %4, %3 : tensor<?x4xf32>, tensor<4xf32>
}

// Others lie behind each other.
// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<?x4xf32>, %stack: tensor<?xf32>, %n: index, %at: index) -> tensor<?x4xf32> {
  // CHECK: weft.stack_store %{{.*}} in %{{.*}}[%{{.*}}] : tensor<?x4xf32> in tensor<?xf32>
  %0 = weft.stack_store %x in %stack[%at] : tensor<?x4xf32> in tensor<?xf32>
  // CHECK: weft.stack_load %{{.*}}[%{{.*}}] sizes(%{{.*}}) : tensor<?xf32> to tensor<?x4xf32>
  %1 = weft.stack_load %0[%at] sizes(%n) : tensor<?xf32> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

func.func @no_size() -> tensor<?x4xf32> {
  // expected-error @below {{'weft.stack_empty' op needs 1 sizes for 'tensor<?x4xf32>', but has 0}}
  %0 = weft.stack_empty() : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @size_of_a_load(%s: tensor<?xf32>, %at: index) -> tensor<?xf32> {
  // expected-error @below {{'weft.stack_load' op needs 1 sizes for 'tensor<?xf32>', but has 0}}
  %0 = weft.stack_load %s[%at] : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A stack of known size cannot grow.
func.func @cannot_grow(%s: tensor<8x4xf32>, %n: index) -> tensor<8x4xf32> {
  // expected-error @below {{'weft.stack_reserve' op a stack that grows has an unknown first size and no other, but is 'tensor<8x4xf32>'}}
  %0 = weft.stack_reserve %s for %n : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @other_shape(%x: tensor<3xf32>, %s: tensor<8x4xf32>, %at: index) -> tensor<8x4xf32> {
  // expected-error @below {{'weft.stack_store' op a stack of 'tensor<3xf32>' has its shape behind one more axis, or its last axes if a size is unknown, but is 'tensor<8x4xf32>'}}
  %0 = weft.stack_store %x in %s[%at] : tensor<3xf32> in tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Sizes that only run time knows cannot stand along an axis.
func.func @unknown_shape(%x: tensor<?xf32>, %s: tensor<8x4xf32>, %at: index) -> tensor<8x4xf32> {
  // expected-error @below {{'weft.stack_add' op a stack of 'tensor<?xf32>' has its shape behind one more axis, or its last axes if a size is unknown, but is 'tensor<8x4xf32>'}}
  %0 = weft.stack_add %x to %s[%at] : tensor<?xf32> to tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @other_dtype(%s: tensor<8xf32>, %at: index) -> tensor<f64> {
  // expected-error @below {{'weft.stack_load' op a stack of 'tensor<f64>' has its shape behind one more axis}}
  %0 = weft.stack_load %s[%at] : tensor<8xf32> to tensor<f64>
  return %0 : tensor<f64>
}
