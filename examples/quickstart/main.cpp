// quickstart: the program of the README: fit a line, eagerly and as a traced function.
#include <iostream>

#include <weft/names.h>
using namespace weft::names;

int main() {
  Tensor x = weft::random::uniform({256, 1}, {.seed = 1});
  Tensor y = 3 * x + 2 + 0.01 * weft::random::normal({256, 1}, {.seed = 2});
  Variable w(zeros({1, 1}), "w"), b(zeros({1}), "b");

  auto step = [&](Tensor x, Tensor y) {
    GradientTape tape; // records from here on, in this thread
    Tensor loss = mean(square(matmul(x, w) + b - y));
    auto [dw, db] = tape.gradient(loss, {w, b});
    w.assign_sub(0.5 * dw);
    b.assign_sub(0.5 * db);
    return loss;
  };
  for (int i = 0; i < 100; ++i) step(x, y);         // eager: every op runs at once
  auto compiled = function(step, {.name = "step"}); // traced at its first call, then machine code
  for (int i = 0; i < 100; ++i) compiled(x, y);
  std::cout << "w = " << w.value() << ", b = " << b.value() << '\n'
            << compiled.ir(x, y, Phase::trace);
}
