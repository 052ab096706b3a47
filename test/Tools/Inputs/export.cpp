// Writes what weft-compile needs of a traced function: its text, and the values of what it uses.
#include <fstream>
#include <iostream>

#include <weft/weft.h>
using namespace weft;

int main(int, char **argv) {
  const std::string folder = argv[1];
  Variable w(random::normal({64, 32}, {.seed = 1}), "w");
  Tensor table = random::normal({64, 64}, {.seed = 2});
  auto predict = function(
      [&](Tensor x) { return cumsum(sum(tanh(matmul(matmul(x, table), w)), {.axes = Ints{1}})); },
      {.name = "predict", .signature = {{f32, {unknown, 64}}}});
  std::ofstream(folder + "/predict.mlir") << predict.ir(ones({1, 64}), Phase::trace);
  save_npy(folder + "/w.npy", w.value());
  save_npy(folder + "/table.npy", table);
  std::cout << predict(reshape(arange(128, f32) * 0.001F, {2, 64})) << '\n';
}
