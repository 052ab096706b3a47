// weft-fuzz, the command behind `./x fuzz`: random programs whose derivatives must agree, and calls
// with random arguments.
#include "Check.h"
#include "Generate.h"
#include "Reduce.h"
#include "Workers.h"
#include "calls/Command.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace weft::fuzz {

namespace {

struct Options {
  std::uint64_t count = 100, seed = 0;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::string out = "build/fuzz";
  double reduce_seconds = 60;
  bool print = false;
  Limits limits;
};

std::string packed(const Verdict &verdict) {
  return nlohmann::json{{"kind", static_cast<int>(verdict.kind)},
                        {"what", verdict.what},
                        {"detail", verdict.detail},
                        {"compared", verdict.compared},
                        {"left_out", verdict.left_out}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Verdict unpacked(const std::string &text, const std::string &fault) {
  Verdict verdict;
  if (!fault.empty()) {
    verdict.kind = Verdict::Kind::failed;
    verdict.what = fault;
    return verdict;
  }
  const auto json = nlohmann::json::parse(text);
  verdict.kind = static_cast<Verdict::Kind>(json["kind"].get<int>());
  verdict.what = json["what"];
  verdict.detail = json["detail"];
  verdict.compared = json["compared"];
  verdict.left_out = json["left_out"];
  return verdict;
}

/// A smaller program that fails the same way.
Program reduced(const Program &program, const std::string &what, const Options &options) {
  const auto end =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(static_cast<std::int64_t>(options.reduce_seconds * 1000));
  const auto goes_on = [&] { return std::chrono::steady_clock::now() < end; };
  const FindFirst first = [&](const std::vector<Program> &programs) {
    std::size_t found = programs.size();
    run_apart(
        programs.size(), 1, options.limits,
        [&](std::size_t i) { return packed(check_gradients(programs[i])); },
        [&](std::size_t i, const std::string &text, const std::string &fault) {
          const Verdict verdict = unpacked(text, fault);
          if (verdict.kind != Verdict::Kind::failed || verdict.what != what) return goes_on();
          found = i;
          return false;
        });
    return found;
  };
  return reduce(program, first, goes_on);
}

std::string commented(const std::string &text) {
  std::istringstream lines(text);
  std::string line, result;
  while (std::getline(lines, line)) result += "// " + line + '\n';
  return result;
}

/// Writes the program as a file and returns its name.
std::string write(const Program &program, const Verdict &verdict, const std::string &again,
                  const Options &options) {
  std::filesystem::create_directories(options.out);
  const std::string path = options.out + "/grad-" + std::to_string(program.seed) + ".mlir";
  std::string trace;
  run_apart(
      1, 1, options.limits, [&](std::size_t) { return trace_of(program, verdict.what); },
      [&](std::size_t, const std::string &text, const std::string &fault) {
        trace = fault.empty() ? text : "// It cannot be traced: " + fault + '\n';
        return true;
      });
  std::ofstream file(path);
  file << "// A random program, reduced: " << verdict.what << ".\n"
       << commented(verdict.detail) << "// Found by: " << again << "\n//\n"
       << commented(to_string(program)) << '\n'
       << trace;
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
  return path;
}

class Report {
public:
  explicit Report(const Options &options) : options_(options) {}

  void take(std::uint64_t seed, const Verdict &verdict) {
    for (const std::string &name : verdict.compared) ++compared_[name];
    for (const std::string &left_out : verdict.left_out) ++left_out_[left_out];
    if (verdict.kind == Verdict::Kind::passed) ++passed_;
    else if (verdict.kind == Verdict::Kind::skipped) ++skipped_[verdict.what];
    else failed_.emplace_back(seed, verdict);
    if (verdict.kind == Verdict::Kind::failed) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), verdict.what.c_str());
      std::fflush(stdout);
    }
  }

  /// Reduces and writes what failed, one program for each kind of fault. Returns the exit status.
  int finish(double seconds) {
    std::map<std::string, int> faults;
    for (const auto &[seed, verdict] : failed_) {
      if (++faults[verdict.what] > 1) continue;
      const std::string again = "./x fuzz grad --seed " + std::to_string(seed) + " --count 1";
      const Program program = random_program(seed);
      const Program small = reduced(program, verdict.what, options_);
      const std::string path = write(small, verdict, again, options_);
      std::printf("\n%s\n  %s\n  %zu of %zu statements are in %s\n  again: %s\n",
                  verdict.what.c_str(), verdict.detail.c_str(), size_of(small), size_of(program),
                  path.c_str(), again.c_str());
      std::fflush(stdout);
    }
    std::printf("\n%llu programs in %.0f s\n", static_cast<unsigned long long>(options_.count),
                seconds);
    for (const auto &[what, count] : compared_)
      std::printf("  %6d compared: %s\n", count, what.c_str());
    for (const auto &[what, count] : left_out_)
      std::printf("  %6d left out: %s\n", count, what.c_str());
    for (const auto &[what, count] : skipped_)
      std::printf("  %6d skipped: %s\n", count, what.c_str());
    for (const auto &[what, count] : faults) std::printf("  %6d failed: %s\n", count, what.c_str());
    std::printf("%d passed, %zu failed\n", passed_, failed_.size());
    return failed_.empty() ? 0 : 1;
  }

private:
  const Options &options_;
  int passed_ = 0;
  std::map<std::string, int> compared_, left_out_, skipped_;
  std::vector<std::pair<std::uint64_t, Verdict>> failed_;
};

int run(const Options &options) {
  if (options.print) {
    for (std::uint64_t i = 0; i < options.count; ++i)
      std::printf("%s\n", to_string(random_program(options.seed + i)).c_str());
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Report report(options);
  std::uint64_t ended = 0;
  run_apart(
      options.count, options.jobs, options.limits,
      [&](std::size_t i) { return packed(check_gradients(random_program(options.seed + i))); },
      [&](std::size_t i, const std::string &text, const std::string &fault) {
        report.take(options.seed + i, unpacked(text, fault));
        if (++ended % 1000 == 0)
          std::printf("%llu programs in %.0f s\n", static_cast<unsigned long long>(ended),
                      seconds());
        std::fflush(stdout);
        return true;
      });
  return report.finish(seconds());
}

} // namespace

} // namespace weft::fuzz

int main(int argc, char **argv) {
  // What is compiled here goes to no cache, and no program is worth a thread.
  setenv("WEFT_CACHE", "off", 1);
  weft::fuzz::Options options;
  CLI::App app("Runs random programs in all the ways that Weft has, and compares.", "weft-fuzz");
  app.require_subcommand(1);
  CLI::App *grad = app.add_subcommand(
      "grad",
      "Compare derivatives: by tapes, by the compiler, in forward mode, and by differences");
  grad->add_option("--count", options.count, "How many programs")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100000000}))
      ->capture_default_str();
  grad->add_option("--seed", options.seed, "Seed of the first program; those after it count on")
      ->type_name("S")
      ->capture_default_str();
  grad->add_option("--jobs", options.jobs, "Processes at a time")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  grad->add_option("--out", options.out, "Folder for programs that fail, reduced, as .mlir")
      ->type_name("DIR")
      ->capture_default_str();
  grad->add_option("--time-limit", options.limits.seconds, "Seconds that one program may take")
      ->type_name("S")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  grad->add_option("--reduce-time", options.reduce_seconds,
                   "Seconds to spend on making a program smaller")
      ->type_name("S")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  grad->add_flag("--print", options.print, "Print the programs and run nothing");
  weft::fuzz::CallOptions calls;
  calls.jobs = options.jobs;
  CLI::App *call = app.add_subcommand(
      "calls",
      "Call ops and the rest of the API with drawn arguments, right and wrong, eagerly and "
      "compiled, and compare");
  call->add_option("--count", calls.count, "How many calls")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100000000}))
      ->capture_default_str();
  call->add_option("--seed", calls.seed, "Seed of the first call; those after it count on")
      ->type_name("S")
      ->capture_default_str();
  call->add_option("--jobs", calls.jobs, "Processes at a time")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  call->add_option("--only", calls.only, "Only calls with this in their names")->type_name("NAME");
  call->add_option("--device", calls.device,
                   "Make them, and their gradients, on that device in place of compiled functions")
      ->type_name("DEVICE");
  call->add_option("--out", calls.out,
                   "Folder for calls that fail, with plainer arguments, as .txt")
      ->type_name("DIR")
      ->capture_default_str();
  call->add_option("--time-limit", calls.limits.seconds, "Seconds that one call may take")
      ->type_name("S")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (call->parsed()) return weft::fuzz::run_calls(calls);
    return weft::fuzz::run(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
