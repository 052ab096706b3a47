// serve_p99: requests of one row to weft-serve, against what nobody could spare them.
#include "Benchmarks.h"
#include "PeerProcess.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace weft::bench {

namespace {

using Json = nlohmann::json;

constexpr const char *kRate = "200", *kSeconds = "4";

/// The one line of JSON that a program prints.
Json output_of(const std::string &command) {
  const auto close = [](std::FILE *file) { pclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::string text;
  std::array<char, 4096> piece;
  while (pipe && std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr)
    text += piece.data();
  Json parsed = Json::parse(text, nullptr, false);
  if (!parsed.is_object()) throw std::runtime_error("'" + command + "' answered: " + text);
  return parsed;
}

/// weft-serve --demo, until the end of this object.
class Server {
public:
  explicit Server(const Session &session)
      : words_(std::filesystem::temp_directory_path() /
               ("weft-bench-serve-" + std::to_string(getpid()))) {
    std::array<std::string, 6> arguments = {session.program("weft-serve"),
                                            "--demo",
                                            "--port",
                                            "0",
                                            "--data",
                                            session.sources + "/../examples/digits/data"};
    std::array<char *, 7> pointers = {};
    for (std::size_t i = 0; i < arguments.size(); ++i) pointers[i] = arguments[i].data();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, words_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int error = posix_spawn(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + arguments[0]);
    find_port();
  }
  ~Server() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    std::filesystem::remove(words_);
  }
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  const std::string &port() const { return port_; }

private:
  void find_port() {
    for (int i = 0; i < 600; ++i) {
      std::ifstream file(words_);
      std::string line;
      if (std::getline(file, line) && !file.eof()) {
        port_ = line.substr(line.rfind(':') + 1);
        return;
      }
      if (waitpid(pid_, nullptr, WNOHANG) != 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    throw std::runtime_error("weft-serve did not start; its own words are above");
  }

  const std::filesystem::path words_;
  std::string port_;
  pid_t pid_ = -1;
};

} // namespace

Row serve_p99(const std::string &name, const Session &session) {
  if (!std::filesystem::exists(session.program("weft-serve")))
    throw std::runtime_error("weft-serve was not built: it wants libcpp-httplib-dev");
  const Server server(session);
  const std::string load = session.program("weft-serve-load") + " --json --connections 1 --port " +
                           server.port() + " --rate " + kRate + " --seconds " + kSeconds +
                           " --warm-up 0.5";
  const std::string bare = session.program("weft-serve") + " --demo --data " + session.sources +
                           "/../examples/digits/data --time-calls 800 --call-rate " + kRate;
  std::vector<double> model_p50, model_p99, trip_p50, trip_p99, p50;
  std::vector<Contender> contenders = {{"weft",
                                        [&] {
                                          const Json times = output_of(load).at("latency");
                                          p50.push_back(times.at("p50_us"));
                                          return times.at("p99_us").get<double>();
                                        }},
                                       {"model + round trip", [&] {
                                          // Each at the same rate as the requests: a processor that
                                          // has slept is slower.
                                          const Json model = output_of(bare);
                                          const Json trip =
                                              output_of(load + " --path /v1/health").at("latency");
                                          model_p50.push_back(model.at("p50_us"));
                                          model_p99.push_back(model.at("p99_us"));
                                          trip_p50.push_back(trip.at("p50_us"));
                                          trip_p99.push_back(trip.at("p99_us"));
                                          return model_p99.back() + trip_p99.back();
                                        }}};
  Row row = compare(name, "us", contenders, session.repeats);
  row.fields["p50"] = median(p50);
  row.fields["model_p50"] = median(model_p50);
  row.fields["model_p99"] = median(model_p99);
  row.fields["round_trip_p50"] = median(trip_p50);
  row.fields["round_trip_p99"] = median(trip_p99);
  return row;
}

} // namespace weft::bench
