// Both parts that a routine gives are written beside each other where they are made into pairs, or where only routines read them.
// RUN: weft-opt %s --weft-calls-into-pairs --split-input-file | FileCheck %s
// With memory that is gone once it is freed, so that no op is looked at behind its end.
// RUN: env GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1:glibc.malloc.mmap_max=1000000 weft-opt %s --weft-calls-into-pairs --split-input-file -o /dev/null
// RUN: weft-opt %s --weft-calls-into-pairs --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s --check-prefix=BUFFERS

// The pairs are what the call gives; bufferization hands its routine both parts of them, and copies nothing.
// CHECK-LABEL: func.func @into_pairs(
// CHECK: %[[INTO:.*]] = tensor.empty() : tensor<8x2xf64>
// CHECK: %[[PAIRS:.*]] = weft.call_into "fft"(%arg0, %arg1) numbers() into %[[INTO]] {attrs = array<i64: 0, 0, 0>, into_pairs} : (tensor<8xf64>, tensor<8xf64>) into tensor<8x2xf64>
// CHECK: return %[[PAIRS]]
// BUFFERS-LABEL: func.func @into_pairs(
// BUFFERS: %[[PAIRS:.*]] = memref.alloc() {{.*}} : memref<8x2xf64>
// BUFFERS: memref.subview %[[PAIRS]][0, 0] [8, 1] [1, 1] : memref<8x2xf64> to memref<8xf64, strided<[2]>>
// BUFFERS: memref.subview %[[PAIRS]][0, 1] [8, 1] [1, 1] : memref<8x2xf64> to memref<8xf64, strided<[2], offset: 1>>
// BUFFERS: weft.leave routine "fft_f64"
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @into_pairs(%re: tensor<8xf64>, %im: tensor<8xf64>) -> tensor<8x2xf64> {
  %0 = tensor.empty() : tensor<8xf64>
  %1 = tensor.empty() : tensor<8xf64>
  %y:2 = weft.call_into "fft"(%re, %im) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<8xf64>, tensor<8xf64>) into tensor<8xf64>, tensor<8xf64>
  %pairs = tensor.empty() : tensor<8x2xf64>
  %a = tensor.expand_shape %y#0 [[0, 1]] output_shape [8, 1] : tensor<8xf64> into tensor<8x1xf64>
  %2 = tensor.insert_slice %a into %pairs[0, 0] [8, 1] [1, 1] : tensor<8x1xf64> into tensor<8x2xf64>
  %b = tensor.expand_shape %y#1 [[0, 1]] output_shape [8, 1] : tensor<8xf64> into tensor<8x1xf64>
  %3 = tensor.insert_slice %b into %2[0, 1] [8, 1] [1, 1] : tensor<8x1xf64> into tensor<8x2xf64>
  return %3 : tensor<8x2xf64>
}

// -----

// The slices that the next routine reads are views.
// CHECK-LABEL: func.func @between_routines(
// CHECK: %[[PAIRS:.*]] = weft.call_into "fft"({{.*}} into_pairs}
// CHECK: %[[RE:.*]] = tensor.extract_slice %[[PAIRS]][0, 0] [8, 1] [1, 1] : tensor<8x2xf64> to tensor<8xf64>
// CHECK: %[[IM:.*]] = tensor.extract_slice %[[PAIRS]][0, 1] [8, 1] [1, 1] : tensor<8x2xf64> to tensor<8xf64>
// CHECK: weft.call_into "fft"(%[[RE]], %[[IM]]) numbers() into %{{.*}}, %{{.*}} {attrs
func.func @between_routines(%re: tensor<8xf64>, %im: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>) {
  %0 = tensor.empty() : tensor<8xf64>
  %1 = tensor.empty() : tensor<8xf64>
  %y:2 = weft.call_into "fft"(%re, %im) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<8xf64>, tensor<8xf64>) into tensor<8xf64>, tensor<8xf64>
  %2 = tensor.empty() : tensor<8xf64>
  %3 = tensor.empty() : tensor<8xf64>
  %z:2 = weft.call_into "fft"(%y#0, %y#1) numbers() into %2, %3 {attrs = array<i64: 0, 0, 0>} : (tensor<8xf64>, tensor<8xf64>) into tensor<8xf64>, tensor<8xf64>
  return %z#0, %z#1 : tensor<8xf64>, tensor<8xf64>
}

// -----

// Sizes that are not known come from what the parts had. All that made the pairs read one of them, which goes with them.
// CHECK-LABEL: func.func @of_open_sizes(
// CHECK: %[[INTO:.*]] = tensor.empty(%arg2) : tensor<?x2xf32>
// CHECK: %[[PAIRS:.*]] = weft.call_into "fft"({{.*}}) numbers() into %[[INTO]] {attrs = array<i64: 0, 0, 0>, into_pairs} : {{.*}} into tensor<?x2xf32> leaving [@w] = %arg1
// CHECK-NOT: tensor.insert_slice
// CHECK: return %[[PAIRS]]
// BUFFERS-LABEL: func.func @of_open_sizes(
// BUFFERS: %[[PAIRS:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x2xf32>
// BUFFERS: %[[RE:.*]] = memref.subview %[[PAIRS]][0, 0] [%{{.*}}, 1] [1, 1] : memref<?x2xf32> to memref<?xf32, strided<[2]>>
// BUFFERS: %[[IM:.*]] = memref.subview %[[PAIRS]][0, 1] [%{{.*}}, 1] [1, 1] : memref<?x2xf32> to memref<?xf32, strided<[2], offset: 1>>
// BUFFERS: weft.leave routine "fft_f32", {{.*}}, %[[RE]], %[[IM]] : {{.*}} leaving [@w]
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @of_open_sizes(%x: tensor<?xf32>, %w: tensor<4xf32> {weft.variable = @w}, %n: index) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.empty(%n) : tensor<?xf32>
  %1 = tensor.empty(%n) : tensor<?xf32>
  %y:2 = weft.call_into "fft"(%x, %x) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<?xf32>, tensor<?xf32>) into tensor<?xf32>, tensor<?xf32> leaving [@w] = %w : tensor<4xf32>
  %re = tensor.dim %y#0, %c0 : tensor<?xf32>
  %im = tensor.dim %y#1, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %re, %im : index
  weft.check_sizes %same, "complex: the shapes do not broadcast: {} meets {}", %re, %im
  %size = tensor.dim %y#0, %c0 : tensor<?xf32>
  %pairs = tensor.empty(%size) : tensor<?x2xf32>
  %a = tensor.expand_shape %y#0 [[0, 1]] output_shape [%size, 1] : tensor<?xf32> into tensor<?x1xf32>
  %2 = tensor.insert_slice %a into %pairs[0, 0] [%size, 1] [1, 1] : tensor<?x1xf32> into tensor<?x2xf32>
  %b = tensor.expand_shape %y#1 [[0, 1]] output_shape [%size, 1] : tensor<?xf32> into tensor<?x1xf32>
  %3 = tensor.insert_slice %b into %2[0, 1] [%size, 1] [1, 1] : tensor<?x1xf32> into tensor<?x2xf32>
  return %3 : tensor<?x2xf32>
}

// -----

// Slices of open sizes are views too.
// CHECK-LABEL: func.func @between_routines_of_open_sizes(
// CHECK: tensor.empty(%[[N:.*]]) : tensor<?x2xf64>
// CHECK: %[[PAIRS:.*]] = weft.call_into "fft"({{.*}} into_pairs}
// CHECK: %[[RE:.*]] = tensor.extract_slice %[[PAIRS]][0, 0] [%[[N]], 1] [1, 1] : tensor<?x2xf64> to tensor<?xf64>
// CHECK: %[[IM:.*]] = tensor.extract_slice %[[PAIRS]][0, 1] [%[[N]], 1] [1, 1] : tensor<?x2xf64> to tensor<?xf64>
// CHECK: weft.call_into "fft"(%[[RE]], %[[IM]]) numbers() into %{{.*}}, %{{.*}} {attrs
func.func @between_routines_of_open_sizes(%re: tensor<?xf64>, %im: tensor<?xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %0 = tensor.empty(%n) : tensor<?xf64>
  %1 = tensor.empty(%n) : tensor<?xf64>
  %y:2 = weft.call_into "fft"(%re, %im) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<?xf64>, tensor<?xf64>) into tensor<?xf64>, tensor<?xf64>
  %2 = tensor.empty(%n) : tensor<?xf64>
  %3 = tensor.empty(%n) : tensor<?xf64>
  %z:2 = weft.call_into "fft"(%y#0, %y#1) numbers() into %2, %3 {attrs = array<i64: 0, 0, 0>} : (tensor<?xf64>, tensor<?xf64>) into tensor<?xf64>, tensor<?xf64>
  return %z#0, %z#1 : tensor<?xf64>, tensor<?xf64>
}

// -----

// Pairs whose type knows a size that the parts' types do not are another type.
// CHECK-LABEL: func.func @of_another_type(
// CHECK-NOT: into_pairs
func.func @of_another_type(%re: tensor<?xf64>, %im: tensor<?xf64>, %n: index) -> tensor<8x2xf64> {
  %0 = tensor.empty(%n) : tensor<?xf64>
  %1 = tensor.empty(%n) : tensor<?xf64>
  %y:2 = weft.call_into "fft"(%re, %im) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<?xf64>, tensor<?xf64>) into tensor<?xf64>, tensor<?xf64>
  %c8 = arith.constant 8 : index
  %pairs = tensor.empty() : tensor<8x2xf64>
  %2 = tensor.insert_slice %y#0 into %pairs[0, 0] [%c8, 1] [1, 1] : tensor<?xf64> into tensor<8x2xf64>
  %3 = tensor.insert_slice %y#1 into %2[0, 1] [%c8, 1] [1, 1] : tensor<?xf64> into tensor<8x2xf64>
  return %3 : tensor<8x2xf64>
}

// -----

// Parts that loops read stay apart: vectors read them whole.
// CHECK-LABEL: func.func @read_by_loops(
// CHECK-NOT: into_pairs
func.func @read_by_loops(%re: tensor<8xf64>, %im: tensor<8xf64>, %out: tensor<8xf64>) -> tensor<8xf64> {
  %0 = tensor.empty() : tensor<8xf64>
  %1 = tensor.empty() : tensor<8xf64>
  %y:2 = weft.call_into "fft"(%re, %im) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<8xf64>, tensor<8xf64>) into tensor<8xf64>, tensor<8xf64>
  %sum = linalg.add ins(%y#0, %y#1 : tensor<8xf64>, tensor<8xf64>) outs(%out : tensor<8xf64>) -> tensor<8xf64>
  return %sum : tensor<8xf64>
}

// -----

// The parts the other way round are other numbers, and two tensors of two sizes make no pairs.
// CHECK-LABEL: func.func @exchanged(
// CHECK-NOT: into_pairs
func.func @exchanged(%re: tensor<8xf64>, %im: tensor<8xf64>) -> tensor<8x2xf64> {
  %0 = tensor.empty() : tensor<8xf64>
  %1 = tensor.empty() : tensor<8xf64>
  %y:2 = weft.call_into "fft"(%re, %im) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<8xf64>, tensor<8xf64>) into tensor<8xf64>, tensor<8xf64>
  %pairs = tensor.empty() : tensor<8x2xf64>
  %2 = tensor.insert_slice %y#1 into %pairs[0, 0] [8, 1] [1, 1] : tensor<8xf64> into tensor<8x2xf64>
  %3 = tensor.insert_slice %y#0 into %2[0, 1] [8, 1] [1, 1] : tensor<8xf64> into tensor<8x2xf64>
  return %3 : tensor<8x2xf64>
}

// -----

// Only one column of the pairs of a wider tensor is no whole of it.
// CHECK-LABEL: func.func @in_a_wider(
// CHECK-NOT: into_pairs
func.func @in_a_wider(%re: tensor<8xf64>, %im: tensor<8xf64>) -> tensor<9x2xf64> {
  %0 = tensor.empty() : tensor<8xf64>
  %1 = tensor.empty() : tensor<8xf64>
  %y:2 = weft.call_into "fft"(%re, %im) numbers() into %0, %1 {attrs = array<i64: 0, 0, 0>} : (tensor<8xf64>, tensor<8xf64>) into tensor<8xf64>, tensor<8xf64>
  %pairs = tensor.empty() : tensor<9x2xf64>
  %2 = tensor.insert_slice %y#0 into %pairs[0, 0] [8, 1] [1, 1] : tensor<8xf64> into tensor<9x2xf64>
  %3 = tensor.insert_slice %y#1 into %2[0, 1] [8, 1] [1, 1] : tensor<8xf64> into tensor<9x2xf64>
  return %3 : tensor<9x2xf64>
}
