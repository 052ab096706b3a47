// Managers: what they keep, what they restore, and saving while training goes on.
#include <weft/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <limits>
#include <thread>

#include "../Testing.h"
#include "Files.h"
#include "Support/Files.h"
#include <weft/function.h>
#include <weft/gradient_tape.h>
#include <weft/nn.h>
#include <weft/ops.h>
#include <weft/optimizers.h>
#include <weft/safetensors.h>

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct State {
  Variable x{0.F};
  WEFT_FIELDS(State, x)
};

std::vector<std::int64_t> numbers_of(CheckpointManager &manager) {
  std::vector<std::int64_t> numbers;
  for (const CheckpointInfo &info : manager.checkpoints()) numbers.push_back(info.number);
  return numbers;
}

TEST(Manager, KeepsTheNewestAndTheBest) {
  State state;
  CheckpointManager manager(fresh_folder("keep"), {.keep = 2, .keep_best = 1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double loss : {0.5, 0.2, nan, 0.3, 0.4}) {
    state.x.assign(loss);
    manager.save(state, {.metric = loss, .step = 10});
  }
  EXPECT_THAT(numbers_of(manager), ElementsAre(2, 4, 5));
  const auto best = manager.restore_best(state);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->number, 2);
  EXPECT_EQ(best->metric, 0.2);
  EXPECT_EQ(best->step, 10);
  EXPECT_LT(std::chrono::system_clock::now() - best->time, std::chrono::minutes(1));
  EXPECT_EQ(state.x.value().item<float>(), 0.2F);
}

TEST(Manager, TheLargestMayBeTheBest) {
  State state;
  CheckpointManager manager(fresh_folder("largest"),
                            {.keep = 1, .keep_best = 1, .largest_is_best = true});
  for (const double accuracy : {0.5, 0.9, 0.7}) manager.save(state, {.metric = accuracy});
  EXPECT_THAT(numbers_of(manager), ElementsAre(2, 3));
}

TEST(Manager, RestoresTheNewestOrNothing) {
  const std::string folder = fresh_folder("latest");
  State state;
  CheckpointManager manager(folder, {.keep = 0});
  EXPECT_FALSE(manager.restore_latest(state).has_value());
  EXPECT_FALSE(latest_checkpoint(folder).has_value());
  for (const float x : {1.F, 2.F}) {
    state.x.assign(x);
    manager.save(state);
  }
  state.x.assign(7);
  EXPECT_EQ(manager.restore_latest(state)->path, folder + "/ckpt-2.safetensors");
  EXPECT_EQ(state.x.value().item<float>(), 2);
  struct Other {
    Variable y{0.F}, z{0.F};
    WEFT_FIELDS(Other, y, z)
  } other;
  EXPECT_THROWS(manager.restore_latest(other), IOError,
                folder + "/ckpt-2.safetensors: does not fit what restore_latest was given: 'y' is "
                         "not in the file; 'z' is not in the file; 'x' is in the file, but not "
                         "here");
  EXPECT_TRUE(manager.restore_latest(other, {.partial = true}).has_value());
}

TEST(Manager, PassesOverBrokenFilesAndSaysSo) {
  const std::string folder = fresh_folder("broken");
  State state;
  CheckpointManager manager(folder, {.keep = 0, .background = false});
  for (const float x : {1.F, 2.F, 3.F}) {
    state.x.assign(x);
    manager.save(state);
  }
  const std::string second = folder + "/ckpt-2.safetensors", third = folder + "/ckpt-3.safetensors";
  std::string bytes = bytes_of(third);
  write_bytes(third, bytes.substr(0, bytes.size() - 1));
  bytes = bytes_of(second);
  bytes.back() = static_cast<char>(bytes.back() ^ 1); // an element: its digest tells
  write_bytes(second, bytes);
  const Logged log;
  EXPECT_EQ(latest_checkpoint(folder), second) << "its header is whole";
  EXPECT_EQ(manager.restore_latest(state)->number, 1);
  EXPECT_EQ(state.x.value().item<float>(), 1);
  EXPECT_THAT(log.lines, testing::Contains("restore_latest: passed over a broken file: " + second +
                                           ": 'x' is damaged: it is not what its digest says"));
  EXPECT_THAT(log.lines, testing::Contains(HasSubstr(third)));
  for (const std::string &path : {folder + "/ckpt-1.safetensors", second}) write_bytes(path, "x");
  EXPECT_THROWS(manager.restore_latest(state), IOError,
                folder + ": has checkpoints, but all of them are broken");
  EXPECT_THROWS(manager.restore_best(state), IOError,
                folder + ": has checkpoints, but all of them are broken");
}

TEST(Manager, SavesWhenItIsDue) {
  State state;
  const std::string folder = fresh_folder("due");
  std::vector<std::int64_t> steps;
  {
    CheckpointManager manager(folder, {.every_steps = 10});
    for (std::int64_t step = 1; step <= 25; ++step)
      if (manager.save_if_due(state, step)) steps.push_back(step);
  }
  CheckpointManager next(folder, {.every_steps = 10});
  EXPECT_EQ(next.restore_latest(state)->step, 20);
  for (std::int64_t step = 21; step <= 31; ++step)
    if (next.save_if_due(state, step)) steps.push_back(step);
  EXPECT_THAT(steps, ElementsAre(10, 20, 30));
  CheckpointManager timed(folder, {.every = std::chrono::milliseconds(1)});
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(timed.save_if_due(state, 1));
  CheckpointManager never(folder);
  EXPECT_THROWS(never.save_if_due(state, 1), ValueError,
                "save_if_due: nothing says when: give the manager every_steps or every");
}

TEST(Manager, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROWS(CheckpointManager("x", {.keep = -1}), ValueError,
                "CheckpointManager: keep is -1, but must be at least 0");
  EXPECT_THROWS(CheckpointManager("x", {.every_steps = 0}), ValueError,
                "CheckpointManager: every_steps is 0, but must be at least 1");
  EXPECT_THROWS(CheckpointManager("x", {.every = std::chrono::seconds(0)}), ValueError,
                "CheckpointManager: every is 0, but must be a positive number of seconds");
  EXPECT_THROWS(CheckpointManager(""), ValueError, "CheckpointManager: the path is empty");
}

struct Training {
  nn::Sequential model{nn::Dense(64, {.activation = relu}), nn::Dense(8)};
  optimizers::Adam adam{model, {.learning_rate = 0.01}};
  WEFT_FIELDS(Training, model, adam)
};

std::map<std::string, std::string> elements_in(const std::string &path) {
  std::map<std::string, std::string> all;
  for (const auto &[name, tensor] : load_safetensors(path)) {
    const std::size_t bytes = static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype());
    all[name] = std::string(reinterpret_cast<const char *>(tensor.impl()->data), bytes);
  }
  return all;
}

TEST(Manager, ASaveDuringTrainingIsABlockingSaveAtThatStepBitForBit) {
  const auto train = [](const auto &save) {
    Training run;
    nn::seed(run.model, 3);
    auto step = function([&](const Tensor &x) {
      return run.adam.minimize([&] { return mean(square(run.model(x) - 1)); });
    });
    for (int i = 0; i < 12; ++i) {
      step(full({16, 32}, 0.25F + static_cast<float>(i), f32));
      save(run);
    }
  };
  const std::string aside = fresh_folder("aside"), blocking = fresh_folder("blocking");
  {
    CheckpointManager manager(aside, {.keep = 0});
    train([&](Training &run) { manager.save(run); });
  }
  train([&](Training &run) { Checkpoint(run).save(blocking); });
  for (int i = 1; i <= 12; ++i) {
    const std::string name = "/ckpt-" + std::to_string(i) + ".safetensors";
    EXPECT_EQ(elements_in(aside + name), elements_in(blocking + name)) << i;
  }
}

TEST(Manager, ASaveIsOfOneMomentWhileAnotherThreadTrains) {
  // All variables are the number of the step, after each step: a cut through one would show.
  struct Counters {
    std::vector<Variable> all;
    WEFT_FIELDS(Counters, all)
  } counters;
  for (int i = 0; i < 8; ++i) counters.all.emplace_back(zeros({1000}, f32));
  auto step = function([&] {
    for (const Variable &one : counters.all) one.assign_add(1);
    return counters.all[0].value();
  });
  step();
  std::atomic<bool> stops{false};
  std::thread trainer([&] {
    while (!stops) step();
  });
  const std::string folder = fresh_folder("cut");
  {
    CheckpointManager manager(folder, {.keep = 0});
    for (int i = 0; i < 20; ++i) manager.save(counters);
  }
  stops = true;
  trainer.join();
  for (int i = 1; i <= 20; ++i) {
    const auto saved = elements_in(folder + "/ckpt-" + std::to_string(i) + ".safetensors");
    ASSERT_EQ(saved.size(), 8U);
    for (const auto &[name, elements] : saved) EXPECT_EQ(elements, saved.begin()->second) << name;
  }
}

/// A disk that is full from the first write on.
class Full final : public FileCalls {
public:
  Full() { use_file_calls(this); }
  ~Full() override { use_file_calls(nullptr); }
  ssize_t write(int, const void *, std::size_t) override {
    errno = ENOSPC;
    return -1;
  }
};

TEST(Manager, ThreadsShareOne) {
  State state;
  CheckpointManager manager(fresh_folder("shared"), {.keep = 3, .every_steps = 1000});
  const auto save = [&] {
    for (int i = 0; i < 20; ++i) manager.save(state, {.step = i});
  };
  const auto watch = [&] {
    State other;
    for (int i = 0; i < 40; ++i) {
      manager.wait();
      static_cast<void>(manager.checkpoints());
      static_cast<void>(manager.restore_latest(other));
      static_cast<void>(manager.save_if_due(state, -1));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(save);
  for (int i = 0; i < 2; ++i) threads.emplace_back(watch);
  for (std::thread &thread : threads) thread.join();
  EXPECT_THAT(numbers_of(manager), ElementsAre(38, 39, 40));
}

TEST(Manager, WhatFailsOnTheSideIsThrownByTheNextCall) {
  const std::string folder = fresh_folder("full");
  State state;
  CheckpointManager manager(folder);
  manager.save(state);
  manager.wait();
  {
    const Full full;
    manager.save(state);
    EXPECT_THROW(manager.wait(), IOError);
    manager.wait(); // once
    manager.save(state);
    try {
      manager.save(state);
      ADD_FAILURE() << "a failed save was not told";
    } catch (const IOError &error) {
      EXPECT_THAT(error.what(), HasSubstr("cannot be written: No space left on device"));
      EXPECT_THAT(error.what(), HasSubstr("ManagerTest.cpp:"));
    }
  }
  EXPECT_THAT(numbers_of(manager), ElementsAre(1));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1)
      << "something was left behind";
  const Logged log;
  {
    CheckpointManager going(folder);
    const Full full;
    going.save(state);
    const CheckpointManager gone = std::move(going);
  }
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("CheckpointManager: the last save failed: ")));
}

TEST(Manager, RemovesWhatKilledWritersLeftAnHourAgo) {
  const std::string folder = fresh_folder("leftovers");
  std::filesystem::create_directories(folder);
  // No process has this number; this one has its own.
  const std::string dead = folder + "/ckpt-3.safetensors.tmp-999999999-0",
                    young = folder + "/ckpt-3.safetensors.tmp-999999999-1",
                    alive = folder + "/ckpt-3.safetensors.tmp-" + std::to_string(getpid()) + "-0",
                    other = folder + "/notes.tmp-999999999-0";
  for (const std::string &path : {dead, young, alive, other}) write_bytes(path, "x");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const std::string &path : {dead, alive, other}) std::filesystem::last_write_time(path, old);
  const CheckpointManager manager(folder);
  EXPECT_FALSE(std::filesystem::exists(dead));
  for (const std::string &path : {young, alive, other}) EXPECT_TRUE(std::filesystem::exists(path));
}

} // namespace
} // namespace weft
