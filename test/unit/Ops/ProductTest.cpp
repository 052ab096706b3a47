// matmul, eagerly: batches, transposed and strided operands against loops.
#include "../Testing.h"

#include <csignal>

#include <unistd.h>

#include <weft/ops.h>

namespace weft {
namespace {

/// The product of two tensors of rank 2 and more by definition, of whole numbers.
std::vector<std::int64_t> by_definition(const Tensor &a, const Tensor &b, const Shape &shape) {
  const Tensor x = broadcast(a, [&] {
    Ints dims = shape;
    dims.back() = a.size(-1);
    return dims;
  }());
  const Tensor y = broadcast(b, [&] {
    Ints dims = shape;
    dims[dims.size() - 2] = b.size(-2);
    return dims;
  }());
  const auto u = x.to_vector<std::int64_t>(), v = y.to_vector<std::int64_t>();
  const std::int64_t m = shape[shape.size() - 2], n = shape.back(), k = a.size(-1);
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) batch *= shape[i];
  std::vector<std::int64_t> result;
  for (std::int64_t g = 0; g < batch; ++g)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += u[static_cast<std::size_t>((g * m + i) * k + l)] *
                 v[static_cast<std::size_t>((g * k + l) * n + j)];
        result.push_back(sum);
      }
  return result;
}

Tensor numbers(const Shape &shape, DType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) count *= dim;
  return (arange(count, i64) * 7 % 11 - 5).reshape(shape).astype(dtype);
}

TEST(Product, BatchesAgainstLoops) {
  const std::pair<Shape, Shape> cases[] = {{{3, 4}, {4, 5}},
                                           {{1, 1}, {1, 1}},
                                           {{2, 3, 4}, {2, 4, 5}},
                                           {{2, 3, 4}, {4, 5}},
                                           {{3, 4}, {6, 4, 5}},
                                           {{2, 1, 3, 4}, {1, 6, 4, 5}},
                                           {{2, 6, 3, 4}, {6, 4, 5}},
                                           {{2, 6, 3, 4}, {2, 1, 4, 5}},
                                           {{5, 2, 6, 3, 4}, {5, 1, 6, 4, 2}},
                                           {{3, 0}, {0, 5}},
                                           {{0, 4}, {4, 5}},
                                           {{0, 3, 4}, {4, 5}},
                                           {{70, 90}, {90, 80}}};
  for (const auto &[a, b] : cases)
    for (const DType dtype : {i32, i64, f32, f64}) {
      const Tensor x = numbers(a, dtype), y = numbers(b, dtype);
      const Tensor z = matmul(x, y);
      EXPECT_EQ(z.dtype(), dtype);
      const auto expected = by_definition(x, y, z.shape());
      EXPECT_EQ(z.to_vector<std::int64_t>(), expected) << to_string(a) << to_string(b);
      // The same from transposed views, and by the flags.
      EXPECT_EQ(
          matmul(x.mT().contiguous().mT(), y.mT().contiguous().mT()).to_vector<std::int64_t>(),
          expected);
      EXPECT_EQ(matmul(x.mT().contiguous(), y.mT(), {.transpose_lhs = true, .transpose_rhs = true})
                    .to_vector<std::int64_t>(),
                expected);
    }
}

TEST(Product, Vectors) {
  const Tensor m = tensor({{1, 2, 3}, {4, 5, 6}}), v = tensor({1, 0, 2}), w = tensor({1, 10});
  EXPECT_EQ(matmul(v, v).item<int>(), 5);
  EXPECT_EQ(matmul(v, v).shape(), Shape{});
  EXPECT_EQ(matmul(m, v).to_vector<int>(), (std::vector<int>{7, 16}));
  EXPECT_EQ(matmul(w, m).to_vector<int>(), (std::vector<int>{41, 52, 63}));
  EXPECT_EQ(matmul(numbers({4, 2, 3}, i32), v).shape(), (Shape{4, 2}));
  EXPECT_EQ(matmul(w, numbers({4, 2, 3}, i32)).shape(), (Shape{4, 3}));
}

TEST(Product, StridedOperands) {
  const Tensor x = numbers({6, 8}, f32), y = numbers({8, 6}, f32);
  const Tensor a = x[{slice({}, {}, 2), slice({}, {}, -1)}],
               b = y[{slice({}, {}, -1), slice(1, 5)}];
  EXPECT_EQ(matmul(a, b).to_vector<float>(),
            matmul(a.contiguous(), b.contiguous()).to_vector<float>());
}

TEST(Product, PromotesAndRefuses) {
  EXPECT_EQ(matmul(tensor({{1}}), tensor({{0.5f}})).dtype(), f32);
  EXPECT_THROWS(
      matmul(zeros({32, 784}), zeros({780, 10})), ShapeError,
      "matmul: the inner dimensions differ: lhs is (32, 784) and rhs is (780, 10), so 784 "
      "meets 780");
  EXPECT_THROWS(matmul(zeros({}), zeros({2})), ShapeError,
                "matmul: lhs is a scalar, but a matrix product needs rank 1 or more");
  EXPECT_THROWS(
      matmul(zeros({2, 3, 4}), zeros({3, 4, 5})), ShapeError,
      "matmul: the batch dimensions do not broadcast: lhs is (2, 3, 4) and rhs is (3, 4, 5)");
}

// The bytes of operands without memory were counted modulo 2^64, and then divided by.
TEST(Product, VectorsOfAnySizeAreMultiplied) {
  for (const int bits : {59, 60}) {
    const Tensor x = broadcast(tensor(1.f), {std::int64_t{1} << bits});
    EXPECT_EXIT(
        { // years, of which the first moment shall do
          ualarm(100'000, 0);
          matmul(x, x);
        },
        testing::KilledBySignal(SIGALRM), "");
  }
}

} // namespace
} // namespace weft
