// All that writes a file, killed in the middle, on a full disk and where nobody may write: what was
// saved before is there.
#include <weft/checkpoint.h>
#include <weft/data/images.h>
#include <weft/events.h>
#include <weft/io.h>
#include <weft/safetensors.h>
#include <weft/train/history.h>
#include <weft/train/report.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Testing.h"
#include "Files.h"
#include "Support/Digest.h"
#include "Support/Files.h"
#include <weft/ops.h>

namespace weft {
namespace {

/// What is saved: large enough to be cut.
struct State {
  Variable values{zeros({3000})};
  WEFT_FIELDS(State, values)
  void assign(int x) const { values.assign(full({3000}, x)); }
  /// The number that all elements are, or -1.
  int number() const { return number_in(values.value()); }
  static int number_in(const Tensor &tensor) {
    const auto all = tensor.span<float>();
    for (const float x : all)
      if (x != all[0]) return -1;
    return static_cast<int>(all[0]);
  }
};

/// A way of writing a number, and of reading the last one.
struct Saver {
  const char *name;
  std::function<void(const std::string &folder, int x)> save;
  std::function<int(const std::string &folder)> last;
};

void save_by_manager(const std::string &folder, int x, bool background) {
  State state;
  state.assign(x);
  CheckpointManager manager(folder, {.keep = 2, .background = background});
  manager.save(state, {.metric = x});
  manager.wait();
}
int last_of_manager(const std::string &folder) {
  const State state;
  CheckpointManager manager(folder);
  return manager.restore_latest(state) ? state.number() : 0;
}

train::History history_of(int x) {
  train::History history;
  for (int step = 0; step < 500; ++step) history.add("loss", step, x);
  return history;
}

/// The ways, each in a folder of its own that is there.
const std::vector<Saver> &savers() {
  static const std::vector<Saver> &all = *new std::vector<Saver>{
      {"CheckpointManager",
       [](const std::string &folder, int x) { save_by_manager(folder, x, false); },
       last_of_manager},
      {"CheckpointManager in the background",
       [](const std::string &folder, int x) { save_by_manager(folder, x, true); }, last_of_manager},
      {"Checkpoint::save",
       [](const std::string &folder, int x) {
         State state;
         state.assign(x);
         Checkpoint(state).save(folder);
       },
       last_of_manager},
      {"Checkpoint::write",
       [](const std::string &folder, int x) {
         State state;
         state.assign(x);
         Checkpoint(state).write(folder + "/run.safetensors");
       },
       [](const std::string &folder) {
         State state;
         Checkpoint(state).restore(folder + "/run.safetensors").assert_consumed();
         return state.number();
       }},
      {"save_npy",
       [](const std::string &folder, int x) { save_npy(folder + "/a.npy", full({3000}, x)); },
       [](const std::string &folder) { return State::number_in(load_npy(folder + "/a.npy")); }},
      {"save_safetensors",
       [](const std::string &folder, int x) {
         save_safetensors(folder + "/a.safetensors", {{"x", full({3000}, x)}});
       },
       [](const std::string &folder) {
         return State::number_in(load_safetensors(folder + "/a.safetensors").at("x"));
       }},
      {"History::save_csv",
       [](const std::string &folder, int x) { history_of(x).save_csv(folder + "/a.csv"); },
       [](const std::string &folder) {
         const train::History history = train::History::load_csv(folder + "/a.csv");
         return history == history_of(static_cast<int>(history.last("loss")))
                    ? static_cast<int>(history.last("loss"))
                    : -1;
       }},
      {"write_png",
       [](const std::string &folder, int x) {
         data::write_png(folder + "/a.png", full({60, 50}, x % 256, DType::i32));
       },
       [](const std::string &folder) {
         return data::read_png(folder + "/a.png", {.dtype = DType::i32})[{0, 0, 0}]
             .item<std::int32_t>();
       }},
      {"write_report",
       [](const std::string &folder, int x) {
         train::write_report(folder + "/a.html", history_of(x), {.title = std::to_string(x) + "!"});
       },
       [](const std::string &folder) {
         const std::string page = bytes_of(folder + "/a.html");
         const std::size_t title = page.find("<title>");
         const bool whole = page.find("</html>") != std::string::npos;
         return whole && title != std::string::npos ? std::atoi(page.c_str() + title + 7) : -1;
       }},
  };
  return all;
}

std::string folder_with(const Saver &saver, const std::string &purpose, int first) {
  const std::string folder = fresh_folder(purpose);
  std::filesystem::create_directories(folder);
  saver.save(folder, first);
  return folder;
}

/// Runs it in a child, and gives how that ended.
int in_child(const std::function<void()> &run) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      run();
      _exit(0);
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

//===----------------------------------------------------------------------===//
// Killed
//===----------------------------------------------------------------------===//

/// Ends this process by SIGKILL in one of its calls: before it, behind it, or halfway.
class KillingCalls final : public FileCalls {
public:
  KillingCalls(std::uint64_t seed, int good) : random_(seed), good_(good) { use_file_calls(this); }

  int open(const char *path, int flags, mode_t mode) override {
    return around([&] { return FileCalls::open(path, flags, mode); });
  }
  ssize_t write(int descriptor, const void *bytes, std::size_t size) override {
    if (left_() == 0) {
      static_cast<void>(FileCalls::write(descriptor, bytes, random_() % (size + 1)));
      kill(getpid(), SIGKILL);
    }
    return FileCalls::write(descriptor, bytes, size);
  }
  ssize_t pwrite(int descriptor, const void *bytes, std::size_t size, off_t offset) override {
    if (left_() == 0) {
      static_cast<void>(FileCalls::pwrite(descriptor, bytes, random_() % (size + 1), offset));
      kill(getpid(), SIGKILL);
    }
    return FileCalls::pwrite(descriptor, bytes, size, offset);
  }
  int fsync(int descriptor) override {
    return around([&] { return FileCalls::fsync(descriptor); });
  }
  int close(int descriptor) override {
    return around([&] { return FileCalls::close(descriptor); });
  }
  int rename(const char *from, const char *to) override {
    return around([&] { return FileCalls::rename(from, to); });
  }
  int rename_to_free(const char *from, const char *to) override {
    return around([&] { return FileCalls::rename_to_free(from, to); });
  }
  int unlink(const char *path) override {
    return around([&] { return FileCalls::unlink(path); });
  }

private:
  template <class Call>
  int around(const Call &call) {
    const bool ends = left_() == 0, before = random_() % 2 == 0;
    if (ends && before) kill(getpid(), SIGKILL);
    const int result = call();
    if (ends) kill(getpid(), SIGKILL);
    return result;
  }
  int left_() { return good_--; }

  std::mt19937_64 random_;
  int good_;
};

/// A thousand where there is time for it; `./x check` takes it.
int kills_wanted() { return long_tests() ? 1000 : 252; }

TEST(Saves, AreThereAfterKillsInTheMiddleOfOthers) {
  auto *const returned = static_cast<std::atomic<int> *>(mmap(nullptr, sizeof(std::atomic<int>),
                                                              PROT_READ | PROT_WRITE,
                                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(returned, MAP_FAILED);
  std::mt19937_64 random(7);
  const int wanted = kills_wanted();
  int kills = 0, lost = 0, damaged = 0, saves = 0;
  std::vector<std::string> folders;
  std::vector<int> last(savers().size(), 1);
  for (const Saver &saver : savers())
    folders.push_back(folder_with(saver, "kills-" + std::to_string(folders.size()), 1));
  while (kills < wanted) {
    const std::size_t which = static_cast<std::size_t>(kills) % savers().size();
    const Saver &saver = savers()[which];
    const std::uint64_t seed = random();
    const int good = static_cast<int>(random() % 40), first = last[which] % 200 + 1;
    *returned = last[which];
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);
      new KillingCalls(seed, good);
      try {
        for (int x = first;; ++x) {
          saver.save(folders[which], x);
          *returned = x;
        }
      } catch (...) {
        _exit(1);
      }
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << saver.name << status;
    ++kills;
    const Logged log; // which would tell of files that are broken
    try {
      const int found = saver.last(folders[which]), before = *returned;
      const int next = before == last[which] ? first : before + 1;
      lost += found != before && found != next ? 1 : 0;
      EXPECT_TRUE(found == before || found == next)
          << saver.name << ": " << found << " where " << before << " was saved, seed " << seed;
      saves += before == last[which] ? 0 : before - first + 1;
      last[which] = found;
    } catch (const Error &error) {
      ++damaged;
      ADD_FAILURE() << saver.name << ": " << error.what();
    }
    EXPECT_TRUE(log.lines.empty()) << log.lines[0];
  }
  EXPECT_EQ(kills, wanted);
  EXPECT_GT(saves, wanted / 4);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(damaged, 0);
  std::printf("%d kills within saves, %d saves before them, %d lost, %d damaged\n", kills, saves,
              lost, damaged);
  munmap(returned, sizeof(std::atomic<int>));
  for (const std::string &folder : folders) std::filesystem::remove_all(folder);
}

TEST(Saves, EventsThatWereFlushedAreThereAfterAKill) {
  auto *const flushed = static_cast<std::atomic<int> *>(mmap(nullptr, sizeof(std::atomic<int>),
                                                             PROT_READ | PROT_WRITE,
                                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(flushed, MAP_FAILED);
  int seen = 0;
  for (int round = 0; round < 20; ++round) {
    const std::string folder = fresh_folder("killed-events");
    *flushed = 0;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const events::Writer writer(folder, {.flush_seconds = 0});
      for (int step = 1;; ++step) {
        writer.text("note", std::string(static_cast<std::size_t>(step % 300), 'x'), step);
        if (step % 3 != 0) continue;
        writer.flush();
        *flushed = step;
      }
    }
    for (int waits = 0; *flushed == 0 && waits < 5000; ++waits)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(round * 311));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    std::string path;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      path = entry.path().string();
    const std::vector<events::Event> all = events::read(path);
    ASSERT_GE(static_cast<int>(all.size()), *flushed);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].bytes[0].size(), (i + 1) % 300);
    seen += *flushed;
  }
  EXPECT_GT(seen, 60);
  munmap(flushed, sizeof(std::atomic<int>));
}

//===----------------------------------------------------------------------===//
// Refused by the system
//===----------------------------------------------------------------------===//

/// The names in a folder.
std::set<std::string> names_in(const std::string &folder) {
  std::set<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

TEST(Saves, AreThereWhenTheDiskIsFull) {
  for (const Saver &saver : savers()) {
    const std::string folder = folder_with(saver, "full", 1);
    const std::set<std::string> before = names_in(folder);
    const int status = in_child([&] {
      const rlimit small{64, 64};
      setrlimit(RLIMIT_FSIZE, &small);
      try {
        saver.save(folder, 2);
      } catch (const IOError &error) {
        const std::string words(error.message());
        _exit(words.find(folder) != std::string::npos &&
                      words.find("File too large") != std::string::npos
                  ? 42
                  : 43);
      }
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << saver.name << ' ' << status;
    EXPECT_EQ(saver.last(folder), 1) << saver.name;
    EXPECT_EQ(names_in(folder), before) << saver.name << " left something";
    saver.save(folder, 3);
    EXPECT_EQ(saver.last(folder), 3) << saver.name;
  }
}

TEST(Saves, AreRefusedInWordsWhereNobodyMayWrite) {
  const uid_t me = geteuid();
  for (const Saver &saver : savers()) {
    const std::string folder = folder_with(saver, "read-only", 1);
    const std::set<std::string> before = names_in(folder);
    ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
    const int status = in_child([&] {
      if (me == 0 && seteuid(65534) != 0) _exit(3); // root may write anywhere
      try {
        saver.save(folder, 2);
      } catch (const IOError &error) {
        const std::string words(error.message());
        _exit(words.find(folder) != std::string::npos ? 42 : 43);
      }
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << saver.name << ' ' << status;
    ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
    EXPECT_EQ(saver.last(folder), 1) << saver.name;
    EXPECT_EQ(names_in(folder), before) << saver.name;
  }
  const std::string folder = fresh_folder("read-only-events");
  std::filesystem::create_directories(folder);
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  const int status = in_child([&] {
    if (me == 0 && seteuid(65534) != 0) _exit(3);
    try {
      const events::Writer writer(folder);
    } catch (const IOError &error) {
      _exit(std::string(error.message()).find(folder) != std::string::npos ? 42 : 43);
    }
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
}

TEST(Saves, IntoFullDevicesAreErrors) {
  EXPECT_THROW(save_npy("/dev/full", zeros({3000})), IOError);
  EXPECT_THROW(save_safetensors("/dev/full", {{"x", zeros({3000})}}), IOError);
  EXPECT_THROW(history_of(1).save_csv("/dev/full"), IOError);
  State state;
  EXPECT_THROW(Checkpoint(state).write("/dev/full"), IOError);
}

//===----------------------------------------------------------------------===//
// Folders that are strange
//===----------------------------------------------------------------------===//

TEST(Saves, BehindTheLargestNumberAreRefused) {
  const std::string folder = fresh_folder("largest");
  State state;
  state.assign(5);
  std::filesystem::create_directories(folder);
  const std::string largest = folder + "/ckpt-9223372036854775807.safetensors";
  Checkpoint(state).write(largest);
  try {
    Checkpoint(state).save(folder);
    ADD_FAILURE() << "it was saved";
  } catch (const IOError &error) {
    EXPECT_EQ(std::string(error.message()),
              largest + ": has the largest number there is, and no checkpoint can come behind it: "
                        "rename it");
  }
  EXPECT_EQ(names_in(folder).size(), 1U);
  EXPECT_EQ(last_of_manager(folder), 5);
}

TEST(Saves, OfATimeThatNoClockHasAreRead) {
  const std::string path = fresh_folder("times");
  std::filesystem::create_directories(path);
  for (const char *time : {"1e300", "nan", "-inf", "9.3e18"}) {
    std::string json = std::string(R"({"__metadata__":{"weft.format":"1","weft.time":")") + time +
                       R"(","weft.header":")" + std::string(32, '0') + R"("}})";
    json.replace(json.size() - 35, 32, xxh3_of(json));
    std::string length(8, '\0');
    length[0] = static_cast<char>(json.size());
    write_bytes(path + "/ckpt-1.safetensors", length + json);
    CheckpointManager manager(path);
    const std::vector<CheckpointInfo> all = manager.checkpoints();
    ASSERT_EQ(all.size(), 1U) << time;
    EXPECT_EQ(all[0].time, std::chrono::system_clock::time_point()) << time;
  }
}

TEST(Saves, PassOverWhatOnlyLooksLikeACheckpoint) {
  const std::string folder = fresh_folder("looks-like");
  std::filesystem::create_directories(folder + "/ckpt-7.safetensors");
  std::filesystem::create_symlink("/dev/zero", folder + "/ckpt-8.safetensors");
  ASSERT_EQ(mkfifo((folder + "/ckpt-9.safetensors").c_str(), 0600), 0);
  write_bytes(folder + "/ckpt-010.safetensors", "");
  write_bytes(folder + "/ckpt-99999999999999999999.safetensors", "");
  write_bytes(folder + "/ckpt-5.safetensors.tmp-99999999999-1", "");
  const Logged log;
  save_by_manager(folder, 3, false);
  EXPECT_EQ(last_of_manager(folder), 3);
  EXPECT_EQ(latest_checkpoint(folder), folder + "/ckpt-10.safetensors");
}

} // namespace
} // namespace weft
