// Starting, asking, stopping and timing other programs.
#include "PeerProcess.h"

#include "Harness.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

extern char **environ;

namespace weft::bench {

namespace {

std::vector<char *> pointers(std::vector<std::string> &strings) {
  std::vector<char *> result;
  result.reserve(strings.size() + 1);
  for (std::string &string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

std::string joined(const std::vector<std::string> &command) {
  std::string text;
  for (const std::string &word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Our environment with the thread counts every peer understands replaced.
std::vector<std::string> environment_with_threads(int threads) {
  const std::string names[] = {"OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS="};
  std::vector<std::string> result;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with(names[0]) && !text.starts_with(names[1])) result.push_back(text);
  }
  for (const std::string &name : names) result.push_back(name + std::to_string(threads));
  return result;
}

std::string system_error(const std::string &what) { return what + ": " + std::strerror(errno); }

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t spawn(const std::vector<std::string> &command, bool quiet) {
  std::vector<std::string> words = command;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (quiet) posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, words[0].c_str(), &actions, nullptr, pointers(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::runtime_error("cannot start " + words[0] + ": " + std::strerror(error));
  return pid;
}

} // namespace

void restrict_to_processors(int count) {
  // Also runs between fork and exec: nothing here allocates.
  cpu_set_t allowed, chosen;
  CPU_ZERO(&chosen);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return; // more than fit: no limit then
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < count; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
  sched_setaffinity(0, sizeof chosen, &chosen);
}

void PeerProcess::start() {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
    throw std::runtime_error(system_error("cannot make a pipe"));
  std::vector<std::string> words = command_, environment = environment_with_threads(threads_);
  const std::vector<char *> arguments = pointers(words), variables = pointers(environment);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(system_error("cannot start " + words[0]));
  if (pid_ == 0) {
    // A stopped peer must not outlive us: the kernel kills it when we go, however we go.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    restrict_to_processors(threads_);
    execve(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  to_ = input[1];
  from_ = output[0];
}

PeerProcess::~PeerProcess() {
  if (pid_ < 0) return;
  close(to_);
  close(from_);
  kill(pid_, SIGKILL);
  kill(pid_, SIGCONT);
  wait_for(pid_);
}

void PeerProcess::fail(const std::string &why) {
  throw std::runtime_error("the peer '" + joined(command_) + "' " + why);
}

std::string PeerProcess::read_line() {
  for (;;) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    char buffer[4096];
    const ssize_t count = read(from_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("ended without an answer; its own words are above");
    pending_.append(buffer, static_cast<std::size_t>(count));
  }
}

const std::string &PeerProcess::ask(const std::string &line) {
  if (pid_ < 0) start();
  else kill(pid_, SIGCONT);
  // A peer that has died shows when its answer is read; until then its broken pipe must not end us.
  const auto previous = std::signal(SIGPIPE, SIG_IGN);
  const std::string words = line + "\n";
  const bool sent = write(to_, words.data(), words.size()) == static_cast<ssize_t>(words.size());
  std::signal(SIGPIPE, previous);
  if (!sent) fail("has ended; its own words are above");
  answer_ = read_line();
  kill(pid_, SIGSTOP);
  return answer_;
}

double PeerProcess::repeat() {
  ask("");
  const nlohmann::json parsed = nlohmann::json::parse(answer_, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("value") || !parsed["value"].is_number())
    fail("answered: " + answer_);
  with_ = parsed.value("with", command_[0]);
  return parsed["value"].get<double>();
}

double time_process(const std::vector<std::string> &command) {
  const double start = now();
  const int status = wait_for(spawn(command, /*quiet=*/true));
  const double spent = now() - start;
  if (status != 0)
    throw std::runtime_error("'" + joined(command) + "' ended with exit status " +
                             std::to_string(status));
  return spent;
}

int run_process(const std::vector<std::string> &command) {
  return wait_for(spawn(command, /*quiet=*/false));
}

double busy_share() {
  // The first line of /proc/stat: "cpu user nice system idle iowait irq softirq steal ...".
  const auto read_times = [] {
    std::ifstream file("/proc/stat");
    std::string word;
    file >> word;
    std::vector<double> times(8);
    for (double &time : times) file >> time;
    return times;
  };
  const std::vector<double> before = read_times();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::vector<double> after = read_times();
  double total = 0, idle = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    total += after[i] - before[i];
    if (i == 3 || i == 4) idle += after[i] - before[i];
  }
  return total > 0 ? 1 - idle / total : 0;
}

} // namespace weft::bench
