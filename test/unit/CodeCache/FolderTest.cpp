// The folder on its own: sizes, who leaves first, and processes that write and die together.
#include "CacheFixture.h"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::cache {
namespace {

using testing::ElementsAre;

class CacheFolder : public CacheFixture {
protected:
  static std::vector<std::string> names(const Folder &folder) {
    std::vector<std::string> found;
    for (const Listed &listed : folder.list()) found.push_back(listed.name);
    return found;
  }
  /// Says when an entry was used last.
  void used_at(const std::string &name, std::int64_t seconds) const {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    utimensat(AT_FDCWD, (folder_ + "/" + name + ".code").c_str(), times, 0);
  }
  static Entry entry_of(std::size_t bytes) {
    Entry entry;
    entry.function = "f";
    entry.object.assign(bytes, 'x');
    return entry;
  }
};

TEST_F(CacheFolder, SizesAreRead) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("3K"), 3072U);
  EXPECT_EQ(parse_size("512MiB"), 512U << 20);
  EXPECT_EQ(parse_size("2GB"), std::uint64_t{2} << 30);
  for (const char *bad : {"", "G", "-1", "1.5G", "1X", "1GG", "99999999999999999999", "99999999T"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST_F(CacheFolder, IsWhereTheEnvironmentSays) {
  EXPECT_EQ(Folder::from_environment()->path(), folder_);
  unsetenv("WEFT_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/some/where", 1);
  EXPECT_EQ(Folder::from_environment()->path(), "/some/where/weft");
  setenv("XDG_CACHE_HOME", "relative", 1);
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(Folder::from_environment()->path(), "/home/someone/.cache/weft");
  EXPECT_TRUE(lines_.empty());
  unsetenv("HOME");
  EXPECT_FALSE(Folder::from_environment());
  EXPECT_THAT(lines_.at(0), testing::HasSubstr("there is no HOME, XDG_CACHE_HOME or WEFT_CACHE"));
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
  unsetenv("XDG_CACHE_HOME");
}

// "OFF" would otherwise mean on in silence.
TEST_F(CacheFolder, IsOnUnlessTheEnvironmentSaysOff) {
  for (const char *on : {"", "on", "1"}) {
    setenv("WEFT_CACHE", on, 1);
    EXPECT_TRUE(Folder::from_environment()) << on;
  }
  EXPECT_TRUE(lines_.empty());
  for (const char *unknown : {"OFF", "no", "xyz"}) {
    setenv("WEFT_CACHE", unknown, 1);
    lines_.clear();
    EXPECT_TRUE(Folder::from_environment()) << unknown;
    EXPECT_THAT(lines_.at(0), testing::HasSubstr(std::string("WEFT_CACHE=") + unknown +
                                                 " is neither on nor off: on is taken"));
  }
  for (const char *off : {"off", "0"}) {
    setenv("WEFT_CACHE", off, 1);
    EXPECT_FALSE(Folder::from_environment()) << off;
  }
}

TEST_F(CacheFolder, DropsWhatWasNotUsedForLongest) {
  const std::string bytes = encode(entry_of(1000));
  const Folder folder(folder_, 3 * bytes.size());
  ASSERT_FALSE(folder.prepare());
  for (const char *name : {"a", "b", "c"}) ASSERT_FALSE(folder.write(name, bytes));
  used_at("a", 3000);
  used_at("b", 1000);
  used_at("c", 2000);
  ASSERT_TRUE(folder.read("b").ok()); // used now
  ASSERT_FALSE(folder.write("d", bytes));
  EXPECT_THAT(names(folder), testing::UnorderedElementsAre("a", "b", "d"));
  EXPECT_FALSE((*folder.read("c")).has_value());
}

// Looking through 100,000 entries for each that is written took longer than compiling it.
TEST_F(CacheFolder, IsNotLookedThroughAtEachWrite) {
  const std::string bytes = encode(entry_of(10));
  const Folder folder(folder_, 100 * bytes.size());
  ASSERT_FALSE(folder.prepare());
  ASSERT_FALSE(folder.write("0", bytes));
  // A writer's leftover shows whether somebody looks.
  const std::string old = folder_ + "/a.code.tmp-1-0";
  write(old, "half");
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, old.c_str(), times, 0);
  for (int i = 1; i < 100; ++i) ASSERT_FALSE(folder.write(std::to_string(i), bytes));
  EXPECT_TRUE(std::filesystem::exists(old));
  EXPECT_EQ(names(folder).size(), 100U);
  write(old, "half"); // listing looks too
  utimensat(AT_FDCWD, old.c_str(), times, 0);
  ASSERT_FALSE(folder.write("100", bytes)); // one too many
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_EQ(names(folder).size(), 95U) << "a sixteenth goes at once";
  EXPECT_TRUE((*folder.read("100")).has_value());
}

// Others remove files, and a note that is damaged counts for nothing.
TEST_F(CacheFolder, KeepsItsCapWhateverTheUsageSays) {
  const std::string bytes = encode(entry_of(1000));
  const Folder folder(folder_, 3 * bytes.size());
  ASSERT_FALSE(folder.prepare());
  for (const char *usage : {"", "half", "a text as long as three numbers."}) {
    write(folder_ + "/.usage", usage);
    for (const char *name : {"a", "b", "c", "d", "e"}) ASSERT_FALSE(folder.write(name, bytes));
    EXPECT_EQ(names(folder).size(), 3U) << usage;
  }
}

TEST_F(CacheFolder, LooksWithoutUsing) {
  const Folder folder(folder_, 1 << 20);
  ASSERT_FALSE(folder.prepare());
  for (const char *name : {"a", "b"}) ASSERT_FALSE(folder.write(name, encode(entry_of(10))));
  used_at("a", 1000);
  used_at("b", 2000);
  EXPECT_THAT(names(folder), ElementsAre("b", "a"));
  EXPECT_THAT(names(folder), ElementsAre("b", "a"));
  EXPECT_EQ(folder.list().at(0).used, 2000);
  EXPECT_EQ(*folder.clear(), 2U);
  EXPECT_TRUE(names(folder).empty());
}

TEST_F(CacheFolder, RemovesWhatKilledWritersLeft) {
  const Folder folder(folder_, 1 << 20);
  ASSERT_FALSE(folder.prepare());
  const std::string old = folder_ + "/a.code.tmp-1-0", fresh = folder_ + "/a.code.tmp-2-0";
  write(old, "half");
  write(fresh, "half");
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, old.c_str(), times, 0);
  ASSERT_FALSE(folder.write("b", encode(entry_of(10))));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(fresh)) << "somebody may be writing it";
}

// Several processes write the same entries, are killed in the middle, and nobody ever reads a part
// of one.
TEST_F(CacheFolder, StaysWholeWhenWritersAreKilled) {
  const Folder folder(folder_, 1 << 20);
  ASSERT_FALSE(folder.prepare());
  const std::string bytes = encode(entry_of(100000));
  for (int round = 0; round < 20; ++round) {
    std::vector<pid_t> children;
    for (int i = 0; i < 2; ++i) {
      const pid_t child = fork();
      if (child == 0)
        for (int n = 0;; ++n) static_cast<void>(folder.write(n % 2 == 0 ? "a" : "b", bytes));
      children.push_back(child);
    }
    for (int n = 0; n < 5 + round; ++n)
      for (const char *name : {"a", "b"}) {
        const auto found = folder.read(name);
        ASSERT_TRUE(found.ok()) << found.fault().message;
        if (*found) ASSERT_TRUE(decode(**found).ok());
      }
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  for (const Listed &listed : folder.list()) EXPECT_TRUE(listed.entry.ok()) << listed.name;
}

} // namespace
} // namespace weft::cache
