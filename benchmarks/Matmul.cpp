// matmul_*: matrix products of floats, against the better of OpenBLAS and oneDNN.
#include "Benchmarks.h"

#include <weft/ops.h>

#include <cstdio>

namespace weft::bench {

Row matmul(const std::string &name, const Session &session) {
  // "matmul_512" is square, "matmul_10x784x512" names the rows, the shared dimension and the
  // columns.
  int m = 0, k = 0, n = 0;
  if (std::sscanf(name.c_str(), "matmul_%dx%dx%d", &m, &k, &n) == 1) k = n = m;
  const Tensor a = full({m, k}, 0.5), b = full({k, n}, 0.25);
  const double operations = 2.0 * m * k * n;
  const auto weft_repeat = [&] {
    return 1e-9 * operations / seconds_per_call([&](std::int64_t count) {
             for (std::int64_t i = 0; i < count; ++i) keep(weft::matmul(a, b));
           });
  };
  return compare(
      name, "GF/s",
      {{"weft", weft_repeat}, session.blas("openblas", m, k, n), session.blas("onednn", m, k, n)},
      session.repeats);
}

} // namespace weft::bench
