// The functions that compiled code calls, called as it does.
#include "Runtime/CallContext.h"
#include "../Testing.h"
#include "Runtime/HostFunction.h"
#include "Support/CallSite.h"

#include <cmath>
#include <cstring>

#include <weft/memory.h>
#include <weft/print.h>

/// A door of the generated ones.
extern "C" void weft_rt_cholesky_f32(weft::CallContext *context, std::int64_t site,
                                     const std::int64_t *numbers, const void *x, void *y);

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

/// Site 7 is train.cpp:58.
struct OneLocation final : LocationTable {
  SourceLocation location(std::int64_t site) const override {
    return site == 7 ? SourceLocation{"/home/user/train.cpp", 58, 3} : SourceLocation();
  }
};

TEST(CallContext, AssertFail) {
  CallContext context;
  context.function = "train_step";
  const OneLocation locations;
  const float loss = NAN;
  const RuntimeValue values[] = {value_of(&loss)};
  // No table, a number that is not in it, no number.
  for (const std::int64_t site : {7, 8, -1}) {
    EXPECT_THROWS(weft_rt_assert_fail(&context, site, "loss is finite", 14, values, 1),
                  AssertionError, "assertion failed in train_step: loss is finite; nan");
    context.locations = &locations;
  }
  try {
    weft_rt_assert_fail(&context, 7, "loss is finite; loss = {}", 25, values, 1);
    FAIL() << "nothing was thrown";
  } catch (const AssertionError &error) {
    EXPECT_STREQ(error.what(),
                 "train.cpp:58: assertion failed in train_step: loss is finite; loss = nan");
    EXPECT_EQ(error.location(), (SourceLocation{"/home/user/train.cpp", 58, 3}));
  }
}

TEST(CallContext, Indices) {
  CallContext context;
  const std::int32_t narrow[] = {0, 4, 2};
  const std::int64_t wide[] = {0, -1};
  weft_rt_check_indices(&context, -1, "gather", static_cast<std::int32_t>(i32), narrow, 3, 5);
  weft_rt_check_indices(&context, -1, "gather", static_cast<std::int32_t>(i32), narrow, 0, 0);
  EXPECT_THROWS(
      weft_rt_check_indices(&context, -1, "gather", static_cast<std::int32_t>(i32), narrow, 3, 4),
      IndexError, "gather: index 4 is out of range for an axis of size 4");
  EXPECT_THROWS(
      weft_rt_check_indices(&context, -1, "gather", static_cast<std::int32_t>(i64), wide, 2, 9),
      IndexError, "gather: index -1 is out of range for an axis of size 9");
}

TEST(CallContext, Outside) {
  const std::int32_t narrow[] = {0, 4, 2};
  const std::int64_t wide[] = {0, -1};
  const auto i32_code = static_cast<std::int32_t>(i32), i64_code = static_cast<std::int32_t>(i64);
  EXPECT_FALSE(weft_rt_outside(i32_code, narrow, 3, 5));
  EXPECT_FALSE(weft_rt_outside(i32_code, narrow, 0, 0));
  EXPECT_TRUE(weft_rt_outside(i32_code, narrow, 3, 4));
  EXPECT_TRUE(weft_rt_outside(i64_code, wide, 2, 9));
  EXPECT_FALSE(weft_rt_outside(i64_code, wide, 1, 9));
}

/// Variables of 1500 integers, all equal; moves are carried out at a throw, the way they are
/// written.
class Moves {
public:
  explicit Moves(std::size_t count) : variables_(count, std::vector<int>(1500)) {
    for (std::size_t i = 0; i < count; ++i)
      std::fill(variables_[i].begin(), variables_[i].end(), static_cast<int>(i));
  }
  void move(std::size_t to, std::size_t from) {
    moves_.push_back({variables_[to].data(), variables_[from].data(), 1500 * sizeof(int)});
  }
  std::vector<int> after_throw() {
    CallContext context;
    weft_rt_on_stop(&context, moves_.data(), static_cast<std::int64_t>(moves_.size()));
    EXPECT_THROW(weft_rt_shape_error(&context, -1, "no", nullptr, 0), ShapeError);
    std::vector<int> values;
    for (const std::vector<int> &variable : variables_) {
      EXPECT_EQ(variable, std::vector<int>(1500, variable[0]));
      values.push_back(variable[0]);
    }
    return values;
  }

private:
  std::vector<std::vector<int>> variables_;
  std::vector<RuntimeMove> moves_;
};

TEST(CallContext, MovesHappenAllAtOnce) {
  Moves chain(4); // 0 <- 1 <- 2 <- 3, in an order in which each would overwrite what the next reads
  chain.move(2, 3);
  chain.move(1, 2);
  chain.move(0, 1);
  EXPECT_EQ(chain.after_throw(), (std::vector<int>{1, 2, 3, 3}));

  Moves circles(7); // 0 <-> 1, 2 <- 3 <- 4 <- 2, 5 and 6 <- 0, 6 to itself first
  circles.move(0, 1);
  circles.move(2, 3);
  circles.move(5, 0);
  circles.move(3, 4);
  circles.move(1, 0);
  circles.move(4, 2);
  circles.move(6, 6);
  EXPECT_EQ(circles.after_throw(), (std::vector<int>{1, 0, 3, 4, 2, 0, 6}));
}

TEST(CallContext, MovesAreForgottenWhenNothingThrows) {
  const PrintSink before = set_print_sink([](std::string_view) {});
  int variable = 1, elsewhere = 2;
  RuntimeMove moves[] = {{&variable, &elsewhere, sizeof variable}};
  CallContext context;
  weft_rt_on_stop(&context, moves, 1);
  weft_rt_print(&context, "text", 4, nullptr, 0);
  EXPECT_EQ(variable, 1);
  EXPECT_THROW(weft_rt_shape_error(&context, -1, "no", nullptr, 0), ShapeError);
  EXPECT_EQ(variable, 1);
  set_print_sink([](std::string_view) { throw IOError("the sink is full"); });
  weft_rt_on_stop(&context, moves, 1);
  EXPECT_THROW(weft_rt_print(&context, "text", 4, nullptr, 0), IOError);
  EXPECT_EQ(variable, 2);
  set_print_sink(before);
}

TEST(CallContext, SizesThatDoNotFitAreErrorsOfThreeKinds) {
  CallContext context;
  const std::int64_t sizes[] = {3, 4};
  EXPECT_THROWS(weft_rt_shape_error(&context, -1, "{} meets {}", sizes, 2), ShapeError,
                "3 meets 4");
  EXPECT_THROWS(weft_rt_value_error(&context, -1, "{} meets {}", sizes, 2), ValueError,
                "3 meets 4");
  EXPECT_THROWS(weft_rt_bounds_error(&context, -1, "{} meets {}", sizes, 2), IndexError,
                "3 meets 4");
}

TEST(CallContext, AMessageShowsValuesFromBeforeTheMoves) {
  int variable = 1, elsewhere = 2;
  RuntimeMove moves[] = {{&variable, &elsewhere, sizeof variable}};
  CallContext context;
  context.function = "f";
  weft_rt_on_stop(&context, moves, 1);
  const RuntimeValue values[] = {value_of(&variable)};
  EXPECT_THROWS(weft_rt_assert_fail(&context, -1, "v", 1, values, 1), AssertionError,
                "assertion failed in f: v; 1");
  EXPECT_EQ(variable, 2);
}

/// Of f32 (2, 2): rank, sizes and strides of both.
constexpr std::int64_t kTwoMatrices[] = {2, 2, 2, 2, 1, 2, 2, 2, 2, 1};

struct FunctionAtSite7 final : LocationTable {
  SourceLocation location(std::int64_t) const override { return {"/home/user/train.cpp", 58, 3}; }
  const char *function(std::int64_t site) const override {
    return site == 7 ? "linalg.inv" : nullptr;
  }
};

TEST(CallContext, RoutinesThrowErrorsOfTheirSites) {
  const float well[] = {4, 0, 0, 9}, bad[] = {4, 0, 0, -1};
  float factor[4];
  int variable = 1, elsewhere = 2;
  RuntimeMove moves[] = {{&variable, &elsewhere, sizeof variable}};
  CallContext context;
  weft_rt_on_stop(&context, moves, 1);
  weft_rt_cholesky_f32(&context, 7, kTwoMatrices, well, factor);
  EXPECT_EQ(factor[3], 3);
  // What was told is forgotten when it does not throw.
  EXPECT_THROWS(weft_rt_cholesky_f32(&context, 7, kTwoMatrices, bad, factor), LinAlgError,
                "cholesky: the matrix is not positive definite");
  EXPECT_EQ(variable, 1);
  const FunctionAtSite7 locations;
  context.locations = &locations;
  weft_rt_on_stop(&context, moves, 1);
  try {
    weft_rt_cholesky_f32(&context, 7, kTwoMatrices, bad, factor);
    FAIL() << "nothing was thrown";
  } catch (const LinAlgError &error) {
    EXPECT_STREQ(error.what(),
                 "train.cpp:58: error: linalg.inv: the matrix is not positive definite");
  }
  EXPECT_EQ(variable, 2);
  // A function of the library that calls the compiled one is none that the user called there.
  const CompositeCall caller("optimizers.step", std::source_location::current());
  EXPECT_THROWS(weft_rt_cholesky_f32(&context, 7, kTwoMatrices, bad, factor), LinAlgError,
                "linalg.inv: the matrix is not positive definite");
  EXPECT_THROWS(weft_rt_cholesky_f32(&context, 8, kTwoMatrices, bad, factor), LinAlgError,
                "cholesky: the matrix is not positive definite");
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

TEST(CallContext, HostCall) {
  const auto both = std::make_shared<const HostFunction>(
      HostFunction{"both", [](std::span<const Tensor> operands) {
                     return std::vector<Tensor>{operands[1], operands[0]};
                   }});
  const HostBinding hosts[] = {{"other", nullptr}, {"both", both}};
  CallContext context;
  context.function = "step";
  context.hosts = hosts;
  context.host_count = 2;
  std::int32_t number = 7;
  const float row[] = {1, 2, 3};
  const std::int64_t three[] = {3}, any[] = {unknown};
  const RuntimeValue operands[] = {value_of(&number), value_of(row, 1, three)};
  const RuntimeValue types[] = {value_of<float>(nullptr, 1, any), value_of<std::int32_t>(nullptr)};
  weft_rt_host_call(&context, -1, "both and more", 4, operands, 2, types, 2);
  number = 8; // the callable was given a copy
  EXPECT_EQ(weft_rt_host_size(&context, 0, 0), 3);
  float elements[3] = {};
  weft_rt_host_take(&context, 0, elements);
  EXPECT_EQ(elements[2], 3);
  std::int32_t scalar = 0;
  weft_rt_host_take(&context, 1, &scalar);
  EXPECT_EQ(scalar, 7);
  EXPECT_THROW(weft_rt_host_take(&context, 2, &scalar), InternalError);
  EXPECT_THROWS(weft_rt_host_call(&context, -1, "both", 4, operands, 2, types, 1), ValueError,
                "host_call both: the callable must give 1 tensor, but it gave 2 tensors");
  EXPECT_THROWS(weft_rt_host_call(&context, -1, "bo", 2, operands, 2, types, 2), StateError,
                "step: host_call @bo: there is no callable of that name here; they come with "
                "functions that are traced in C++");
}

} // namespace
} // namespace weft
