// What the environment asks of compiles: texts of phases, and the log of times.
#include "../Testing.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>
#include <weft/weft.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

class Dumps : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(folder_);
    set_log_sink([this](std::string_view line) { log_.emplace_back(line); });
  }
  void TearDown() override {
    unsetenv("WEFT_DUMP");
    unsetenv("WEFT_DUMP_DIR");
    set_log_sink({});
    fs::remove_all(folder_);
  }

  /// Compiles and runs exp(x) + number, anew for each number.
  static CompileReport compile(float number, const std::string &dump = "") {
    auto f = function([=](Tensor x) { return exp(x) + number; }, {.name = "f", .dump = dump});
    const Tensor x = zeros({2, 2});
    EXPECT_EQ(f(x).to_vector<float>()[0], 1 + number);
    return f.report(x);
  }
  static std::string text_of(const std::string &file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  const fs::path folder_ = fs::temp_directory_path() / ("weft-dumps." + std::to_string(getpid()));
  std::vector<std::string> log_;
};

TEST_F(Dumps, WriteThePhasesThatAreNamed) {
  setenv("WEFT_DUMP", "linalg,llvm,object", 1);
  setenv("WEFT_DUMP_DIR", folder_.c_str(), 1);
  for (const float number : {1.F, 2.F}) {
    const CompileReport report = compile(number);
    ASSERT_EQ(report.files.size(), 3U);
    EXPECT_TRUE(fs::path(report.files[0]).filename().string().starts_with("f."));
    EXPECT_TRUE(report.files[0].ends_with(".linalg.mlir")) << report.files[0];
    EXPECT_TRUE(report.files[1].ends_with(".llvm.mlir")) << report.files[1];
    EXPECT_TRUE(report.files[2].ends_with(".object.s")) << report.files[2];
    EXPECT_NE(text_of(report.files[0]).find("linalg.generic"), std::string::npos);
    EXPECT_NE(text_of(report.files[1]).find("llvm.func"), std::string::npos);
    EXPECT_NE(text_of(report.files[2]).find("f_weft_entry:"), std::string::npos);
  }
  // Each trace has files of its own, and there are no others.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 6);
}

// A name is a part of a file's name, and leads nowhere else.
TEST_F(Dumps, NamesOfFunctionsAreNoPaths) {
  setenv("WEFT_DUMP", "trace", 1);
  setenv("WEFT_DUMP_DIR", folder_.c_str(), 1);
  const fs::path own = folder_ / "own";
  fs::create_directories(own);
  for (const std::string &name : {std::string("../../up"), std::string("/tmp/weft-away"),
                                  std::string(300, 'n'), std::string("a\nb"), std::string("..")}) {
    auto f = function([](Tensor x) { return exp(x) + 7; }, {.name = name, .dump = own});
    const Tensor x = zeros({2, 2});
    static_cast<void>(f(x));
    const CompileReport report = f.report(x);
    EXPECT_FALSE(report.files.empty()) << name;
    for (const std::string &file : report.files) {
      const fs::path folder = fs::path(file).parent_path();
      EXPECT_TRUE(folder == folder_ || folder == own) << file;
      EXPECT_TRUE(fs::exists(file)) << file;
    }
  }
}

TEST_F(Dumps, GoToStderrWithoutAFolder) {
  setenv("WEFT_DUMP", "simplify", 1);
  testing::internal::CaptureStderr();
  const CompileReport report = compile(3);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.starts_with("// f after simplify\n")) << text;
  EXPECT_NE(text.find("weft.exp"), std::string::npos) << text;
  EXPECT_EQ(text.find("linalg.generic"), std::string::npos) << text;
  EXPECT_TRUE(report.files.empty());
}

// Code that was compiled before is compiled again, since its texts are wanted.
TEST_F(Dumps, ComeAlsoWhereCodeIsShared) {
  auto f = function([](Tensor x) { return exp(x) + 4.F; }, {.name = "f"});
  f(zeros({2, 2}));
  setenv("WEFT_DUMP", "all", 1);
  setenv("WEFT_DUMP_DIR", folder_.c_str(), 1);
  const CompileReport report = compile(4);
  EXPECT_EQ(report.cache, "off");
  EXPECT_EQ(report.files.size(), 10U);
  EXPECT_EQ(report.phases.front().phase, "differentiate");
}

TEST_F(Dumps, WarnOnceOfAPhaseThatIsNone) {
  setenv("WEFT_DUMP", "linag,linalg", 1);
  setenv("WEFT_DUMP_DIR", folder_.c_str(), 1);
  for (const float number : {5.F, 6.F}) EXPECT_EQ(compile(number).files.size(), 1U);
  std::vector<std::string> warnings;
  for (const std::string &line : log_)
    if (line.starts_with("warning")) warnings.push_back(line);
  EXPECT_EQ(
      warnings,
      std::vector<std::string>{
          "warning: WEFT_DUMP: there is no phase 'linag'; there are trace, differentiate, "
          "control-deps, simplify, lift-state, linalg, schedule, bufferize, llvm, object, ptx, "
          "and all"});
}

TEST_F(Dumps, ToAFolderThatIsNotThere) {
  setenv("WEFT_DUMP", "linalg", 1);
  setenv("WEFT_DUMP_DIR", (folder_ / "none").c_str(), 1);
  try {
    compile(7);
    FAIL() << "nothing was thrown";
  } catch (const IOError &error) {
    EXPECT_NE(std::string(error.what())
                  .find(".linalg.mlir: cannot write the IR: No such file or directory"),
              std::string::npos)
        << error.what();
  }
  unsetenv("WEFT_DUMP");
  compile(7);
}

TEST_F(Dumps, TheOptionAndTheEnvironmentTogether) {
  setenv("WEFT_DUMP", "llvm", 1);
  setenv("WEFT_DUMP_DIR", folder_.c_str(), 1);
  fs::create_directories(folder_ / "own");
  const CompileReport report = compile(8, folder_ / "own");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "own"), fs::directory_iterator()), 9);
  EXPECT_EQ(report.files.size(), 10U);
}

TEST_F(Dumps, TheLogHasTheTimesOfAllPhases) {
  compile(9);
  ASSERT_FALSE(log_.empty());
  std::string line;
  for (const std::string &candidate : log_)
    if (candidate.find(": compiled in ") != std::string::npos) line = candidate;
  EXPECT_TRUE(line.starts_with("f: compiled in ")) << line;
  std::size_t at = 0;
  for (const char *phase : {" ms: trace ", ", differentiate ", ", control-deps ", ", simplify ",
                            ", lift-state ", ", linalg ", ", schedule ", ", bufferize ", ", llvm ",
                            ", translate ", ", optimize ", ", codegen ", ", link "}) {
    const std::size_t found = line.find(phase, at);
    EXPECT_NE(found, std::string::npos) << phase << " in " << line;
    at = found == std::string::npos ? at : found;
  }
}

// The system would take another folder.
TEST_F(Dumps, RefuseFoldersWithANul) {
  const std::string folder("a\0b", 3);
  EXPECT_THROWS(function([](Tensor x) { return x; }, {.name = "f", .dump = folder}), ValueError,
                "f: dump: the path has a NUL behind 'a', which no file name may have");
}

} // namespace
} // namespace weft
