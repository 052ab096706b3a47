// RUN: weft-opt %s --weft-to-linalg --verify-diagnostics

weft.variable @w : tensor<f32>

// Variables are the business of weft-lift-state, which has to run before.
func.func @read() -> tensor<f32> {
  // expected-error@below {{has no form in linalg; variables are lifted before, by weft-lift-state}}
  %h = weft.handle @w : !weft.var<tensor<f32>>
  %0 = weft.read %h : tensor<f32>
  return %0 : tensor<f32>
}

// Below, floats of 16 bits are integers.
func.func @upstream(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // expected-error@below {{computes with floats of 16 or 8 bits, which only ops of the weft dialect do}}
  %0 = arith.addf %x, %x : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
