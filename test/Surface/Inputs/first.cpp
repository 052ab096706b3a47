// The half of the program that is called: it makes tensors, functions and gradients in one compiler
// for the other.
#include "program.h"

using namespace weft;

Tensor from_first(const Tensor &x) {
  GradientTape tape;
  tape.watch(x);
  Tensor y = sum(x * x * tensor({1.f, 2.f}));
  return tape.gradient(y, x);
}

Function<Tensor (*)(Tensor)> traced_in_first() {
  return function(+[](Tensor x) { return for_loop(3, [](Tensor, Tensor y) { return y + 1; }, x); });
}

void fill(Variable &variable, std::vector<Tensor> values) {
  for (const Tensor &value : values) variable.assign_add(value);
}
