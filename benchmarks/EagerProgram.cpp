// weft-bench-eager, a small eager program: start_eager_program times all of it, eager_add8 counts
// the instructions of its adds.
#include <weft/ops.h>

#include <cstdlib>
#include <iostream>

/// The region that callgrind is told to count.
extern "C" __attribute__((noinline)) void weft_bench_adds(const weft::Tensor &a,
                                                          const weft::Tensor &b, long count) {
  for (long i = 0; i < count; ++i) {
    const weft::Tensor sum = weft::add(a, b);
    asm volatile("" : : "r"(&sum) : "memory");
  }
}

int main(int argc, char **argv) {
  const weft::Tensor a = weft::arange(8, weft::DType::f32), b = weft::ones({8});
  if (argc > 1) {
    // The first add picks the kernels of this processor and fills the allocator's cache: not
    // counted.
    std::cout << weft::add(a, b) << '\n';
    weft_bench_adds(a, b, std::atol(argv[1]));
  } else {
    std::cout << weft::sum(weft::add(a, a)).item<float>() << '\n';
  }
}
