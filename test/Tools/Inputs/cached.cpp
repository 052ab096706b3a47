// A traced function, whose code comes from the cache at the second run.
#include <iostream>

#include <weft/weft.h>

int main() {
  auto f = weft::function([](weft::Tensor x) { return x * 2; }, {.name = "twice"});
  try {
    std::cout << f(weft::tensor(1.5f)).item<float>() << '\n';
  } catch (const weft::CompileError &error) {
    std::cout << "CompileError: " << error.message() << '\n';
  }
}
