// Event files: what is written is read back, eager and traced; threads, full disks, forks.
#include "../Testing.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/events.h>
#include <weft/weft.h>

namespace weft {
namespace {

using events::Event;
using events::Writer;

/// An empty folder for the test.
std::string folder() {
  const auto *test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string path =
      ::testing::TempDir() + "weft-" + test->test_suite_name() + "-" + test->name();
  std::filesystem::remove_all(path);
  return path;
}

TEST(Events, ScalarsComeBack) {
  const Writer writer(folder());
  writer.scalar("loss", 0.5, 1);
  writer.scalar("loss", tensor(0.25), tensor(std::int64_t{1} << 40));
  writer.within("train").within("deep").scalar("loss", true, Variable(7));
  writer.scalar("not a number", std::nan(""), -1);
  writer.flush();
  const std::vector<Event> all = events::read(writer.path());
  ASSERT_EQ(all.size(), 4U);
  const auto expect = [](const Event &event, const char *tag, std::int64_t step, float value) {
    EXPECT_EQ(event.tag, tag);
    EXPECT_EQ(event.plugin, "scalars");
    EXPECT_EQ(event.step, step);
    EXPECT_EQ(event.numbers.item<float>(), value);
    EXPECT_GT(event.wall_time, 1.7e9);
  };
  expect(all[0], "loss", 1, 0.5F);
  expect(all[1], "loss", std::int64_t{1} << 40, 0.25F);
  expect(all[2], "train/deep/loss", 7, 1);
  EXPECT_TRUE(std::isnan(all[3].numbers.item<float>()));
  EXPECT_EQ(all[3].step, -1);
}

// In a compiled loop each iteration writes, in order.
TEST(Events, InATracedFunction) {
  const Writer writer(folder());
  const auto run = function([&](const Tensor &x) {
    return for_loop(
        5,
        [&](const Tensor &i, const Tensor &state) {
          writer.scalar("x", state, i);
          return state * 2;
        },
        x);
  });
  EXPECT_EQ(run(tensor(1.F)).item<float>(), 32);
  run(tensor(3.F));
  writer.flush();
  std::vector<std::pair<std::int64_t, float>> seen;
  for (const Event &event : events::read(writer.path()))
    seen.emplace_back(event.step, event.numbers.item<float>());
  const std::vector<std::pair<std::int64_t, float>> expected = {
      {0, 1}, {1, 2}, {2, 4}, {3, 8}, {4, 16}, {0, 3}, {1, 6}, {2, 12}, {3, 24}, {4, 48}};
  EXPECT_EQ(seen, expected);
}

std::vector<double> histogram_of(const Tensor &values, std::int64_t buckets) {
  const Writer writer(folder());
  writer.histogram("h", values, 0, {.buckets = buckets});
  writer.close();
  const std::vector<Event> all = events::read(writer.path());
  EXPECT_EQ(all.at(0).numbers.shape(), (Shape{buckets, 3}));
  return all.at(0).numbers.to_vector<double>();
}

TEST(Events, Histograms) {
  using V = std::vector<double>;
  EXPECT_EQ(histogram_of(tensor({0.F, 1.F, 2.F, 3.F, 4.F}), 2), (V{0, 2, 2, 2, 4, 3}));
  EXPECT_EQ(histogram_of(tensor({true, false, true}), 2), (V{0, 0.5, 1, 0.5, 1, 2}));
  // All the same: in the last bucket; none: zeros.
  EXPECT_EQ(histogram_of(full({2, 3}, 7), 2), (V{7, 7, 0, 7, 7, 6}));
  EXPECT_EQ(histogram_of(zeros({0}), 2), V(6));
  // Ends that are as far apart as can be.
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(histogram_of(tensor({-most, 0., most}), 2), (V{-most, 0, 1, 0, most, 2}));
  // What is not finite is left out, and said.
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(histogram_of(tensor({1., HUGE_VAL, 2., std::nan("")}), 1), (V{1, 2, 2}));
  set_log_sink(before);
  EXPECT_EQ(lines,
            std::vector<std::string>{
                "events::histogram: 2 of the 4 elements of 'h' are not finite and left out"});
}

TEST(Events, TextAndHyperparameters) {
  const Writer writer(folder());
  writer.text("note", "**bold**, \xc3\xa4", 3);
  writer.hyperparameters({{"rate", 0.01}, {"units", std::int64_t{64}}, {"name", "a"}, {"on", true}},
                         {"loss"});
  writer.finished();
  writer.close();
  const std::vector<Event> all = events::read(writer.path());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].plugin, "text");
  EXPECT_EQ(all[0].bytes, std::vector<std::string>{"**bold**, \xc3\xa4"});
  EXPECT_EQ(all[1].tag, "_hparams_/experiment");
  EXPECT_EQ(all[2].tag, "_hparams_/session_start_info");
  EXPECT_EQ(all[3].tag, "_hparams_/session_end_info");
}

TEST(Events, Images) {
  const Writer writer(folder());
  const Tensor pictures = random::uniform({5, 3, 4, 3}, {.seed = 1});
  writer.image("several", pictures, 1, {.at_most = 2});
  writer.image("grey", tensor({{0, 255}, {128, 7}}), 2);
  writer.image("odd", tensor({{-1., 2.}, {std::nan(""), 0.5}}), 3);
  function([&](const Tensor &x) { writer.image("traced", x, 4); })(pictures[0]);
  writer.close();
  const std::vector<Event> all = events::read(writer.path());
  ASSERT_EQ(all.size(), 4U);
  ASSERT_EQ(all[0].bytes.size(), 4U);
  EXPECT_EQ(all[0].plugin, "images");
  EXPECT_EQ(all[0].bytes[0], "4"); // the width first
  EXPECT_EQ(all[0].bytes[1], "3");
  const Tensor second = data::decode_image(all[0].bytes[3]);
  EXPECT_LE(max(abs(second - pictures[1])).item<float>(), 0.5F / 255 + 1e-6F);
  EXPECT_EQ(data::decode_image(all[1].bytes[2], {.dtype = i32}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0, 255, 128, 7}));
  EXPECT_EQ(data::decode_image(all[2].bytes[2], {.dtype = i32}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0, 255, 0, 128}));
  EXPECT_EQ(all[3].bytes[2], data::encode_png(pictures[0]));
  EXPECT_THROWS(writer.image("x", ones({3, 4, 5}), 1), ShapeError,
                "events::image: 'x' must be (height, width), (height, width, channels) or (count, "
                "height, width, channels) of 1, 3 or 4 channels, but is f32(3, 4, 5)");
}

// A run that goes on from a step replaces what came after it.
TEST(Events, ResumedRuns) {
  const std::string where = folder();
  const Writer first(where);
  for (int step = 0; step < 10; ++step) first.scalar("x", step, step);
  first.close();
  const Writer second(where, {.resumed_at = 4});
  second.scalar("x", -4, 4);
  second.close();
  const auto all = events::read_scalars(where);
  const std::vector<std::pair<std::int64_t, double>> expected = {
      {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, -4}};
  EXPECT_EQ(all.at("x"), expected);
}

TEST(Events, ManyThreads) {
  const Writer writer(folder(), {.flush_seconds = 0});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([writer, t] {
      for (int step = 0; step < 500; ++step) writer.scalar("t" + std::to_string(t), step, step);
    });
  for (std::thread &thread : threads) thread.join();
  writer.close();
  std::map<std::string, std::int64_t> next;
  for (const Event &event : events::read(writer.path())) EXPECT_EQ(event.step, next[event.tag]++);
  EXPECT_EQ(next.size(), 4U);
  for (const auto &[tag, count] : next) EXPECT_EQ(count, 500);
}

// Without a flush everything is there soon.
TEST(Events, ReachTheFileByThemselves) {
  const Writer writer(folder(), {.flush_seconds = 0.01});
  writer.scalar("x", 1, 1);
  for (int attempt = 0; attempt < 500 && events::read(writer.path()).empty(); ++attempt)
    usleep(10'000);
  EXPECT_EQ(events::read(writer.path()).size(), 1U);
}

TEST(Events, Refusals) {
  EXPECT_THROWS(Writer(""), ValueError, "events::Writer: the path is empty");
  EXPECT_THROW(Writer("/proc/nothing/here"), IOError);
  EXPECT_THROWS(Writer(folder(), {.flush_seconds = -1}), ValueError,
                "events::Writer: flush_seconds is -1, but must be between 0 and 86400, a day");
  EXPECT_THROWS(Writer(folder(), {.resumed_at = -1}), ValueError,
                "events::Writer: resumed_at is -1, but must be at least 0");
  const Writer writer(folder());
  EXPECT_THROWS(writer.scalar("", 1, 1), ValueError, "events::scalar: the tag is empty");
  EXPECT_THROWS(writer.scalar("x", ones({2}), 1), ShapeError,
                "events::scalar: 'x' must be a scalar, but is f32(2,)");
  EXPECT_THROWS(writer.scalar("x", 1, 0.5), DTypeError,
                "events::scalar: the step must be a whole number, but is f32()");
  EXPECT_THROWS(writer.text("x", "y", ones({1}, i32)), ShapeError,
                "events::text: the step must be a scalar, but is i32(1,)");
  EXPECT_THROWS(writer.scalar("x", 1, Tensor()), StateError,
                "events::scalar: the step is undefined");
  EXPECT_THROWS(writer.histogram("x", 1, 1, {.buckets = 0}), ValueError,
                "events::histogram: buckets is 0, but must be between 1 and 2^20");
  writer.close();
  writer.close();
  EXPECT_THROWS(writer.scalar("x", 1, 1), StateError, writer.path() + ": is closed");
  EXPECT_THROWS(events::read(::testing::TempDir() + "weft-no-such-file"), IOError,
                ::testing::TempDir() +
                    "weft-no-such-file: cannot be opened: No such file or directory");
}

// A file that may not grow any more is an error of a later call, and no end of the process.
TEST(Events, AFullDisk) {
  const Writer writer(folder(), {.flush_seconds = 0});
  writer.flush();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1024, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  // The thread writes when it comes to it: a call that adds may hear of it, the flush must.
  EXPECT_THROWS(
      {
        for (int step = 0; step < 20; ++step) writer.text("x", std::string(100, 'x'), step);
        writer.flush();
      },
      IOError, writer.path() + ": cannot be written: File too large");
  EXPECT_THROW(writer.scalar("x", 1, 1), IOError);
  EXPECT_THROW(writer.close(), IOError);
  setrlimit(RLIMIT_FSIZE, &before);
  // What was written before it is whole.
  EXPECT_GE(events::read(writer.path()).size(), 1U);
}

// A child has no thread that writes; the parent goes on.
TEST(Events, InAChild) {
  const std::string where = folder();
  const Writer writer(where);
  writer.scalar("x", 1, 1);
  const pid_t child = fork();
  if (child == 0) {
    try {
      writer.scalar("x", 2, 2);
    } catch (const StateError &) {
      const Writer own(where + "-child");
      own.scalar("y", 1, 1);
      own.close();
      _exit(events::read(own.path()).size() == 1 ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  writer.scalar("x", 3, 3);
  writer.close();
  EXPECT_EQ(events::read(writer.path()).size(), 2U);
}

} // namespace
} // namespace weft
