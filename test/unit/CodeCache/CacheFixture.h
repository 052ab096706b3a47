// A cache folder of the test's own, the log's lines, and a function to compile.
#pragma once

#include "CodeCache/CodeCache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/log.h>
#include <weft/weft.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weft::cache {

class CacheFixture : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "weft-cache-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    use(root_ + "/cache");
    unsetenv("WEFT_CACHE");
    unsetenv("WEFT_CACHE_SIZE");
    // What compiling took is not about the cache.
    set_log_sink([this](std::string_view line) {
      if (line.find(": compiled in ") == line.npos) lines_.emplace_back(line);
    });
  }
  void TearDown() override {
    set_log_sink({});
    setenv("WEFT_CACHE", "off", 1);
    std::filesystem::remove_all(root_);
  }

  void use(const std::string &folder) {
    folder_ = folder;
    setenv("WEFT_CACHE_DIR", folder.c_str(), 1);
  }

  /// Traces and compiles x * 3 + `number`, runs it, and says where its code came from. The function
  /// is gone afterwards, so that no later one shares its code.
  std::string compile(float number = 1, const std::string &name = "scaled") {
    const auto function =
        weft::function([number](Tensor x) { return x * 3.0f + number; }, {.name = name});
    const Tensor x = tensor(std::vector<float>{1, 2, 3, 4}, {4});
    EXPECT_EQ(function(x).to_vector<float>(),
              (std::vector<float>{3 + number, 6 + number, 9 + number, 12 + number}));
    return function.report(x).cache;
  }

  /// The files of entries.
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    if (std::filesystem::exists(folder_))
      for (const auto &item : std::filesystem::directory_iterator(folder_))
        if (const auto name = item.path().filename().string();
            !name.starts_with("compiler-") && name != ".usage")
          found.push_back(item.path());
    return found;
  }

  static std::string read(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::filesystem::path &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string root_, folder_;
  std::vector<std::string> lines_;
};

} // namespace weft::cache
