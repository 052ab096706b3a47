// Checkpoints survive crashes, full disks, kills, and each other.
#include <weft/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "../Testing.h"
#include "Crashes.h"
#include "Files.h"
#include <weft/ops.h>

namespace weft {
namespace {

struct State {
  Variable x{0.F};
  WEFT_FIELDS(State, x)
};

/// A log of three saves, of 1, 2 and 3, of which two are kept.
struct ThreeSaves {
  std::vector<RecordingCalls::Operation> log;
  std::vector<std::size_t> ends; ///< the operations until each save returned
  std::string folder = fresh_folder("recorded");

  ThreeSaves() {
    RecordingCalls calls;
    State state;
    CheckpointManager manager(folder, {.keep = 2, .background = false});
    for (const float x : {1.F, 2.F, 3.F}) {
      state.x.assign(x);
      manager.save(state);
      ends.push_back(calls.log.size());
    }
    log = calls.log;
  }
};

/// What is wrong with what crashes leave of the saves: nothing, if each finds every file whole and
/// at least the last save that had returned.
std::set<std::string> faults_of(const ThreeSaves &saves, ForgetfulDisk::Lies lies) {
  std::set<std::string> faults;
  const std::string found = fresh_folder("found");
  ForgetfulDisk disk(lies);
  for (std::size_t done = 0; done <= saves.log.size(); ++done) {
    if (done > 0) disk.apply(saves.log[done - 1]);
    const auto returned = static_cast<std::int64_t>(
        std::count_if(saves.ends.begin(), saves.ends.end(), [&](auto end) { return end <= done; }));
    for (const bool all_names : {false, true}) {
      std::filesystem::remove_all(found);
      if (disk.has_folder(saves.folder, all_names)) {
        std::filesystem::create_directories(found);
        for (const auto &[path, bytes] : disk.after_crash(all_names))
          write_bytes(found + path.substr(saves.folder.size()), bytes);
      }
      const Logged log;
      State state;
      CheckpointManager manager(found);
      try {
        const auto restored = manager.restore_latest(state);
        const auto x = static_cast<std::int64_t>(state.x.value().item<float>());
        if (x < returned || x > returned + 1) faults.insert("a save is lost");
        if (restored && restored->number != x) faults.insert("a save has another number");
      } catch (const IOError &) {
        faults.insert("all files are broken");
      }
      if (!log.lines.empty()) faults.insert("a file is broken");
    }
  }
  return faults;
}

TEST(Durability, ACrashAtAnyMomentLeavesTheLastSaveWhole) {
  const ThreeSaves saves;
  ASSERT_GT(saves.log.size(), 20U);
  EXPECT_EQ(faults_of(saves, {}), std::set<std::string>());
  // The test would see it if files or folders were not synced.
  EXPECT_TRUE(faults_of(saves, {.of_files = true}).contains("a file is broken"));
  EXPECT_TRUE(faults_of(saves, {.of_folders = true}).contains("a save is lost"));
}

/// Fails the n-th call that changes something, and all behind it.
class FailingCalls final : public FileCalls {
public:
  FailingCalls(int good, int error) : good_(good), error_(error) { use_file_calls(this); }
  ~FailingCalls() override { use_file_calls(nullptr); }

  int open(const char *path, int flags, mode_t mode) override {
    return fails() ? -1 : FileCalls::open(path, flags, mode);
  }
  ssize_t write(int descriptor, const void *bytes, std::size_t size) override {
    return fails() ? -1 : FileCalls::write(descriptor, bytes, std::min<std::size_t>(size, 100));
  }
  ssize_t pwrite(int descriptor, const void *bytes, std::size_t size, off_t offset) override {
    return fails() ? -1 : FileCalls::pwrite(descriptor, bytes, size, offset);
  }
  int fsync(int descriptor) override { return fails() ? -1 : FileCalls::fsync(descriptor); }
  int rename_to_free(const char *from, const char *to) override {
    return fails() ? -1 : FileCalls::rename_to_free(from, to);
  }
  int mkdir(const char *path, mode_t mode) override {
    return fails() ? -1 : FileCalls::mkdir(path, mode);
  }
  bool failed = false;

private:
  bool fails() {
    if (good_-- > 0) return false;
    failed = true;
    errno = error_;
    return true;
  }
  int good_, error_;
};

TEST(Durability, EveryFaultOfTheDiskIsToldAndLeavesTheSaveBefore) {
  for (const int error : {ENOSPC, EIO}) {
    for (int good = 0;; ++good) {
      const std::string folder = fresh_folder("faults");
      State state;
      state.x.assign(1);
      Checkpoint(state).save(folder);
      state.x.assign(2);
      bool failed = false, threw = false;
      {
        FailingCalls calls(good, error);
        try {
          Checkpoint(state).save(folder);
        } catch (const IOError &) {
          threw = true;
        }
        failed = calls.failed;
      }
      if (!failed) {
        EXPECT_GT(good, 8);
        break;
      }
      const Logged log;
      CheckpointManager manager(folder);
      State found;
      ASSERT_TRUE(manager.restore_latest(found).has_value());
      const float x = found.x.value().item<float>();
      // A folder that cannot be opened to be synced is one that nobody may read.
      EXPECT_TRUE(threw || x == 2) << good;
      EXPECT_TRUE(x == 1 || x == 2) << good;
      EXPECT_TRUE(log.lines.empty()) << log.lines[0];
      for (const auto &entry : std::filesystem::directory_iterator(folder))
        EXPECT_EQ(entry.path().extension(), ".safetensors") << good;
    }
  }
}

struct Large {
  std::vector<Variable> all;
  WEFT_FIELDS(Large, all)
  Large() {
    for (int i = 0; i < 4; ++i) all.emplace_back(zeros({50'000}, f32));
  }
  void assign(float x) const {
    for (const Variable &one : all) one.assign(x);
  }
  /// The number that all elements are.
  float common() const {
    const float first = all[0].value().span<float>()[0];
    for (const Variable &one : all)
      for (const float x : one.value().span<float>()) EXPECT_EQ(x, first);
    return first;
  }
};

TEST(Durability, AKilledWriterLeavesWholeFiles) {
  const std::string folder = fresh_folder("killed");
  const Large large;
  float before = 0;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Large own;
      CheckpointManager manager(folder, {.keep = 3});
      manager.restore_latest(own);
      for (float x = own.all[0].value().span<float>()[0] + 1;; ++x) {
        own.assign(x);
        manager.save(own);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + round * 37 % 50));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const Logged log;
    Large found;
    CheckpointManager manager(folder);
    manager.restore_latest(found);
    const float x = found.common();
    EXPECT_GE(x, before);
    EXPECT_TRUE(log.lines.empty()) << log.lines[0];
    before = x;
  }
  EXPECT_GT(before, 0) << "no child saved anything";
}

TEST(Durability, TwoProcessesThatSaveAtOnceDoNotHarmEachOther) {
  const std::string folder = fresh_folder("two");
  constexpr int kSaves = 8;
  std::vector<pid_t> children;
  for (const float x : {1.F, 2.F}) {
    children.push_back(fork());
    ASSERT_GE(children.back(), 0);
    if (children.back() != 0) continue;
    try {
      const Large own;
      own.assign(x);
      CheckpointManager manager(folder, {.keep = 0});
      for (int i = 0; i < kSaves; ++i) manager.save(own);
      manager.wait();
      _exit(0);
    } catch (const Error &) {
      _exit(1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  std::map<float, int> saves;
  CheckpointManager manager(folder);
  const std::vector<CheckpointInfo> all = manager.checkpoints();
  ASSERT_EQ(all.size(), std::size_t{2 * kSaves});
  for (const CheckpointInfo &info : all) {
    Large found;
    Checkpoint(found).restore(info.path).assert_consumed();
    ++saves[found.common()];
  }
  EXPECT_EQ(saves, (std::map<float, int>{{1, kSaves}, {2, kSaves}}));
}

TEST(Durability, AForkDuringASaveLeavesTheManagerOfTheChildUsable) {
  const std::string folder = fresh_folder("forked");
  const Large large;
  large.assign(1);
  CheckpointManager manager(folder, {.keep = 0});
  manager.save(large);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20); // one that waits for its parent's thread ends like this
    try {
      large.assign(2);
      manager.save(large);
      manager.wait();
      _exit(0);
    } catch (const Error &) {
      _exit(1);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(manager.checkpoints().size(), 2U);
}

} // namespace
} // namespace weft
