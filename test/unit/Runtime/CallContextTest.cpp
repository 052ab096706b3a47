// The functions that compiled code calls, called as it does.
#include "Runtime/CallContext.h"
#include "../Testing.h"

#include <cmath>
#include <cstring>

#include <weft/memory.h>
#include <weft/print.h>

namespace weft {
namespace {

template <class T>
RuntimeValue value_of(const T *data, std::int32_t rank = 0, const std::int64_t *dims = nullptr) {
  return {static_cast<std::int32_t>(dtype_of<T>), rank, dims, data};
}

TEST(CallContext, Print) {
  std::vector<std::string> lines;
  const PrintSink before = set_print_sink([&](std::string_view line) { lines.emplace_back(line); });
  CallContext context;
  const float loss = 0.482f;
  const std::int32_t matrix[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t dims[] = {3, 2};
  const RuntimeValue values[] = {value_of(&loss), value_of(matrix, 2, dims)};
  const char format[] = "loss is {}, counts {}";
  weft_rt_print(&context, format, sizeof format - 1, values, 2);
  weft_rt_print(&context, "only text", 4, nullptr, 0);
  set_print_sink(before);
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "loss is 0.482, counts tensor([[1, 2],\n        [3, 4],\n        [5, 6]], "
                       "shape=(3, 2), dtype=i32)",
                       "only"}));
}

TEST(CallContext, AssertFail) {
  CallContext context;
  context.function = "train_step";
  const float loss = NAN;
  const RuntimeValue values[] = {value_of(&loss)};
  EXPECT_THROWS(
      weft_rt_assert_fail(&context, "train.cpp:58", 12, "loss is finite; loss = {}", 25, values, 1),
      AssertionError, "train.cpp:58: assertion failed in train_step: loss is finite; loss = nan");
  EXPECT_THROWS(weft_rt_assert_fail(&context, nullptr, 0, "loss is finite", 14, values, 1),
                AssertionError, "assertion failed in train_step: loss is finite; nan");
}

TEST(CallContext, Indices) {
  CallContext context;
  const std::int32_t narrow[] = {0, 4, 2};
  const std::int64_t wide[] = {0, -1};
  weft_rt_check_indices(&context, "gather", static_cast<std::int32_t>(i32), narrow, 3, 5);
  weft_rt_check_indices(&context, "gather", static_cast<std::int32_t>(i32), narrow, 0, 0);
  EXPECT_THROWS(
      weft_rt_check_indices(&context, "gather", static_cast<std::int32_t>(i32), narrow, 3, 4),
      IndexError, "gather: index 4 is out of range for an axis of size 4");
  EXPECT_THROWS(
      weft_rt_check_indices(&context, "gather", static_cast<std::int32_t>(i64), wide, 2, 9),
      IndexError, "gather: index -1 is out of range for an axis of size 9");
}

TEST(CallContext, TemporariesDieWithTheCall) {
  const std::size_t before = memory_stats().current;
  {
    CallContext context;
    void *first = weft_rt_alloc(&context, 100), *second = weft_rt_alloc(&context, 1 << 20),
         *third = weft_rt_alloc(&context, 0);
    for (void *memory : {first, second, third}) {
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    }
    std::memset(second, 1, 1 << 20);
    weft_rt_free(&context, second); // from the middle of the list
    weft_rt_free(&context, third);
    weft_rt_alloc(&context, 1);
    EXPECT_GT(memory_stats().current, before);
  }
  EXPECT_EQ(memory_stats().current, before);
}

TEST(CallContext, Outputs) {
  Tensor outputs[2];
  CallContext context;
  context.outputs = outputs;
  context.output_count = 2;
  const std::int64_t dims[] = {2, 3};
  auto *data =
      static_cast<float *>(weft_rt_output(&context, 1, static_cast<std::int32_t>(f32), 2, dims));
  for (int i = 0; i < 6; ++i) data[i] = static_cast<float>(i);
  EXPECT_FALSE(outputs[0].defined());
  EXPECT_EQ(outputs[1].type(), spec(f32, {2, 3}));
  EXPECT_EQ(outputs[1].to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW(weft_rt_output(&context, 2, 0, 0, nullptr), InternalError);
}

} // namespace
} // namespace weft
