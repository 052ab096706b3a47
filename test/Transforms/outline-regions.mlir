// Deep nests are cut: what is below a depth becomes private functions, until buffers are assigned.
// RUN: weft-opt %s --weft-outline-regions=max-depth=2 | FileCheck %s
// RUN: weft-opt %s --weft-outline-regions=max-depth=2 --inline --symbol-dce | FileCheck %s --check-prefix=BACK

// The inner branch is two levels deep and holds another: it is cut, and the one inside it with it. A
// nest of two levels stays.
// CHECK: func.func private @region_0(%{{.*}}: tensor<4xf32>, %{{.*}}: i1) -> tensor<4xf32>
// CHECK: scf.if
// CHECK-LABEL: func.func @nest
// CHECK: scf.if
// CHECK-NEXT: scf.if
// CHECK-NEXT: call @region_0
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func @flat
// CHECK-COUNT-2: scf.if
// CHECK-NOT: call
// BACK-LABEL: func.func @nest
// BACK: scf.if
// BACK-NOT: call
func.func @nest(%a: i1, %b: i1, %c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %a -> tensor<4xf32> {
    %s = scf.if %b -> tensor<4xf32> {
      %t = scf.if %c -> tensor<4xf32> {
        %0 = weft.add %x, %x : tensor<4xf32>
        scf.yield %0 : tensor<4xf32>
      } else {
        scf.yield %x : tensor<4xf32>
      }
      scf.yield %t : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @flat(%a: i1, %b: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %a -> tensor<4xf32> {
    %s = scf.if %b -> tensor<4xf32> {
      %0 = weft.add %x, %x : tensor<4xf32>
      scf.yield %0 : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
