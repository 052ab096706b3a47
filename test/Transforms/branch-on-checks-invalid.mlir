// Tokens are gone by the time that checks become branches.
// RUN: weft-opt %s --weft-branch-on-checks --split-input-file --verify-diagnostics

func.func @host(%t: !weft.token, %x: tensor<i1>) -> tensor<i1> {
  // expected-error @below {{'weft.host_call' op is ordered by tokens; weft-lift-state takes them away before}}
  %y, %t1 = weft.host_call @f(%x) after %t : (tensor<i1>) -> tensor<i1>
  %t2 = weft.host_call @g() after %t1 : () -> ()
  return %y : tensor<i1>
}

// -----

func.func @print(%t: !weft.token) -> !weft.token {
  // expected-error @below {{'weft.print' op is ordered by tokens}}
  %t1 = weft.print "x" after %t
  return %t1 : !weft.token
}
