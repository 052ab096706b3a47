// The same function eager and compiled.
#include <iostream>

#include <weft/weft.h>
using namespace weft;

int main() {
  auto norm = [](Tensor x) { return sqrt(sum(square(x))); };
  auto compiled = function(norm, {.name = "norm"});
  Tensor x = arange(5, f32);
  std::cout << "eager    " << norm(x) << "\ncompiled " << compiled(x) << '\n';
}
