// Writes a program that run.c loads: a model of any number of rows, with its weights.
#include <weft/weft.h>
using namespace weft;

int main() {
  Variable w(tensor({{1.f, -1.f}, {2.f, 0.5f}, {0.f, 3.f}}), "w"), b(tensor({0.25f, -0.25f}), "b");
  auto predict = function([&](Tensor x) { return matmul(x, w) + b; }, {.name = "predict"});
  export_program(predict, "predict.weft", {.signatures = {{spec(f32, {unknown, 3})}}});
}
