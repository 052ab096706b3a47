// The pass weft-gather-variables: what cannot be done with a variable of which ranks have parts.
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-gather-variables

// An assignment would have to be cut.
weft.variable @w : tensor<3xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
func.func @assigned(%x: tensor<3xf32>) {
  %0 = weft.handle @w : !weft.var<tensor<3xf32>>
  // expected-error @below {{'weft.assign' op cannot use @w, which is cut over ranks: only reads can}}
  weft.assign %0, %x : tensor<3xf32>
  return
}
