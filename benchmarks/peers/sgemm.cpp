// The matrix products of OpenBLAS and oneDNN, loaded at run time, as the peers of the matmul rows.
//
// A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON
// line.
//
//   weft-bench-sgemm openblas|onednn M K N

#include "../Harness.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <string>
#include <vector>

namespace {

using weft::bench::seconds_per_call;

// cblas.h: row-major is 101, "not transposed" is 111.
using CblasSgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *,
                            int, float, float *, int);
// dnnl.h: row-major, sizes are dnnl_dim_t (int64_t), gives 0 on success.
using DnnlSgemm = int (*)(char, char, std::int64_t, std::int64_t, std::int64_t, float,
                          const float *, std::int64_t, const float *, std::int64_t, float, float *,
                          std::int64_t);

void *symbol(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void *found = handle != nullptr ? dlsym(handle, name) : nullptr;
  if (found == nullptr) {
    std::fprintf(stderr, "weft-bench-sgemm: %s\n", dlerror());
    std::exit(1);
  }
  return found;
}

// OpenBLAS 0.3.21 does not know processors newer than itself and falls back to kernels of half the
// speed. What the environment says about kernels and caches is overruled: some machines carry
// settings made for another library.
void choose_openblas_kernels() {
  unsetenv("OPENBLAS_L2_SIZE");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  else unsetenv("OPENBLAS_CORETYPE");
}

} // namespace

int main(int argc, char **argv) {
  const std::string library = argc == 5 ? argv[1] : "";
  if (library != "openblas" && library != "onednn") {
    std::fprintf(stderr, "usage: weft-bench-sgemm openblas|onednn M K N\n");
    return 1;
  }
  const int m = std::atoi(argv[2]), k = std::atoi(argv[3]), n = std::atoi(argv[4]);
  if (m < 1 || k < 1 || n < 1) {
    std::fprintf(stderr, "weft-bench-sgemm: the sizes must be positive\n");
    return 1;
  }
  const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows) * columns; };
  const std::vector<float> a(size(m, k), 0.5f), b(size(k, n), 0.25f);
  std::vector<float> c(size(m, n));

  std::string with = "OpenBLAS";
  CblasSgemm cblas = nullptr;
  DnnlSgemm dnnl = nullptr;
  if (library == "openblas") {
    choose_openblas_kernels();
    cblas = reinterpret_cast<CblasSgemm>(symbol("libopenblas.so.0", "cblas_sgemm"));
    const auto core =
        reinterpret_cast<const char *(*)()>(symbol("libopenblas.so.0", "openblas_get_corename"));
    with += std::string(" (") + core() + ")";
  } else {
    struct Version {
      int major, minor, patch;
    };
    dnnl = reinterpret_cast<DnnlSgemm>(symbol("libdnnl.so.2", "dnnl_sgemm"));
    const auto version =
        reinterpret_cast<const Version *(*)()>(symbol("libdnnl.so.2", "dnnl_version"))();
    with = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }
  const auto products = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      if (cblas != nullptr)
        cblas(101, 111, 111, m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n);
      else dnnl('N', 'N', m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n);
  };
  for (std::string line; std::getline(std::cin, line);) {
    const double rate = 2e-9 * m * k * n / seconds_per_call(products);
    std::printf("{\"value\": %.9g, \"unit\": \"GF/s\", \"with\": \"%s\"}\n", rate, with.c_str());
    std::fflush(stdout);
  }
}
