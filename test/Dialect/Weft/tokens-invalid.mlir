// Tokens that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @no_tokens() {
  // expected-error@below {{wants at least one token}}
  %0 = "weft.join"() : () -> !weft.token
  return
}

// -----

func.func @only_before(%t: !weft.token) {
  // expected-error@below {{has a token before it and one of its own, or neither}}
  "weft.print"(%t) <{format = "x", operandSegmentSizes = array<i32: 0, 1>}> : (!weft.token) -> ()
  return
}

// -----

func.func @only_own() {
  // expected-error@below {{has a token before it and one of its own, or neither}}
  %0 = "weft.print"() <{format = "x", operandSegmentSizes = array<i32: 0, 0>}> : () -> !weft.token
  return
}

// -----

func.func @no_token(%x: tensor<f32>) {
  // expected-error@below {{must be variadic of token, but got 'tensor<f32>'}}
  "weft.finish"(%x) : (tensor<f32>) -> ()
  return
}
