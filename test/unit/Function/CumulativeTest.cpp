// Cumulative ops, eager and compiled, for sizes known and not, against a loop, and on any number of
// threads.
#include "../Testing.h"

#include <random>

#include "Support/Threads.h"
#include <weft/weft.h>

namespace weft {
namespace {

// Fewer and more lines than go together, with every way that a cumulative op goes.
TEST(Cumulative, LinesAgreeWithALoop) {
  for (const std::int64_t lines : {1, 2, 4, 5, 11})
    for (const std::int64_t size : {1, 2, 7, 100})
      for (const bool reverse : {false, true})
        for (const bool exclusive : {false, true}) {
          std::mt19937 dice(static_cast<unsigned>(lines * 1000 + size));
          std::vector<float> values(static_cast<std::size_t>(lines * size));
          for (float &value : values) value = static_cast<float>(dice() % 1000) / 7 - 60;
          const auto run = [=](const Tensor &x) {
            return cumsum(x, {.axis = 1, .reverse = reverse, .exclusive = exclusive});
          };
          std::vector<float> want(values.size());
          for (std::int64_t i = 0; i < lines; ++i) {
            float sum = 0;
            for (std::int64_t j = 0; j < size; ++j) {
              const auto at = static_cast<std::size_t>(i * size + (reverse ? size - 1 - j : j));
              if (exclusive) want[at] = sum;
              sum = j == 0 ? values[at] : sum + values[at];
              if (!exclusive) want[at] = sum;
            }
          }
          const Tensor x = tensor(values, {lines, size});
          EXPECT_EQ(run(x).to_vector<float>(), want);
          EXPECT_EQ(function(run)(x).to_vector<float>(), want);
          const auto any = function(run, {.signature = {spec(f32, {unknown, unknown})}});
          EXPECT_EQ(any(x).to_vector<float>(), want);
        }
}

// Slices, and columns of few slices, that are cut for threads and for the cache, with rests.
TEST(Cumulative, ThreadsDoNotMatter) {
  const int before = threads::max_threads();
  for (const Shape &shape : {Shape{300, 700, 1}, Shape{1, 40, 9001}, Shape{2, 700, 130},
                             Shape{70, 9, 300}, Shape{3, 8200, 2}}) {
    std::mt19937 dice(7);
    std::vector<float> values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    for (float &value : values) value = static_cast<float>(dice() % 1000) / 7 - 60;
    const Tensor x = tensor(values, shape);
    std::vector<float> want(values.size());
    const std::int64_t inner = shape[2], size = shape[1];
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool first = i / inner % size == 0;
      want[at] = first ? values[at] : want[at - static_cast<std::size_t>(inner)] + values[at];
    }
    const auto run = [](const Tensor &x) { return cumsum(x, {.axis = 1}); };
    const auto compiled = function(run);
    for (const int count : {1, 2, 5}) {
      threads::set_num_threads(count);
      EXPECT_EQ(run(x).to_vector<float>(), want) << to_string(shape) << count;
      EXPECT_EQ(compiled(x).to_vector<float>(), want) << to_string(shape) << count;
    }
  }
  threads::set_num_threads(before);
}

} // namespace
} // namespace weft
