// RUN: weft-opt %s -weft-to-llvm | FileCheck %s

// Descriptors of memrefs leave nothing behind where only their address is used, and a root is an
// instruction, not a call.
// CHECK-LABEL: llvm.func @f_weft_entry
// CHECK-NOT:     llvm.insertvalue
// CHECK-NOT:     llvm.extractvalue
// CHECK:         llvm.intr.sqrt(%{{.*}}) : (vector<16xf32>) -> vector<16xf32>
// CHECK-NOT:     builtin.unrealized_conversion_cast
llvm.func @f_weft_entry(%buffers: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %pointer = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
  %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = llvm.insertvalue %pointer, %0[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %2 = llvm.insertvalue %pointer, %1[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %2 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<16xf32>
  %3 = vector.load %x[%c0] : memref<16xf32>, vector<16xf32>
  %4 = math.sqrt %3 : vector<16xf32>
  vector.store %4, %x[%c0] : memref<16xf32>, vector<16xf32>
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// The strides of a view without elements are 0: MLIR knows none for the first axis of 2x0 and would
// give the least integer, its mark of an unknown stride.
// CHECK-LABEL: llvm.func @empty
// CHECK-SAME:    %[[INTO:[^ ]*]]: !llvm.ptr)
// CHECK:         %[[ZERO:.*]] = llvm.mlir.constant(0 : i64) : i64
// CHECK:         llvm.store %[[ZERO]], %[[INTO]]
llvm.func @empty(%descriptor: !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, %into: !llvm.ptr) {
  %x = builtin.unrealized_conversion_cast %descriptor : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<2x0xf32>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %x : memref<2x0xf32> -> memref<f32>, index, index, index, index, index
  %stride = arith.index_cast %strides#0 : index to i64
  llvm.store %stride, %into : i64, !llvm.ptr
  llvm.return
}
