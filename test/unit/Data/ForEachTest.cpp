// Loops over data sets in traced functions: the same as those outside.
#include <weft/data.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/function.h>
#include <weft/ops.h>
#include <weft/print.h>
#include <weft/variable.h>

#include <thread>

namespace weft::data {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Dataset pairs(std::int64_t n) {
  return from_tensors(arange(n).astype(DType::f32), (arange(n) * 10).astype(DType::f32));
}

TEST(ForEach, CarriesState) {
  const auto sum = [](const Dataset &dataset) {
    return for_each(
        dataset,
        [](const Tensor &x, const Tensor &y, const Tensor &total) {
          return total + weft::sum(x * y);
        },
        0.f);
  };
  const Dataset dataset = pairs(7).batch(3);
  const float wanted = 10 * (1 + 4 + 9 + 16 + 25 + 36);
  EXPECT_EQ(sum(dataset).item<float>(), wanted);
  const auto traced = function([&] { return sum(dataset); });
  for (int call = 0; call < 3; ++call) EXPECT_EQ(traced().item<float>(), wanted);
  EXPECT_EQ(traced.trace_count(), 1u);
  // Each call was an epoch of the data set.
  EXPECT_EQ(dataset.stats().elements, 4 * 3);
}

TEST(ForEach, UpdatesVariablesInOrder) {
  Variable order(tensor(0).astype(DType::i64));
  const auto digits = range(1, 5).prefetch(2);
  const auto run = function(
      [&] { for_each(digits, [&](const Tensor &x) { order.assign(order.value() * 10 + x); }); });
  run();
  EXPECT_EQ(order.value().item<std::int64_t>(), 1234);
}

TEST(ForEach, KnowsWhichSizesMayChange) {
  const auto shapes = [](const auto &dataset) {
    std::string text;
    function([&] {
      for_each(dataset, [&](const Tensor &x) { text = to_string(weft::detail::type_of(x)); });
    })();
    return text;
  };
  const auto rows = from_tensors(zeros({10, 4}));
  EXPECT_EQ(shapes(rows), "f32(4,)");
  EXPECT_EQ(shapes(rows.batch(5)), "f32(5, 4)");
  EXPECT_EQ(shapes(rows.batch(3)), "f32(?, 4)");
  EXPECT_EQ(shapes(rows.batch(3, {.drop_remainder = true})), "f32(3, 4)");
  EXPECT_EQ(shapes(rows.batch(3, {.padding = 0})), "f32(?, ?)");
  EXPECT_EQ(shapes(rows.repeat().batch(3).take(2)), "f32(3, 4)");
  EXPECT_EQ(shapes(rows.with_open_sizes().take(2)), "f32(?,)");
}

TEST(ForEach, SaysWhatToDoWhereOtherSizesChange) {
  const auto rows =
      range(1, 4).map([](const Tensor &n) { return zeros({n.item<std::int64_t>()}); });
  const auto count = [](const auto &dataset) {
    return function([&] {
      return for_each(
          dataset, [](const Tensor &x, const Tensor &total) { return total + sum(x + 1.0F); },
          0.0F);
    })();
  };
  EXPECT_THAT([&] { count(rows); },
              ThrowsMessage<ShapeError>(
                  HasSubstr("an element of the data set is f32(2,), but the loop was traced "
                            "for f32(1,), the type of the first one: loop over "
                            "dataset.with_open_sizes()")));
  EXPECT_EQ(count(rows.with_open_sizes()).item<float>(), 6);
}

TEST(ForEach, GoesOnWithARestoredState) {
  const auto make = [] { return range(6).shuffle({.seed = 3}); };
  const auto collect = [](const BasicDataset<Tensor> &dataset) {
    return function([&] {
      return for_each(
          dataset, [](const Tensor &x, const Tensor &all) { return all * 10 + x; },
          tensor(0).astype(DType::i64));
    });
  };
  const auto dataset = make();
  std::vector<std::int64_t> order;
  for (const Tensor &x : make()) order.push_back(x.item<std::int64_t>());
  std::string state;
  std::size_t seen = 0;
  for (const Tensor &x : dataset) {
    static_cast<void>(x);
    if (++seen == 2) {
      state = dataset.pipeline().state().saved_state();
      break;
    }
  }
  const auto other = make();
  other.pipeline().state().restore_state(state);
  std::int64_t wanted = 0;
  for (std::size_t i = 2; i < 6; ++i) wanted = wanted * 10 + order[i];
  EXPECT_EQ(collect(other)().item<std::int64_t>(), wanted);
}

TEST(ForEach, ErrorsReachTheCallerAndTheNextCallStartsAnew) {
  auto fails = std::make_shared<bool>(true);
  const auto dataset = range(5).map([fails](const Tensor &x) -> Tensor {
    if (*fails && x.item<int>() == 3) throw IOError("3.png: the file is truncated");
    return x;
  });
  const auto total = function([&] {
    return for_each(
        dataset, [](const Tensor &x, const Tensor &sum) { return sum + x; },
        tensor(0).astype(DType::i64));
  });
  try {
    total();
    ADD_FAILURE() << "no error";
  } catch (const IOError &error) {
    EXPECT_THAT(std::string(error.message()), HasSubstr("map: element 3: 3.png"));
  }
  *fails = false;
  EXPECT_EQ(total().item<std::int64_t>(), 10);
}

TEST(ForEach, ThreadsHaveLoopsOfTheirOwn) {
  const auto dataset = range(100);
  const auto total = function([&] {
    return for_each(
        dataset, [](const Tensor &x, const Tensor &sum) { return sum + x; },
        tensor(0).astype(DType::i64));
  });
  std::vector<std::thread> threads;
  std::vector<std::int64_t> sums(4);
  for (std::int64_t &sum : sums) threads.emplace_back([&] { sum = total().item<std::int64_t>(); });
  for (std::thread &thread : threads) thread.join();
  EXPECT_THAT(sums, testing::Each(4950));
}

TEST(ForEach, DatasetsAreArgumentsByIdentity) {
  const auto total = function([](const BasicDataset<Tensor> &dataset) {
    return for_each(
        dataset, [](const Tensor &x, const Tensor &sum) { return sum + x; },
        tensor(0).astype(DType::i64));
  });
  const auto few = range(4), many = range(5);
  EXPECT_EQ(total(few).item<std::int64_t>(), 6);
  EXPECT_EQ(total(many).item<std::int64_t>(), 10);
  EXPECT_EQ(total(few).item<std::int64_t>(), 6);
  EXPECT_EQ(total.trace_count(), 2u);
}

TEST(ForEach, RefusesWhatHasNoTypes) {
  const BasicDataset<Tensor> none;
  const auto traced = function([&] { for_each(none, [](const Tensor &) {}); });
  EXPECT_THROW(traced(), ValueError);
  int calls = 0;
  for_each(none, [&](const Tensor &) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(ForEach, PassesAreStartedAndStopped) {
  int begun = 0;
  detail::LoopPasses passes([&] {
    ++begun;
    return range(3).pipeline().start();
  });
  const Tensor first = passes.start(), second = passes.start();
  EXPECT_EQ(begun, 2);
  ASSERT_TRUE(passes.advance(first).item<bool>());
  EXPECT_EQ(passes.take(first).tensors[0].item<std::int64_t>(), 0);
  passes.stop(first);
  passes.stop(first); // which is over
  EXPECT_THROW(passes.advance(first), StateError);
  EXPECT_TRUE(passes.advance(second).item<bool>());
}

} // namespace
} // namespace weft::data
