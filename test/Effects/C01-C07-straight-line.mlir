// Cases C1 to C7 and C22 of the table: reads and writes of variables in one block. `A -> B` says that tokens make B wait for A.
// RUN: weft-opt %s --weft-insert-control-deps --weft-print-effect-order -o /dev/null | FileCheck %s --check-prefix=ORDER --implicit-check-not='UNORDERED CONFLICT' --implicit-check-not='NO CONFLICT'
// RUN: weft-opt %s --weft-insert-control-deps --canonicalize | FileCheck %s
// RUN: weft-run %s --entry=c01 --print | FileCheck %s --check-prefix=RUN-C01
// RUN: weft-opt %s --weft-insert-control-deps --weft-shuffle-schedule=seed=1 | weft-run - --from=control-deps --entry=c01 --print | FileCheck %s --check-prefix=RUN-C01
// RUN: weft-run %s --entry=c04 --print | FileCheck %s --check-prefix=RUN-C04
// RUN: weft-opt %s --weft-insert-control-deps --weft-shuffle-schedule=seed=4 | weft-run - --from=control-deps --entry=c04 --print | FileCheck %s --check-prefix=RUN-C04
// RUN: weft-run %s --entry=c05 --print | FileCheck %s --check-prefix=RUN-C05
// RUN: weft-run %s --entry=c22 --print | FileCheck %s --check-prefix=RUN-C22

weft.variable @v = dense<1.0> : tensor<f32>
weft.variable @w = dense<2.0> : tensor<f32>
weft.variable @three = dense<3.0> : tensor<f32>

// C1: each step sees the one before.
// RUN-C01: tensor(4
// ORDER-LABEL: @c01
func.func @c01() -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1.0> : tensor<f32>
  %0 = weft.read %v : tensor<f32>
  %1 = weft.add %0, %one : tensor<f32>
  weft.assign %v, %1 : tensor<f32>
  %2 = weft.read %v : tensor<f32>
  %3 = weft.add %2, %2 : tensor<f32>
  weft.assign %v, %3 : tensor<f32>
  %4 = weft.read %v : tensor<f32>
  return %4 : tensor<f32>
}

// C2: a write waits for the reads before it, which do not wait for each other.
// ORDER-LABEL: @c02
// ORDER-NEXT: r1 | r2
// ORDER-NEXT: r1 -> w: conflict
// ORDER-NEXT: r2 -> w: conflict
// CHECK-LABEL: func @c02
// CHECK: %[[BEGIN:.*]] = weft.begin
// CHECK: %[[A:.*]], %[[TA:.*]] = weft.read %{{.*}} after %[[BEGIN]]
// CHECK: %[[B:.*]], %[[TB:.*]] = weft.read %{{.*}} after %[[BEGIN]]
// CHECK: %[[J:.*]] = weft.join %[[TA]], %[[TB]]
// CHECK: %[[W:.*]] = weft.assign %{{.*}}, %{{.*}} after %[[J]]
// CHECK: weft.finish %[[W]]
func.func @c02(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// C3: reads wait for the write before them, and not for each other.
// ORDER-LABEL: @c03
// ORDER-NEXT: w -> r1: conflict
// ORDER-NEXT: w -> r2: conflict
// ORDER-NEXT: r1 | r2
func.func @c03(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// C4: two reads, two writes, and the same again; a write that nobody reads counts too.
// ORDER-LABEL: @c04
// ORDER-DAG: r1 | r2
// ORDER-DAG: r1 -> w1: conflict
// ORDER-DAG: r2 -> w1: conflict
// ORDER-DAG: w1 -> w2: conflict
// ORDER-DAG: w2 -> r3: conflict
// ORDER-DAG: w2 -> r4: conflict
// ORDER-DAG: r3 | r4
// ORDER-DAG: r3 -> w3: conflict
// ORDER-DAG: r4 -> w3: conflict
// ORDER-DAG: w3 -> w4: conflict
// ORDER-DAG: r1 -> r3: conflict through others
// CHECK-LABEL: func @c04
// CHECK: %[[W3:.*]] = weft.assign_add {{.*}} {name = "w3"}
// CHECK: %[[W4:.*]] = weft.assign_add {{.*}} after %[[W3]] {name = "w4"}
// CHECK: weft.finish %[[W4]]
// RUN-C04: tensor([1, 1, 4, 4, 8]
func.func @c04() -> tensor<5xf32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1.0> : tensor<f32>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign_add %v, %one {name = "w1"} : tensor<f32>
  %two = weft.add %0, %1 : tensor<f32>
  weft.assign_add %v, %two {name = "w2"} : tensor<f32>
  %2 = weft.read %v {name = "r3"} : tensor<f32>
  %3 = weft.read %v {name = "r4"} : tensor<f32>
  weft.assign_add %v, %one {name = "w3"} : tensor<f32>
  %4 = weft.subtract %2, %one : tensor<f32>
  weft.assign_add %v, %4 {name = "w4"} : tensor<f32>
  %5 = weft.read %v {name = "r5"} : tensor<f32>
  %a = weft.reshape %0 to [1] : (tensor<f32>) -> tensor<1xf32>
  %b = weft.reshape %1 to [1] : (tensor<f32>) -> tensor<1xf32>
  %c = weft.reshape %2 to [1] : (tensor<f32>) -> tensor<1xf32>
  %d = weft.reshape %3 to [1] : (tensor<f32>) -> tensor<1xf32>
  %e = weft.reshape %5 to [1] : (tensor<f32>) -> tensor<1xf32>
  %all = weft.concatenate %a, %b, %c, %d, %e {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<5xf32>
  return %all : tensor<5xf32>
}

// C5: a handle that went through something else is the same variable's.
// ORDER-LABEL: @c05
// ORDER-NEXT: w1 -> w2: conflict
// ORDER-NEXT: w1 -> r: conflict
// ORDER-NEXT: w2 -> r: conflict
// RUN-C05: tensor(3
func.func @c05() -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1.0> : tensor<f32>
  %yes = arith.constant true
  weft.assign_add %v, %one {name = "w1"} : tensor<f32>
  %same = arith.select %yes, %v, %v : !weft.var<tensor<f32>>
  weft.assign_add %same, %one {name = "w2"} : tensor<f32>
  %0 = weft.read %same {name = "r"} : tensor<f32>
  return %0 : tensor<f32>
}

// C6: a read that nobody looks at need not happen, and nothing waits for it.
// CHECK-LABEL: func @c06
// CHECK: %[[BEGIN:.*]] = weft.begin
// CHECK-NOT: weft.read
// CHECK: %[[W:.*]] = weft.assign %{{.*}}, %{{.*}} after %[[BEGIN]]
// CHECK: weft.finish %[[W]]
func.func @c06(%x: tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  return
}

// C6, a read that becomes useless later: it hands its token on.
// CHECK-LABEL: func @c06_later
// CHECK-NOT: weft.read
// CHECK: weft.assign
func.func @c06_later(%x: tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v : tensor<f32>
  %1 = weft.add %0, %0 : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  return
}

// C7: what a person sees must happen, although nothing uses it.
// CHECK-LABEL: func @c07
// CHECK: %[[P:.*]] = weft.print "sent"
// CHECK: weft.finish %[[P]]
func.func @c07() {
  weft.print "sent"
  return
}

// C22: different variables do not wait for each other.
// ORDER-LABEL: @c22
// ORDER-DAG: a | b
// ORDER-DAG: a | rb
// ORDER-DAG: b | ra
// ORDER-DAG: a -> ra: conflict
// ORDER-DAG: b -> rb: conflict
// ORDER-DAG: ra | rb
// RUN-C22: tensor(5
func.func @c22() -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %w = weft.handle @w : !weft.var<tensor<f32>>
  %two = weft.constant dense<2.0> : tensor<f32>
  %three = weft.constant dense<3.0> : tensor<f32>
  weft.assign %v, %two {name = "a"} : tensor<f32>
  weft.assign %w, %three {name = "b"} : tensor<f32>
  %0 = weft.read %v {name = "ra"} : tensor<f32>
  %1 = weft.read %w {name = "rb"} : tensor<f32>
  %2 = weft.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
