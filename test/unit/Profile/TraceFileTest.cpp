// Traces for Perfetto: what is in the file, also before its end, and where it cannot be written.
#include <fstream>
#include <map>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "../Testing.h"
#include <weft/weft.h>

namespace weft {
namespace {

using nlohmann::json;

std::string path_of(const char *name) { return ::testing::TempDir() + "weft_" + name + ".json"; }

std::string bytes_of(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The complete events of a trace, by name; checks that those of a thread nest.
std::multimap<std::string, json> events_of(const json &trace) {
  std::multimap<std::string, json> events;
  std::map<int, std::vector<std::pair<double, double>>> threads;
  for (const json &event : trace) {
    if (event["ph"] != "X") continue;
    events.emplace(event["name"], event);
    const double begin = event["ts"], end = begin + event["dur"].get<double>();
    EXPECT_GE(begin, 0);
    threads[event["tid"]].emplace_back(begin, -end);
  }
  for (auto &[thread, spans] : threads) {
    std::sort(spans.begin(), spans.end());
    std::vector<double> open;
    for (const auto &[begin, negative_end] : spans) {
      // Nanoseconds are written as decimals: the sum may be off by a rounding.
      while (!open.empty() && open.back() <= begin + 1e-4) open.pop_back();
      if (!open.empty()) EXPECT_LE(-negative_end, open.back() + 1e-3) << "thread " << thread;
      open.push_back(-negative_end);
    }
  }
  return events;
}

TEST(TraceFile, HasOpsLinesThreadsAndMemory) {
  const std::string path = path_of("trace");
  nn::Dense dense(4);
  const auto step = function([&](const Tensor &x) { return relu(dense(x)); }, {.name = "step"});
  auto profile = trace_profile(path);
  const Tensor x = ones({256, 128});
  step(x);
  exp(ones({512, 1024}));
  profile.stop();
  const json trace = json::parse(bytes_of(path));
  const auto events = events_of(trace);
  const json &product = events.find("matmul")->second;
  EXPECT_EQ(product["cat"], "code");
  EXPECT_NE(product["args"]["line"].get<std::string>().find("TraceFileTest.cpp:"),
            std::string::npos);
  const json &op = events.find("exp")->second;
  EXPECT_EQ(op["cat"], "op");
  EXPECT_EQ(op["args"]["types"], "f32(512, 1024) -> f32(512, 1024)");
  const auto [first, last] = events.equal_range("allocate");
  EXPECT_TRUE(std::any_of(first, last, [](const auto &named) {
    return named.second["args"]["bytes"] >= 512 * 1024 * 4;
  }));
  for (const char *name : {"step", "Dense", "codegen"}) EXPECT_TRUE(events.contains(name)) << name;
  bool main = false, memory = false;
  for (const json &event : trace) {
    main |= event["name"] == "thread_name" && event["args"]["name"] == "main";
    memory |= event["ph"] == "C" && event["args"]["bytes"].get<double>() >= 512 * 1024 * 4;
  }
  EXPECT_TRUE(main);
  EXPECT_TRUE(memory);
}

TEST(TraceFile, IsGoodButForItsBracketWhenTheProcessIsKilled) {
  const std::string path = path_of("killed");
  const pid_t child = fork();
  if (child == 0) {
    auto profile = trace_profile(path);
    const Tensor x = ones({2});
    for (int i = 0; i < 10'000; ++i) negate(x);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  std::string text = bytes_of(path);
  ASSERT_TRUE(text.ends_with(",\n"))
      << text.substr(text.size() - std::min<std::size_t>(50, text.size()));
  text.replace(text.size() - 2, 2, "]");
  EXPECT_GE(events_of(json::parse(text)).count("negate"), 8'000U);
}

TEST(TraceFile, LeavesOutWhatIsTooMuch) {
  const std::string path = path_of("short");
  auto profile = trace_profile(path, {.max_events = 100});
  const Tensor x = ones({2});
  for (int i = 0; i < 500; ++i) negate(x);
  profile.stop();
  const json trace = json::parse(bytes_of(path));
  std::size_t events = 0;
  for (const json &event : trace) events += event["ph"] != "M" ? 1 : 0;
  EXPECT_EQ(events, 100U);
  EXPECT_GE(trace.back()["args"]["events_left_out"], 400);
  std::int64_t counted = 0;
  for (const ProfileEntry &entry : profile.entries())
    if (entry.name == "negate") counted += entry.count;
  EXPECT_EQ(counted, 500);
}

TEST(TraceFile, WhatCannotBeWritten) {
  EXPECT_THROW(static_cast<void>(trace_profile("")), ValueError);
  EXPECT_THROW(static_cast<void>(trace_profile("/nowhere/run.json")), IOError);
  EXPECT_THROW(static_cast<void>(trace_profile(path_of("none"), {.max_events = -1})), ValueError);
  auto full = trace_profile("/dev/full");
  exp(ones({2}));
  try {
    full.stop();
    FAIL() << "a full disk was not seen";
  } catch (const IOError &error) {
    EXPECT_NE(std::string(error.message()).find("/dev/full"), std::string::npos);
  }
  // A second profile is refused before it empties the first one's file.
  const std::string path = path_of("mine");
  auto profile = trace_profile(path);
  EXPECT_THROW(static_cast<void>(trace_profile(path)), StateError);
  profile.stop();
  EXPECT_TRUE(json::parse(bytes_of(path)).is_array());
}

} // namespace
} // namespace weft
