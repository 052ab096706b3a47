// A phase that fails names the user's line and the command that shows it again.
#include "Driver/Driver.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace mlir::weft {
namespace {

namespace fs = std::filesystem;

/// No tensor has such elements.
constexpr const char *kProgram = R"(
  func.func @shout(%x: tensor<?xi4>) -> tensor<?xi4> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xi4>
    %e = tensor.empty(%n) : tensor<?xi4> loc(fused<1>["/home/user/train.cpp":41:3])
    %y = linalg.add ins(%x, %x : tensor<?xi4>, tensor<?xi4>) outs(%e : tensor<?xi4>)
      -> tensor<?xi4>
    return %y : tensor<?xi4>
  })";

class Reproducers : public testing::Test {
protected:
  Reproducers() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    fs::create_directories(folder);
    setenv("WEFT_DUMP_DIR", folder.c_str(), 1);
  }
  ~Reproducers() override {
    unsetenv("WEFT_DUMP_DIR");
    fs::remove_all(folder);
  }

  static DialectRegistry registry() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }
  OwningOpRef<ModuleOp> parse() { return parseSourceString<ModuleOp>(kProgram, &context); }
  static std::string textOf(const fs::path &file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  const fs::path folder = fs::temp_directory_path() / ("weft-driver." + std::to_string(getpid()));
  MLIRContext context;
};

TEST_F(Reproducers, NameTheLineAndTheCommand) {
  Target target = Target::host();
  target.kind = Target::Kind::nvptx;
  Driver driver(context, target);
  driver.reproduceFrom([&] { return parse(); }, ::weft::Phase::trace);
  OwningOpRef<ModuleOp> module = parse();
  auto code = driver.load(*module, "shout", ::weft::Phase::trace, {});
  ASSERT_FALSE(code);
  EXPECT_EQ(driver.errorLocation(), (::weft::SourceLocation{"/home/user/train.cpp", 41, 3}));
  const std::string &message = code.fault().message;
  EXPECT_TRUE(message.starts_with("is an output of no dtype of Weft")) << message;
  const std::string command = "\nthe phase llvm failed; to see it again:\n  weft-opt "
                              "--run-reproducer ";
  const size_t at = message.find(command);
  ASSERT_NE(at, std::string::npos) << message;
  const fs::path file = message.substr(at + command.size());
  EXPECT_EQ(file.parent_path(), folder);
  const std::string text = textOf(file);
  EXPECT_NE(text.find("(memref<?xi4>) -> (), sym_name = \"shout\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"/home/user/train.cpp\":41:3"), std::string::npos) << text;
  EXPECT_NE(text.find("pipeline: \"builtin.module(weft-phase-llvm{target=nvptx chip=sm_90a})\""),
            std::string::npos)
      << text;
}

// The passes of each phase are textual, so that the command can name them.
TEST_F(Reproducers, HavePipelinesThatParse) {
  registerWeftPasses();
  registerWeftPipelines();
  for (int i = 1; i <= static_cast<int>(::weft::Phase::llvm); ++i)
    for (const Target::Kind kind : {Target::Kind::cpu, Target::Kind::nvptx}) {
      Target target = Target::host();
      target.kind = kind;
      const std::string text = pipelineOf(static_cast<::weft::Phase>(i), target);
      EXPECT_TRUE(succeeded(parsePassPipeline(text))) << text;
    }
}

// Nobody can make the module again, so there is nothing to write.
TEST_F(Reproducers, NeedASource) {
  Target target = Target::host();
  target.kind = Target::Kind::nvptx;
  Driver driver(context, target);
  OwningOpRef<ModuleOp> module = parse();
  auto code = driver.load(*module, "shout", ::weft::Phase::trace, {});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.fault().message.find("weft-opt"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder));
}

// A driver that failed goes on with the next module, and says nothing of the last one.
TEST_F(Reproducers, AreOfTheLastFailureOnly) {
  Target target = Target::host();
  target.kind = Target::Kind::nvptx;
  Driver driver(context, target);
  driver.reproduceFrom([&] { return parse(); }, ::weft::Phase::trace);
  OwningOpRef<ModuleOp> bad = parse();
  ASSERT_TRUE(failed(driver.run(*bad, ::weft::Phase::trace, ::weft::Phase::llvm)));
  EXPECT_NE(driver.reproducer(), "");
  auto good = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = weft.exp %x : tensor<2xf32>
      return %y : tensor<2xf32>
    })",
                                          &context);
  ASSERT_TRUE(good);
  EXPECT_TRUE(succeeded(driver.run(*good, ::weft::Phase::trace, ::weft::Phase::llvm)));
  EXPECT_EQ(driver.reproducer(), "");
}

} // namespace
} // namespace mlir::weft
