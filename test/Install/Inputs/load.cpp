// Loads a program and runs it, and says whether libweft-compiler was loaded for it.
#include <fstream>
#include <iostream>
#include <string>

#include <weft/weft.h>
using namespace weft;

int main(int, char **arguments) {
  std::cout << load_program(arguments[1])(ones({1, 3}))[0] << '\n';
  std::ifstream maps("/proc/self/maps");
  int lines = 0;
  for (std::string line; std::getline(maps, line);)
    lines += line.find("libweft-compiler") != std::string::npos;
  std::cout << "compiler loaded: " << lines << '\n';
  try {
    function([](Tensor x) { return x + 1; })(ones({2}));
  } catch (const CompileError &error) {
    std::cout << "not compiled: " << error.what() << '\n';
  }
}
