// NumPy's basic indexing.
#include "../Testing.h"

#include <weft/ops.h>

namespace weft {
namespace {

using Values = std::vector<int>;

Values values(const Tensor &x) { return x.to_vector<int>(); }

TEST(Indexing, Positions) {
  const Tensor x = arange(12).reshape({3, 4});
  EXPECT_EQ(values(x[1]), (Values{4, 5, 6, 7}));
  EXPECT_EQ(values(x[-1]), (Values{8, 9, 10, 11}));
  EXPECT_EQ((x[{2, -1}].shape()), Shape{});
  EXPECT_EQ((x[{2, -1}].item<int>()), 11);
  EXPECT_EQ(values(x[{all, 1}]), (Values{1, 5, 9}));
  EXPECT_EQ(values(x[{ellipsis, 0}]), (Values{0, 4, 8}));
  EXPECT_EQ((x[{1, ellipsis, 2}].item<int>()), 6);
}

TEST(Indexing, NewAxes) {
  const Tensor x = arange(6).reshape({2, 3});
  EXPECT_EQ((x[{newaxis, ellipsis}].shape()), (Shape{1, 2, 3}));
  EXPECT_EQ((x[{all, newaxis, 1}].shape()), (Shape{2, 1}));
  EXPECT_EQ((x[{0, newaxis}].shape()), (Shape{1, 3}));
  EXPECT_EQ((x[ellipsis].shape()), (Shape{2, 3}));
}

// Every slice of an axis of 5, against Python's definition.
TEST(Indexing, SlicesAsPythonHasThem) {
  const Tensor x = arange(5);
  const std::optional<std::int64_t> bounds[] = {{}, -7, -5, -4, -1, 0, 1, 3, 4, 5, 9};
  for (const auto &start : bounds)
    for (const auto &stop : bounds)
      for (const std::int64_t step : {-9, -3, -2, -1, 1, 2, 3, 9}) {
        const auto position = [](std::int64_t bound, bool backwards) {
          if (bound < 0) bound += 5;
          const std::int64_t least = backwards ? -1 : 0, most = backwards ? 4 : 5;
          return std::clamp(bound, least, most);
        };
        const bool backwards = step < 0;
        const std::int64_t from = start ? position(*start, backwards) : backwards ? 4 : 0;
        const std::int64_t to = stop ? position(*stop, backwards) : backwards ? -1 : 5;
        Values expected;
        for (std::int64_t i = from; backwards ? i > to : i < to; i += step)
          expected.push_back(static_cast<int>(i));
        EXPECT_EQ(values(x[slice(start, stop, step)]), expected)
            << start.value_or(99) << ":" << stop.value_or(99) << ":" << step;
      }
}

TEST(Indexing, SlicesOfSeveralAxes) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  EXPECT_EQ((x[{0, slice({}, {}, -1), slice(1, 3)}].shape()), (Shape{3, 2}));
  EXPECT_EQ(values(x[{0, slice({}, {}, -1), slice(1, 3)}]), (Values{9, 10, 5, 6, 1, 2}));
  EXPECT_EQ((x[{slice(1, 1), all}].shape()), (Shape{0, 3, 4}));
  const Tensor b = tensor({{8.f, 11.f}, {16.f, 23.f}});
  EXPECT_EQ((b[{slice({}, {}, -1), 0}].to_vector<float>()), (std::vector<float>{16, 8}));
}

TEST(Indexing, ExtremeSteps) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(values(arange(5)[slice(1, {}, huge)]), (Values{1}));
  EXPECT_EQ(values(arange(5)[slice(3, {}, -huge - 1)]), (Values{3}));
  EXPECT_EQ(arange(0)[slice({}, {}, -1)].size(), 0);
}

TEST(Indexing, ResultsAreViews) {
  const Tensor x = arange(12).reshape({3, 4});
  EXPECT_EQ(x[1].span<int>().data(), x.span<int>().data() + 4);
  EXPECT_FALSE((x[{all, slice({}, {}, 2)}].is_contiguous()));
}

TEST(Indexing, Errors) {
  const Tensor x = zeros({3, 4});
  EXPECT_THROWS(static_cast<void>(x[3]), IndexError,
                "index: 3 is out of range for axis 0 of a tensor of shape (3, 4)");
  EXPECT_THROWS(static_cast<void>(x[{0, -5}]), IndexError,
                "index: -5 is out of range for axis 1 of a tensor of shape (3, 4)");
  EXPECT_THROWS(static_cast<void>(x[{0, 0, 0}]), IndexError,
                "index: 3 indices for a tensor of shape (3, 4) (rank 2)");
  EXPECT_THROWS(static_cast<void>(x[{ellipsis, ellipsis}]), IndexError,
                "index: only one ellipsis may be given");
  EXPECT_THROWS(static_cast<void>(x[slice(0, 2, 0)]), ValueError,
                "index: the step of slice 0 is 0");
}

} // namespace
} // namespace weft
