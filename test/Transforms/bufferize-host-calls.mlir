// A host call becomes calls of the runtime: one that runs the callable, and for each result that is used one per unknown size and
// one that copies the elements to new memory.
// RUN: weft-opt %s --weft-branch-on-checks --split-input-file | FileCheck %s --check-prefix=LEAVE
// RUN: weft-opt %s --weft-branch-on-checks --one-shot-bufferize=bufferize-function-boundaries --weft-checks-to-runtime --split-input-file | FileCheck %s

// Types of results are described as values are, with -1 for a size that is not known and no elements; f64 is 4.
// LEAVE-LABEL: func @call
// LEAVE: weft.leave host "norm", %{{.*}} : tensor<4xf32> gives [tensor<?xf64>, tensor<2xi32>]{{$}}
// LEAVE-NEXT: %[[A:.*]] = weft.host_result 0 : tensor<?xf64>
// LEAVE-NEXT: %[[B:.*]] = weft.host_result 1 : tensor<2xi32>
// LEAVE-NEXT: return %[[A]], %[[B]]
// CHECK: llvm.mlir.global internal constant @[[NAME:.*]]("norm\00")
// CHECK-LABEL: func @call
// CHECK-SAME: (%[[X:.*]]: memref<4xf32
// CHECK-DAG: %[[TEXT:.*]] = llvm.mlir.addressof @[[NAME]]
// CHECK-DAG: arith.constant 4294967300 : i64
// CHECK-DAG: arith.constant -1 : i64
// CHECK: call @weft_rt_host_call(%{{.*}}, %[[TEXT]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (i64, !llvm.ptr, i64, memref<*xi64>, i64, memref<*xi64>, i64) -> ()
// CHECK: %[[SIZE:.*]] = call @weft_rt_host_size(%{{.*}}, %{{.*}}) : (i64, i64) -> i64
// CHECK: %[[N:.*]] = arith.index_cast %[[SIZE]] : i64 to index
// CHECK: %[[Y:.*]] = memref.alloc(%[[N]]) : memref<?xf64>
// CHECK: %[[AT:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: call @weft_rt_host_take
// CHECK-NOT: call @weft_rt_host_size
// CHECK: memref.alloc() : memref<2xi32>
// CHECK: call @weft_rt_host_take
func.func @call(%x: tensor<4xf32>) -> (tensor<?xf64>, tensor<2xi32>) {
  %0:2 = weft.host_call @norm(%x) : (tensor<4xf32>) -> (tensor<?xf64>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<?xf64>, tensor<2xi32>
}

// -----

// Without tensors as well.
// LEAVE-LABEL: func @no_tensors
// LEAVE-NEXT: weft.leave host "f" gives []{{$}}
// CHECK-LABEL: func @no_tensors
// CHECK: call @weft_rt_host_call
// CHECK-NOT: weft.
// CHECK: return
func.func @no_tensors() {
  weft.host_call @f() : () -> ()
  return
}

// -----

// What nobody uses is not copied.
// CHECK-LABEL: func @unused
// CHECK: call @weft_rt_host_call
// CHECK-NOT: weft_rt_host_take
// CHECK: return
func.func @unused(%x: tensor<f32>) {
  %0 = weft.host_call @f(%x) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// It may be the end of the call, and then the variable holds what it held at that point, also before a pure one.
// LEAVE-LABEL: func @state
// LEAVE: %[[E:.*]] = linalg.generic
// LEAVE: weft.leave host "f" gives [] leaving [@w] = %[[E]] : tensor<4xf32>
// LEAVE: weft.leave host "g" gives [tensor<f32>] leaving [@w] = %[[E]] : tensor<4xf32>
// CHECK-LABEL: func @state
// CHECK: call @weft_rt_on_stop
// CHECK-NOT: call
// CHECK: call @weft_rt_host_call
// CHECK: call @weft_rt_on_stop
// CHECK-NOT: call
// CHECK: call @weft_rt_host_call
#id = affine_map<(d0) -> (d0)>
func.func @state(%w: tensor<4xf32> {weft.variable = @w, bufferization.writable = false}) -> tensor<f32> {
  %empty = tensor.empty() : tensor<4xf32>
  %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %1 = math.exp %i : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  weft.on_stop [@w] = %next : tensor<4xf32>
  weft.host_call @f() : () -> ()
  %0 = weft.host_call pure @g() : () -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The callable sees x as it was: what is computed after it must not write to x's buffer before.
// CHECK-LABEL: func @order
// CHECK: call @weft_rt_host_call
// CHECK: linalg.generic
#id = affine_map<(d0) -> (d0)>
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  weft.host_call @f(%x) : (tensor<4xf32>) -> ()
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%o: f32):
    %1 = math.exp %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
