// Eager ops on views and copies of views, against elements found by hand.
#include "../Testing.h"

#include <functional>
#include <string>
#include <vector>

#include <weft/weft.h>

namespace weft {
namespace {

/// A view of a matrix: which element of it stands at (i, j).
struct View {
  std::string name;
  std::function<Tensor(const Tensor &)> make;
  std::function<std::int64_t(std::int64_t i, std::int64_t j)> row, column;
};

std::vector<View> views_of(std::int64_t rows, std::int64_t columns) {
  const auto same_i = [](std::int64_t i, std::int64_t) { return i; };
  const auto same_j = [](std::int64_t, std::int64_t j) { return j; };
  std::vector<View> views = {
      {"transposed", [](const Tensor &x) { return transpose(x, {1, 0}); }, same_j, same_i},
      {"rows backwards", [](const Tensor &x) { return x[{all, slice({}, {}, -1)}]; }, same_i,
       [=](std::int64_t, std::int64_t j) { return columns - 1 - j; }},
      {"upside down", [](const Tensor &x) { return x[slice({}, {}, -1)]; },
       [=](std::int64_t i, std::int64_t) { return rows - 1 - i; }, same_j},
      {"shifted", [](const Tensor &x) { return x[{all, slice(1, {})}]; }, same_i,
       [](std::int64_t, std::int64_t j) { return j + 1; }},
      {"transposed and backwards",
       [](const Tensor &x) { return transpose(x, {1, 0})[{all, slice({}, {}, -1)}]; },
       [=](std::int64_t, std::int64_t j) { return rows - 1 - j; }, same_i},
  };
  for (const std::int64_t step : {2, 3, 7})
    views.push_back({"step " + std::to_string(step),
                     [=](const Tensor &x) { return x[{all, slice({}, {}, step)}]; }, same_i,
                     [=](std::int64_t, std::int64_t j) { return j * step; }});
  return views;
}

void expect_elements(const Tensor &got, const Tensor &base, const View &view, double plus) {
  const std::int64_t rows = got.size(0), columns = got.size(1);
  const std::vector<double> values = got.to_vector<double>(), from = base.to_vector<double>();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      wrong +=
          values[static_cast<std::size_t>(i * columns + j)] !=
          from[static_cast<std::size_t>(view.row(i, j) * base.size(1) + view.column(i, j))] + plus;
  EXPECT_EQ(wrong, 0) << view.name << " of " << to_string(base.type());
}

TEST(Strided, CopiesAndOpsFindTheElementsOfViews) {
  // Smaller and larger than tiles and blocks, and not multiples of them.
  for (const Shape &shape : {Shape{3, 5}, Shape{40, 36}, Shape{64, 64}, Shape{70, 333},
                             Shape{333, 70}, Shape{517, 1030}})
    for (const DType dtype : {boolean, i32, i64, f32, f64}) {
      if (!long_tests() && shape[0] > 500 && dtype != f32) continue;
      const Tensor numbers =
          arange(static_cast<int>(shape[0] * shape[1]), i64).reshape({shape[0], shape[1]});
      const Tensor base = dtype == boolean ? numbers % 3 == 0 : numbers.astype(dtype);
      for (const View &view : views_of(shape[0], shape[1])) {
        const Tensor v = view.make(base);
        expect_elements(v.contiguous(), base, view, 0);
        if (dtype == boolean) {
          expect_elements(logical_not(logical_not(v)), base, view, 0);
          continue;
        }
        expect_elements(v + 1, base, view, 1);
        // A row, a column and a whole matrix beside the view.
        const Tensor ones_like = ones({v.size(0), v.size(1)}, dtype);
        expect_elements(v + ones_like, base, view, 1);
        expect_elements(ones_like[0] + v, base, view, 1);
        expect_elements(v + ones({v.size(0), 1}, dtype), base, view, 1);
        expect_elements(select(v == v, v, ones_like), base, view, 0);
        expect_elements(maximum(v, v), base, view, 0);
      }
    }
}

// Kernels repeat some operands along a row, never all.
TEST(Strided, OperandsThatAllRepeatTheirElements) {
  const Tensor one = broadcast(tensor(2.f), {300, 300});
  const Tensor column = arange(300, f32).reshape({300, 1}), wide = broadcast(column, {300, 70});
  EXPECT_EQ((one * 3).to_vector<float>(), std::vector<float>(300 * 300, 6.f));
  EXPECT_EQ(exp(broadcast(tensor(0.f), {64, 100})).to_vector<float>(),
            std::vector<float>(64 * 100, 1.f));
  EXPECT_EQ((one + one).to_vector<float>(), std::vector<float>(300 * 300, 4.f));
  for (const Tensor &sum : {wide + wide, wide + column, column + wide, wide * 2.f,
                            select(wide == wide, wide + wide, column)}) {
    const std::vector<float> values = sum.to_vector<float>();
    ASSERT_EQ(values.size(), 300u * 70);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], 2.f * static_cast<float>(i / 70));
  }
}

TEST(Strided, MoreAxes) {
  const Tensor x = arange(5 * 40 * 36 * 3, i32).reshape({5, 40, 36, 3});
  for (const Ints &order :
       {Ints{0, 3, 1, 2}, Ints{0, 2, 1, 3}, Ints{3, 2, 1, 0}, Ints{1, 0, 2, 3}}) {
    const Tensor v = transpose(x, order);
    const std::vector<std::int32_t> copy = v.contiguous().to_vector<std::int32_t>(),
                                    sums = (v + v).to_vector<std::int32_t>(),
                                    base = x.to_vector<std::int32_t>();
    std::int64_t step[4] = {40 * 36 * 3, 36 * 3, 3, 1}, at = 0, wrong = 0;
    for (std::int64_t a = 0; a < v.size(0); ++a)
      for (std::int64_t b = 0; b < v.size(1); ++b)
        for (std::int64_t c = 0; c < v.size(2); ++c)
          for (std::int64_t d = 0; d < v.size(3); ++d, ++at) {
            const std::int32_t value = base[static_cast<std::size_t>(
                a * step[order[0]] + b * step[order[1]] + c * step[order[2]] + d * step[order[3]])];
            const auto index = static_cast<std::size_t>(at);
            wrong += copy[index] != value || sums[index] != 2 * value;
          }
    EXPECT_EQ(wrong, 0);
  }
}

} // namespace
} // namespace weft
