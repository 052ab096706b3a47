// Programs whose effects tokens cannot order.
// RUN: weft-opt %s --weft-insert-control-deps --split-input-file --verify-diagnostics

func.func @parallel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@below {{cannot hold reads or assigns of variables, prints or asserts; scf.if, scf.for, scf.while and scf.index_switch can}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    weft.print "in"
    scf.reduce
  }
  return
}

// -----

func.func @foreign(%m: memref<1xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  weft.print "before"
  // expected-error@below {{has effects of a kind that tokens do not order}}
  memref.store %x, %m[%c0] : memref<1xf32>
  return
}

// -----

func.func private @elsewhere()

func.func @calls_elsewhere() {
  weft.print "before"
  // expected-error@below {{has effects of a kind that tokens do not order}}
  func.call @elsewhere() : () -> ()
  return
}

// -----

// expected-error@below {{has branches between blocks; control flow is scf here}}
func.func @blocks(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  weft.print "a"
  cf.br ^b
^b:
  return
}

// -----

// The signature of what it calls would change.
func.func private @loud(%x: tensor<f32>) -> tensor<f32> {
  weft.print "{}", %x : tensor<f32>
  return %x : tensor<f32>
}
func.func @differentiates(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@below {{is a derivative, which weft-differentiate computes before}}
  %0:2 = weft.gradient @loud(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
