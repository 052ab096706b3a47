// What no check at run time can make defined is an error.
// RUN: weft-opt %s --weft-runtime-verification --split-input-file --verify-diagnostics

// Memory has no sizes that can be trusted.
func.func @memory(%m: memref<4xf32>, %i: index) -> f32 {
  // expected-error @below {{'memref.load' op cannot be checked in a program on tensors: memory comes with the phase bufferize}}
  %0 = memref.load %m[%i] : memref<4xf32>
  return %0 : f32
}

// -----

// Nobody knows what is called.
func.func private @unknown(tensor<4xf32>)
func.func @calls(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op calls @unknown, which has no body: say weft.host_call for a function of the program around}}
  call @unknown(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// Other dialects have their own ways out of a tensor.
func.func @vectors(%x: tensor<4xf32>, %i: index, %p: f32) -> vector<4xf32> {
  // expected-error @below {{'vector.transfer_read' op cannot be checked in a program on tensors}}
  %0 = vector.transfer_read %x[%i], %p {in_bounds = [true]} : tensor<4xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// There is no value to check before the loop that makes it.
#one = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>
func.func @running(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  // expected-error @below {{'linalg.generic' op cannot be checked: its body divides, shifts or reads by what it reduces to; write it as scf.for}}
  %0 = linalg.generic {indexing_maps = [#one, #all], iterator_types = ["reduction"]} ins(%x : tensor<4xi32>) outs(%y : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    %q = arith.divui %a, %o : i32
    linalg.yield %q : i32
  } -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// It is written twice where coordinates are equal, whatever they are.
func.func @scatter(%x: tensor<4x4xf32>, %i: tensor<2x1xindex>, %u: tensor<2x1x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'tensor.scatter' op has no form in loops: write it as linalg.generic}}
  %0 = tensor.scatter %u into %x[%i] scatter_dims([0]) unique : (tensor<2x1x4xf32>, tensor<4x4xf32>, tensor<2x1xindex>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
