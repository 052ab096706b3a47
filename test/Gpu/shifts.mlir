// Shifts by counts of 64 bits of which the lower half would be in range: of those LLVM 22 drops the upper one where a selection by the
// count stands around the shift.
// RUN: %emulated weft-run %s --device=gpu:0 --entry=left --print --arg='dense<1> : tensor<6xi64>' --arg='dense<[0, 63, 64, -9223372036854775808, 4294967297, -1]> : tensor<6xi64>' | FileCheck %s
// CHECK: tensor([1, -9223372036854775808, 0, 0, 0, 0], shape=(6,), dtype=i64)
// RUN: %emulated weft-run %s --device=gpu:0 --entry=right --print --arg='dense<8> : tensor<5xui64>' --arg='dense<[0, 3, 64, 4294967297, 9223372036854775808]> : tensor<5xui64>' | FileCheck %s --check-prefix=RIGHT
// RIGHT: tensor([8, 1, 0, 0, 0], shape=(5,), dtype=u64)
func.func @left(%x: tensor<6xi64>, %n: tensor<6xi64>) -> tensor<6xi64> {
  %0 = weft.bitwise_left_shift %x, %n : tensor<6xi64>
  return %0 : tensor<6xi64>
}
func.func @right(%x: tensor<5xui64>, %n: tensor<5xui64>) -> tensor<5xui64> {
  %0 = weft.bitwise_right_shift %x, %n : tensor<5xui64>
  return %0 : tensor<5xui64>
}
