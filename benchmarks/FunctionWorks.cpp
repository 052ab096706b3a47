// The shapes of work of the group functions: linear algebra and Fourier transforms in f64, special
// functions in f32.
#include "ShapesOfWork.h"

namespace weft::bench {

namespace {

std::vector<Work> of_matrices() {
  const auto f64s = [](std::vector<std::int64_t> shape) {
    return WorkInput{Elements::f64, std::move(shape), -1, 1};
  };
  const auto definite = [](std::int64_t n) { return WorkInput{Elements::definite, {n, n}, -1, 1}; };
  return {
      {"solve_1000",
       "a system of 1000 equations, by LU",
       {f64s({1000, 1000}), f64s({1000})},
       [](const Tensors &x) -> Tensors { return {linalg::solve(x[0], x[1])}; },
       kNumPy},
      {"solve_10000x8x8",
       "10,000 systems of 8 equations",
       {f64s({10000, 8, 8}), f64s({10000, 8, 1})},
       [](const Tensors &x) -> Tensors { return {linalg::solve(x[0], x[1])}; },
       kNumPy},
      {"cholesky_1000",
       "Cholesky's factor of 1000 x 1000",
       {definite(1000)},
       [](const Tensors &x) -> Tensors { return {linalg::cholesky(x[0])}; },
       kNumPy},
      {.name = "qr_1000",
       .what = "an orthonormal basis and a triangle of 1000 x 1000",
       .inputs = {f64s({1000, 1000})},
       .run = [](const Tensors &x) -> Tensors {
         const auto [q, r] = linalg::qr(x[0]);
         return {r, q};
       },
       .peers = kNumPy,
       .any_sign = true},
      {.name = "svd_300",
       .what = "singular values and vectors of 300 x 300",
       .inputs = {f64s({300, 300})},
       .run = [](const Tensors &x) -> Tensors {
         const auto [u, s, vh] = linalg::svd(x[0]);
         return {s, u, vh};
       },
       .peers = kNumPy,
       .any_sign = true},
      {.name = "eigh_500",
       .what = "eigenvalues and eigenvectors of a symmetric 500 x 500",
       .inputs = {definite(500)},
       .run = [](const Tensors &x) -> Tensors {
         const auto [values, vectors] = linalg::eigh(x[0]);
         return {values, vectors};
       },
       .peers = kNumPy,
       .any_sign = true},
  };
}

std::vector<Work> transforms() {
  const auto c128s = [](std::vector<std::int64_t> shape) {
    return WorkInput{Elements::c128, std::move(shape), -1, 1};
  };
  const auto rows = [](const Tensors &x) -> Tensors { return {fft::fft(x[0])}; };
  return {
      {"fft_1024", "the transform of 1024 numbers", {c128s({1024})}, rows, kNumPy | kDucc},
      {"fft_1M", "that of 1 Mi numbers", {c128s({kMi})}, rows, kNumPy | kDucc},
      {"fft_1000x256", "those of 1000 rows of 256", {c128s({1000, 256})}, rows, kNumPy | kDucc},
      {"fft2_512",
       "that of 512 x 512 over both axes",
       {c128s({512, 512})},
       [](const Tensors &x) -> Tensors { return {fft::fft2(x[0])}; },
       kNumPy | kDucc},
  };
}

std::vector<Work> special() {
  return {
      {"erf_4M",
       "the error function of 4 Mi numbers",
       {uniform({4 * kMi}, -3, 3)},
       [](const Tensors &x) -> Tensors { return {erf(x[0])}; }},
      {"lgamma_4M",
       "the logarithm of the gamma function of 4 Mi numbers",
       {uniform({4 * kMi}, 0.1, 20)},
       [](const Tensors &x) -> Tensors { return {lgamma(x[0])}; }},
      {"tan_4M",
       "the tangent of 4 Mi numbers",
       {uniform({4 * kMi}, -1.5, 1.5)},
       [](const Tensors &x) -> Tensors { return {tan(x[0])}; }},
      {"atan2_4M",
       "the angle of 4 Mi points",
       {uniform({4 * kMi}), uniform({4 * kMi})},
       [](const Tensors &x) -> Tensors { return {atan2(x[0], x[1])}; }},
      {"erfinv_4M",
       "the inverse of the error function of 4 Mi numbers",
       {uniform({4 * kMi}, -0.999, 0.999)},
       [](const Tensors &x) -> Tensors { return {erfinv(x[0])}; }},
  };
}

} // namespace

std::vector<Work> function_works() {
  std::vector<Work> list;
  for (std::vector<Work> part : {of_matrices(), transforms(), special()})
    for (Work &work : part) {
      work.group = kFunctions;
      list.push_back(std::move(work));
    }
  return list;
}

} // namespace weft::bench
