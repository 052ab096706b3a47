// How tests start programs of several ranks and read what they say.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace weft::distributed {

struct Output {
  std::string text;
  int status = 0;
  double seconds = 0;
};

inline Output run(const std::string &command) {
  Output output;
  const auto start = std::chrono::steady_clock::now();
  // NOLINTNEXTLINE(bugprone-command-processor): commands of these tests
  FILE *pipe = popen(("timeout -k 5 300 " + command + " 2>&1 </dev/null").c_str(), "r");
  char bytes[4096];
  while (const std::size_t got = std::fread(bytes, 1, sizeof bytes, pipe))
    output.text.append(bytes, got);
  output.status = pclose(pipe);
  output.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return output;
}

inline std::string from_environment(const char *name, const std::string &otherwise) {
  const char *value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): the only thread
  return value != nullptr ? value : otherwise;
}

inline std::string launcher() { return from_environment("WEFT_TEST_MPIRUN", "mpirun"); }

/// What the launcher says of itself: "mpirun (Open MPI) 4.1.4".
inline const std::string &version() {
  static const auto &text = *new std::string(run(launcher() + " --version").text);
  return text;
}
inline bool is_open_mpi() { return version().find("Open MPI") != std::string::npos; }

inline std::vector<int> worlds() {
  std::vector<int> all;
  std::istringstream text(from_environment("WEFT_TEST_WORLDS", "2"));
  for (std::string number; std::getline(text, number, ',');) all.push_back(std::stoi(number));
  return all;
}

inline const std::string kProgram = WEFT_TEST_RANKS_PROGRAM;

/// Where none is named, the launcher's own is found.
inline std::string named_library() {
  const std::string library = from_environment("WEFT_TEST_MPI_LIBRARY", "");
  return library.empty() ? "" : "WEFT_MPI_LIBRARY=" + library + " ";
}

/// Runs a part on so many ranks, all on this host, each with one thread.
inline Output on_ranks(int ranks, const std::string &part) {
  std::string options = " -n " + std::to_string(ranks);
  if (is_open_mpi()) options += " --oversubscribe --bind-to none --allow-run-as-root";
  return run("env WEFT_NUM_THREADS=1 " + named_library() + launcher() + options + " " + kProgram +
             " " + part);
}

inline std::size_t count_of(const std::string &text, const std::string &what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// The lines of rank 0 with digests.
inline std::string digests(const std::string &text) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("rank 0: ") && line.find("done") == std::string::npos) all += line + "\n";
  return all;
}

/// Those of its lines that are of as many replicas as there are ranks, or more: "rank 0: 4 ...".
inline std::string of_enough_replicas(const std::string &digests, int ranks) {
  std::istringstream lines(digests);
  std::string some;
  for (std::string line; std::getline(lines, line);)
    if (std::stoi(line.substr(8)) >= ranks) some += line + "\n";
  return some;
}

class Ranks : public testing::Test {
protected:
  void SetUp() override {
    if (run(launcher() + " --version").status != 0)
      GTEST_SKIP() << "there is no " << launcher() << ": apt-get install openmpi-bin";
  }
  void expect_done(int ranks, const std::string &part) {
    const Output output = on_ranks(ranks, part);
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_THAT(output.text, testing::Not(testing::HasSubstr("WRONG"))) << ranks << " ranks";
    EXPECT_EQ(count_of(output.text, "done, of " + std::to_string(ranks) + "\n"),
              static_cast<std::size_t>(ranks))
        << output.text;
  }
};

} // namespace weft::distributed
