// Results and loop-carried tensors get their destinations.
// RUN: weft-opt %s --weft-destination-passing --split-input-file | FileCheck %s

// A result of known size is stored in an argument; inputs are not to be written.
// CHECK-LABEL: func @output
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {bufferization.writable = false}, %[[OUT:.*]]: tensor<4xf32> {weft.output = 0 : i64})
// CHECK: %[[STORED:.*]] = linalg.copy ins(%[[X]]{{.*}}) outs(%[[OUT]]
// CHECK: return %[[STORED]]
func.func @output(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// The new value of a variable replaces the old one, after outputs, which may be the old one, are
// stored.
// CHECK-LABEL: func @variable
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {{.*}}, %[[W:.*]]: tensor<4xf32> {weft.variable = @w}, %[[OUT:.*]]: tensor<4xf32>
// CHECK: linalg.copy ins(%[[W]]{{.*}}) outs(%[[OUT]]
// CHECK: linalg.copy ins(%[[X]]{{.*}}) outs(%[[W]]
func.func @variable(%x: tensor<4xf32>, %w: tensor<4xf32> {weft.variable = @w})
    -> (tensor<4xf32> {weft.variable = @w}, tensor<4xf32>) {
  return %x, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// A variable that keeps its value is no destination for anything else.
// CHECK-LABEL: func @keeps
// CHECK-SAME: %{{.*}}: tensor<4xf32> {bufferization.writable = false, weft.variable = @w}
func.func @keeps(%w: tensor<4xf32> {weft.variable = @w}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// What computes the elements writes to the destination, so a reshape comes after the store.
// CHECK-LABEL: func @reshaped
// CHECK-SAME: %[[OUT:[^ ]*]]: tensor<4x1xf32> {weft.output = 0 : i64}
// CHECK: %[[PLACE:.*]] = tensor.collapse_shape %[[OUT]]
// CHECK: %[[STORED:.*]] = linalg.copy ins(%{{.*}}) outs(%[[PLACE]]
// CHECK: tensor.expand_shape %[[STORED]]
func.func @reshaped(%x: tensor<4xf32>) -> tensor<4x1xf32> {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// A loop works in the output itself: it starts with a copy there, and every iteration leaves its
// state there.
// CHECK-LABEL: func @loop
// CHECK-SAME: %[[OUT:[^ ]*]]: tensor<4xf32> {weft.output = 0 : i64}
// CHECK: %[[START:.*]] = linalg.copy ins(%{{.*}}) outs(%[[OUT]]
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[START]])
// CHECK: %[[NEXT:.*]] = linalg.copy ins(%{{.*}}) outs(%[[A]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: linalg.copy ins(%[[R]]{{.*}}) outs(%[[START]]
func.func @loop(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %0 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// The branches of an if write to the output.
// CHECK-LABEL: func @branch
// CHECK-SAME: %[[OUT:[^ ]*]]: tensor<4xf32> {weft.output = 0 : i64}
// CHECK: scf.if
// CHECK: linalg.copy ins(%{{.*}}) outs(%[[OUT]]
// CHECK: else
// CHECK: linalg.copy ins(%{{.*}}) outs(%[[OUT]]
func.func @branch(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// But not to a variable that is still read after it.
// CHECK-LABEL: func @read_later
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK: scf.if
// CHECK-NOT: linalg.copy
// CHECK: arith.addf
// CHECK: linalg.copy ins(%{{.*}}) outs(%[[W]]
func.func @read_later(%c: i1, %x: tensor<4xf32>, %w: tensor<4xf32> {weft.variable = @w})
    -> (tensor<4xf32>, tensor<4xf32> {weft.variable = @w}) {
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %s = arith.addf %r, %w : tensor<4xf32>
  return %s, %r : tensor<4xf32>, tensor<4xf32>
}

// -----

// A result of unknown size has no destination yet.
// CHECK-LABEL: func @unknown
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32> {bufferization.writable = false}) -> tensor<?xf32>
// CHECK-NEXT: return %[[X]]
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// A loop that starts from the variable works there already, and so does one in it.
// CHECK-LABEL: func @nested
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[W]])
// CHECK-NEXT: %[[S:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[A]])
// CHECK: linalg.copy ins(%{{.*}}) outs(%[[B]]
// CHECK: scf.yield %[[S]]
// CHECK: return %[[R]]
func.func @nested(%n: index, %w: tensor<4xf32> {weft.variable = @w}) -> (tensor<4xf32> {weft.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %w) -> tensor<4xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %0 = arith.addf %b, %b : tensor<4xf32>
      scf.yield %0 : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A sum starts from memory that is filled, not from a copy of the program's data. What is only read
// stays a constant.
// CHECK-LABEL: func @start
// CHECK: %[[DATA:.*]] = arith.constant dense<2.0{{.*}}> : tensor<4xf32>
// CHECK: %[[FILLED:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<f32>)
// CHECK: linalg.generic {{.*}} ins(%[[DATA]] : tensor<4xf32>) outs(%[[FILLED]] : tensor<f32>)
func.func @start() -> tensor<f32> {
  %data = arith.constant dense<2.0> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%data : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// With a use of the variable before the loop, such as what an assert leaves, the loop still starts in
// its buffer; with one inside it does not.
// CHECK-LABEL: func @used_before
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK: linalg.copy ins(%{{.*}}) outs(%[[W]]
// CHECK: scf.for
// CHECK-LABEL: func @used_inside
// CHECK-NOT: linalg.copy
// CHECK: scf.for
func.func @used_before(%n: index, %broken: i1, %x: tensor<4xf32>, %w: tensor<4xf32> {weft.variable = @w}) -> (tensor<4xf32> {weft.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.if %broken {
    weft.leave shape "no" leaving [@w] = %w : tensor<4xf32>
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %0 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @used_inside(%n: index, %broken: i1, %x: tensor<4xf32>, %w: tensor<4xf32> {weft.variable = @w}) -> (tensor<4xf32> {weft.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    scf.if %broken {
      weft.leave shape "no" leaving [@w] = %w : tensor<4xf32>
    }
    %0 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A function of several blocks, which no phase before gives, is left as it is.
// CHECK-LABEL: func.func @blocks
// CHECK: cf.cond_br
func.func @blocks(%c: i1, %x: tensor<2xf32>) -> tensor<2xf32> {
  cf.cond_br %c, ^a, ^b
^a:
  cf.br ^b
^b:
  return %x : tensor<2xf32>
}
