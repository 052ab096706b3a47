// Programs beside weft-bench: peers that answer one measurement per line, and whole processes that
// are timed.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace weft::bench {

/// A running peer program. It measures once for each line it reads and answers with one line of
/// JSON,
/// {"value": 41.2, "unit": "us", "with": "JAX 0.10.2"}. Between its turns it is stopped by a
/// signal, so that no thread of it spins while somebody else is measured.
class PeerProcess {
public:
  /// The program (command[0] is its path) starts at its first repeat, so that it does not warm up
  /// while somebody else is measured. It is told to use `threads` threads, and may run on no more
  /// processors than that.
  PeerProcess(std::vector<std::string> command, int threads)
      : command_(std::move(command)), threads_(threads) {}
  ~PeerProcess();
  PeerProcess(const PeerProcess &) = delete;
  PeerProcess &operator=(const PeerProcess &) = delete;

  /// One repeat. Throws std::runtime_error, with the command in its words, when the program ends or
  /// answers nonsense.
  double repeat();
  /// The program's answer to another line, whatever it is. Throws std::runtime_error when the
  /// program ends.
  const std::string &ask(const std::string &line);
  /// What the last answer said it was measured with: a library and its version.
  const std::string &with() const { return with_; }
  /// The last answer as it came.
  const std::string &answer() const { return answer_; }

private:
  void start();
  std::string read_line();
  [[noreturn]] void fail(const std::string &why);

  std::vector<std::string> command_;
  int threads_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string pending_, with_, answer_;
};

/// Lets this process, and what it starts from here on, run on the first `count` of the processors
/// it may run on now: the one limit that every library's threads obey.
void restrict_to_processors(int count);

/// Starts a program, waits for its end and gives the seconds between; its output is discarded.
/// Throws std::runtime_error when it cannot be started or does not exit with 0.
double time_process(const std::vector<std::string> &command);

/// Runs a program with our own standard output and error, and gives its exit status.
int run_process(const std::vector<std::string> &command);

/// The share of this machine's processor time that others use just now, from 0 to 1, looked at for
/// 0.3 seconds.
double busy_share();

} // namespace weft::bench
