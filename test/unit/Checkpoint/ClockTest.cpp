// What is saved while somebody sets the clock back: numbers, due times and the order of event
// files do not depend on it.
#include <weft/checkpoint.h>
#include <weft/events.h>

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#include "Files.h"
#include <weft/ops.h>

namespace {
std::atomic<std::int64_t> seconds_back{0};
} // namespace

/// Replaces the system's in this program.
extern "C" int clock_gettime(clockid_t clock, timespec *time) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec -= seconds_back.load();
  return static_cast<int>(result);
}

namespace weft {
namespace {

constexpr std::int64_t kYear = 365 * 24 * 3600;

struct State {
  Variable x{0.F};
  WEFT_FIELDS(State, x)
};

TEST(Clock, CheckpointsAreInTheOrderOfTheirNumbers) {
  const std::string folder = fresh_folder("clock");
  State state;
  {
    CheckpointManager manager(folder, {.keep = 2, .background = false});
    for (const float x : {1.F, 2.F, 3.F}) {
      state.x.assign(x);
      manager.save(state);
      seconds_back += kYear;
    }
    const std::vector<CheckpointInfo> all = manager.checkpoints();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].number, 2);
    EXPECT_EQ(all[1].number, 3);
    // The clock did go back.
    EXPECT_GT(all[0].time - all[1].time, std::chrono::hours(24 * 364));
  }
  EXPECT_EQ(latest_checkpoint(folder), folder + "/ckpt-3.safetensors");
  CheckpointManager manager(folder);
  State found;
  EXPECT_EQ(manager.restore_latest(found)->number, 3);
  EXPECT_EQ(found.x.value().item<float>(), 3);
}

TEST(Clock, ASaveIsDueAfterTheTimeThatHasPassed) {
  const std::string folder = fresh_folder("clock-due");
  State state;
  CheckpointManager manager(folder, {.every = std::chrono::milliseconds(50), .background = false});
  seconds_back += kYear;
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_TRUE(manager.save_if_due(state, 1));
  seconds_back -= 3 * kYear; // forward
  EXPECT_FALSE(manager.save_if_due(state, 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_TRUE(manager.save_if_due(state, 3));
}

TEST(Clock, ARunThatGoesOnIsReadBehindTheOneBefore) {
  const std::string folder = fresh_folder("clock-events");
  std::vector<std::string> paths;
  for (int run = 0; run < 3; ++run) {
    events::Writer writer(folder, {.resumed_at = run * 2});
    for (int step = run * 2; step < run * 2 + 4; ++step) writer.scalar("loss", run, step);
    writer.close();
    paths.push_back(writer.path());
    seconds_back += kYear;
  }
  // Names sort as TensorBoard takes them, and what a later run wrote counts.
  EXPECT_LT(paths[0], paths[1]);
  EXPECT_LT(paths[1], paths[2]);
  const auto loss = events::read_scalars(folder).at("loss");
  EXPECT_EQ(loss, (std::vector<std::pair<std::int64_t, double>>{
                      {0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}, {5, 2}, {6, 2}, {7, 2}}));
}

TEST(Clock, AFileThatHasTheNameAlreadyStays) {
  // As where a container's process has the number and the second of one before it.
  const std::string folder = fresh_folder("clock-names");
  const events::Writer first(folder);
  const std::string &name = first.path();
  const std::size_t end = name.rfind(".v2"), dot = name.rfind('.', end - 1);
  const int number = std::stoi(name.substr(dot + 1, end - dot - 1));
  std::vector<std::string> others;
  for (int next = number + 1; next < number + 4; ++next) {
    others.push_back(name.substr(0, dot + 1) + std::to_string(next) + ".v2");
    write_bytes(others.back(), "another's");
  }
  const events::Writer second(folder);
  second.scalar("x", 1, 1);
  second.flush();
  EXPECT_EQ(events::read(second.path()).size(), 1U);
  for (const std::string &other : others) EXPECT_EQ(bytes_of(other), "another's");
}

} // namespace
} // namespace weft
