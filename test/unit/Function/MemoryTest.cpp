// The memory of compiled calls: temporaries count as any other, and too many are an error.
#include "../Testing.h"

#include <weft/memory.h>
#include <weft/weft.h>

namespace weft {
namespace {

/// A function with a temporary of n x n elements.
auto outer_sum(std::int64_t n) {
  return function(
      [n](const Tensor &x) {
        return sum(matmul(broadcast(x, {n, 1}), broadcast(x, {1, n})), {.axes = Ints{1}});
      },
      {.name = "outer_sum"});
}

TEST(FunctionMemory, TemporariesCount) {
  auto f = outer_sum(512);
  const Tensor x = ones({1});
  EXPECT_EQ(f(x).to_vector<float>()[511], 512);
  const std::size_t before = memory_stats().current;
  reset_peak();
  EXPECT_EQ(f(x).to_vector<float>()[0], 512);
  EXPECT_GE(memory_stats().peak, before + 512 * 512 * sizeof(float));
  EXPECT_EQ(memory_stats().current, before); // and end with the call
}

TEST(FunctionMemory, TemporariesThatDoNotFit) {
  auto f = outer_sum(std::int64_t{1} << 25);
  const std::string words = "outer_sum: no memory for its temporaries: out of memory: asked for ";
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(f(ones({1})));
      FAIL() << "4 PiB were given";
    } catch (const OutOfMemory &error) {
      EXPECT_EQ(error.message().substr(0, words.size()), words);
    }
  }
  EXPECT_EQ((ones({2}) + 1).to_vector<float>(), (std::vector<float>{2, 2})); // and it goes on
}

} // namespace
} // namespace weft
