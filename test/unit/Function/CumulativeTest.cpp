// Cumulative ops along neighbouring elements, eager and compiled, for sizes known and not, against
// a loop.
#include "../Testing.h"

#include <random>

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

} // namespace
} // namespace weft
