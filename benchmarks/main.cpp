// weft-bench, the command behind `./x bench`: measures Weft beside its peers and shows the table.
#include "Benchmarks.h"
#include "PeerProcess.h"
#include "Report.h"

#include "Support/Threads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include <CLI/CLI.hpp>

namespace weft::bench {

namespace {

struct Options {
  std::vector<std::string> only;
  std::string json;
  bool peers = false;
  bool list = false;
  int repeats = 7;
};

std::string names() {
  std::string text;
  for (const Benchmark &benchmark : benchmarks())
    text += (text.empty() ? "" : ", ") + benchmark.name;
  return text;
}

std::vector<const Benchmark *> chosen(const std::vector<std::string> &only) {
  std::vector<const Benchmark *> result;
  for (const std::string &name : only) {
    const auto is_it = [&](const Benchmark &benchmark) { return benchmark.name == name; };
    if (std::ranges::none_of(benchmarks(), is_it))
      throw std::runtime_error("there is no benchmark '" + name + "': it is one of " + names());
  }
  for (const Benchmark &benchmark : benchmarks())
    if (only.empty() || std::ranges::find(only, benchmark.name) != only.end())
      result.push_back(&benchmark);
  return result;
}

int list_benchmarks() {
  for (const Benchmark &benchmark : benchmarks())
    std::printf("%-24s %s\n", benchmark.name.c_str(), benchmark.what.c_str());
  return 0;
}

int run(const Options &options) {
  if (options.list) return list_benchmarks();
  const std::vector<const Benchmark *> selection = chosen(options.only);
  std::optional<JsonFile> json;
  if (!options.json.empty()) json.emplace(options.json);
  Session session;
  session.repeats = options.repeats;
  session.threads = threads::max_threads();
  session.programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  session.sources = WEFT_BENCHMARKS_DIR;
  session.peers = WEFT_PEERS_DIR;
  if (options.peers && run_process({session.sources + "/peers/install.sh"}) != 0) return 1;

  std::printf("%d threads, medians of %d repeats\n\n", session.threads, session.repeats);
  if (const double busy = busy_share(); busy > 0.1)
    std::printf(
        "warning: other programs use %.0f %% of this machine's processors: the figures, and "
        "the ratios too, will vary\n\n",
        100 * busy);
  print_heading();
  std::vector<Row> rows;
  bool failed = false, lonely = false;
  for (const Benchmark *benchmark : selection) {
    try {
      rows.push_back(benchmark->run(benchmark->name, session));
      print_row(rows.back());
      lonely |= !rows.back().peer_value;
    } catch (const std::exception &error) {
      // One row that cannot be measured does not take the others with it.
      std::fprintf(stderr, "%-24s error: %s\n", benchmark->name.c_str(), error.what());
      failed = true;
    }
  }
  if (lonely)
    std::printf(
        "\nRows without a peer: `./x bench --peers` installs what they are compared with.\n");
  if (json) json->write(rows);
  return failed ? 1 : 0;
}

} // namespace

} // namespace weft::bench

int main(int argc, char **argv) {
  // What is measured is compiled anew, and nothing of it goes to the user's cache.
  setenv("WEFT_CACHE", "off", 1);
  weft::bench::Options options;
  CLI::App app(
      "Measures Weft beside its peers: every row in one run, on the same cores, taking turns.",
      "weft-bench");
  app.add_option("--only", options.only, "Measure this row only; may be given several times")
      ->type_name("NAME")
      ->take_all();
  app.add_option("--json", options.json, "Also write the rows to this file, a list of objects")
      ->type_name("FILE");
  app.add_flag(
      "--peers", options.peers,
      "First install the peers (libtorch, JAX, IREE; about 1 GB to download) in build/peers");
  app.add_option("--repeats", options.repeats, "Repeats of which the median counts")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--list", options.list, "Name the rows and what each measures, and stop");
  CLI11_PARSE(app, argc, argv);
  try {
    return weft::bench::run(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
