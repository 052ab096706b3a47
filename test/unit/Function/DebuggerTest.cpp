// gdb stops at the user's lines in compiled code, and perf names the op calls.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;

/// What a command prints to both streams.
std::string output_of(const std::string &command) {
  std::string text;
  std::FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), count);
  pclose(pipe);
  return text;
}

const std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "weft-debuggee";

/// The number of the line of Debuggee.cpp that holds this text.
int line_of(const std::string &text) {
  std::ifstream source(std::string(WEFT_SOURCE_DIR) + "/test/unit/Function/Debuggee.cpp");
  int number = 1;
  for (std::string line; std::getline(source, line); ++number)
    if (line.find(text) != std::string::npos) return number;
  ADD_FAILURE() << "there is no line with: " << text;
  return 0;
}

bool is_there(const std::string &tool) {
  return std::system(("command -v " + tool + " > /dev/null 2>&1").c_str()) == 0;
}

class Folder {
public:
  Folder() : path_(fs::temp_directory_path() / ("weft-debugger." + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string &name) const { return path_ / name; }

private:
  fs::path path_;
};

/// The stack that gdb shows at each stop at a line.
std::string stacks_at(int line) {
  const Folder folder;
  std::ofstream(folder / "commands")
      << "set pagination off\nset breakpoint pending on\n"
      << "set debuginfod enabled off\nset startup-with-shell off\n"
      << "break Debuggee.cpp:" << line << "\ncommands\nbt 3\ncontinue\nend\nrun\n";
  return output_of("WEFT_DEBUG_INFO=1 timeout 300 gdb -nx -batch -x " + (folder / "commands") +
                   " --args " + program);
}

TEST(Debugger, StopsAtTheUsersLine) {
  if (!is_there("gdb")) GTEST_SKIP() << "gdb is not installed";
  const int line = line_of("the line to stop at");
  const std::string text = stacks_at(line);
  if (text.find("ptrace: ") != std::string::npos) GTEST_SKIP() << "gdb may not trace: " << text;
  const std::string location = "Debuggee.cpp:" + std::to_string(line);
  EXPECT_NE(text.find("exp () at "), std::string::npos) << text;
  // The op, in the traced function.
  const std::size_t op = text.find("#0  exp () at ");
  ASSERT_NE(op, std::string::npos) << text;
  std::istringstream stack(text.substr(op));
  std::string first, second;
  std::getline(stack, first);
  std::getline(stack, second);
  EXPECT_NE(first.find(location), std::string::npos) << first;
  EXPECT_EQ(second.find("#1  step () at "), 0U) << second;
  EXPECT_NE(second.find(location), std::string::npos) << second;
  EXPECT_NE(text.find("total "), std::string::npos) << "the program ran to its end: " << text;
}

TEST(Debugger, ShowsFunctionsThatAreCalled) {
  if (!is_there("gdb")) GTEST_SKIP() << "gdb is not installed";
  const std::string text = stacks_at(line_of("the line in a helper"));
  if (text.find("ptrace: ") != std::string::npos) GTEST_SKIP() << "gdb may not trace: " << text;
  const std::size_t op = text.find("#0  multiply () at ");
  ASSERT_NE(op, std::string::npos) << text;
  EXPECT_NE(text.find("#1  halve () at ", op), std::string::npos) << text;
}

/// The map that the program with this output left, which is removed.
std::string map_of(const std::string &output) {
  const std::size_t at = output.find("pid ");
  if (at == std::string::npos) return "";
  const fs::path path = "/tmp/perf-" + std::to_string(std::atoi(output.c_str() + at + 4)) + ".map";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  fs::remove(path);
  return text.str();
}

TEST(Profiler, MapNamesTheOpCalls) {
  const std::string output = output_of("WEFT_PERF=1 " + program);
  const std::string map = map_of(output);
  const std::string exp_line =
      " step:exp@Debuggee.cpp:" + std::to_string(line_of("the line to stop at")) + "\n";
  EXPECT_NE(map.find(exp_line), std::string::npos) << output << map;
  EXPECT_NE(map.find(" step:matmul@Debuggee.cpp:"), std::string::npos) << map;
  EXPECT_NE(map.find(" halve:multiply@Debuggee.cpp:" +
                     std::to_string(line_of("the line in a helper")) + "\n"),
            std::string::npos)
      << map;
  // Ranges, none of which begins inside another.
  std::istringstream lines(map);
  std::vector<std::pair<unsigned long, unsigned long>> ranges;
  for (std::string line; std::getline(lines, line);) {
    unsigned long start = 0, size = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lx %lx", &start, &size), 2) << line;
    EXPECT_GT(size, 0U) << line;
    ranges.emplace_back(start, size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i)
    EXPECT_LE(ranges[i - 1].first + ranges[i - 1].second, ranges[i].first);
  // Nobody asked: no map.
  EXPECT_EQ(map_of(output_of("WEFT_PERF=0 " + program)), "");
}

TEST(Profiler, PerfNamesTheOpCalls) {
  if (!is_there("perf")) GTEST_SKIP() << "perf is not installed";
  const Folder folder;
  const std::string data = folder / "perf.data";
  const std::string recorded = output_of("WEFT_PERF=1 WEFT_NUM_THREADS=1 timeout 300 perf record "
                                         "-e cpu-clock -o " +
                                         data + " " + program + " 3000");
  if (!fs::exists(data) || fs::file_size(data) == 0)
    GTEST_SKIP() << "perf may not record here: " << recorded;
  const std::string report = output_of("perf report --stdio --sort symbol -w 200 -i " + data);
  map_of(recorded);
  EXPECT_NE(report.find("step:exp@Debuggee.cpp:"), std::string::npos) << recorded << report;
}

} // namespace
