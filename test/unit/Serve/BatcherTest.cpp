// Which requests share a batch, in which order they are answered, and what happens to those that
// cannot be.
#include "Batcher.h"
#include "Models.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace serve {
namespace {

using namespace std::chrono_literals;
using weft::Tensor;

Tensor rows_of(std::initializer_list<float> values) {
  return weft::tensor(std::vector<float>(values), {static_cast<std::int64_t>(values.size()), 1});
}

std::vector<float> numbers(const std::vector<Tensor> &outputs) {
  return outputs.at(0).to_vector<float>();
}

/// What a request asks in a thread of its own.
std::future<std::vector<float>> ask(Batcher &batcher, const Tensor &input) {
  return std::async(std::launch::async,
                    [&batcher, input] { return numbers(batcher.run({input})); });
}

/// Asks and returns when the request is in the queue, as the `count`th.
std::future<std::vector<float>> queue(Batcher &batcher, const Tensor &input, std::size_t count) {
  auto answer = ask(batcher, input);
  while (batcher.waiting() < count) std::this_thread::sleep_for(1ms);
  return answer;
}

/// The status and words that a request is refused with.
std::pair<int, std::string> refusal(Batcher &batcher, const std::vector<Tensor> &inputs) {
  try {
    batcher.run(inputs);
  } catch (const RequestError &error) {
    return {error.status(), error.what()};
  }
  return {200, ""};
}

using Refusal = std::pair<int, std::string>;

/// A batcher that is held up by a request that runs.
struct Held : testing::Test {
  Doubler doubler;
  std::unique_ptr<Batcher> batcher;
  std::future<std::vector<float>> first;

  void start(Model model, const BatcherOptions &options = {}) {
    doubler.close();
    batcher = std::make_unique<Batcher>(std::move(model), options);
    first = ask(*batcher, rows_of({0}));
    doubler.wait_for_running(1);
  }
};

TEST(Batcher, ARequestAloneIsRunAtOnceAsItIs) {
  Doubler doubler;
  Batcher batcher(doubler.model({weft::unknown}), {});
  EXPECT_EQ(numbers(batcher.run({rows_of({1, 2, 3})})), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(doubler.batches, std::vector<std::int64_t>{3});
}

TEST_F(Held, ThoseThatWaitShareABatchInTheirOrder) {
  std::vector<BatchRecord> records;
  start(doubler.model({weft::unknown}));
  auto a = queue(*batcher, rows_of({1}), 1), b = queue(*batcher, rows_of({2, 3}), 2),
       c = queue(*batcher, rows_of({4}), 3);
  doubler.let_through();
  EXPECT_EQ(a.get(), (std::vector<float>{2}));
  EXPECT_EQ(b.get(), (std::vector<float>{4, 6}));
  EXPECT_EQ(c.get(), (std::vector<float>{8}));
  EXPECT_EQ(doubler.batches, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(doubler.firsts, (std::vector<float>{0, 1, 2, 3, 4}));
}

TEST_F(Held, ABatchHasNoMoreRowsThanItMayAndNobodyIsOvertaken) {
  start(doubler.model({weft::unknown}), {.max_batch = 3});
  std::vector<std::future<std::vector<float>>> answers;
  answers.push_back(queue(*batcher, rows_of({1, 2}), 1));
  answers.push_back(queue(*batcher, rows_of({3, 4}), 2)); // does not fit with the first
  answers.push_back(queue(*batcher, rows_of({5}), 3));    // would, but is behind the second
  doubler.let_through();
  for (auto &answer : answers) answer.get();
  EXPECT_EQ(doubler.batches, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(doubler.firsts, (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST_F(Held, RequestsOfOtherShapesAreOtherBatches) {
  start(doubler.model({weft::unknown}, {1, 2}));
  const Tensor wide = weft::tensor(std::vector<float>{7, 8}, {1, 2});
  auto a = queue(*batcher, rows_of({1}), 1), b = queue(*batcher, wide, 2),
       c = queue(*batcher, rows_of({2}), 3), d = queue(*batcher, wide, 4);
  doubler.let_through();
  EXPECT_EQ(a.get(), (std::vector<float>{2}));
  EXPECT_EQ(b.get(), (std::vector<float>{14, 16}));
  EXPECT_EQ(c.get(), (std::vector<float>{4}));
  EXPECT_EQ(d.get(), (std::vector<float>{14, 16}));
  EXPECT_EQ(doubler.batches, (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(doubler.firsts, (std::vector<float>{0, 1, 2, 7, 7}));
}

TEST_F(Held, BatchesAreFilledUpWhereEntriesAreExact) {
  start(doubler.model({1, 4, 8}), {.max_batch = 32});
  auto a = queue(*batcher, rows_of({1, 2}), 1), b = queue(*batcher, rows_of({3}), 2);
  doubler.let_through();
  EXPECT_EQ(a.get(), (std::vector<float>{2, 4}));
  EXPECT_EQ(b.get(), (std::vector<float>{6}));
  EXPECT_EQ(doubler.batches, (std::vector<std::int64_t>{1, 4}));
  // With a row that somebody asked for.
  EXPECT_EQ(doubler.firsts, (std::vector<float>{0, 1, 2, 3, 1}));
  EXPECT_EQ(refusal(*batcher, {weft::zeros({9, 1})}),
            Refusal(400, "the request has 9 rows; it may have 1 to 8"));
}

TEST_F(Held, AFullQueueRefusesAtOnce) {
  start(doubler.model({weft::unknown}), {.max_queue = 2});
  auto a = queue(*batcher, rows_of({1}), 1), b = queue(*batcher, rows_of({2}), 2);
  EXPECT_EQ(refusal(*batcher, {rows_of({3})}),
            Refusal(503, "the queue is full: 2 requests are waiting"));
  doubler.let_through();
  EXPECT_EQ(a.get(), std::vector<float>{2});
  EXPECT_EQ(b.get(), std::vector<float>{4});
}

TEST_F(Held, ARequestThatWaitsForTooLongIsTakenOut) {
  start(doubler.model({weft::unknown}), {.queue_timeout = 30ms});
  EXPECT_EQ(refusal(*batcher, {rows_of({1})}), Refusal(504, "no batch began within 30 ms"));
  EXPECT_EQ(batcher->waiting(), 0u);
  doubler.let_through();
  // The one that runs is answered however long it takes.
  EXPECT_EQ(first.get(), std::vector<float>{0});
  EXPECT_EQ(doubler.batches, std::vector<std::int64_t>{1});
}

TEST_F(Held, StoppingAnswersThoseThatWaitAndRefusesOthers) {
  start(doubler.model({weft::unknown}));
  auto a = queue(*batcher, rows_of({1}), 1);
  auto stopped = std::async(std::launch::async, [&] { batcher->stop(); });
  Refusal refused;
  // Until it has begun to stop, requests wait: give up on those after a while.
  for (int i = 0; i < 1000 && refused.first == 0; ++i) {
    auto late = std::async(std::launch::async, [&] { return refusal(*batcher, {rows_of({9})}); });
    if (late.wait_for(50ms) == std::future_status::ready) refused = late.get();
    else doubler.let_through();
  }
  doubler.let_through();
  EXPECT_EQ(refused, Refusal(503, "the server is stopping"));
  EXPECT_EQ(a.get(), std::vector<float>{2});
  EXPECT_EQ(first.get(), std::vector<float>{0});
  stopped.get();
}

TEST(Batcher, ADelayGathersABatch) {
  Doubler doubler;
  Batcher batcher(doubler.model({weft::unknown}), {.max_batch = 3, .max_queue_delay = 10s});
  // Nobody waits for ten seconds: the third makes the batch full.
  const auto start = std::chrono::steady_clock::now();
  auto a = queue(batcher, rows_of({1}), 1), b = queue(batcher, rows_of({2}), 2);
  EXPECT_EQ(numbers(batcher.run({rows_of({3})})), std::vector<float>{6});
  a.get();
  b.get();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_EQ(doubler.batches, std::vector<std::int64_t>{3});
}

TEST(Batcher, ADelayEnds) {
  Doubler doubler;
  Batcher batcher(doubler.model({weft::unknown}), {.max_batch = 3, .max_queue_delay = 20ms});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(numbers(batcher.run({rows_of({1})})), std::vector<float>{2});
  EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
}

TEST(Batcher, BatchesMayRunBesideEachOther) {
  Doubler doubler;
  doubler.close();
  Batcher batcher(doubler.model({weft::unknown}), {.parallel_batches = 2});
  auto a = ask(batcher, rows_of({1}));
  doubler.wait_for_running(1);
  auto b = ask(batcher, rows_of({2}));
  doubler.wait_for_running(2);
  doubler.let_through();
  a.get();
  b.get();
  EXPECT_EQ(doubler.most_running, 2);
}

TEST(Batcher, WhatOneRequestBreaksIsItsOwn) {
  Doubler doubler;
  Model model = doubler.model({weft::unknown});
  model.run = [run = model.run](std::span<const Tensor> inputs) {
    auto outputs = run(inputs);
    for (const float value : inputs[0].to_vector<float>())
      if (value < 0) throw weft::ValueError("a negative number");
    return outputs;
  };
  doubler.close();
  Batcher batcher(std::move(model), {});
  auto first = ask(batcher, rows_of({0}));
  doubler.wait_for_running(1);
  auto good = queue(batcher, rows_of({1}), 1), bad = queue(batcher, rows_of({-1}), 2),
       other = queue(batcher, rows_of({2}), 3);
  doubler.let_through();
  EXPECT_EQ(good.get(), std::vector<float>{2});
  EXPECT_THROW(bad.get(), weft::ValueError);
  EXPECT_EQ(other.get(), std::vector<float>{4});
  // Together, and then one by one.
  EXPECT_EQ(doubler.batches, (std::vector<std::int64_t>{1, 3, 1, 1, 1}));
}

TEST(Batcher, InputsAreCheckedBeforeTheyWait) {
  Doubler doubler;
  Batcher batcher(doubler.model({weft::unknown}, {1, 2}), {.max_batch = 4});
  EXPECT_EQ(refusal(batcher, {}), Refusal(400, "the request has 0 inputs and the program takes 1"));
  EXPECT_EQ(refusal(batcher, {weft::zeros({1, 3})}),
            Refusal(400, "input 0 is f32(1, 3); the program takes f32(?, 1) or f32(?, 2)"));
  EXPECT_EQ(refusal(batcher, {weft::zeros({1, 1}, weft::i32)}),
            Refusal(400, "input 0 is i32(1, 1); the program takes f32(?, 1) or f32(?, 2)"));
  EXPECT_EQ(refusal(batcher, {weft::zeros({})}),
            Refusal(400, "input 0 is f32(); the program takes f32(?, 1) or f32(?, 2)"));
  EXPECT_EQ(refusal(batcher, {weft::zeros({0, 1})}), Refusal(400, "the request has no rows"));
  EXPECT_EQ(refusal(batcher, {weft::zeros({5, 1})}),
            Refusal(400, "the request has 5 rows; it may have 1 to 4"));
  EXPECT_TRUE(doubler.batches.empty());
}

TEST(Batcher, InputsHaveTheSameRows) {
  Model model{
      .name = "sum",
      .entries = {{{weft::spec(weft::f32, {weft::unknown}), weft::spec(weft::f32, {weft::unknown})},
                   {weft::spec(weft::f32, {weft::unknown})}}},
      .run = [](std::span<const Tensor> inputs) {
        return std::vector<Tensor>{inputs[0] + inputs[1]};
      }};
  Batcher batcher(std::move(model), {});
  EXPECT_EQ(refusal(batcher, {weft::zeros({2}), weft::zeros({3})}),
            Refusal(400, "input 0 has 2 rows and input 1 has 3"));
  EXPECT_EQ(numbers(batcher.run({weft::ones({2}), weft::ones({2})})), (std::vector<float>{2, 2}));
}

TEST(Batcher, AProgramThatLosesTheBatchIsAnErrorOfItsOwn) {
  Doubler doubler;
  Model model = doubler.model({weft::unknown});
  model.run = [](std::span<const Tensor> inputs) { return std::vector<Tensor>{inputs[0].sum()}; };
  Batcher batcher(std::move(model), {});
  EXPECT_THROW(batcher.run({rows_of({1})}), weft::ShapeError);
}

TEST(Batcher, RefusesModelsAndOptionsThatMakeNoSense) {
  Doubler doubler;
  EXPECT_THROW(Batcher(doubler.model({}), {}), weft::ValueError);
  EXPECT_THROW(Batcher(doubler.model({0}), {}), weft::ValueError);
  EXPECT_THROW(Batcher(doubler.model({1}), {.max_batch = 0}), weft::ValueError);
  EXPECT_THROW(Batcher(doubler.model({1}), {.max_queue = 0}), weft::ValueError);
  EXPECT_THROW(Batcher(doubler.model({1}), {.parallel_batches = 0}), weft::ValueError);
  Model scalar = doubler.model({1});
  scalar.entries[0].outputs = {weft::spec(weft::f32, {})};
  EXPECT_THROW(Batcher(scalar, {}), weft::ValueError);
}

TEST(Batcher, ManyThreadsGetTheirOwnAnswers) {
  Doubler doubler;
  std::atomic<std::int64_t> rows = 0, padded = 0;
  Batcher batcher(doubler.model({1, 2, 4, 8}), {.max_batch = 8, .parallel_batches = 2},
                  [&](const BatchRecord &record) {
                    rows += record.rows;
                    padded += record.padded;
                  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto value = static_cast<float>(100 * t + i);
        if (numbers(batcher.run({rows_of({value, -value})})) !=
            std::vector<float>{2 * value, -2 * value})
          ++wrong;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(rows, 8 * 50 * 2);
  std::int64_t run = 0;
  for (const std::int64_t batch : doubler.batches) run += batch;
  EXPECT_EQ(run, rows + padded);
}

} // namespace
} // namespace serve
