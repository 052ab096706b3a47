// Entries and folders that must not be trusted or cannot be used: one line in the log, code
// compiled anew, and the program goes on.
#include "CacheFixture.h"
#include "CodeCache/CodeLoader.h"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::cache {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class BadEntries : public CacheFixture {
protected:
  void SetUp() override {
    CacheFixture::SetUp();
    ASSERT_EQ(compile(), "miss");
    file_ = files().at(0);
    bytes_ = read(file_);
    lines_.clear();
  }

  /// The entry is ignored with this reason, and its file is good afterwards.
  void expect_ignored(const std::string &reason) {
    lines_.clear();
    EXPECT_EQ(compile(), "miss") << reason;
    EXPECT_THAT(lines_,
                ElementsAre(AllOf(StartsWith("error: the cache entry " +
                                             file_.stem().string().substr(0, 12) + "... "),
                                  HasSubstr(reason), EndsWith(": ignored and compiled anew"))));
    EXPECT_EQ(compile(), "hit") << reason;
  }

  /// The entry with something changed, and its checksum right.
  void rewrite(const std::function<void(Entry &)> &change) {
    Entry entry = decode(bytes_).value();
    change(entry);
    write(file_, encode(entry));
  }

  std::filesystem::path file_;
  std::string bytes_;
};

TEST_F(BadEntries, TruncatedAtEveryLength) {
  for (std::size_t size = 0; size < bytes_.size(); size += 1 + size / 3)
    EXPECT_FALSE(decode(std::string_view(bytes_).substr(0, size))) << size;
  for (const std::size_t size : {std::size_t{0}, std::size_t{20}, bytes_.size() / 2}) {
    write(file_, bytes_.substr(0, size));
    expect_ignored("is truncated");
  }
}

// A file that is huge on paper is refused before memory is taken for it.
TEST_F(BadEntries, OfImmenseSize) {
  for (const std::uintmax_t size : {std::uintmax_t{1} << 30, std::uintmax_t{1} << 40}) {
    std::filesystem::resize_file(file_, size);
    expect_ignored(size == std::uintmax_t{1} << 30
                       ? "is damaged"
                       : "has 1099511627776 bytes, more than 1073741824");
  }
}

TEST_F(BadEntries, WithABitFlipped) {
  for (std::size_t at = 0; at < bytes_.size(); at += 7) {
    std::string flipped = bytes_;
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << at % 8);
    EXPECT_FALSE(decode(flipped)) << at;
  }
  std::string flipped = bytes_;
  flipped[flipped.size() - 100] ^= 4;
  write(file_, flipped);
  expect_ignored("is damaged");
}

TEST_F(BadEntries, OfAnotherKindOrVersion) {
  write(file_, std::string(1000, '\x7f'));
  expect_ignored("is a file of another kind");
  std::string later = bytes_;
  later[8] = 9;
  write(file_, later);
  expect_ignored("has version 9, and this Weft reads version 5");
}

TEST_F(BadEntries, OfAnotherBuildCpuOrProgram) {
  rewrite([](Entry &entry) { entry.key.build = "00-00"; });
  expect_ignored("was written by another build");
  rewrite([](Entry &entry) { entry.key.features += ",avx512quantum"; });
  expect_ignored("was written for avx512quantum and this CPU has none");
  rewrite([](Entry &entry) { entry.key.program[0] ^= 1; });
  expect_ignored("was written for another program");
}

TEST_F(BadEntries, WithCodeThatCannotBeLinked) {
  rewrite([](Entry &entry) { entry.object = "no object file"; });
  expect_ignored("holds code that cannot be linked: it is no object file for x86-64");
  rewrite([](Entry &entry) { entry.symbol = "elsewhere"; });
  expect_ignored("lacks its function elsewhere");
  // With a right checksum any bytes may come to the linker, which must only refuse them.
  for (std::size_t at = 0; at < 4096; at += 3)
    if (std::string object = decode(bytes_).value().object; at < object.size()) {
      object[at] = static_cast<char>(~object[at]);
      static_cast<void>(load_code(object));
    }
}

TEST_F(BadEntries, ThatAreNoFilesOfTheUser) {
  chmod(file_.c_str(), 0666);
  expect_ignored("may be written by other users");
  std::filesystem::rename(file_, root_ + "/elsewhere");
  std::filesystem::create_symlink(root_ + "/elsewhere", file_);
  expect_ignored("cannot be read: Too many levels of symbolic links");
  std::filesystem::remove(file_);
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  expect_ignored("is no file");
  if (geteuid() != 0) return; // only root gives files away
  std::filesystem::remove(file_);
  write(file_, bytes_);
  chmod(file_.c_str(), 0600);
  ASSERT_EQ(chown(file_.c_str(), 12345, 12345), 0);
  expect_ignored("belongs to another user");
}

class BadFolders : public CacheFixture {
protected:
  /// Runs in a process of its own, because trouble with the folder is said once per process: the
  /// function is compiled each time, and there is one line.
  void expect_unused(const std::string &reason) {
    const pid_t child = fork();
    if (child == 0) {
      lines_.clear();
      compile();
      compile();
      std::vector<std::string> errors;
      for (const std::string &line : lines_)
        if (line.starts_with("error: ")) errors.push_back(line);
      EXPECT_THAT(errors,
                  ElementsAre(AllOf(HasSubstr(reason), EndsWith(": compiled code is not kept"))));
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << reason;
  }
};

TEST_F(BadFolders, ThatOthersMayWrite) {
  std::filesystem::create_directory(folder_);
  chmod(folder_.c_str(), 0777);
  expect_unused("the cache folder " + folder_ + " may be written by other users");
  EXPECT_TRUE(files().empty());
  if (geteuid() != 0) return;
  chmod(folder_.c_str(), 0700);
  ASSERT_EQ(chown(folder_.c_str(), 12345, 12345), 0);
  expect_unused("the cache folder " + folder_ + " belongs to another user");
}

TEST_F(BadFolders, ThatCannotBeCreatedOrWritten) {
  write(root_ + "/file", "");
  use(root_ + "/file/below");
  expect_unused("the cache folder " + folder_ + " cannot be created: Not a directory");
  use(root_ + "/file");
  expect_unused("is no folder");
  use("/proc/self");
  expect_unused("cannot be written");
}

TEST_F(BadFolders, OnAFullDisk) {
  // A file that may not grow stands for a disk without room.
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit before = [] {
    rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  const rlimit small = {1024, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  expect_unused("cannot be written: File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(files().empty()) << "the temporary file is left";
}

TEST_F(BadFolders, TooSmallForTheCode) {
  setenv("WEFT_CACHE_SIZE", "1K", 1);
  expect_unused("more than the cache folder");
  setenv("WEFT_CACHE_SIZE", "large", 1);
  EXPECT_EQ(compile(), "miss");
  EXPECT_THAT(lines_.at(0), HasSubstr("WEFT_CACHE_SIZE=large is no size such as 512M"));
}

} // namespace
} // namespace weft::cache
