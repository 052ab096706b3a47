// RUN: weft-opt %s --weft-lift-state --split-input-file --verify-diagnostics

weft.variable @w : tensor<f32>

func.func @returned() -> !weft.var<tensor<f32>> {
  %a = weft.handle @w : !weft.var<tensor<f32>>
  // expected-error@below {{cannot take a handle of a variable}}
  return %a : !weft.var<tensor<f32>>
}

// -----

weft.variable @w : tensor<f32>

func.func @argument(%h: !weft.var<tensor<f32>>) -> tensor<f32> {
  // expected-error@below {{gets a handle that may be any variable's; handles come from weft.handle, through scf and arith.select}}
  %0 = weft.read %h : tensor<f32>
  return %0 : tensor<f32>
}

// -----

weft.variable @w : tensor<f32>

// Calls are inlined before, all but recursive ones.
func.func @recursive() {
  // expected-error@below {{calls a function that could not be inlined: is it recursive?}}
  func.call @recursive() : () -> ()
  return
}

// -----

// Two functions that call each other are no better, nor are functions of a module without variables.
func.func @there(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@below {{calls a function that could not be inlined: is it recursive?}}
  %0 = func.call @back(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @back(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @there(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

weft.variable @w : tensor<f32>

func.func @parallel(%n: index) {
  %h = weft.handle @w : !weft.var<tensor<f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@below {{cannot hold reads or assigns of variables; scf.if, scf.for, scf.while and scf.index_switch can}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %0 = weft.read %h : tensor<f32>
    scf.reduce
  }
  return
}

// -----

// The function that is differentiated would have another number of arguments afterwards.
weft.variable @w = dense<2.0> : tensor<f32>
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @derivative(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-error@below {{'weft.gradient' op is a derivative, which weft-differentiate computes before}}
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

// A second argument for the variable would stand beside the first.
weft.variable @w : tensor<4xf32>
// expected-error@below {{has a 'weft.variable' at argument 0: weft-lift-state, which adds such arguments, ran before}}
func.func @lifted(%w: tensor<4xf32> {weft.variable = @w}) {
  return
}
