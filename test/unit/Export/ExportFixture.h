// What tests of exported programs share: a folder of their own, and comparing bit for bit.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <weft/program.h>
#include <weft/weft.h>

#include "../Testing.h"

namespace weft {

class ExportFixture : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "weft-export-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string &name = "program.weft") const { return folder_ + "/" + name; }

  static std::string read(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string &path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string folder_;
};

/// Small numbers of both signs that no two neighbours share.
inline Tensor numbers(const Shape &shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((i * 37) % 101 - 50) / 32);
  return tensor(values, shape);
}

inline std::string bytes_of(const Tensor &x) {
  const Tensor dense = x.contiguous();
  return {reinterpret_cast<const char *>(dense.impl()->data),
          static_cast<std::size_t>(dense.size()) * item_size(dense.dtype())};
}

/// The same types and the same bits.
inline void expect_same(const Tensor &found, const Tensor &wanted) {
  EXPECT_EQ(found.type(), wanted.type());
  EXPECT_TRUE(bytes_of(found) == bytes_of(wanted)) << found << "\nis not\n" << wanted;
}

} // namespace weft
