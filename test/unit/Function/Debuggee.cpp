// weft-debuggee: a traced function for DebuggerTest to stop in and to profile. Its argument is how
// often to call it.
#include <weft/weft.h>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace weft;

namespace {

Tensor scale(const Tensor &x) {
  return x * 0.5; // the line in a helper
}

} // namespace

int main(int argc, char **argv) {
  auto halve = function(scale, {.name = "halve"});
  auto step = function(
      [&](const Tensor &x) {
        Tensor y = matmul(x, x);
        y = exp(y);   // the line to stop at
        y = halve(y); // a call
        return sum(y, {.axes = Ints{0}});
      },
      {.name = "step"});
  const Tensor x = full({96, 96}, 0.01);
  float total = 0;
  for (int i = 0; i < (argc > 1 ? std::atoi(argv[1]) : 1); ++i) total += step(x).span<float>()[0];
  std::printf("pid %d total %g\n", getpid(), total);
}
