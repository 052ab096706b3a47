// ranks_*: programs of two processes, which the MPI launcher that is there starts.
#include "Benchmarks.h"
#include "PeerProcess.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weft::bench {

namespace {

/// The command of `mpirun -n COUNT PROGRAM`. Throws std::runtime_error without a launcher.
std::vector<std::string> ranks_of(const char *count, const std::vector<std::string> &program) {
  const char *path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): the only thread
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string launcher = folder + "/mpirun";
    if (!std::filesystem::exists(launcher)) continue;
    std::vector<std::string> command = {
        launcher, "-n", count, "--oversubscribe", "--bind-to", "none", "--allow-run-as-root",
        "--quiet"};
    command.insert(command.end(), program.begin(), program.end());
    return command;
  }
  throw std::runtime_error("there is no mpirun: apt-get install openmpi-bin");
}

std::vector<std::string> two_of(const std::vector<std::string> &program) {
  return ranks_of("2", program);
}

/// The command of ranks with wires between them.
std::vector<std::string> over_wires(const Session &session, const std::string &rate,
                                    const std::string &ranks,
                                    const std::vector<std::string> &question) {
  std::vector<std::string> command = {session.sources + "/wire.sh", rate, ranks,
                                      session.program("weft-bench-ranks")};
  command.insert(command.end(), question.begin(), question.end());
  return command;
}

/// What the programs are told to measure, by a row's name.
std::vector<std::string> question_of(const std::string &name) {
  if (name == "ranks_all_reduce_1K") return {"all_reduce", "1024"};
  if (name == "ranks_all_reduce_4M") return {"all_reduce", "4194304"};
  return {"step", name == "ranks_step_32" ? "32" : "512"};
}

} // namespace

Row ranks(const std::string &name, const Session &session) {
  const std::vector<std::string> question = question_of(name);
  const auto asked = [&](std::vector<std::string> program) {
    program.insert(program.end(), question.begin(), question.end());
    return two_of(program);
  };
  // Each rank has a processor.
  std::vector<Contender> contenders = {
      line_server("Weft", asked({session.program("weft-bench-ranks")}), 2)};
  const auto python = session.python_command("ranks_mpi4py.py");
  if (python && question[0] == "all_reduce")
    contenders.push_back(line_server("mpi4py", asked(*python), 2));
  std::string with_gloo;
  if (std::getline(std::ifstream(session.peers + "/gloo.stamp"), with_gloo))
    contenders.push_back(
        line_server("PyTorch", asked({with_gloo, session.sources + "/peers/ranks_torch.py"}), 2));
  return compare(name, "us", contenders, session.repeats);
}

Row ranks_wire(const std::string &name, const Session &session) {
  constexpr const char *kBytes = "4194304";
  const std::string ranks = name.substr(name.rfind('_') + 1);
  const auto asked = [&](const char *what) {
    return over_wires(session, "500mbit", ranks, {what, kBytes});
  };
  return compare(name, "us",
                 {line_server("Weft", asked("all_reduce"), 1),
                  line_server("the cost model", asked("model"), 1)},
                 session.repeats);
}

Row ranks_shard(const std::string &name, const Session &session) {
  const auto cut = [&](const char *contender, const char *how) {
    return line_server(contender, two_of({session.program("weft-bench-ranks"), "perceptron", how}),
                       2);
  };
  return compare(name, "us",
                 {cut("Weft", "cut"), cut("cut by hand", "by_hand"), cut("uncut", "uncut")},
                 session.repeats);
}

Row ranks_four(const std::string &name, const Session &session) {
  // Processes of their own for each repeat: ranks that wait for a turn take processors.
  const auto by = [&](const char *ranks) -> Contender {
    const auto command = ranks_of(ranks, {session.program("weft-bench-ranks"), "shared", "256"});
    const auto with = std::make_shared<std::string>();
    return {"Weft",
            [command, with] {
              PeerProcess process(command, 2);
              const double value = process.repeat();
              *with = process.with();
              return value;
            },
            [with] { return *with; }};
  };
  return compare(name, "us", {by("4"), by("1")}, session.repeats);
}

Row ranks_shard_state(const std::string &name, const Session &session) {
  const auto step = [&](const char *contender, const char *state) {
    return line_server(contender, two_of({session.program("weft-bench-ranks"), "sharded", state}),
                       2);
  };
  return compare(name, "us",
                 {step("Weft", "weights"), step("none in parts", "none"),
                  step("optimizer", "optimizer"), step("gradients", "gradients")},
                 session.repeats);
}

Row ranks_overlap(const std::string &name, const Session &session) {
  const auto over_a_wire = [&](const char *rate, const char *what) {
    return line_server("Weft", over_wires(session, rate, "2", {"deep", what}), 1);
  };
  // The last is as fast as the machine: what remains of exchanges there is no time of a wire.
  const std::vector<Figure> figures =
      take_turns({over_a_wire("1gbit", "overlapped"), over_a_wire("1gbit", "behind"),
                  over_a_wire("40gbit", "behind")},
                 session.repeats);
  const auto overlapped = figures[0].median, behind = figures[1].median, fast = figures[2].median;
  Row row;
  row.name = name;
  row.value = overlapped;
  row.unit = "us";
  row.peer = "Weft, all behind";
  row.peer_value = behind;
  row.fields["fast_wire"] = fast;
  row.fields["hidden"] = (behind - overlapped) / (behind - fast);
  char words[120];
  std::snprintf(words, sizeof words, "%.0f %% of the wire's %.0f ms are hidden",
                100 * row.fields["hidden"].get<double>(), (behind - fast) / 1000);
  row.note = words;
  return row;
}

} // namespace weft::bench
