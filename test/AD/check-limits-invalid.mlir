// Branches of called functions count as nested in those that call: 300 branches in 3 functions.
// RUN: python3 -c 'd = 100; f = lambda n, v, inner: "func.func " + v + "@f" + str(n) + "(%%x: tensor<f32>, %%c: i1) -> tensor<f32> {\n%%r = " + "scf.if %%c -> tensor<f32> {\n%%r = " * d + inner + "\nscf.yield %%r : tensor<f32>\n} else {\nscf.yield %%x : tensor<f32>\n}" * d + "\nreturn %%r : tensor<f32>\n}"; call = lambda n: "func.call @f" + str(n) + "(%%x, %%c) : (tensor<f32>, i1) -> tensor<f32>"; print(f(0, "", call(1)), f(1, "private ", call(2)), f(2, "private ", "weft.exp %%x : tensor<f32>"), sep="\n")' > %t.mlir
// RUN: not weft-opt %t.mlir --weft-phase-differentiate 2>&1 | FileCheck %s
// RUN: not weft-compile %t.mlir -o - 2>&1 | FileCheck %s
// CHECK: error: {{.*}}has branches and loops nested 300 deep, those of called functions counted in; at most 256 are possible

// Functions that call the next one twice: 2 to the power of 40 ops.
// RUN: python3 -c 'f = lambda n, v, op: "func.func " + v + "@f" + str(n) + "(%%x: tensor<f32>) -> tensor<f32> {\n" + op + "return %%b : tensor<f32>\n}"; call = lambda n: "%%a = func.call @f" + str(n) + "(%%x) : (tensor<f32>) -> tensor<f32>\n%%b = func.call @f" + str(n) + "(%%a) : (tensor<f32>) -> tensor<f32>\n"; print(*[f(n, "private " if n else "", call(n + 1)) for n in range(40)], f(40, "private ", "%%b = weft.exp %%x : tensor<f32>\n"), sep="\n")' > %t.many.mlir
// RUN: not weft-opt %t.many.mlir --weft-phase-differentiate 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not weft-compile %t.many.mlir -o - 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: '{{.*}}' has more than 1048576 ops, those of called functions counted at every call: calls are inlined; call in a loop what is called often
