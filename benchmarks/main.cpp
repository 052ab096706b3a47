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
  std::vector<std::string> only, groups;
  std::string json;
  bool peers = false;
  bool check = false;
  bool list = false;
  int repeats = 7;
};

std::string names() {
  std::string text;
  for (const Benchmark &benchmark : benchmarks())
    text += (text.empty() ? "" : ", ") + benchmark.name;
  return text;
}

bool holds(const std::vector<std::string> &list, const std::string &name) {
  return std::ranges::find(list, name) != list.end();
}

/// The rows that are named, and those of the groups that are; where nothing is, the core's, or all
/// that can be checked.
std::vector<const Benchmark *> chosen(const Options &options) {
  for (const std::string &name : options.only)
    if (std::ranges::none_of(benchmarks(), [&](const Benchmark &row) { return row.name == name; }))
      throw std::runtime_error("there is no benchmark '" + name + "': it is one of " + names());
  const bool default_choice = options.only.empty() && options.groups.empty();
  std::vector<const Benchmark *> result;
  for (const Benchmark &benchmark : benchmarks()) {
    const bool named =
        holds(options.only, benchmark.name) || holds(options.groups, benchmark.group);
    const bool by_default = options.check || benchmark.group == kCore;
    if (!(named || (default_choice && by_default))) continue;
    if (!options.check || benchmark.check != nullptr) result.push_back(&benchmark);
    else if (holds(options.only, benchmark.name))
      throw std::runtime_error("the row '" + benchmark.name + "' has no check of its own");
  }
  if (result.empty()) throw std::runtime_error("none of these rows can be checked");
  return result;
}

int list_benchmarks() {
  for (const Benchmark &benchmark : benchmarks())
    std::printf("%-32s %-7s %s\n", benchmark.name.c_str(), benchmark.group.c_str(),
                benchmark.what.c_str());
  return 0;
}

int check(const std::vector<const Benchmark *> &selection, const Session &session) {
  bool failed = false;
  for (const Benchmark *benchmark : selection) {
    try {
      std::printf("%-32s %s\n", benchmark->name.c_str(),
                  benchmark->check(benchmark->name, session).c_str());
      std::fflush(stdout);
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%-32s error: %s\n", benchmark->name.c_str(), error.what());
      failed = true;
    }
  }
  return failed ? 1 : 0;
}

int run(const Options &options) {
  if (options.list) return list_benchmarks();
  const std::vector<const Benchmark *> selection = chosen(options);
  std::optional<JsonFile> json;
  if (!options.json.empty()) json.emplace(options.json);
  Session session;
  session.repeats = options.repeats;
  session.threads = threads::max_threads();
  session.programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  session.sources = WEFT_BENCHMARKS_DIR;
  session.peers = WEFT_PEERS_DIR;
  if (options.peers && run_process({session.sources + "/peers/install.sh"}) != 0) return 1;
  restrict_to_processors(session.threads);
  if (options.check) return check(selection, session);

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
      std::fprintf(stderr, "%-32s error: %s\n", benchmark->name.c_str(), error.what());
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
  app.add_option("--group", options.groups,
                 "Measure the rows of this group: core, which is measured when nothing is named, "
                 "shapes, data, "
                 "python, gpu, functions or machines; may be given several times")
      ->type_name("NAME")
      ->check(CLI::IsMember({weft::bench::kCore, weft::bench::kShapes, weft::bench::kData,
                             weft::bench::kPython, weft::bench::kGpu, weft::bench::kFunctions,
                             weft::bench::kMachines}))
      ->take_all();
  CLI::Option *json =
      app.add_option("--json", options.json, "Also write the rows to this file, a list of objects")
          ->type_name("FILE");
  app.add_flag("--check", options.check,
               "Measure nothing: compare the results of the rows that have some with the peers'")
      ->excludes(json);
  app.add_flag("--peers", options.peers,
               "First install the peers (libtorch, JAX, IREE, TensorFlow; about 1.3 GB to "
               "download) in build/peers");
  app.add_option("--repeats", options.repeats, "Repeats of which the median counts")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--list", options.list,
               "Name the rows, their groups and what each measures, and stop");
  CLI11_PARSE(app, argc, argv);
  try {
    return weft::bench::run(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
