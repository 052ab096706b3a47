// Files written past the page cache: the same bytes, on disks that can do it, cannot, or fail on
// the way.

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "Support/Files.h"
#include <weft/error.h>

namespace weft {
namespace {

/// Counts direct writes, and refuses or shortens some of them.
class DirectCalls : public FileCalls {
public:
  DirectCalls() { use_file_calls(this); }
  ~DirectCalls() override { use_file_calls(nullptr); }

  int set_direct(int, bool wanted) override {
    if (wanted && !knows_direct) {
      errno = EINVAL;
      return -1;
    }
    direct = wanted;
    return 0;
  }
  ssize_t write(int descriptor, const void *bytes, std::size_t size) override {
    if (!direct) return FileCalls::write(descriptor, bytes, size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 512, 0U);
    EXPECT_EQ(size % 512, 0U);
    ++direct_writes;
    if (direct_writes > good) {
      errno = error;
      return -1;
    }
    return FileCalls::write(descriptor, bytes, std::min(size, longest));
  }

  bool knows_direct = true, direct = false;
  int direct_writes = 0, good = 1 << 30, error = EINVAL;
  std::size_t longest = std::size_t{1} << 30;
};

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char &byte : bytes) byte = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  return bytes;
}

std::string content(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Writes all in pieces of a size that no block has, and the first bytes anew at the end.
std::string written(const std::string &bytes) {
  const std::string path = testing::TempDir() + "bypassed";
  AtomicFile file(path);
  file.reserve(bytes.size());
  file.bypass_cache();
  constexpr std::size_t kPiece = 1000003;
  std::string other = bytes;
  for (std::size_t i = 0; i < std::min<std::size_t>(other.size(), 100); ++i) other[i] ^= 0x55;
  for (std::size_t at = 0; at < other.size(); at += kPiece)
    file.write(other.data() + at, std::min(kPiece, other.size() - at));
  file.write_at(0, bytes.data(), std::min<std::size_t>(bytes.size(), 100));
  file.commit();
  return content(path);
}

// Sizes around blocks of 4 MiB, and of a page.
const std::size_t kBlock = std::size_t{4} << 20;
const std::size_t kSizes[] = {1, 4096, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock + 4097};

TEST(AtomicFile, PastTheCacheHasTheSameBytes) {
  for (const std::size_t size : kSizes) {
    const std::string bytes = some_bytes(size);
    EXPECT_TRUE(written(bytes) == bytes) << size; // not EQ, which would print them
  }
}

TEST(AtomicFile, PastTheCacheWritesWholeBlocksDirectly) {
  DirectCalls calls;
  const std::string bytes = some_bytes(3 * kBlock + 4097);
  EXPECT_TRUE(written(bytes) == bytes);
  EXPECT_EQ(calls.direct_writes, 3);
  EXPECT_FALSE(calls.direct);
}

TEST(AtomicFile, WritesThroughTheCacheWhereTheFileSystemKnowsNoOtherWay) {
  DirectCalls calls;
  calls.knows_direct = false;
  const std::string bytes = some_bytes(kBlock + 1);
  EXPECT_TRUE(written(bytes) == bytes);
  EXPECT_EQ(calls.direct_writes, 0);
}

TEST(AtomicFile, GoesOnThroughTheCacheWhereADirectWriteIsRefused) {
  DirectCalls calls;
  calls.good = 1;
  const std::string bytes = some_bytes(3 * kBlock + 7);
  EXPECT_TRUE(written(bytes) == bytes);
  EXPECT_EQ(calls.direct_writes, 2);
}

TEST(AtomicFile, GoesOnBehindAShortDirectWrite) {
  DirectCalls calls;
  calls.longest = std::size_t{1} << 20;
  const std::string bytes = some_bytes(2 * kBlock + 7);
  EXPECT_TRUE(written(bytes) == bytes);
  EXPECT_EQ(calls.direct_writes, 8);
}

TEST(AtomicFile, LeavesNothingWhereADirectWriteFails) {
  const std::string folder = testing::TempDir() + "full";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::string bytes = some_bytes(3 * kBlock);
  {
    DirectCalls calls;
    calls.good = 1;
    calls.error = ENOSPC;
    AtomicFile file(folder + "/x");
    file.bypass_cache();
    try {
      file.write(bytes.data(), bytes.size());
      FAIL() << "wrote on a full disk";
    } catch (const IOError &error) {
      EXPECT_NE(std::string(error.message()).find("No space left"), std::string::npos)
          << error.message();
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

} // namespace
} // namespace weft
